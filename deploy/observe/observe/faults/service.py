"""Faults of servers, of their machine and of what looks at them."""

import json
import os
import subprocess
import time

from .. import tools
from .fault import Again, Fault


def _down(stage):
    stage.replicas[-1].kill()
    return stage.replicas[-1].start


def _no_targets(stage):
    """Prometheus is told of no server."""
    settings = json.loads(stage.fast.settings.read_text())

    def tell(targets):
        settings["scrape_configs"][0]["static_configs"][0]["targets"] = targets
        stage.fast.settings.write_text(json.dumps(settings))
        stage.fast.process.signal("HUP")

    tell([])
    return lambda: tell(stage.fast.targets)


def _certificate(stage):
    """A certificate that ends in three days, taken by the server that runs."""
    stage.guarded.certify(stage.folder, 3)
    return lambda: stage.guarded.certify(stage.folder, 90)


def _collector(stage):
    """The collector of traces takes nothing any more."""
    stage.jaeger.process.signal("STOP")
    return lambda: stage.jaeger.process.signal("CONT")


def _clock(stage):
    """A server whose clock is five seconds ahead of everybody else's."""
    folder = subprocess.run(["dpkg", "-L", "libfaketime"], capture_output=True, text=True, check=False).stdout
    library = next((line for line in folder.splitlines() if line.endswith("libfaketime.so.1")), None)
    if library is None:
        tools.debian("faketime", "faketime")
        return _clock(stage)
    replica = stage.replicas[-1]
    replica.kill()
    replica.process.environment = {**os.environ, "LD_PRELOAD": library, "FAKETIME": "+5s", "DONT_FAKE_MONOTONIC": "1"}
    replica.start()

    def undo():
        replica.kill()
        replica.process.environment = None
        replica.start()

    return undo


def _late(stage):
    """Servers that stand still for more than a second, again and again, while clocks run out.

    Not for 2.5 s, sign of life to sign of life: that is an outage, of which players get the time back.
    """
    def halt(_):
        for server in stage.servers():
            server.process.signal("STOP")
        time.sleep(1.45)
        for server in stage.servers():
            server.process.signal("CONT")
        time.sleep(0.35)

    load = _absent(stage)
    again = Again(halt)

    def undo():
        again.stop()
        for server in stage.servers():
            server.process.signal("CONT")
        load.process.kill()

    return undo


def _absent(stage):
    """Tables at which many do not answer."""
    from ..play import Load

    return Load(stage, stage.operators[0], "absent", 10**6, 20,
                {"--no-check": None, "--absent": "30%", "--action-clock": "1s"}).plays()


def _crowded(stage):
    """One server with far more callers than it can serve, on a machine where others go first."""
    from ..play import Load

    replica = stage.replicas[0]
    for task in os.listdir(f"/proc/{replica.process.child.pid}/task"):
        os.setpriority(os.PRIO_PROCESS, int(task), 5)
    load = Load(stage, stage.operators[0], "crowd", 10**6, 60,
                {"--no-check": None, "--think": "0ms", "--connections": 120}, [replica]).plays()

    def undo():
        load.process.kill()
        replica.kill()
        replica.start()

    return undo


FAULTS = [
    Fault("a server is gone", ["FulcrumTargetDown"], _down),
    Fault("Prometheus knows no servers", ["FulcrumNoTargets"], _no_targets),
    Fault("the collector takes no traces", ["FulcrumSpansDropped"], _collector),
    Fault("a server's clock is five seconds ahead", ["FulcrumStoreTimeOff"], _clock),
    Fault("a certificate ends in three days", ["FulcrumCertificateEnds"], _certificate),
    Fault("servers stand still again and again", ["FulcrumClocksLate", "FulcrumRuntimeLate"], _late),
    Fault("far more call than the machine can serve", ["FulcrumRuntimeBusy"], _crowded),
]
