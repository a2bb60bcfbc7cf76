"""The overview: what is promised, what callers get, how full the servers are."""

from parts import (GREEN, INSTANCE, RED, WAITING, YELLOW, board, from_, heat, line, number, or_zero, quantiles, row,
                   steps, words)

AT = 'instance=~"$instance"'


def promises():
    burn = from_((1, YELLOW), (14.4, RED))
    yield row("Promises")
    yield number(
        "Firing alerts", "Alerts of Fulcrum that fire now. Anything but 0: each has a page in deploy/runbooks.", "none",
        'count(ALERTS{alertname=~"Fulcrum.*", alertstate="firing"}) or vector(0)', thresholds=from_((1, RED)), width=3)
    yield number(
        "Servers", "Servers that answer scrapes. Fewer than were started: FulcrumTargetDown.", "none",
        'sum(up{job="fulcrum"})', thresholds=steps((None, RED), (1, YELLOW), (2, GREEN)), width=3)
    yield number(
        "Servers without their store", "Servers whose store does not answer: they are NOT_SERVING. Should be 0.", "none",
        "count(fulcrum_store_up == 0) or vector(0)", thresholds=from_((1, RED)), width=3)
    yield number(
        "Servers with a swapped file", "Servers whose program is not what was started: FulcrumBinaryChanged. Should be 0.",
        "none", "count(fulcrum_binary_unchanged == 0) or vector(0)", thresholds=from_((1, RED)), width=3)
    yield number(
        "Calls that failed, 3 days", "Promised: at most 0.1 % of unary calls fail by a fault of the service.",
        "percentunit", "fulcrum:rpc_errors:ratio3d", thresholds=from_((0.0005, YELLOW), (0.001, RED)), decimals=3)
    yield number(
        "Slow calls, 3 days", "Promised: at most 1 % of unary calls take 50 ms or longer.",
        "percentunit", "fulcrum:rpc_slow:ratio3d", thresholds=from_((0.005, YELLOW), (0.01, RED)), decimals=2)
    yield number(
        "Versions", "Servers by version. Two for long: a roll-out was not finished.", "none",
        "count by (version) (fulcrum_build_info)", "{{version}}", names=True)
    yield line(
        "Burn rate of failed calls",
        "1 uses up in 30 days what may fail; a page comes at 14.4 over an hour (with 5 minutes) and at 6 over 6 hours.",
        "none", ("fulcrum:rpc_errors:ratio5m / 0.001", "5m"), ("fulcrum:rpc_errors:ratio1h / 0.001", "1h"),
        ("fulcrum:rpc_errors:ratio6h / 0.001", "6h"), ("fulcrum:rpc_errors:ratio1d / 0.001", "1d"), thresholds=burn)
    yield line(
        "Burn rate of slow calls",
        "The same for calls of 50 ms or longer, of which 1 % are promised at most.",
        "none", ("fulcrum:rpc_slow:ratio5m / 0.01", "5m"), ("fulcrum:rpc_slow:ratio1h / 0.01", "1h"),
        ("fulcrum:rpc_slow:ratio6h / 0.01", "6h"), ("fulcrum:rpc_slow:ratio1d / 0.01", "1d"), thresholds=burn)


