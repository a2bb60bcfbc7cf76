"""The course of a run: the stage is set, the play is played, and each check says what it found."""

import json
import signal
import sys
import tempfile
import time
from pathlib import Path

from . import check_calls, check_hands, check_queries, check_secrets, eventlog, play, rules, tools
from .progress import Report, Step, heading
from .stage import Stage

# A hand that a killed server has not told is told by another one, half a minute later; deliveries come when they come.
SETTLED = 75
# Tables are closed at the end, and the numbers of now would all be 0.
QUIET = 20


def run(options):
    """Runs the parts that were asked for; returns the exit code."""
    parts = set(options.only or ["healthy", "faults", "pictures"])
    binary = tools.fulcrum(options.fulcrum)
    folder = Path(options.folder or tempfile.mkdtemp(prefix="fulcrum-observe-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    # A signal that ends us ends what we have started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = Report()
    alerts = sorted((tools.ROOT / "deploy" / "alerts").glob("*.yml"))
    stage = Stage(folder, binary, alerts, rules.quick_copies(alerts, folder))
    try:
        heading(f"The stage, in {folder}")
        stage.start(Step)
        Run(options, stage, report, alerts).parts(parts)
        if options.keep:
            keep(stage)
    finally:
        (folder / "report.json").write_text(json.dumps(report.checks, indent=1))
        stage.end()
    failed = report.failed()
    heading(f"{len(report.checks) - len(failed)} checks passed, {len(failed)} failed; {folder}/report.json has them all")
    return 1 if failed else 0


def keep(stage):
    """Until Ctrl-C."""
    heading(f"Jaeger {stage.jaeger.url} · Prometheus {stage.prometheus.url} · servers "
            + " ".join(replica.address for replica in stage.replicas) + " · Ctrl-C ends all")
    while True:
        time.sleep(3600)


class Run:
    """One run, and what it knows by now."""

    def __init__(self, options, stage, report, alerts):
        self.options, self.stage, self.report, self.alerts = options, stage, report, alerts
        self.began, self.kills, self.hands, self.told = time.time(), [], [], []
        self.finished, self.spans = {}, {}

    def parts(self, parts):
        if parts & {"healthy", "pictures"}:
            self.play()
            self.read()
        if "healthy" in parts:
            self.check()
        if "pictures" in parts:
            from . import pictures

            heading("The pictures")
            pictures.draw(Path(self.options.pictures or tools.ROOT / "deploy" / "pictures"), self.stage.prometheus,
                          self.stage.jaeger if self.stage.traces() else None, self.began, self.ended - QUIET, Step)
        if "faults" in parts:
            from . import faults

            heading("The faults, one after the other, with rules in quick motion")
            faults.make_all(self.stage, self.report, self.alerts, Step, self.options.fault)
        if "healthy" in parts:
            self.expressions("faults" in parts)

    def play(self):
        """First without any fault, then with servers that are killed."""
        heading("The play")
        hands, tables = self.options.hands, self.options.tables
        calm = play.play(self.stage, hands - hands // 3, tables, "calm", Step)
        self.calm = (self.began, time.time())
        rough, self.kills = play.play_and_kill(self.stage, hands // 3, tables, "rough", Step, self.options.kills)
        self.ended = time.time()
        for load in calm + rough:
            code, _ = load.result()
            self.report.check(f"`fulcrum load` of {load.process.folder.name} ({load.process.name}) is content", 1,
                              [load.process.last_words()] if code else [])

    def read(self):
        with Step("the event log, over gRPC") as step:
            for operator in self.stage.operators:
                hands, told = eventlog.read(self.stage.replicas[0].address, operator.name, operator.token)
                self.hands += hands
                self.told += told
            ended = [hand for hand in self.hands if hand.ended]
            torn = [h for h in ended if any(h.started < kill * 1000 < h.ended for kill in self.kills)]
            step.say(f"{len(ended)} finished hands, {len(torn)} of them were played while a server was killed")
        self.report.check("hands were played to their end", len(ended), [], least=self.options.hands)
        if self.kills:
            self.report.check("hands were played while a server was killed", len(torn), [])

    def check(self):
        heading("Prometheus in health")
        quick = len(rules.names(self.alerts))
        check_queries.check_silence(self.report, self.stage.prometheus, "rules as they are", quick, self.began, self.ended)
        check_queries.check_silence(self.report, self.stage.fast, "rules in quick motion, before the kills", quick, *self.calm)
        if not self.stage.traces():
            self.report.check("this program has traces", 0, [])
            return
        with Step("traces that come late") as step:
            while time.time() < self.ended + SETTLED:
                time.sleep(1)
                step.say(f"{len(self.stage.jaeger.traces('fulcrum', 'hand'))} hands")
        heading("Traces of hands")
        self.finished, self.spans = check_hands.check(
            self.report, self.stage.jaeger, self.hands, "fulcrum", self.kills)
        check_secrets.check_players(self.report, self.spans, self.finished)
        heading("Traces of calls")
        check_calls.check_caller(self.report, self.stage, self.stage.jaeger)
        calls = check_calls.Calls(self.stage.jaeger, "fulcrum", set(self.finished))
        check_calls.check(self.report, calls, self.spans, self.finished, self.kills)
        check_queries.check_exemplars(self.report, self.stage.prometheus, set(self.finished), set(calls.traces),
                                      self.began, time.time(), self.kills)
        hand = max(self.finished.values(), key=lambda hand: hand.ended)
        check_queries.check_searches(self.report, self.stage.jaeger, hand.table, hand.number)
        heading("The byte scan")
        check_secrets.check(self.report, self.stage, self.told, self.stage.jaeger.traces("fulcrum"))

    def expressions(self, faults_made):
        heading("Expressions")
        scope = (self.began, time.time())
        check_queries.check_dashboards(self.report, self.stage.prometheus, *scope, faults_made)
        check_queries.check_alerts(self.report, self.stage.prometheus, self.alerts, *scope, faults_made)
