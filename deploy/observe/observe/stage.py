"""The stage: Redis, three servers on it and one with TLS, two operators, and what looks at them. Everything at free ports, in
one folder."""

import os
import subprocess
from pathlib import Path

from . import tools
from .backends import Jaeger, Prometheus
from .process import Process, gets
from .tools import free_ports

REPLICAS = 3
HISTORY = 1_000_000
OPENING = 1_000_000_000


class Operator:
    """An operator: his name and token, and his backend, which books settlement records and may be a wallet."""

    def __init__(self, name, folder, wallet):
        self.name, self.token, self.wallet = name, f"{name}-token-0123456789abcdef", wallet
        self.folder, self.port = folder / name, free_ports(1)[0]
        self.folder.mkdir()
        self.secret = self.folder / "wallet-token"
        self.secret.write_text(f"{name}-wallet-0123456789abcdef\n")
        self.process = None

    def start(self, binary, server):
        """His backend, as a consumer of the records of this server."""
        command = [
            binary, "operator", "--listen", f"127.0.0.1:{self.port}", "--file", self.folder / "books.redb",
            "--token-file", self.secret, "--faults", self.folder / "faults", "--open-balance", OPENING,
            "--fulcrum", server, "--token", self.token, "--consumer", "books",
        ]
        self.process = Process("backend", command, self.folder).listens(self.port)

    def misbehave(self, *faults):
        """What his wallet does wrong from now on; nothing makes it well again."""
        new = self.folder / "faults.new"
        new.write_text("".join(f"{fault}\n" for fault in faults))
        os.rename(new, self.folder / "faults")


class Replica:
    """A server."""

    def __init__(self, number, stage, *more):
        self.number, self.stage = number, stage
        self.port, self.metrics = stage.ports[number - 1], stage.admin[number - 1]
        self.address, self.target = f"http://127.0.0.1:{self.port}", f"127.0.0.1:{self.metrics}"
        # One of them tells all it can: the scan for cards and names reads that, too.
        level = "trace" if number == 1 else "info"
        command = [
            stage.binary, "serve", "--config", stage.folder / "fulcrum.toml", "--listen", f"127.0.0.1:{self.port}",
            "--metrics", self.target, "--log", level, *more,
        ]
        self.process = Process(f"server-{number}", command, stage.folder).listens(self.port)

    def kill(self):
        self.process.kill()

    def start(self):
        self.process.start()
        self.process.listens(self.port)


class Guarded(Replica):
    """A server with TLS. Nobody calls it; it does its part of what goes on without calls, and tells of its certificate."""

    def __init__(self, number, stage):
        self.certificate, self.key = stage.folder / "cert.pem", stage.folder / "key.pem"
        self.certify(stage.folder, 90)
        super().__init__(number, stage, "--tls-cert-file", self.certificate, "--tls-key-file", self.key)

    def certify(self, folder, days):
        """A new certificate, good for so long. A server that runs takes it by itself."""
        new = [folder / "cert.new", folder / "key.new"]
        command = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
            "-days", str(days), "-out", new[0], "-keyout", new[1],
        ]
        subprocess.run(command, check=True, capture_output=True)
        for made, place in zip(reversed(new), (self.key, self.certificate)):
            os.rename(made, place)