def calls():
    yield row("Calls")
    yield line(
        "Calls", "Unary calls a second by method. A fall at once at all methods: callers cannot reach the servers.", "reqps",
        (f"sum by (method) (rate(fulcrum_rpc_requests_total{{{AT}}}[$__rate_interval]))", "{{method}}"), stacked=True)
    yield line(
        "Calls that did not end with OK",
        "FAILED_PRECONDITION, NOT_FOUND and INVALID_ARGUMENT are the callers' doing. UNAVAILABLE, INTERNAL, UNKNOWN, "
        "DEADLINE_EXCEEDED and DATA_LOSS are the service's; RESOURCE_EXHAUSTED means that callers are over their limits.", "reqps",
        (or_zero(f'sum by (code) (rate(fulcrum_rpc_requests_total{{code!="OK", {AT}}}[$__rate_interval]))'), "{{code}}"))
    yield line(
        "How long calls take",
        "All unary calls but those that wait by design. The dots lead to traces. p99 above 50 ms: FulcrumLatencyFastBurn.",
        "s", *quantiles("fulcrum_rpc_seconds", f'method!~"{WAITING}", {AT}'),
        thresholds=from_((0.05, RED)), exemplars=True)
    yield heat(
        "How long calls take, all of them", "A second band above the usual one: some calls wait for something.",
        f"sum by (le) (increase(fulcrum_rpc_seconds_bucket{{{AT}}}[$__rate_interval]))")
    yield line(
        "p99 by method", "One method alone: look at what it does. All of them: the store or the machine.", "s",
        *quantiles("fulcrum_rpc_seconds", AT, "method", of=(0.99,)), thresholds=from_((0.05, RED)))
    yield line(
        "Calls that failed by method", "The service's faults by method and code; should be nothing.", "reqps",
        (or_zero('sum by (method, code) (rate(fulcrum_rpc_requests_total{code=~"UNAVAILABLE|INTERNAL|UNKNOWN|'
                 f'DEADLINE_EXCEEDED|DATA_LOSS", {AT}}}[$__rate_interval]))'), "{{method}} {{code}}"))
    yield line(
        "Open streams", "Watching and settlement streams. They move to other servers when one is shut down.", "none",
        (f"sum by (method) (fulcrum_streams_open{{{AT}}})", "{{method}}"))
    yield line(
        "Ended streams", "Streams that ended, by how. CANCELLED are callers who left; others were ended by the service.",
        "ops", (or_zero(f"sum by (method, code) (rate(fulcrum_streams_total{{{AT}}}[$__rate_interval]))"),
                "{{method}} {{code}}"))
    yield line(
        "Connections", "Callers' open connections. Uneven servers even out as connections age (connections.age_minutes).", "none",
        (f"sum by (instance) (fulcrum_connections{{{AT}}})", "{{instance}}"))
    yield line(
        "Ended connections", "By why: with unsafe ones TLS failed, silent ones never spoke HTTP/2, deaf ones took no answers, idle and "
        "aged ones were sent away, left ones by a server that was shut down.", "ops",
        (or_zero(f"sum by (why) (rate(fulcrum_connections_ended_total{{{AT}}}[$__rate_interval]))"), "{{why}}"))
    yield line(
        "Certificate", "How long the server's certificate is still good. Nothing without TLS.", "s",
        (f"min by (instance) (fulcrum_tls_certificate_end_seconds{{{AT}}}) - time()", "{{instance}}"),
        thresholds=steps((None, RED), (7 * 86400, GREEN)))


def access():
    yield row("Access")
    yield number(
        "Servers that ask nobody", "Servers whose callers are not asked who they are (fulcrum_insecure). In production 0.",
        "none", "sum(fulcrum_insecure) or vector(0)", thresholds=from_((1, RED)))
    yield number(
        "Keys of tokens", "Keys of the issuer's tokens, at the server that holds the fewest. 0 with jwt.jwks set: no JWT is "
        "taken; see jwks_missing and jwks_given_up in deploy/logs.md.", "none", "min(fulcrum_jwks_keys)")
    yield line(
        "Readings of the issuer's keys",
        "How often jwt.jwks was read and how often that failed. While it fails the old keys hold for jwt.keep_seconds.", "ops",
        (or_zero(f"sum by (outcome) (rate(fulcrum_jwks_readings_total{{{AT}}}[$__rate_interval]))"), "{{outcome}}"))


