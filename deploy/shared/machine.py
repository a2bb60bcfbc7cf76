"""What the scripts in deploy ask of the machine that they run on: programs of its packages, and ports that are free."""

import os
import shutil
import socket
import subprocess


class Missing(Exception):
    """A program is not there and cannot be had from here."""


def debian(command, package):
    """A program of a Debian package, which is installed if it is not there and we may."""
    found = shutil.which(command)
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        # Installed services are not to start by themselves beside ours.
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
        subprocess.run(["apt-get", "-qq", "update"], check=True, env=quiet)
        subprocess.run(["apt-get", "-qq", "install", "-y", package], check=True, env=quiet, stdout=subprocess.DEVNULL)
        found = shutil.which(command)
    if found is None:
        raise Missing(f"{command} is missing; install the package {package}")
    return found


def free_ports(count):
    """So many ports of this machine that nobody listens at, all different."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
