"""Redis and the commit path: what an action waits for."""

from parts import (GREEN, INSTANCE, RED, REDIS, YELLOW, board, from_, heat, line, number, or_zero, quantiles, row, steps,
                   words)

AT = 'instance=~"$instance"'
REDISES = 'server=~"$server"'
ALL = f"sum(rate(fulcrum_commits_total{{{AT}}}[$__rate_interval]))"


def state():
    yield row("The store")
    yield number("Servers with their store", "Servers whose store answers. 0: no table can be played.", "none",
                 "sum(fulcrum_store_up)", thresholds=steps((None, RED), (1, GREEN)))
    yield number("Commits", "Commits a second that were done.", "ops",
                 f'sum(rate(fulcrum_commits_total{{outcome="done", {AT}}}[$__rate_interval]))', decimals=0)
    yield number("Conflicts", "The share of commits that met a table which had changed. Above 20 %: FulcrumConflictStorm.",
                 "percentunit",
                 f'(sum(rate(fulcrum_commits_total{{outcome="conflict", {AT}}}[$__rate_interval])) or vector(0)) / {ALL}',
                 thresholds=from_((0.05, YELLOW), (0.2, RED)), decimals=1)
    yield number("Redis without persistence", "Servers with neither appendonly nor save: a restart loses tables.", "none",
                 f"count(min by (server) (fulcrum_redis_persistence{{{REDISES}}}) == 0) or vector(0)",
                 thresholds=from_((1, RED)))
    yield number("Replicas", "Connected replicas of all Redis servers. Fewer than before: FulcrumRedisReplicaGone.", "none",
                 f"sum(max by (server) (fulcrum_redis_replicas{{{REDISES}}})) or vector(0)")
    yield number("Fullest Redis", "Used memory as a share of maxmemory. A full Redis takes no commit.", "percentunit",
                 f"max(max by (server) (fulcrum_redis_memory_bytes{{{REDISES}}})"
                 f" / (max by (server) (fulcrum_redis_memory_limit_bytes{{{REDISES}}}) > 0)) or vector(0)",
                 thresholds=from_((0.8, YELLOW), (0.95, RED)))


def commits():
    yield row("Commits")
    yield line("Commits by outcome",
               "done; conflict: decided anew; severed: the table had lost commits; repeated, reused: the request id was known; "
               "too_early, ahead: judged again; unknown: looked for; failed: not done.", "ops",
               (f"sum by (outcome) (rate(fulcrum_commits_total{{{AT}}}[$__rate_interval]))", "{{outcome}}"))
    yield line("How long a commit takes", "From sending it to knowing what became of it. The dots lead to traces.", "s",
               *quantiles("fulcrum_commit_seconds", AT), thresholds=from_((0.05, RED)), exemplars=True)
    yield heat("How long commits take, all of them", "A band at half a second and more: Redis was away, or a connection dead.",
               f"sum by (le) (increase(fulcrum_commit_seconds_bucket{{{AT}}}[$__rate_interval]))")
    yield line("Commits tried again", "conflict: somebody else was first. unknown: an answer was lost.", "ops",
               (or_zero(f"sum by (why) (rate(fulcrum_commit_retries_total{{{AT}}}[$__rate_interval]))"), "{{why}}"))
    yield line("p99 of the store by operation", "What the service asks its store for.", "s",
               *quantiles("fulcrum_store_seconds", AT, "operation", of=(0.99,)))
    yield line("Errors of the store",
               "unavailable, unknown: it did not answer. corrupt, key: what is stored cannot be read, FulcrumStoreUnreadable.",
               "ops", (or_zero(f"sum by (operation, kind) (rate(fulcrum_store_errors_total{{{AT}}}[$__rate_interval]))"),
                       "{{operation}} {{kind}}"))
    yield line("Does the store answer", "1: it does. 0: this server is NOT_SERVING.", "none",
               (f"min by (instance) (fulcrum_store_up{{{AT}}})", "{{instance}}"), thresholds=steps((None, RED), (1, GREEN)))
    yield line("The store's clock against the servers'", "Times of play are the store's. Above a second: FulcrumStoreTimeOff.",
               "s", (f"max by (instance) (fulcrum_store_time_offset_seconds{{{AT}}})", "{{instance}}"), floor=None)


def redis():
    yield row("Redis, as the servers see it")
    yield line("Round trips", "By kind. commit is what an action waits for; above 10 ms look at the network and at Redis.", "s",
               *quantiles("fulcrum_redis_round_trip_seconds", AT, "kind", of=(0.5, 0.99)), thresholds=from_((0.05, RED)))
    yield line("Commands on their way", "Sent and not answered yet. A wall: Redis stands still.", "none",
               (f"sum by (instance) (fulcrum_redis_in_flight{{{AT}}})", "{{instance}}"))
    yield line("Connections", "Open ones by server.", "none",
               (f"sum by (instance) (fulcrum_redis_connections{{{AT}}})", "{{instance}}"))
    yield line("Connections made anew", "After a fail-over or a dead connection; else none.", "none",
               (f"sum by (instance) (increase(fulcrum_redis_reconnects_total{{{AT}}}[$__rate_interval]))", "{{instance}}"))


def servers():
    yield row("Redis servers")
    yield line("Persistence", "1: appendonly or save is on. 0: a restart loses tables, and makes its replicas lose them.", "none",
               (f"min by (server) (fulcrum_redis_persistence{{{REDISES}}})", "{{server}}"),
               thresholds=steps((None, RED), (1, GREEN)))
    yield line("Replicas", "Connected ones of each server.", "none",
               (f"max by (server) (fulcrum_redis_replicas{{{REDISES}}})", "{{server}}"))
    yield line("How far the furthest replica is behind",
               "A fail-over loses what no replica has (durability memory, fsync); with replicated:N callers wait for it.", "bytes",
               (f"max by (server) (fulcrum_redis_replica_lag_bytes{{{REDISES}}})", "{{server}}"),
               thresholds=from_((1e6, RED)))
    yield line("Memory", "Used, and the limit (maxmemory; 0: none).", "bytes",
               (f"max by (server) (fulcrum_redis_memory_bytes{{{REDISES}}})", "{{server}}"),
               (f"max by (server) (fulcrum_redis_memory_limit_bytes{{{REDISES}}})", "limit of {{server}}"))


def make():
    yield words(
        "Redis and commits",
        "An action is one commit, and a commit one round trip. Is the store there, how long does a commit take, what does Redis "
        "say of itself? With a file instead of Redis the last two rows are empty. `deploy/redis.md` tells what goes on by itself.",
        height=3)
    for part in (state, commits, redis, servers):
        yield from part()


def dashboard():
    return board("fulcrum-store", "Fulcrum: Redis and commits", "What an action waits for: commits, the store, Redis.",
                 [INSTANCE, REDIS], make())
