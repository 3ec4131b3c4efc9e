"""The place attacks happen in: a repository with a remote, a person's uncommitted work, CI, and secrets to look for."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from paddock.core.errors import PaddockError
from paddock.core.fence import Level
from tests.fleet.yard import Yard, build_yard
from tests.hostile.attack import Attack

CI_SCRIPT = """\
if grep -rlx bad parts 2>/dev/null; then echo "a part is bad"; exit 1; fi
for test in tests/*.sh; do
  [ ! -e "$test" ] || sh "$test" || exit 1
done
echo "all parts are good"
"""
TOML = """\
engine = "scripted"
[land]
ci = "sh ./ci.sh"
approval = "none"
slots = 2
timeout = "60s"
{remote}
[engines.sh]
command = ["bash", "-c", "{{task}}"]
[engines.listens]
command = ["bash", "-c", "{{task}}"]
listens = true
[engines.json]
command = ["bash", "-c", "{{task}}"]
format = "claude-stream"
[agents.hostile]
engine = "sh"
fence = "{level}"
"""
SECRETS = {
    "the ssh key": "canary-ssh-5c1d",
    "the daemon's environment": "canary-env-90ab",
    "your .env": "canary-dotenv-77e2",
    "another attempt's file": "canary-beside-1f3b",
    "another task's brief": "canary-brief-e844",
    "an earlier conversation": "canary-earlier-3c7a",
}
PRELUDE = """\
NAME={name}; YARD={yard}; TOP={top}; GITDIR=$TOP/.git; STATE=$GITDIR/paddock; LOG=$STATE/log.db; ROOT={root}
UHOME={home}; DROP=$YARD/drop; HUB=$YARD/hub.git; FIRST={first}; PY={python}; HERE=$PWD; PORT={port}
ulimit -u 4000 -c 0
export PYTHONPATH={pythonpath}
paddock() {{ "$PY" -m paddock "$@"; }}
work() {{ mkdir -p parts; echo good > "parts/$NAME.txt"; git add parts && git commit -qm "${{1:-Add $NAME}}"; }}
TOOL=$(git rev-parse --absolute-git-dir)/tool-$NAME
plant() {{
  printf '#!/bin/sh\\n[ "$PADDOCK_ATTEMPT" ] || env > %s/ran-%s\\ncat\\n' "$DROP" "$NAME" > "$TOOL"; chmod +x "$TOOL"
}}
MINE=$(ls -d "$STATE"/attempts/*/"${{PADDOCK_ATTEMPT%.*}}/${{PADDOCK_ATTEMPT#*.}}" 2>/dev/null | head -1)
MINE=${{MINE:-$YARD/none}}
echo begun
"""
"""Paths are those of this yard alone: where no fence is up, an attack by path really happens."""
UNCOMMITTED = ("notes.txt", "staged.txt", "draft.txt", ".env")
TURN_TIMEOUT = "100s"


class Ear:
    """A server that only notices that somebody has reached it."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.setblocking(False)
        self.port: int = self._server.getsockname()[1]

    def heard(self) -> bool:
        try:
            self._server.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        self._server.close()


class Shell:
    """What the user has started the daemon from. A daemon that is forked for a test does not show its environment."""

    def __init__(self) -> None:
        secret = {"DEPLOY_TOKEN": SECRETS["the daemon's environment"]}
        self._process = subprocess.Popen(("sleep", "3600"), env=secret, cwd="/", start_new_session=True)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


