"""Whether this machine can fence commands with bubblewrap, and what every fence shows of it."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

from paddock.core.fence import Ability, Level
from paddock.sessions.fence import Fence, System, fence_argv

PROGRAM = "bwrap"
PROBE_SECONDS = 10.0
_ROOT_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_READABLE = (
    *("/usr", "/etc", "/opt", "/nix", "/gnu", "/snap", "/run/current-system", "/run/opengl-driver"),
    *("/sys/block", "/sys/bus", "/sys/class", "/sys/dev", "/sys/devices", "/var/lib/ca-certificates"),
)
# Readable by root alone, and an agent may run as root.
_SECRET_FILES = ("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/krb5.keytab")
_SECRET_FOLDERS = ("/etc/ssh", "/etc/ssl/private", "/etc/sudoers.d", "/etc/wireguard", "/etc/NetworkManager")
_PACKAGE_MANAGERS = {
    "apt-get": "apt-get install bubblewrap",
    "dnf": "dnf install bubblewrap",
    "pacman": "pacman -S bubblewrap",
    "zypper": "zypper install bubblewrap",
    "apk": "apk add bubblewrap",
}


@cache
def this_system() -> System:
    """Looked at once: what is at the root of a machine does not change under a daemon."""
    roots = [Path("/", name) for name in _ROOT_FOLDERS]
    links = tuple((os.readlink(path), str(path)) for path in roots if path.is_symlink())
    folders = tuple(path for path in roots if path.is_dir() and not path.is_symlink())
    resolver = Path(os.path.realpath("/etc/resolv.conf"))
    return System(
        program=shutil.which(PROGRAM) or PROGRAM,
        reads=(*folders, *filter(Path.exists, map(Path, _READABLE)), resolver),
        links=links,
        hidden_files=tuple(filter(Path.is_file, map(Path, _SECRET_FILES))),
        hidden_folders=tuple(filter(Path.is_dir, map(Path, _SECRET_FOLDERS))),
    )


def fencing_ability() -> Ability:
    if sys.platform != "linux":
        return Ability("it needs bubblewrap, which is for Linux", "run Paddock on Linux")
    program = shutil.which(PROGRAM)
    return Ability("bubblewrap is not installed", install_bubblewrap()) if program is None else _try_out(program)


@cache
def _try_out(program: str) -> Ability:
    """Found out by making a fence, once: many containers have the program and may not use it."""
    try:
        system = replace(this_system(), program=program)
        argv = fence_argv(Fence(Level.FILES), system, Path("/"), ("true",))
        done = subprocess.run(
            ("/bin/sh", "-c", 'exec 4>/dev/null; exec "$@"', "probe", *argv),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Ability(f"bubblewrap cannot be run: {error}", "try `bwrap --ro-bind / / true`")
    if done.returncode == 0:
        return Ability()
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    reason = said[-1].removeprefix("bwrap: ") if said else f"it exits with {done.returncode}"
    return Ability(
        f"bubblewrap is not allowed to make one here: {reason}",
        "allow user namespaces (`sysctl kernel.unprivileged_userns_clone user.max_user_namespaces`, AppArmor, "
        "or the container's seccomp profile)",
    )


def install_bubblewrap() -> str:
    """The command that installs it, by the package manager that is here."""
    found = next((command for name, command in _PACKAGE_MANAGERS.items() if shutil.which(name)), None)
    return f"install it: `{found}`" if found else "install the package `bubblewrap`"
