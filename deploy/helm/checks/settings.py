"""Is the settings file that the chart makes one of the program's: against its defaults, and against the program itself."""

import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
import tomllib
from pathlib import Path

from .tools import ROOT

PATIENCE = 20
# What stands in for the Secrets, by the file's name.
STAND_INS = {
    "tokens": "acme a-token-that-is-long-enough-for-anybody\n",
    "admin-tokens": "root another-token-that-is-long-enough-for-anybody\n",
    "keys": f"k1 {'5a' * 32}\n",
    "token": "the-token-of-a-wallet\n",
    "jwks.json": json.dumps({"keys": [{
        "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "stand-in",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    }]}),
}


def defaults():
    """The program's defaults."""
    return tomllib.loads((ROOT / "services" / "config" / "default.toml").read_text())


def unlike(given, default, above=""):
    """Settings that the program does not have, or has of another kind."""
    for key, value in given.items():
        if key not in default:
            # Tables that are empty by default have the operators' names as keys.
            if default or not above:
                yield f"there is no setting {above}{key}"
        elif isinstance(default[key], dict) != isinstance(value, dict):
            yield f"{above}{key} is {type(value).__name__}"
        elif isinstance(value, dict):
            yield from unlike(value, default[key], f"{above}{key}.")
        elif not fits(value, default[key]):
            yield f"{above}{key} is {value!r}, by default {default[key]!r}"


def fits(value, default):
    """Whether a value is of the default's kind; a whole number may stand for a broken one, not the other way round."""
    if isinstance(default, float):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is type(default)


class Output:
    """The lines of a process, as they come."""

    def __init__(self, child):
        self.lines, self.child = queue.Queue(), child
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for line in self.child.stderr:
            self.lines.put(line)
        self.lines.put(None)

    def until(self, event):
        """The lines until one with this event, and whether it came."""
        said, end = [], time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                line = self.lines.get(timeout=0.5)
            except queue.Empty:
                continue
            if line is None:
                return said, False
            said.append(line)
            if line.startswith("{") and json.loads(line).get("event") == event:
                return said, True
        return said, False


def starts(program, text, rewrite):
    """Starts the program with the chart's settings, with tables in memory instead of Redis and Secrets that stand in, and ends
    it; what went wrong, in words. `rewrite(folder, text)` makes the stand-ins and returns the text that names them."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "fulcrum.toml"
        config.write_text(rewrite(Path(folder), text))
        environment = {key: value for key, value in os.environ.items() if not key.startswith("FULCRUM_")}
        command = [program, "serve", "--config", config, "--memory", "--listen", "127.0.0.1:0"]
        if "metrics" in tomllib.loads(text):
            command += ["--metrics", "127.0.0.1:0"]
        if "health" in tomllib.loads(text):
            command += ["--health", "127.0.0.1:0"]
        if "traces" in tomllib.loads(text):
            # Nobody is there, nor anywhere else that these settings name.
            command += ["--traces", "http://127.0.0.1:1"]
        child = subprocess.Popen(
            list(map(str, command)), env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        output = Output(child)
        try:
            said, ready = output.until("ready")
            if not ready:
                return f"the program does not start with these settings:\n{''.join(said)}"
            child.terminate()
            said, stopped = output.until("stopped")
            if not stopped or child.wait(PATIENCE) != 0:
                return f"the program does not end softly:\n{''.join(said)}"
        finally:
            child.kill()
            child.wait()
    return None


def stand_ins(folder, text):
    """Files in the place of those of the pod, and of what is at a URL."""
    moved = text.replace("/etc/fulcrum/", f"{folder}/")
    keys = tomllib.loads(text).get("jwt", {}).get("jwks", "")
    if keys.startswith("http"):
        moved = moved.replace(f'"{keys}"', f'"{folder}/jwks.json"')
    for setting in paths(tomllib.loads(moved)):
        path = Path(setting)
        path.parent.mkdir(parents=True, exist_ok=True)
        name = "admin-tokens" if path.parent.name == "admin-tokens" else path.name
        if name in STAND_INS:
            path.write_text(STAND_INS[name])
        else:
            shutil.copy(pair(folder, "key" if path.suffix == ".key" else "crt"), path)
        path.chmod(0o600)
    return moved


def paths(settings):
    """All values that name files."""
    for value in settings.values():
        if isinstance(value, dict):
            yield from paths(value)
        elif isinstance(value, str) and value.startswith("/"):
            yield value


def pair(folder, kind):
    """A certificate that signs itself, or its key."""
    made = {"crt": Path(folder) / "stand-in.crt", "key": Path(folder) / "stand-in.key"}
    if not made["crt"].exists():
        words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-subj", "/CN=stand-in", "-addext", "subjectAltName=DNS:stand-in"]
        subprocess.run([*words, "-keyout", made["key"], "-out", made["crt"]], check=True, capture_output=True)
    return made[kind]