@dataclass
class Ground:
    """`first` is main before anything has happened; `configured` are bytes of `.git` that are the user's alone."""

    yard: Yard
    level: Level
    first: str
    files: dict[str, tuple[int, bytes]]
    staged: str
    refs: str
    configured: dict[str, bytes]
    home: dict[str, bytes]
    attackers: dict[str, Attack] = field(default_factory=dict)
    ear: Ear = field(default_factory=Ear)
    shell: Shell = field(default_factory=Shell)

    @property
    def top(self) -> Path:
        return self.yard.top

    @property
    def drop(self) -> Path:
        return self.yard.folder / "drop"

    def brief(self, attack: Attack) -> str:
        prelude = PRELUDE.format(
            name=attack.name,
            yard=self.yard.folder,
            top=self.top,
            root=self.top.parent / f"{self.top.name}.paddock",
            home=self.yard.env["HOME"],
            first=self.first,
            port=self.ear.port,
            python=sys.executable,
            pythonpath=os.environ.get("PYTHONPATH", ""),
        )
        return prelude + attack.script

    def processes(self) -> list[psutil.Process]:
        """Whatever runs in this yard or speaks of it: by its folder, its arguments or its environment."""
        place, own = str(self.yard.folder), {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
        return [process for process in psutil.process_iter() if process.pid not in own and _speaks_of(process, place)]

    def close(self) -> None:
        self.ear.close()
        self.shell.close()
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                process.kill()
        with contextlib.suppress(PaddockError, OSError):
            self.yard.close()
        shutil.rmtree(self.yard.folder, ignore_errors=True)


def _speaks_of(process: psutil.Process, place: str) -> bool:
    with contextlib.suppress(psutil.Error, OSError):
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        if place in process.cwd() or any(place in word for word in process.cmdline()):
            return True
        return any(place in value for value in process.environ().values())
    return False


def build_ground(template: Path, folder: Path, level: Level, remote: bool = False) -> Ground:
    yard = build_yard(template, folder)
    _furnish(yard, level, remote)
    yard.env.update(
        DEPLOY_TOKEN=SECRETS["the daemon's environment"],
        PADDOCK_LIMITS_MAX_AGENTS="40",
        PADDOCK_TIMEOUTS_TURN=TURN_TIMEOUT,
        **fence_settings(level),
    )
    return Ground(
        yard,
        level,
        yard.git("rev-parse", "main"),
        read_uncommitted(yard.top),
        yard.git("ls-files", "-s", "staged.txt"),
        user_refs(yard),
        read_configured(yard.top / ".git"),
        read_home(Path(yard.env["HOME"])),
    )


def settings_file(level: Level, remote: bool) -> str:
    """`paddock.toml`, as the person wrote it."""
    return TOML.format(remote='remote = "hub"' if remote else "", level=level)


def fence_settings(level: Level) -> dict[str, str]:
    """For CI and for the good agents, which are of an engine with a model: they need a network."""
    good = Level.NONE if level is Level.NONE else Level.FILES
    return {"PADDOCK_FENCE_LEVEL": good.value, "PADDOCK_LAND_FENCE": level.value, "PADDOCK_FENCE_WRITE": ""}


def _furnish(yard: Yard, level: Level, remote: bool) -> None:
    top, home = yard.top, Path(yard.env["HOME"])
    files = {
        "paddock.toml": settings_file(level, remote),
        "ci.sh": CI_SCRIPT,
        "notes.txt": "notes\n",
        "keep.txt": "keep\n",
        ".gitignore": ".env\nprivate.key\n.gate\n",
    }
    for name, text in files.items():
        (top / name).write_text(text)
    yard.git("add", "-A")
    yard.git("commit", "-q", "-m", "A project with tests")
    yard.git("tag", "v1")
    yard.git("branch", "mine")
    yard.git("init", "-q", "--bare", "-b", "main", str(yard.folder / "hub.git"))
    yard.git("remote", "add", "hub", str(yard.folder / "hub.git"))
    yard.git("push", "-q", "hub", "main")
    (top / "notes.txt").write_text("notes\nand more\n")
    (top / "draft.txt").write_text("a draft\n")
    (top / "staged.txt").write_text("staged\n")
    yard.git("add", "staged.txt")
    (top / ".env").write_text(f"TOKEN={SECRETS['your .env']}\n")
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_ed25519").write_text(SECRETS["the ssh key"])
    (yard.folder / "drop").mkdir()


def read_uncommitted(top: Path) -> dict[str, tuple[int, bytes]]:
    there = [name for name in UNCOMMITTED if (top / name).is_file() and not (top / name).is_symlink()]
    return {name: ((top / name).stat().st_mode, (top / name).read_bytes()) for name in there}


def read_home(home: Path) -> dict[str, bytes]:
    """What programs of the user run or trust."""
    names = (".gitconfig", ".profile", ".bashrc", ".config", ".ssh")
    found = [path for name in names for path in (home / name, *(home / name).rglob("*")) if path.is_file()]
    return {str(path.relative_to(home)): path.read_bytes() for path in found}


def user_refs(yard: Yard) -> str:
    """All that are neither main's nor Paddock's."""
    lines = yard.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    ours = ("refs/paddock/", "refs/heads/paddock/", "refs/heads/main ", "refs/remotes/hub/main ")
    return "\n".join(line for line in lines if not line.startswith(ours))


def read_configured(git_dir: Path) -> dict[str, bytes]:
    """HEAD, configuration, hooks, attributes, grafts, alternates: nothing here ever changes because of Paddock."""
    folders = [git_dir / "hooks", git_dir / "info", git_dir / "objects" / "info"]
    found = [git_dir / "HEAD", git_dir / "config", *(path for folder in folders for path in folder.rglob("*"))]
    known = [path for path in found if path.is_file() and path.name not in ("commit-graph", "packs")]
    return {str(path.relative_to(git_dir)): path.read_bytes() for path in known}
