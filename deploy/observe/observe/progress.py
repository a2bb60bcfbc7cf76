"""What the run says while it works: a line a step, with a clock on a terminal, and the list of what was checked."""

import sys
import threading
import time

GREEN, RED, DIM, PLAIN = ("\033[32m", "\033[31m", "\033[2m", "\033[0m") if sys.stderr.isatty() else ("",) * 4
SHOWN = 6


class Step:
    """One step: a line that counts seconds while it runs, and says at the end what came of it."""

    def __init__(self, what):
        self.what, self.note, self.began = what, "", time.monotonic()
        self.over = threading.Event()
        self.ticking = None

    def __enter__(self):
        if sys.stderr.isatty():
            self.ticking = threading.Thread(target=self._tick, daemon=True)
            self.ticking.start()
        else:
            print(f"   … {self.what}", file=sys.stderr, flush=True)
        return self

    def say(self, note):
        """What it is at: shown behind the name of the step."""
        self.note = note

    def __exit__(self, kind, error, trace):
        self.over.set()
        if self.ticking:
            self.ticking.join()
        took = time.monotonic() - self.began
        mark = f"{RED}✗{PLAIN}" if kind else f"{GREEN}✓{PLAIN}"
        clear = "\r\033[K" if self.ticking else ""
        note = f": {self.note}" if self.note else ""
        print(f"{clear} {mark} {self.what}{note} {DIM}({took:.1f} s){PLAIN}", file=sys.stderr, flush=True)

    def _tick(self):
        frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
        count = 0
        while not self.over.wait(0.1):
            count += 1
            took = time.monotonic() - self.began
            line = f"\r\033[K {frames[count % len(frames)]} {self.what} {DIM}{took:.0f} s{PLAIN} {self.note}"
            print(line, end="", file=sys.stderr, flush=True)


def heading(text):
    """A new part of the run."""
    print(f"\n{text}", file=sys.stderr, flush=True)


class Report:
    """What was checked: how many things each check looked at, and what was wrong with which of them."""

    def __init__(self):
        self.checks = []

    def check(self, name, looked_at, faults, least=1):
        """A check. It fails when something is wrong, and when it had less to look at than it needs to mean anything."""
        faults = list(faults)
        if looked_at < least:
            faults.insert(0, f"only {looked_at} to look at, at least {least} were expected")
        self.checks.append({"check": name, "looked_at": looked_at, "faults": faults})
        mark = f"{RED}✗{PLAIN}" if faults else f"{GREEN}✓{PLAIN}"
        print(f" {mark} {name} {DIM}({looked_at} looked at){PLAIN}", file=sys.stderr, flush=True)
        for fault in faults[:SHOWN]:
            print(f"     {RED}{fault}{PLAIN}", file=sys.stderr, flush=True)
        if len(faults) > SHOWN:
            print(f"     {RED}… {len(faults) - SHOWN} more{PLAIN}", file=sys.stderr, flush=True)

    def note(self, text, lines):
        """Something to know that is no fault."""
        self.checks.append({"note": text, "faults": [], "lines": list(lines)})
        print(f" {DIM}·{PLAIN} {text}", file=sys.stderr, flush=True)
        for line in lines[:SHOWN]:
            print(f"     {DIM}{line}{PLAIN}", file=sys.stderr, flush=True)
        if len(lines) > SHOWN:
            print(f"     {DIM}… {len(lines) - SHOWN} more, in report.json{PLAIN}", file=sys.stderr, flush=True)

    def failed(self):
        """The names of the checks that failed."""
        return [check["check"] for check in self.checks if check["faults"]]
