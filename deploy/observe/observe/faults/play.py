"""Faults of those who play, consume and pay."""

import time

from ..service import Client
from .fault import Again, Fault


def _unacknowledged(stage):
    """A consumer who reads and acknowledges nothing."""
    operator = stage.operators[0]
    client = Client(stage.replicas[0].address, operator.token)
    stream = client.stream_settlements("lazy")

    def undo():
        stream.cancel()
        client.delete_consumer("lazy")
        client.channel.close()

    next(stream)
    return undo


def _voided(stage):
    """An operator voids one hand after the other."""
    operator = stage.operators[0]

    def void(_):
        with Client(stage.replicas[0].address, operator.token) as client:
            for table in client.tables():
                if table.state == 1:
                    client.void_running_hand(table.table_id)
        time.sleep(1)

    again = Again(void)
    return again.stop


def _wallet(*faults):
    """A wallet that misbehaves, and players who come and go."""
    def make(stage):
        south = next(operator for operator in stage.operators if operator.wallet)
        south.misbehave(*faults)
        return south.misbehave

    return make


FAULTS = [
    Fault("a consumer acknowledges nothing", ["FulcrumSettlementsUnacknowledged", "FulcrumSettlementsSoonGone"],
          _unacknowledged),
    Fault("an operator voids many hands", ["FulcrumHandsVoidedOnRequest"], _voided),
    Fault("a wallet answers nothing", ["FulcrumWalletFails", "FulcrumPaymentsParked"], _wallet("hang")),
]