class Stage:
    """Everything that runs."""

    def __init__(self, folder, binary, rules, fast_rules):
        self.folder, self.binary = Path(folder), binary
        self.guarded = None
        self.replicas, self.operators, self.jaeger, self.prometheus, self.fast, self.redis = [], [], None, None, None, None
        self.rules, self.fast_rules = rules, fast_rules
        self.ports, self.admin = free_ports(REPLICAS + 1), free_ports(REPLICAS + 1)

    def start(self, step):
        """Starts everything, in order; step(what) is the display."""
        with step("Jaeger") as shown:
            self.jaeger = Jaeger.start(self.folder, tools.jaeger(shown.say))
            shown.say(f"{self.jaeger.url}, OTLP at 127.0.0.1:{self.jaeger.otlp}")
        with step("Redis"):
            self.start_redis()
        with step(f"{REPLICAS} servers, and one with TLS") as shown:
            self.operators = [Operator("north", self.folder, False), Operator("south", self.folder, True)]
            self.write_settings()
            self.replicas = [Replica(number, self) for number in range(1, REPLICAS + 1)]
            self.guarded = Guarded(REPLICAS + 1, self)
            shown.say(" ".join(replica.address for replica in self.replicas))
        with step("the operators' backends"):
            for operator, replica in zip(self.operators, self.replicas):
                operator.start(self.binary, replica.address)
        with step("Prometheus, and a second one with rules in quick motion") as shown:
            targets = [server.target for server in self.servers()]
            self.prometheus = Prometheus.start("prometheus", self.folder, targets, self.rules)
            self.fast = Prometheus.start("prometheus-fast", self.folder, targets, self.fast_rules)
            self.fast.process.until(lambda: len(self.fast.targets_up()) == len(targets), "does not reach the servers")
            # Before the first scrape there was nothing to scrape, and an alert says so.
            calm = lambda: not self.fast.at('ALERTS{alertstate="firing"}')
            self.fast.process.until(calm, "has alerts before anything was played")
            shown.say(f"{self.prometheus.url}, {self.fast.url}")
        return self

    def start_redis(self):
        """Redis as deploy/redis.md wants it, on the same files each time."""
        if self.redis is None:
            (self.redis_port,) = free_ports(1)
            data = self.folder / "redis"
            data.mkdir()
            command = [
                tools.debian("redis-server", "redis-server"), "--port", self.redis_port, "--bind", "127.0.0.1", "--dir", data,
                "--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction", "--stream-node-max-bytes", "1024",
            ]
            self.redis = Process("redis", command, self.folder)
        else:
            self.redis.start()
        self.redis.listens(self.redis_port)

    def write_settings(self):
        """The servers' settings file, tokens and key."""
        tokens, keys = self.folder / "tokens", self.folder / "keys"
        tokens.write_text("".join(f"{operator.name} {operator.token}\n" for operator in self.operators))
        keys.write_text(f"k1 {'5a' * 32}\n")
        keys.chmod(0o600)
        lines = [
            f'redis = "redis://127.0.0.1:{self.redis_port}?history={HISTORY}"',
            "drain_seconds = 1", f'token_file = "{tokens}"', f'key_file = "{keys}"', "[log]", 'format = "json"',
            # Short, so that a wallet's fault comes to its end while the run looks on.
            "[wallet]", "deadline_ms = 1000", "park_after_seconds = 10",
        ]
        for operator in self.operators:
            if operator.wallet:
                lines += [f"[wallets.{operator.name}]", f'address = "http://127.0.0.1:{operator.port}"',
                          f'token_file = "{operator.secret}"']
        if self.traces():
            lines += ["[traces]", f'endpoint = "http://127.0.0.1:{self.jaeger.otlp}"', "ratio = 1.0"]
        (self.folder / "fulcrum.toml").write_text("\n".join(lines) + "\n")

    def servers(self):
        """All of them."""
        return [*self.replicas, self.guarded]

    def traces(self):
        """Whether this program has traces at all."""
        told = subprocess.run([self.binary, "serve", "--print-config"], capture_output=True, text=True, check=True)
        return "[traces]" in told.stdout

    def well(self):
        """Whether all servers serve and are scraped."""
        return all(gets(f"http://{r.target}/metrics") and self._serves(r) for r in self.replicas)

    def _serves(self, replica):
        from .service import Client, stubs

        stubs()
        import grpc

        try:
            with Client(replica.address, self.operators[0].token) as client:
                client.tables()
            return True
        except grpc.RpcError:
            return False

    def redis_cli(self, *words):
        """A command to Redis."""
        told = subprocess.run(
            ["redis-cli", "-p", str(self.redis_port), *words], capture_output=True, text=True, timeout=20, check=False)
        return told.stdout.strip()

    @staticmethod
    def end():
        """Ends all that was started, last things first."""
        for process in reversed(Process.every):
            process.end()
