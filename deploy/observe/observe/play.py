"""The play: bots of two operators at both games, through all servers, and servers killed in mid-hand."""

import json
import re
import time

from .process import Process

# Long enough to be a hand that somebody waits for, short enough that hundreds are played in minutes.
THINK = "250ms"
PATIENCE = 900
ENDED = re.compile(r'"hands":(\d+)')


class Load:
    """`fulcrum load` of one operator."""

    def __init__(self, stage, operator, name, hands, tables, more=None, replicas=None):
        self.report = operator.folder / f"{name}.json"
        self.timeline = operator.folder / f"{name}.timeline"
        addresses = [word for replica in replicas or stage.replicas
                     for word in ("--address", replica.address)]
        wallet = ["--wallet", "--churn", "4%"] if operator.wallet else []
        options = {"--duration": "15m", "--think": THINK, "--absent": "1%", "--connections": 9} | (more or {})
        options = [word for option, value in options.items() for word in (option, value) if word is not None]
        command = [
            stage.binary, "load", *addresses, "--token", operator.token, "--tables", tables, "--hands", hands,
            "--json", self.report, "--timeline", self.timeline, *wallet, *options,
        ]
        self.process = Process(name, command, operator.folder)

    def plays(self):
        """Waits until hands have been played."""
        self.process.until(lambda: self.hands() > 0, "plays no hands")
        return self

    def hands(self):
        """How many hands have ended so far."""
        try:
            lines = self.timeline.read_text().splitlines()
        except FileNotFoundError:
            return 0
        return sum(int(one) for line in lines for one in ENDED.findall(line))

    def result(self):
        """The report, once it has ended; what its own check found is a fault of the run."""
        code = self.process.wait(PATIENCE)
        report = json.loads(self.report.read_text()) if self.report.exists() else {}
        return code, report


def play(stage, hands, tables, name, step):
    """So many hands, half of them each operator's; returns the loads, which have ended."""
    with step(f"{hands} hands at {2 * tables} tables") as shown:
        loads = [Load(stage, operator, name, hands // 2, tables) for operator in stage.operators]
        while any(load.process.running() for load in loads):
            time.sleep(0.5)
            shown.say(f"{sum(load.hands() for load in loads)} hands")
        return loads


def play_and_kill(stage, hands, tables, name, step, kills):
    """The same, and servers are killed one after the other in mid-hand; returns the loads and the times of the kills."""
    with step(f"{hands} hands at {2 * tables} tables, {kills} kills of a server in mid-hand") as shown:
        loads = [Load(stage, operator, name, hands // 2, tables) for operator in stage.operators]
        times = []
        while any(load.process.running() for load in loads):
            time.sleep(0.2)
            played = sum(load.hands() for load in loads)
            if len(times) < kills and played >= (len(times) + 1) * hands // (kills + 1):
                replica = stage.replicas[-1 - len(times) % len(stage.replicas)]
                replica.kill()
                times.append(time.time())
                time.sleep(2)
                replica.start()
            shown.say(f"{played} hands, {len(times)} kills")
        return loads, times
