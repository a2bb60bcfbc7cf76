"""The programs that the run needs, from Go modules, Debian's packages and PyPI, kept in a folder of their own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "deploy" / "shared"))

from machine import Missing, debian, free_ports  # noqa: E402, F401: asked for by way of this file

HERE = ROOT / "deploy" / "observe"
CACHE = Path(os.environ.get("FULCRUM_OBSERVE_CACHE", Path.home() / ".cache" / "fulcrum-observe"))
JAEGER_MODULE, JAEGER_VERSION = "github.com/jaegertracing/jaeger", "v1.76.0"
GO_PLACES = "/usr/local/go/bin:/usr/lib/go/bin"


def venv_python():
    """Python with what requirements.txt names; made at the first time."""
    venv = CACHE / "venv"
    python, wanted = venv / "bin" / "python3", (HERE / "requirements.txt").read_text()
    done = venv / "requirements.txt"
    if not (done.exists() and done.read_text() == wanted):
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", HERE / "requirements.txt"], check=True)
        done.write_text(wanted)
    return python


def in_venv():
    """Goes on in that Python: what this file is called from begins anew there."""
    CACHE.mkdir(parents=True, exist_ok=True)
    python = venv_python()
    if Path(sys.prefix).resolve() != python.parent.parent.resolve():
        os.execv(python, [str(python), *sys.argv])


def jaeger(say=lambda note: None):
    """Jaeger, built from its Go module: minutes at the first time. Its pages are not in the module, its API is."""
    binary = CACHE / f"jaeger-{JAEGER_VERSION}"
    if binary.exists():
        return binary
    environment = {**os.environ, "PATH": f"{os.environ['PATH']}:{GO_PLACES}", "GOFLAGS": "-buildvcs=false"}
    go = shutil.which("go", path=environment["PATH"])
    if go is None:
        raise Missing("go is missing: Jaeger is built with Go 1.24.6 or later")
    say("getting the module")
    wanted = f"{JAEGER_MODULE}@{JAEGER_VERSION}"
    told = subprocess.run(
        [go, "mod", "download", "-json", wanted], env=environment, cwd=CACHE, check=True, capture_output=True)
    say("building: some minutes at the first time")
    # Beside others who need the machine, and under another name until it is whole.
    build = ["nice", "-n", "19", go, "build", "-trimpath", "-o", f"{binary}.new", "./cmd/jaeger"]
    subprocess.run(build, env=environment, cwd=json.loads(told.stdout)["Dir"], check=True, capture_output=True)
    os.rename(f"{binary}.new", binary)
    return binary


def contract():
    """The contract as Python modules, made from proto/ anew whenever it changes; returns their folder."""
    from grpc_tools import protoc

    out, protos = CACHE / "contract", sorted((ROOT / "proto" / "fulcrum" / "v1").glob("*.proto"))
    newest = max(proto.stat().st_mtime for proto in protos)
    mark = out / "made"
    if not (mark.exists() and mark.stat().st_mtime > newest and mark.read_text() == str(ROOT)):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        import grpc_tools

        standard = Path(grpc_tools.__file__).parent / "_proto"
        options = [f"-I{ROOT / 'proto'}", f"-I{standard}", f"--python_out={out}", f"--grpc_python_out={out}"]
        if protoc.main(["protoc", *options, *map(str, protos)]) != 0:
            raise Missing("the contract in proto/ could not be read")
        mark.write_text(str(ROOT))
    return out


def fulcrum(given):
    """The program: the one that was named, or what cargo built last."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = Path(given) if given else target / "release" / "fulcrum"
    if not binary.exists():
        raise Missing(f"{binary} is missing: cargo build --release, or name another one with --fulcrum")
    return binary.resolve()
