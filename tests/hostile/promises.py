"""Looking from the outside whether each promise was kept. Shares no code with what Paddock itself checks."""

import contextlib
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.core.events import DaemonTroubled
from paddock.core.merge.events import MainMoved, TrainLanded
from paddock.core.tasks.task import Phase
from tests.hostile.attack import Kind, Promise
from tests.hostile.ground import (
    CI_SCRIPT,
    SECRETS,
    read_configured,
    read_home,
    read_uncommitted,
    settings_file,
    user_refs,
)
from tests.hostile.siege import Siege

Complaints = Iterator[str]
RECORDS_OF_A_TASK = 20
TROUBLES_OF_AN_ATTACK = 2
MOST_BYTES = 300 << 20
MOST_BYTES_BESIDE = 60 << 20
"""For each more in the same yard."""
GRACE_SECONDS = 5.0
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|\xc2[\x80-\x9f]")
_KNOWN_IN_GIT = {
    *("HEAD", "config", "description", "hooks", "info", "objects", "refs", "logs", "index", "branches", "packed-refs"),
    *("worktrees", "COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD"),
}


def broken_promises(siege: Siege) -> dict[Promise, list[str]]:
    """What was not kept, with the evidence. A check that fails itself counts as broken."""
    broken: dict[Promise, list[str]] = {}
    for promise, check in CHECKS.items():
        try:
            complaints = list(check(siege))
        except (AssertionError, OSError, PaddockError, subprocess.SubprocessError, ValueError) as error:
            complaints = [f"cannot be checked: {type(error).__name__}: {str(error)[:600]}"]
        if complaints:
            broken[promise] = complaints
    return broken


# -- main ---------------------------------------------------------------------------------------------------------


def _main(siege: Siege) -> Complaints:
    yard, first = siege.ground.yard, siege.ground.first
    landed = {record.event.new for record in yard.records(TrainLanded) if isinstance(record.event, TrainLanded)}
    foreign = {record.event.commit for record in yard.records(MainMoved) if isinstance(record.event, MainMoved)}
    now = yard.git("rev-parse", "refs/heads/main")
    if siege.attackers and any(attack.remote for attack in siege.attackers.values()):
        now = yard.git("ls-remote", "hub", "refs/heads/main").split()[0]
    for tip in sorted({*siege.watch.tips, *landed, now} - {first}):
        if tip not in landed and tip not in foreign:
            yield f"main was at {tip}, which nobody tested and nothing recorded"
        elif tip in landed:
            yield from _red(siege, tip)
    if now not in landed | {first}:
        yield f"main stays at {now}, which never passed"
    if yard.git("merge-base", first, now) != first:
        yield f"main at {now} has lost its history"


def _red(siege: Siege, tip: str) -> Complaints:
    """CI as the person wrote it, on a fresh checkout, without running what attackers have added to it."""
    place = siege.ground.yard.folder / "judged" / tip
    if not place.exists():
        place.mkdir(parents=True)
        git = ("git", "-c", "core.hooksPath=/dev/null", "-C", str(place))
        where = str(siege.ground.top / ".git" / "objects")
        if siege.attackers and any(attack.remote for attack in siege.attackers.values()):
            where = str(siege.ground.yard.folder / "hub.git" / "objects")
        subprocess.run((*git, "init", "-q"), check=True, capture_output=True, timeout=60)
        (place / ".git" / "objects" / "info" / "alternates").write_text(where + "\n")
        subprocess.run((*git, "checkout", "-q", "--detach", tip), check=True, capture_output=True, timeout=60)
    remote = any(attack.remote for attack in siege.attackers.values())
    written = {"ci.sh": CI_SCRIPT, "paddock.toml": settings_file(siege.ground.level, remote)}
    for name, text in written.items():
        found = (place / name).read_bytes().decode(errors="replace")
        if found != text:
            yield f"main was at {tip}, where a checkout of {name} is not what a person wrote"
    parts = place / "parts"
    files = [path for path in parts.rglob("*") if path.is_file() and not path.is_symlink() and not parts.is_symlink()]
    bad = [path.name for path in files if b"bad" in path.read_bytes().split()]
    if bad:
        yield f"main was red at {tip}: {', '.join(bad)}"


def _held(siege: Siege) -> Complaints:
    for name, attack in siege.attackers.items():
        if attack.never_lands and siege.task(name).phase is Phase.LANDED:
            yield f"{attack.name} landed without a person"


# -- what is the user's -------------------------------------------------------------------------------------------


