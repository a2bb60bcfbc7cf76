"""What a fault is, and what several of them use."""

import threading
from dataclasses import dataclass
from typing import Callable


@dataclass
class Fault:
    """What is done, which alerts it is to bring about, and how: `make` returns what undoes it."""

    what: str
    alerts: list
    make: Callable


class Again:
    """Does something again and again until it is stopped."""

    def __init__(self, act, pause=0.0, threads=1):
        self.act, self.pause, self.over = act, pause, threading.Event()
        self.threads = [threading.Thread(target=self._go, args=(number,), daemon=True) for number in range(threads)]
        for thread in self.threads:
            thread.start()

    def _go(self, number):
        while not self.over.wait(self.pause):
            try:
                self.act(number)
            except Exception:  # noqa: BLE001: servers that are being hurt answer with all sorts of errors
                self.over.wait(0.2)

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join(15)
