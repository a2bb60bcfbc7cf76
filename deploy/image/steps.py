"""Carries out a Dockerfile on this machine: in an overlay over its own root, which stands in for the base image.

It knows the instructions and forms that deploy/Dockerfile uses, and refuses all others.
"""

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path


class Stage:
    """A FROM and what follows it."""

    def __init__(self, base, name):
        self.base, self.name = base, name
        self.instructions, self.env, self.config = [], {}, {"workdir": "/", "env": {}, "labels": {}, "expose": []}


def read(path):
    """The global ARGs with their defaults, and the stages."""
    lines, whole = [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("#") or (not whole and not line.strip()):
            continue
        whole += line.rstrip()
        if whole.endswith("\\"):
            whole = whole[:-1]
            continue
        lines.append(whole)
        whole = ""
    given, stages = {}, []
    for line in lines:
        word, rest = line.split(None, 1)
        if word == "FROM":
            base, _, name = expand(rest, given).partition(" AS ")
            stages.append(Stage(base, name))
        elif not stages:
            assert word == "ARG", f"{word} before FROM"
            name, _, value = rest.partition("=")
            given[name] = value
        else:
            stages[-1].instructions.append((word, rest.strip()))
    return given, stages


def expand(text, names):
    """Puts in what ${NAME} stands for."""
    return re.sub(r"\$\{(\w+)\}", lambda match: names.get(match[1], ""), text)


def ignored(path, patterns):
    """Whether .dockerignore keeps a path out: the last pattern that fits it, or a folder above it, decides."""
    out = False
    for pattern in patterns:
        keep, pattern = pattern.startswith("!"), pattern.removeprefix("!")
        parts = Path(path).parts
        if any(fnmatch.fnmatch("/".join(parts[:depth]), pattern) for depth in range(1, len(parts) + 1)):
            out = not keep
    return out


def context(tree):
    """The files that would be sent to the builder."""
    lines = (tree / ".dockerignore").read_text(encoding="utf-8").splitlines()
    patterns = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=tree, check=True,
                            capture_output=True, text=True).stdout.split("\0")
    return [path for path in listed if path and not ignored(path, patterns) and (tree / path).is_file()]


def inside(root, path):
    return root / path.lstrip("/")


class Builder:
    """Carries out the stages: those on a base image below `roots`, those from scratch in an empty folder there."""

    def __init__(self, tree, given, arguments, scratch, shared):
        self.tree, self.given, self.arguments = tree, given, arguments
        self.scratch, self.shared, self.roots = scratch, shared, {}
        self.files = context(tree)

    def carry_out(self, stage):
        """Gives the root of what the stage made."""
        root = self.scratch / (stage.name or "image")
        if stage.base == "scratch":
            root.mkdir()
        else:
            self._overlay(root)
        self.roots[stage.name] = root
        for word, rest in stage.instructions:
            print(f"   {word} {rest}", flush=True)
            getattr(self, f"_{word.lower()}")(stage, root, rest)
        return root

    def _overlay(self, root):
        """This machine's own root, with a layer above it that takes all writes."""
        upper, work = self.scratch / "upper", self.scratch / "work"
        for folder in (upper, work, root):
            folder.mkdir()
        layers = f"lowerdir=/,upperdir={upper},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, root], check=True)
        for mount in ("proc", "dev"):
            subprocess.run(["mount", "--rbind", f"/{mount}", root / mount], check=True)
        # What lies on other file systems, and what is shared with other builds.
        for outside, place in self.shared.items():
            inside(root, place).mkdir(parents=True, exist_ok=True)
            subprocess.run(["mount", "--bind", outside, inside(root, place)], check=True)

    def _arg(self, stage, root, rest):
        name, _, value = rest.partition("=")
        stage.env[name] = self.arguments.get(name, value or self.given.get(name, ""))

    def _env(self, stage, root, rest):
        for pair in shlex.split(expand(rest, stage.env)):
            name, _, value = pair.partition("=")
            stage.env[name] = stage.config["env"][name] = value

    def _label(self, stage, root, rest):
        pairs = (pair.partition("=") for pair in shlex.split(expand(rest, stage.env)))
        stage.config["labels"].update({name: value for name, _, value in pairs})

    def _workdir(self, stage, root, rest):
        stage.config["workdir"] = rest
        inside(root, rest).mkdir(parents=True, exist_ok=True)

    def _user(self, stage, root, rest):
        stage.config["user"] = rest

    def _expose(self, stage, root, rest):
        stage.config["expose"].append(rest)

    def _stopsignal(self, stage, root, rest):
        stage.config["stopsignal"] = rest

    def _entrypoint(self, stage, root, rest):
        stage.config["entrypoint"] = json.loads(rest)

    def _cmd(self, stage, root, rest):
        stage.config["cmd"] = json.loads(rest)

    def _copy(self, stage, root, rest):
        words, source, owner = rest.split(), None, None
        while words[0].startswith("--"):
            option, _, value = words.pop(0).partition("=")
            if option == "--from":
                source = self.roots[value]
            else:
                assert option == "--chown", option
                owner = [int(number) for number in value.split(":")]
        *what, to = words
        target = inside(root, os.path.join(stage.config["workdir"], to))
        for name in what:
            if source is not None:
                _copy(inside(source, name), target, to.endswith("/"))
            else:
                self._from_context(name, target, to.endswith("/"))
        if owner:
            os.chown(target, *owner)

    def _from_context(self, name, target, folder):
        found = [path for path in self.files if path == name or path.startswith(f"{name}/")]
        assert found, f"{name} is not in the context: see .dockerignore"
        for path in found:
            rest = Path(path).relative_to(name)
            place = target / Path(path).name if rest == Path(".") and folder else target / rest
            _copy(self.tree / path, place, False)

    def _run(self, stage, root, rest):
        env = {name: os.environ[name] for name in ("PATH", "HOME", "CARGO_BUILD_JOBS") if name in os.environ} | stage.env
        command = ["chroot", root, "/bin/sh", "-c", f'cd "{stage.config["workdir"]}" && {rest}']
        subprocess.run(command, env=env, check=True)


def _copy(source, target, into):
    target = target / source.name if into else target
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        # With the time of the file, as Docker does.
        shutil.copy2(source, target)