def saturation():
    yield row("Saturation")
    yield line(
        "Calls at work", "Each server takes limits.calls (4,096) at once, and refuses more.", "none",
        (f"sum by (instance) (fulcrum_rpc_in_flight{{{AT}}})", "{{instance}}"),
        thresholds=from_((2048, YELLOW), (4096, RED)))
    yield line(
        "Calls turned away",
        "By what they are worth and why. full, late: the server has too much to do, FulcrumServerOverloaded; play last of all. "
        "The others: FulcrumCallsShed.", "reqps",
        (or_zero(f"sum by (class, why) (rate(fulcrum_calls_shed_total{{{AT}}}[$__rate_interval]))"), "{{class}}: {{why}}"))
    yield line(
        "Busy workers", "How much of their time the runtime's workers are busy. Above 85 % what comes on top waits.",
        "percentunit",
        (f"sum by (instance) (rate(fulcrum_runtime_busy_seconds_total{{{AT}}}[$__rate_interval]))"
         f" / max by (instance) (fulcrum_runtime_workers{{{AT}}})", "{{instance}}"),
        thresholds=from_((0.85, RED)))
    yield line(
        "How late tasks run", "The worst of ten seconds. Everything in the server, clocks too, is late by as much.", "s",
        (f"max by (instance) (fulcrum_runtime_late_seconds{{{AT}}})", "{{instance}}"),
        thresholds=from_((0.25, RED)))
    yield line(
        "Tasks", "Tasks that live. They grow with streams; a growth without one is a leak.", "none",
        (f"max by (instance) (fulcrum_runtime_tasks{{{AT}}})", "{{instance}}"))
    yield line(
        "CPU", "Processors' worth of CPU time.", "none",
        (f"sum by (instance) (rate(fulcrum_process_cpu_seconds_total{{{AT}}}[$__rate_interval]))", "{{instance}}"))
    yield line(
        "Memory", "Resident memory. limits.recent_tables bounds what is kept of tables.", "bytes",
        (f"max by (instance) (fulcrum_process_resident_bytes{{{AT}}})", "{{instance}}"))
    yield line(
        "Open files", "Connections, mostly. Near the limit of the process (ulimit -n) no new ones are taken.", "none",
        (f"max by (instance) (fulcrum_process_open_fds{{{AT}}})", "{{instance}}"))
    yield line(
        "Log lines", "By level. Errors should be none, and warnings rare: read them.", "ops",
        (or_zero(f'sum by (level) (rate(fulcrum_log_lines_total{{level!="info", {AT}}}[$__rate_interval]))'), "{{level}}"),
        (or_zero(f'sum by (level) (rate(fulcrum_log_lines_total{{level="info", {AT}}}[$__rate_interval]))'), "{{level}}"))


def tracing():
    yield row("Tracing itself")
    yield line(
        "Spans", "Exported and dropped spans. Dropped ones leave holes in traces; play does not wait for them.", "ops",
        (or_zero(f"sum(rate(fulcrum_spans_exported_total{{{AT}}}[$__rate_interval]))"), "exported"),
        (or_zero(f"sum by (why) (rate(fulcrum_spans_dropped_total{{{AT}}}[$__rate_interval]))"), "dropped: {{why}}"))
    yield line(
        "Traces of hands", "Hands by whether they were exported. late: swept up after the server that played them had died.",
        "ops", (or_zero(f"sum by (outcome) (rate(fulcrum_hand_traces_total{{{AT}}}[$__rate_interval]))"), "{{outcome}}"))


def make():
    yield words(
        "Overview",
        "Do callers get what they are promised (first row), what do they get (second), how full is it (third)? A fault of "
        "money: *Settlement and wallets*. Slow or failing in all methods: *Redis and commits*. What players notice: "
        "*Tables and hands*.", height=3)
    for part in (promises, calls, access, saturation, tracing):
        yield from part()


def dashboard():
    return board("fulcrum-overview", "Fulcrum: overview", "What is promised, what callers get, how full the servers are.",
                 [INSTANCE], make())
