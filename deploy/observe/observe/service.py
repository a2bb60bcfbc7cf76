"""The servers as an operator's backend sees them: the contract's calls, made with the stubs of proto/."""

import sys
import uuid

import grpc

from . import tools

# Each client has a connection of its own: one that broke with a server is not handed on.
OPTIONS = [("grpc.max_receive_message_length", 64 << 20), ("grpc.use_local_subchannel_pool", 1)]
PAGE = 500


def stubs():
    """The generated modules of the contract, by their names."""
    folder = str(tools.contract())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    from fulcrum.v1 import (config_pb2, event_pb2, hand_pb2, settlement_pb2, settlement_service_pb2,
                            settlement_service_pb2_grpc, table_pb2, table_service_pb2, table_service_pb2_grpc, watch_pb2)

    return locals()


class Client:
    """An operator's calls to one server."""

    def __init__(self, address, token):
        self.pb = stubs()
        self.metadata = [("authorization", f"Bearer {token}")]
        self.channel = grpc.insecure_channel(address.removeprefix("http://"), OPTIONS)
        self.tables_stub = self.pb["table_service_pb2_grpc"].TableServiceStub(self.channel)
        self.settlements_stub = self.pb["settlement_service_pb2_grpc"].SettlementServiceStub(self.channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def tables(self):
        """All tables, closed ones too."""
        request = self.pb["table_service_pb2"].ListTablesRequest(page_size=PAGE, states=[1, 2, 3, 4])
        return self._pages(self.tables_stub.ListTables, request, "tables")

    def settlements(self, **which):
        """All settlement records of this kind."""
        request = self.pb["settlement_service_pb2"].ListSettlementsRequest(page_size=PAGE, **which)
        return self._pages(self.settlements_stub.ListSettlements, request, "settlements")

    def consumers(self):
        request = self.pb["settlement_service_pb2"].ListConsumersRequest(page_size=PAGE)
        return self._pages(self.settlements_stub.ListConsumers, request, "consumers")

    def table(self, table_id):
        request = self.pb["table_service_pb2"].GetTableRequest(table_id=table_id)
        return self.tables_stub.GetTable(request, metadata=self.metadata, timeout=10).table

    def open_table(self, name):
        """A table of ten seats, for a fault; returns its id."""
        config = self.pb["config_pb2"].TableConfig(display_name=name, currency="EUR", game=2, limit=1, seats=10)
        config.stakes.small_blind, config.stakes.big_blind = 50, 100
        config.stakes.min_buy_in, config.stakes.max_buy_in = 2000, 10000
        request = self.pb["table_service_pb2"].CreateTableRequest(request_id=str(uuid.uuid4()), config=config)
        return self.tables_stub.CreateTable(request, metadata=self.metadata, timeout=10).table_id

    def seat(self, table_id, player, transaction):
        request = self.pb["table_service_pb2"].SeatPlayerRequest(
            request_id=str(uuid.uuid4()), table_id=table_id, player_id=player, buy_in=10000, transaction_id=transaction)
        return self.tables_stub.SeatPlayer(request, metadata=self.metadata, timeout=10)

    def wish(self, table_id, player):
        """Sets a player's standing wishes: the smallest change of a table that there is."""
        request = self.pb["table_service_pb2"].SetPreferencesRequest(
            request_id=str(uuid.uuid4()), table_id=table_id, player_id=player,
            preferences=self.pb["table_pb2"].Preferences())
        return self.tables_stub.SetPreferences(request, metadata=self.metadata, timeout=10)

    def watch(self, table_id):
        """A spectator's stream, from a snapshot on."""
        request = self.pb["table_service_pb2"].WatchTableRequest(table_id=table_id)
        return self.tables_stub.WatchTable(request, metadata=self.metadata, timeout=120)

    def void_running_hand(self, table_id):
        """Voids the hand that is being played, if there is one."""
        table = self.table(table_id)
        if table.HasField("hand") and table.hand.running:
            request = self.pb["settlement_service_pb2"].VoidHandRequest(
                request_id=str(uuid.uuid4()), table_id=table_id, hand_number=table.hand.number, reason="a fault is made",
                requester="observe")
            self.settlements_stub.VoidHand(request, metadata=self.metadata, timeout=10)

    def stream_settlements(self, consumer):
        request = self.pb["settlement_service_pb2"].StreamSettlementsRequest(consumer=consumer)
        return self.settlements_stub.StreamSettlements(request, metadata=self.metadata, timeout=600)

    def delete_consumer(self, consumer):
        request = self.pb["settlement_service_pb2"].DeleteConsumerRequest(consumer=consumer)
        return self.settlements_stub.DeleteConsumer(request, metadata=self.metadata, timeout=10)

    def _pages(self, call, request, field):
        found = []
        while True:
            answer = call(request, metadata=self.metadata, timeout=30)
            found += getattr(answer, field)
            if not answer.next_page_token:
                return found
            request.page_token = answer.next_page_token

    def history(self, table_id, last):
        """All updates of a table from its first commit to this one, as a spectator is told them."""
        request = self.pb["table_service_pb2"].WatchTableRequest(table_id=table_id, after_sequence=0)
        stream = self.tables_stub.WatchTable(request, metadata=self.metadata, timeout=120)
        updates, before = [], 0
        for answer in stream:
            message = answer.message
            if message.WhichOneof("content") in ("compacted", "snapshot"):
                raise ValueError(f"the history of table {table_id} does not reach back to its beginning")
            if message.WhichOneof("content") == "update":
                if message.sequence != before + 1 and not any(e.HasField("history_lost") for e in message.update.events):
                    raise ValueError(f"table {table_id}: {message.sequence} follows {before}")
                before = message.sequence
                updates.append((message.sequence, message.update))
            if message.sequence >= last:
                stream.cancel()
                break
        return updates
