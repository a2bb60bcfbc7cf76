"""Faults of callers, and of settings that are too small for them."""

import time
import uuid

from ..service import Client
from .fault import Again, Fault


def _full(stage):
    """A server that takes two calls at once."""
    return _with(stage, "--calls", "2")


def _over(stage):
    """An operator who may make five calls a second, and makes more."""
    return _with(stage, "--operator-calls-per-second", "5")


def _with(stage, *setting):
    """Many lists, of a server with this setting."""
    replica = stage.replicas[-1]
    replica.kill()
    replica.process.command += setting
    replica.start()
    clients = [Client(replica.address, stage.operators[0].token) for _ in range(12)]
    again = Again(lambda number: clients[number].tables(), 0, len(clients))

    def undo():
        again.stop()
        replica.kill()
        del replica.process.command[-2:]
        replica.start()

    return undo


def _conflicts(stage):
    """Many callers change one table, through all servers."""
    token = stage.operators[0].token
    with Client(stage.replicas[0].address, token) as client:
        table = client.open_table("contended")
    clients = [Client(stage.replicas[number % len(stage.replicas)].address, token) for number in range(9)]
    players = [f"load-c0ffee00-0-{number}" for number in range(9)]
    for client, player in zip(clients, players):
        client.seat(table, player, str(uuid.uuid4()))
    again = Again(lambda number: clients[number].wish(table, players[number]), 0, len(clients))
    return again.stop


def _cut_off(stage):
    """Watchers of busy tables who do not read, at a server that waits for nobody."""
    from ..play import Load

    replica = stage.replicas[-1]
    replica.kill()
    replica.process.command += ["--watcher-behind", "1"]
    replica.start()
    client = Client(replica.address, stage.operators[0].token)
    others = {table.table_id for table in client.tables()}
    load = Load(stage, stage.operators[0], "busy", 10**6, 2, {"--no-check": None, "--think": "0ms"}).plays()
    tables = [table.table_id for table in client.tables() if table.table_id not in others]
    streams = []

    def watch(_):
        # A stream that nobody reads is full within seconds, and cut off; then others take its place.
        streams.extend(client.watch(table) for table in tables for _ in range(20))
        time.sleep(3)
        while len(streams) > 80:
            streams.pop(0).cancel()

    again = Again(watch)

    def undo():
        again.stop()
        load.process.kill()
        for stream in streams:
            stream.cancel()
        client.channel.close()
        replica.kill()
        del replica.process.command[-2:]
        replica.start()

    return undo


FAULTS = [
    Fault("a server takes two calls at once", ["FulcrumServerOverloaded"], _full),
    Fault("an operator makes more calls a second than he may", ["FulcrumCallsShed"], _over),
    Fault("many callers change one table through all servers", ["FulcrumConflictStorm"], _conflicts),
    Fault("watchers do not read what they are told", ["FulcrumWatchersCutOff"], _cut_off),
]
