"""A Kubernetes API server with its etcd, on loopback, without anything that would run pods."""

import secrets
import subprocess
import time
from pathlib import Path

from . import tools

PATIENCE = 90
KUBECONFIG = """
apiVersion: v1
kind: Config
clusters:
  - {{name: here, cluster: {{server: "https://127.0.0.1:{port}", certificate-authority: "{folder}/certificates/apiserver.crt"}}}}
users:
  - {{name: admin, user: {{token: "{token}"}}}}
contexts:
  - {{name: here, context: {{cluster: here, user: admin}}}}
current-context: here
"""


class Broken(Exception):
    """A process did not start, or a command failed that must not."""


class Cluster:
    """The two processes, and kubectl and helm to speak with them."""

    def __init__(self, folder):
        self.folder, self.children = Path(folder), []
        self.clients, self.peers, self.port = tools.free_ports(3)
        self.kubeconfig = self.folder / "kubeconfig"

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            child.terminate()
        for child in reversed(self.children):
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def start(self):
        """Starts both, and waits until they are ready."""
        key, token = self.folder / "accounts.key", secrets.token_hex(16)
        subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
        (self.folder / "tokens.csv").write_text(f'{token},admin,admin,"system:masters"\n')
        (self.folder / "certificates").mkdir()
        self.kubeconfig.write_text(KUBECONFIG.format(port=self.port, folder=self.folder, token=token))
        client, peer = f"http://127.0.0.1:{self.clients}", f"http://127.0.0.1:{self.peers}"
        self.process(
            "etcd", tools.debian("etcd", "etcd-server"), f"--data-dir={self.folder}/etcd", f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}", "--unsafe-no-fsync")
        server = self.process(
            "apiserver", tools.kubernetes("kube-apiserver"), f"--etcd-servers={client}", "--bind-address=127.0.0.1",
            f"--secure-port={self.port}", "--advertise-address=127.0.0.1", f"--cert-dir={self.folder}/certificates",
            f"--token-auth-file={self.folder}/tokens.csv", "--authorization-mode=RBAC", "--anonymous-auth=false",
            "--service-cluster-ip-range=10.96.0.0/16", "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}",
            # Nobody is to find this server by an address.
            "--endpoint-reconciler-type=none")
        end = time.monotonic() + PATIENCE
        while self.run(tools.kubernetes("kubectl"), "get", "--raw", "/readyz").stdout != "ok":
            if server.poll() is not None or time.monotonic() > end:
                log = (self.folder / "apiserver.log").read_text().splitlines()
                raise Broken("the API server does not start:\n" + "\n".join(log[-15:]))
            time.sleep(0.5)

    def process(self, name, program, *words):
        """Starts a process with its log in the folder."""
        with open(self.folder / f"{name}.log", "wb") as log:
            child = subprocess.Popen(
                [str(program), *map(str, words)], stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder)
        self.children.append(child)
        return child

    def run(self, program, *words, text=None):
        """Runs a program against this API server, whatever other one the user's own settings name."""
        environment = {**tools.environment(), "KUBECONFIG": str(self.kubeconfig), "HOME": str(self.folder)}
        return subprocess.run(
            [str(program), *map(str, words)], input=text, capture_output=True, text=True, env=environment, check=False)

    def kubectl(self, *words, text=None):
        """kubectl, which has to succeed."""
        told = self.run(tools.kubernetes("kubectl"), *words, text=text)
        if told.returncode != 0:
            raise Broken(f"kubectl {' '.join(map(str, words))}: {told.stderr.strip()[:1500]}")
        return told

    def helm(self, *words):
        """helm, which has to succeed."""
        told = self.run(tools.helm(), *words)
        if told.returncode != 0:
            raise Broken(f"helm {' '.join(map(str, words))}: {told.stderr.strip()[:1500]}")
        return told
