"""Processes of the run, each with a log in a file: started at free ports, looked after, and ended with the run."""

import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

PATIENCE = 60
TAIL = 15


class Broken(Exception):
    """A process did not start, or ended by itself."""


class Process:
    """A process; what it says is added to its log."""

    # All that were ever started, so that none is left behind.
    every = []

    def __init__(self, name, command, folder, environment=None):
        self.name, self.command, self.folder = name, [str(word) for word in command], folder
        self.log, self.environment = folder / f"{name}.log", environment
        self.started = None
        Process.every.append(self)
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(
                self.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder, env=self.environment)
        self.started = time.time()

    def until(self, ready, what="is not ready"):
        """Waits until this holds."""
        end = time.monotonic() + PATIENCE
        while not ready():
            if self.child.poll() is not None:
                raise Broken(f"{self.name} ended by itself with {self.child.returncode}:\n{self.last_words()}")
            if time.monotonic() > end:
                raise Broken(f"{self.name} {what}:\n{self.last_words()}")
            time.sleep(0.05)
        return self

    def listens(self, port):
        """Waits until it takes connections."""
        return self.until(lambda: connects(port))

    def answers(self, url):
        """Waits until it answers at this URL."""
        return self.until(lambda: gets(url))

    def kill(self):
        """Ends it as a power cut would."""
        self.child.kill()
        self.child.wait()

    def signal(self, name):
        """Stops it in its tracks (STOP), lets it go on (CONT)."""
        self.child.send_signal(getattr(signal, f"SIG{name}"))

    def wait(self, patience):
        """Its exit code, once it has ended by itself."""
        try:
            return self.child.wait(patience)
        except subprocess.TimeoutExpired:
            raise Broken(f"{self.name} has not ended after {patience} s:\n{self.last_words()}") from None

    def running(self):
        return self.child.poll() is None

    def end(self):
        """Asks it to end, and does not wait for ever."""
        if self.running():
            self.signal("CONT")
            self.child.terminate()
            try:
                self.child.wait(15)
            except subprocess.TimeoutExpired:
                self.kill()

    def last_words(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-TAIL:])


def connects(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def gets(url):
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False
