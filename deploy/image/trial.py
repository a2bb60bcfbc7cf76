"""Tries an image's files as Kubernetes would run them: as its user, on a read-only root, with only its writable folder."""

import contextlib
import ctypes
import json
import os
import secrets
import socket
import struct
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

WRITABLE = "/var/lib/fulcrum"
# Those that the OCI's runtime specification has in every container.
DEVICES = ("full", "null", "random", "urandom", "zero")
LONG = 30
NO_NEW_PRIVS = 38
NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
REDIS_PORT, DNS_PORT = 6399, 53


class Image:
    """A root that nobody can write to, and its program."""

    def __init__(self, root, config):
        self.root, self.config = root, config
        self.user, self.group = (int(number) for number in config["user"].split(":"))
        self.writable = root / WRITABLE.lstrip("/")

    def mount(self):
        """The image read only, its writable folder apart, and /proc and /dev as in every container."""
        for folder in ("proc", "dev"):
            (self.root / folder).mkdir(exist_ok=True)
        subprocess.run(["mount", "--bind", self.root, self.root], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", self.root], check=True)
        subprocess.run(["mount", "-t", "proc", "proc", self.root / "proc"], check=True)
        devices = self.root / "dev"
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", devices], check=True)
        for device in DEVICES:
            (devices / device).touch()
            subprocess.run(["mount", "--bind", f"/dev/{device}", devices / device], check=True)
        subprocess.run(["mount", "-o", "remount,ro", devices], check=True)
        owner = f"uid={self.user},gid={self.group},mode=0700"
        subprocess.run(["mount", "-t", "tmpfs", "-o", owner, "tmpfs", self.writable], check=True)

    def _enter(self):
        os.chroot(self.root)
        os.chdir(self.config["workdir"])
        os.setgroups([])
        os.setresgid(self.group, self.group, self.group)
        os.setresuid(self.user, self.user, self.user)
        LIBC.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)

    def start(self, *arguments, **env):
        command = [*self.config["entrypoint"], *arguments]
        env = {**self.config["env"], **env}
        return subprocess.Popen(command, env=env, preexec_fn=self._enter, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments, **env):
        """Exit code, output, errors."""
        process = self.start(*arguments, **env)
        output, errors = process.communicate(timeout=120)
        return process.returncode, output, errors


