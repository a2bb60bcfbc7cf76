"""The faults: each alert is made to fire by what it is for, while bots play on.

Rules are in quick motion (rules.py). An alert counts if it was silent before its fault and fires while the fault lasts. The
stage is well again before the next fault.
"""

import time

from .. import rules, tools
from ..play import Load
from . import calls, play, redis, service

# So long a fault lasts at the most, and so long the alerts of a fault may take to be silent before it.
PATIENCE, SILENCE, WELL = 120, 40, 60

# In this order: what other faults bring about by the way comes first.
FAULTS = [*redis.FAULTS, *play.FAULTS, *service.FAULTS, *calls.FAULTS]

# What a service in order cannot be brought to from outside. The tests in deploy/alerts/tests have them.
NOT_MADE = {
    "FulcrumTableStopped": "no call, and nothing done to Redis, breaks an invariant of a table",
    "FulcrumBinaryChanged": "a server looks at its file at the start and then once a day",
}


def make_all(stage, report, alerts, step, only=""):
    """Makes all faults, or those that are described with this text; reports what fired."""
    known = {alert for fault in FAULTS for alert in fault.alerts} | set(NOT_MADE)
    report.check("there is a fault for every alert", len(known), [
        f"{alert} has none" for alert in rules.names(alerts) if alert not in known])
    tests = "".join(file.read_text() for file in (tools.ROOT / "deploy" / "alerts" / "tests").glob("*.yml"))
    for alert, why in NOT_MADE.items():
        report.note(f"{alert} is not made: {why}", [])
        report.check(f"{alert} is in the tests of the rules instead", 1, [] if alert in tests else ["it is not"])
    background = Background(stage)
    wanted, began = set(rules.names(alerts)), time.time()
    try:
        for fault in FAULTS:
            if wanted & set(fault.alerts) and only in f"{fault.what} {fault.alerts}":
                background.plays()
                _make(fault, stage, report, step, wanted, alerts)
    finally:
        background.end()
    if not only:
        _every_rule(stage, report, alerts, began)


class Background:
    """Bots of both operators. Where a fault has stopped all their tables, new ones are opened."""

    def __init__(self, stage):
        self.stage, self.loads = stage, {}
        self.plays()

    def plays(self):
        before = {operator: load.hands() for operator, load in self.loads.items()}
        time.sleep(4 if before else 0)
        for operator in self.stage.operators:
            load = self.loads.get(operator)
            if load is None or load.hands() == before[operator]:
                if load:
                    load.process.kill()
                    load.timeline.unlink(missing_ok=True)
                self.loads[operator] = Load(self.stage, operator, "background", 10**6, 6, {"--no-check": None})
        for load in self.loads.values():
            load.process.until(lambda load=load: load.hands() > 2, "plays no hands")

    def end(self):
        for load in self.loads.values():
            load.process.kill()


def _make(fault, stage, report, step, wanted, alerts):
    expected = [alert for alert in fault.alerts if alert in wanted]
    with step(f"{fault.what}: {', '.join(expected)}") as shown:
        _until(lambda: not _firing(stage, expected), SILENCE)
        before = _firing(stage, expected)
        fired, broken = {}, []
        began = time.time()
        undo = None
        try:
            undo = fault.make(stage)
            # An alert may have several rules, some over longer windows: it lasts until each has fired.
            fixed = [labels for labels in rules.labels(alerts) if labels["alertname"] in expected]
            _until(lambda: not _silent(stage, fixed, began), PATIENCE)
            fired = stage.fast.fired(began, time.time())
        except Exception as why:  # noqa: BLE001: a fault that cannot be made is a finding, and the others go on
            broken.append(f"it could not be made: {type(why).__name__} {why}")
        finally:
            if undo:
                undo()
        for alert in expected:
            if alert not in fired:
                broken.append(f"{alert} did not fire")
            elif alert in before:
                broken.append(f"{alert} fired already before the fault")
        shown.say(", ".join(f"{alert} after {fired[alert] - began:.0f} s" for alert in expected if alert in fired))
        if not _until(stage.well, WELL):
            broken.append("the stage did not get well again")
    report.check(f"{fault.what}: {', '.join(expected)}", len(expected), broken)


def _silent(stage, fixed, began):
    """Which of these rules, told apart by their fixed labels, have not fired since then."""
    told = stage.fast.over('ALERTS{alertstate="firing"}', began, time.time(), 1)
    fired = [series["metric"] for series in told]
    return [labels for labels in fixed if not any(labels.items() <= one.items() for one in fired)]


def _every_rule(stage, report, alerts, began):
    """An alert may have several rules, with other windows or thresholds: each of them fired."""
    there = [labels for labels in rules.labels(alerts) if labels["alertname"] not in NOT_MADE]
    report.check("each rule of each alert fired", len(there), [
        f"{labels} did not" for labels in _silent(stage, there, began)])


def _firing(stage, alerts):
    return set(alerts) & {series["metric"]["alertname"] for series in stage.fast.at('ALERTS{alertstate="firing"}')}


def _until(true, patience):
    end = time.monotonic() + patience
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True

