"""Faults of Redis."""

import shutil
import time

from .. import tools
from ..process import Process
from ..tools import free_ports
from .fault import Again, Fault


def _gone(stage):
    """Killed, and not started again for a while."""
    stage.redis.kill()
    return stage.start_redis


def _slow(stage):
    """Stands still for most of each 150 ms."""
    def halt(_):
        stage.redis.signal("STOP")
        time.sleep(0.12)
        stage.redis.signal("CONT")
        time.sleep(0.03)

    again = Again(halt)

    def undo():
        again.stop()
        stage.redis.signal("CONT")

    return undo


def _not_kept(stage):
    stage.redis_cli("config", "set", "appendonly", "no")
    return lambda: stage.redis_cli("config", "set", "appendonly", "yes")


def _nearly_full(stage):
    info = stage.redis_cli("info", "memory")
    used = int(next(line for line in info.splitlines() if line.startswith("used_memory:")).split(":")[1])
    # Above what is used by so much that play does not fill it meanwhile.
    stage.redis_cli("config", "set", "maxmemory", str(int(used * 1.03)))
    return lambda: stage.redis_cli("config", "set", "maxmemory", "0")


def _replica(stage):
    """Another Redis that follows ours."""
    (port,) = free_ports(1)
    data = stage.folder / f"replica-{port}"
    data.mkdir()
    command = [tools.debian("redis-server", "redis-server"), "--port", port, "--bind", "127.0.0.1", "--dir", data,
               "--save", "", "--replicaof", "127.0.0.1", stage.redis_port]
    replica = Process(f"redis-replica-{port}", command, stage.folder).listens(port)
    replica.until(lambda: "state=online" in stage.redis_cli("info", "replication"), "does not follow")
    # The servers look every few seconds.
    time.sleep(15)
    return replica


def _behind(stage):
    """A replica that stands still while much is written."""
    replica = _replica(stage)
    replica.signal("STOP")
    junk = Again(lambda _: stage.redis_cli("setex", "junk", "60", "x" * 100_000), 0.3)

    def undo():
        junk.stop()
        stage.redis_cli("del", "junk")
        replica.end()

    return undo


def _without(stage):
    """A replica that was there and is not any more."""
    replica = _replica(stage)
    replica.kill()
    return lambda: None


def _older(stage):
    """Loses what was committed for some seconds: killed, and started on an older copy of its files."""
    data, copy = stage.folder / "redis" / "appendonlydir", stage.folder / "redis-older"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(data, copy)
    time.sleep(4)
    stage.redis.kill()
    shutil.rmtree(data)
    shutil.copytree(copy, data)
    stage.start_redis()
    return lambda: None


def _unreadable(stage):
    """A table of its own, whose record is overwritten with something else."""
    from ..service import Client

    operator = stage.operators[0]
    with Client(stage.replicas[0].address, operator.token) as client:
        table = client.open_table("unreadable")
    (key,) = stage.redis_cli("--scan", "--pattern", f"*:t:{operator.name}/{table}:s").splitlines()
    stage.redis_cli("copy", key, f"{key}:kept")
    stage.redis_cli("set", key, "this is no record")

    def look(number):
        replica = stage.replicas[number % len(stage.replicas)]
        with Client(replica.address, operator.token) as client:
            client.table(table)

    again = Again(look, 0.3, 3)

    def undo():
        again.stop()
        stage.redis_cli("copy", f"{key}:kept", key, "replace")
        stage.redis_cli("del", f"{key}:kept")

    return undo


FAULTS = [
    Fault("Redis is slow", ["FulcrumLatencyFastBurn", "FulcrumLatencySlowBurn"], _slow),
    Fault("Redis is gone", ["FulcrumStoreDown", "FulcrumErrorsFastBurn", "FulcrumErrorsSlowBurn"], _gone),
    Fault("Redis keeps nothing on its disk", ["FulcrumRedisPersistenceOff"], _not_kept),
    Fault("Redis is nearly full", ["FulcrumRedisMemoryNearLimit"], _nearly_full),
    Fault("a replica of Redis stands still", ["FulcrumRedisReplicaBehind"], _behind),
    Fault("a replica of Redis is gone", ["FulcrumRedisReplicaGone"], _without),
    Fault("a table's record is overwritten", ["FulcrumStoreUnreadable", "FulcrumLogErrors"], _unreadable),
    Fault("Redis comes back on an older disk", ["FulcrumHistoryLost", "FulcrumHandsVoided"], _older),
]