class Server:
    """`fulcrum serve` in the image."""

    def __init__(self, image, *arguments, **env):
        places = ["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:9464", "--log-format", "json"]
        self.process = image.start("serve", *places, *arguments, **env)
        self.lines, ready = [], threading.Event()

        def read():
            for line in self.process.stderr:
                # The last line of a server that fails is for people.
                self.lines.append(json.loads(line) if line.startswith("{") else {"level": "FAILED", "message": line})
                if self.lines[-1].get("event") == "ready":
                    ready.set()
            ready.set()

        self.reader = threading.Thread(target=read, daemon=True)
        self.reader.start()
        ready.wait(LONG)
        said = next((line for line in self.lines if line.get("event") == "ready"), None)
        if said is None:
            self.process.kill()
            raise AssertionError(f"not ready: {self.lines}")
        self.address = said["address"]

    def metric(self, name):
        with urllib.request.urlopen("http://127.0.0.1:9464/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        return next(line.split(" ")[1] for line in lines if line.startswith(f"{name} "))

    def end(self):
        """Asks it to end: exit code, how long that took, what it had logged worse than info."""
        began = time.monotonic()
        self.process.terminate()
        code = self.process.wait(LONG)
        self.reader.join(LONG)
        # That nobody is asked who he is is right here, where nobody else is.
        told = [line for line in self.lines if line["level"] not in ("INFO", "DEBUG") and line.get("event") != "insecure"]
        return code, time.monotonic() - began, told


def run(root, config, scratch):
    """Makes all trials; gives what went wrong."""
    if LIBC.unshare(NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "a network of its own")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    image, faults = Image(root, config), []
    (root / "etc" / "hosts").write_text("127.0.0.1 redis.by-file.test\n", encoding="utf-8")
    (root / "etc" / "resolv.conf").write_text("nameserver 127.0.0.1\n", encoding="utf-8")
    image.mount()
    serve_names()
    for name, made in [
        ("what is in it", contents), ("--help and --version", helps), ("it does not serve strangers", guarded),
        ("nothing else can be written", sealed), ("tables in a file", in_a_file),
        ("tables in Redis, found by /etc/hosts", lambda image: in_redis(image, "redis.by-file.test", scratch)),
        ("tables in Redis, found by DNS", lambda image: in_redis(image, "redis.by-dns.test", scratch)),
    ]:
        try:
            print(f"ok    {name}: {made(image)}", flush=True)
        except Exception as why:  # noqa: BLE001: a fault of one trial is a finding, and the others go on
            print(f"FAULT {name}: {why!r}", flush=True)
            faults.append(name)
    return faults


def demand(holds, what):
    if not holds:
        raise AssertionError(what)


def contents(image):
    files = []
    for folder, folders, names in os.walk(image.root):
        folders[:] = [name for name in folders if Path(folder, name) not in (image.root / "proc", image.root / "dev")]
        files += [str(Path(folder, name).relative_to(image.root)) for name in names]
    files.sort()
    demand(files == ["etc/hosts", "etc/nsswitch.conf", "etc/resolv.conf", "fulcrum"], files)
    program = image.root / "fulcrum"
    headers = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
    dynamic = subprocess.run(["readelf", "-dW", program], check=True, capture_output=True, text=True).stdout
    demand("INTERP" not in headers and "NEEDED" not in dynamic, "it is not static")
    demand(program.stat().st_mode & 0o7777 == 0o555, oct(program.stat().st_mode))
    kind = "position-independent" if "DYN" in headers.split("\n\n")[0] else "at a fixed address"
    return f"one static program, {kind}, of {program.stat().st_size / 1e6:.1f} MB"


def helps(image):
    code, output, errors = image.run("--help")
    demand((code, errors) == (0, "") and "Poker tables" in output, (code, output, errors))
    code, version, _ = image.run("--version")
    demand(code == 0, code)
    return version.strip()


def guarded(image):
    code, _, errors = image.run(*image.config["cmd"])
    demand(code == 2 and "--token-file" in errors, (code, errors))
    return f"exit code {code} without a token file"


def sealed(image):
    code, _, errors = image.run("serve", "--listen", "127.0.0.1:0", "--store", "/tables.redb")
    demand(code != 0 and "Read-only file system" in errors, (code, errors))
    return errors.strip().splitlines()[0]


def played(image, server):
    arguments = ["--address", f"http://{server.address}", "--tables", "2", "--hands", "10", "--think", "5ms"]
    code, output, errors = image.run("load", *arguments)
    demand(code == 0, (code, output, errors))
    demand(server.metric("fulcrum_binary_unchanged") == "1", "the program cannot read its own file")


def ended(server):
    code, took, bad = server.end()
    bad = [line for line in bad if line.get("event") != "redis_unfit"]
    demand(code == 0 and not bad, (code, bad))
    return f"10 hands played, ended {took:.2f} s after SIGTERM"


def in_a_file(image):
    server = Server(image, "--store", f"{WRITABLE}/tables.redb")
    played(image, server)
    said = ended(server)
    files = sorted(path.name for path in image.writable.iterdir())
    code, output, errors = image.run("store", "check", "--store", f"{WRITABLE}/tables.redb")
    demand(code == 0, (code, output, errors))
    return f"{said}; in {WRITABLE}: {', '.join(files)}"


def in_redis(image, name, scratch):
    folder = scratch / name
    folder.mkdir()
    options = ["--port", str(REDIS_PORT), "--appendonly", "yes", "--save", "", "--dir", folder]
    for leftover in image.writable.iterdir():
        leftover.unlink()
    with process(["redis-server", *options]):
        wait_for(REDIS_PORT)
        key = f"k1 {secrets.token_hex(32)}"
        server = Server(image, "--redis", f"redis://{name}:{REDIS_PORT}", FULCRUM_CARD_KEY=key)
        played(image, server)
        said = ended(server)
    demand(not list(image.writable.iterdir()), "it has written something")
    return f"{said}; nothing written"


@contextlib.contextmanager
def process(command):
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield running
    finally:
        running.kill()
        running.wait()


def wait_for(port):
    until = time.monotonic() + LONG
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        demand(time.monotonic() < until, f"nobody listens at {port}")
        time.sleep(0.05)


def serve_names():
    """A name server that knows one name, to the end of this process."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", DNS_PORT))

    def serve():
        while True:
            query, whom = server.recvfrom(512)
            server.sendto(answer(query), whom)

    threading.Thread(target=serve, daemon=True).start()


def answer(query):
    """An A record for redis.by-dns.test, an empty answer for its other types, NXDOMAIN for all other names."""
    end = query.index(b"\0", 12) + 5
    question, kind = query[12:end], struct.unpack(">H", query[end - 4:end - 2])[0]
    known = question.startswith(b"\x05redis\x06by-dns\x04test\0")
    records = struct.pack(">HHHIH4B", 0xC00C, 1, 1, 1, 4, 127, 0, 0, 1) if known and kind == 1 else b""
    flags = 0x8180 if known else 0x8183
    return query[:2] + struct.pack(">HHHHH", flags, 1, len(records) // 16, 0, 0) + question + records