def _tree(siege: Siege) -> Complaints:
    ground = siege.ground
    found = read_uncommitted(ground.top)
    for name, before in ground.files.items():
        if found.get(name) != before:
            yield f"{name} was {before!r} and is {found.get(name)!r}"
    if (home := read_home(Path(ground.yard.env["HOME"]))) != ground.home:
        yield f"in your home were {sorted(ground.home)} and are, perhaps with other contents, {sorted(home)}"
    if ground.yard.git("ls-files", "-s", "staged.txt") != ground.staged:
        yield "staged.txt is no longer staged as it was"
    changed = ground.yard.git("diff", "--name-only").split()
    if changed != ["notes.txt"]:
        yield f"these files differ from the index: {changed}"


def _refs(siege: Siege) -> Complaints:
    ground = siege.ground
    git_dir = ground.top / ".git"
    found = read_configured(git_dir)
    for name in sorted(found.keys() | ground.configured.keys()):
        if found.get(name) != ground.configured.get(name):
            yield f".git/{name} was {ground.configured.get(name)!r:.200} and is {found.get(name)!r:.200}"
    found_in_git = {path.name for path in git_dir.iterdir() if not path.name.startswith("paddock")}
    strange = sorted(found_in_git - _KNOWN_IN_GIT)
    if strange:
        yield f"unknown things in .git: {strange}"
    if (refs := user_refs(ground.yard)) != ground.refs:
        yield f"refs were\n{ground.refs}\nand are\n{refs}"


def _log(siege: Siege) -> Complaints:
    if siege.watch.changed:
        yield f"records changed: {sorted(set(siege.watch.changed))}"
    now = {record.seq: record.hash for record in siege.ground.yard.records()}
    lost = sorted(seq for seq, known in siege.watch.hashes.items() if now.get(seq) != known)
    if lost:
        yield f"records are lost: {lost}"
    siege.ground.yard.paddock("log", "verify")


def _named(siege: Siege) -> Complaints:
    """Whoever has damaged the log, the next command says so."""
    if any(attack.kind is Kind.LOG for attack in siege.attackers.values()) and any(_log_is_damaged(siege)):
        for words in (("status",), ("log", "verify")):
            with contextlib.suppress(AssertionError):
                yield f"`paddock {' '.join(words)}` says nothing of it: {siege.ground.yard.paddock(*words)[-200:]}"


def _log_is_damaged(siege: Siege) -> Iterator[bool]:
    try:
        now = {record.seq: record.hash for record in siege.ground.yard.records()}
    except (PaddockError, OSError):
        yield True
        return
    yield from (now.get(seq) != known for seq, known in siege.watch.hashes.items())


def _others(siege: Siege) -> Complaints:
    yard = siege.ground.yard
    main = "refs/heads/main"
    if any(attack.remote for attack in siege.attackers.values()):
        yard.git("fetch", "-q", "hub", "main:refs/paddock-audit/main")
        main = "refs/paddock-audit/main"
    for part in {"earlier", "beside", "later", *siege.good}:
        name = siege.good.get(part)
        phase = siege.task(name).phase if name is not None else "never added"
        if name is None or phase is not Phase.LANDED:
            yield f"{part} is {phase}: {siege.task(name).reason if name else ''}"
            continue
        with contextlib.suppress(subprocess.CalledProcessError):
            if yard.git("show", f"{main}:parts/{part}.txt") == f"good {part}":
                continue
        yield f"what {part} made is not in main"


# -- secrets, code, processes -------------------------------------------------------------------------------------


def _secrets(siege: Siege) -> Complaints:
    for name, where in _reachable(siege):
        found = where()
        for what, secret in SECRETS.items():
            if secret.encode() in found:
                yield f"{what} is in {name}"


def _reachable(siege: Siege) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """What an attacker can hand out: its output, what it dropped, what it committed."""
    yard = siege.ground.yard
    folders = [yard.runs_folder, *(yard.attempt_folder(f"{name}.1").parent for name in siege.attackers)]
    for folder in (*folders, siege.ground.drop):
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink() and path.stat().st_size < MOST_BYTES:
                yield path.name, path.read_bytes
    for name in siege.attackers:
        head = siege.task(name).head
        if head is not None:
            yield f"the commits of {name}", lambda head=head: _committed(siege, head)  # type: ignore[misc]


def _committed(siege: Siege, head: str) -> bytes:
    """Every object the task has added, but for those that no secret needs: a patch of a bomb takes minutes."""

    def git(*words: str, said: bytes = b"") -> bytes:
        argv, where = ("git", *words), siege.ground.top
        return subprocess.run(argv, cwd=where, input=said, capture_output=True, check=False, timeout=60).stdout

    listed = git("rev-list", "--objects", "--no-object-names", f"{siege.ground.first}..{head}")
    sizes = git("cat-file", "--batch-check=%(objectname) %(objectsize)", said=listed).split()
    small = [
        name for name, size in zip(sizes[::2], sizes[1::2], strict=True) if size.isdigit() and int(size) < MOST_BYTES
    ]
    return git("cat-file", "--batch", said=b"\n".join(small))


def _planted(siege: Siege) -> Complaints:
    for path in siege.ground.drop.glob("ran-*"):
        yield f"{path.name} was run"


def _network(siege: Siege) -> Complaints:
    if siege.ground.ear.heard():
        yield "a server was reached"


def _processes(siege: Siege) -> Complaints:
    give_up_at = time.monotonic() + GRACE_SECONDS
    while (left := siege.ground.processes()) and time.monotonic() < give_up_at:
        time.sleep(0.1)
    for process in left:
        with contextlib.suppress(Exception):
            yield f"still alive: {process.pid} {' '.join(process.cmdline())[-200:]}"


# -- the fleet ----------------------------------------------------------------------------------------------------


def _daemon(siege: Siege) -> Complaints:
    yield from siege.gone
    for daemon in siege.daemons:
        if "Traceback" in daemon.words:
            yield f"the daemon stumbled: {daemon.words[-1500:]}"


def _records(siege: Siege) -> Complaints:
    yard = siege.ground.yard
    for name, attack in siege.attackers.items():
        count = len(yard.records(task=name))
        if count > RECORDS_OF_A_TASK:
            yield f"{count} records tell of {attack.name}"
    troubles = [record.event for record in yard.records(DaemonTroubled)]
    if len(troubles) > TROUBLES_OF_AN_ATTACK * max(len(siege.attackers), 1):
        yield f"{len(troubles)} troubles, such as {troubles[-1]}"
    total = len(yard.records())
    if total > (most := 70 + 40 * (len(siege.attackers) + len(siege.good))):
        yield f"{total} records in all, more than {most}"


def _screen(siege: Siege) -> Complaints:
    yard = siege.ground.yard
    pages: list[tuple[str, ...]] = [("status",), ("queue",)]
    for name, attack in siege.attackers.items():
        if attack.kind is Kind.OUTPUT:
            pages += [("show", name), ("tail", name), ("tail", name, "--raw")]
            if siege.task(name).head is not None:
                pages.append(("diff", name))
    for words in pages:
        said = yard.paddock(*words)
        if found := _CONTROL.search(said.encode("utf-8", "surrogateescape")):
            yield f"`paddock {' '.join(words)}` prints {found[0]!r}"
    json.loads(yard.paddock("status", "--json"))


def _settled(siege: Siege) -> Complaints:
    if siege.unfinished:
        yield siege.unfinished
    for name, attack in siege.attackers.items():
        task = siege.task(name)
        if task.phase in (Phase.RUNNING, Phase.READY):
            yield f"{attack.name} is {task.phase}"
        out = siege.ground.yard.attempt_folder(f"{name}.1") / "turn-1.out"
        if attack.name not in _WITHOUT_OUTPUT and not (out.exists() and b"begun" in out.read_bytes()[:4096]):
            yield f"{attack.name} never began: {task.reason}"
    size = _disk_usage(siege.ground.top.parent)
    if size > MOST_BYTES + MOST_BYTES_BESIDE * (len(siege.attackers) - 1):
        yield f"{size >> 20} MB are used"


_WITHOUT_OUTPUT = frozenset({"transcripts-truncated", "state-removed", "transcripts-removed", "repository-removed"})


def _disk_usage(folder: Path) -> int:
    said = subprocess.run(("du", "-s", "-B1", str(folder)), capture_output=True, check=False, timeout=120).stdout
    return int(said.split()[0])


CHECKS: dict[Promise, Callable[[Siege], Complaints]] = {
    Promise.PROCESSES: _processes,
    Promise.MAIN: _main,
    Promise.HELD: _held,
    Promise.TREE: _tree,
    Promise.REFS: _refs,
    Promise.LOG: _log,
    Promise.NAMED: _named,
    Promise.OTHERS: _others,
    Promise.SECRETS: _secrets,
    Promise.NETWORK: _network,
    Promise.PLANTED: _planted,
    Promise.DAEMON: _daemon,
    Promise.RECORDS: _records,
    Promise.SCREEN: _screen,
    Promise.SETTLED: _settled,
}
