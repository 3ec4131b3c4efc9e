"""A yard with a merge queue: a project whose tests are a shell script, branches made without a working tree."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paddock.core.board import Board
from paddock.core.merge.events import ChangeQueued
from paddock.core.merge.model import Decided, Queue
from paddock.git.sandboxes.sandbox import list_sandboxes
from tests.fleet.yard import Yard
from tests.git.landing.auditor import Report, audit_history

# Green unless a part says `bad`, or two parts meet that do not go together.
CI_SCRIPT = """\
if grep -rlx bad parts 2>/dev/null; then echo "a part is bad"; exit 1; fi
if [ -e parts/left ] && [ -e parts/right ]; then echo "left and right do not go together"; exit 1; fi
if [ -e parts/quits ] && [ -n "$PADDOCK_CI" ]; then exit 75; fi
echo "all parts are good"
"""
CI = "sh ./ci.sh"
TEN_LINES = "".join(f"line {number}\n" for number in range(1, 11))
Files = Mapping[str, str | None]


@dataclass
class Farm:
    """`first` is main's commit before anything landed."""

    yard: Yard
    policy: str = "merge"
    first: str = field(init=False)

    def __post_init__(self) -> None:
        self.first = self.main

    # -- git ------------------------------------------------------------------------------------------------

    @property
    def top(self) -> Path:
        return self.yard.top

    @property
    def main(self) -> str:
        return self.yard.git("rev-parse", "refs/heads/main")

    def branch(self, name: str, files: Files, start: str = "main") -> str:
        """A branch with one commit on `start`; None deletes a file. The working tree is not touched."""
        return write_commit(self.top, f"refs/heads/{name}", files, self.yard.git("rev-parse", start), f"Work on {name}")

    def push(self, files: Files, message: str = "By hand") -> str:
        """A person commits to main."""
        return write_commit(self.top, "refs/heads/main", files, self.main, message)

    def files(self, commit: str = "main") -> list[str]:
        return self.yard.git("ls-tree", "-r", "--name-only", commit).splitlines()

    def subjects(self) -> list[str]:
        return self.yard.git("log", "--first-parent", "--format=%s", f"{self.first}..main").splitlines()

    # -- the queue ------------------------------------------------------------------------------------------

    def land(self, *names: str) -> None:
        """Branches made by hand, into the queue."""
        self.yard.paddock("land", *(word for name in names for word in ("--branch", name)))

    @property
    def queue(self) -> Queue:
        return self.yard.board().queue

    def outcomes(self) -> dict[str, str]:
        """Titles of tasks, and branches queued by name, to how they ended, last version only."""
        board = self.yard.board()
        made = [queued.change for queued in self.queued()]
        titles = {change.id: change.title if change.task else change.id for change in made}
        return {titles[old.id]: old.outcome.value for old in board.queue.decided}

    def queued(self) -> list[ChangeQueued]:
        records = self.yard.records(ChangeQueued)
        return [record.event for record in records if isinstance(record.event, ChangeQueued)]

    def decided(self, name: str) -> Decided:
        return [old for old in self.queue.decided if old.id == name][-1]

    def runs(self) -> int:
        """How many CI runs there were."""
        return len(list(self.yard.runs_folder.iterdir()))

    # -- proofs ---------------------------------------------------------------------------------------------

    def audit(self) -> Report:
        """Every first-parent tip of main, tested again from the outside."""
        place = self.yard.folder / f"audit-{len(list(self.yard.folder.iterdir()))}"
        place.mkdir()
        return audit_history(self.top, self.first, self.main, self.policy, ("sh", "ci.sh"), place)

    def assert_green(self) -> None:
        report = self.audit()
        assert not report.complaints
        landed = {f"{old.id}@v{old.version} {old.head}" for old in self.queue.decided if old.outcome == "landed"}
        assert set(report.changes) == landed

    def assert_at_rest(self) -> None:
        """Nothing runs, nothing is claimed, every change has been decided exactly once."""
        self.yard.assert_nothing_is_left()
        queue = self.queue
        assert not queue.running
        assert not queue.entries
        assert queue.landing is None
        keys = [(old.id, old.version) for old in queue.decided]
        assert len(keys) == len(set(keys))
        root = self.yard.worktrees
        assert not any(box.run for box in list_sandboxes(root.repo, root.path / ".ci").values())
        self.yard.paddock("log", "verify")


# Somebody who commits to main, a few times, each time while CI is running.
HAND = """\
number=$(cat {count} 2>/dev/null || echo 0)
[ "$number" -lt {times} ] || exit 0
echo $((number + 1)) > {count}
export GIT_DIR={git_dir} GIT_INDEX_FILE={count}.index
old=$(git rev-parse refs/heads/main)
git read-tree "$old"
blob=$(echo "$number" | git hash-object -w --stdin)
git update-index --add --cacheinfo "100644,$blob,by-hand/$number"
new=$(git commit-tree "$(git write-tree)" -p "$old" -m "By hand $number")
git update-ref refs/heads/main "$new" "$old" && echo "$new" >> {count}.pushed
"""


def land_beside(farm: "Farm", made: Path, count: int) -> list[str]:
    """Lands some changes while the hand of `busy_hand` is at work; returns the commits it has made."""
    names = [f"fix-{number}" for number in range(count)]
    for name in names:
        farm.branch(name, {f"parts/{name}": "good\n"})
    farm.land(*names)

    farm.yard.run(code=0)

    assert farm.outcomes() == dict.fromkeys(names, "landed")
    pushed = made.read_text().split()
    assert len(pushed) >= 3
    return pushed


def busy_hand(folder: Path, git_dir: Path, times: int) -> tuple[str, Path]:
    """A command for CI to run, and the file in which it names the commits it made."""
    count = folder / "pushes"
    script = folder / "hand.sh"
    script.write_text(HAND.format(count=count, times=times, git_dir=git_dir))
    return f"sh {script}", Path(f"{count}.pushed")


def write_commit(top: Path, ref: str, files: Files, parent: str, message: str) -> str:
    lines = [f"commit {ref}", "committer Test Person <test@example.invalid> 1700000000 +0000"]
    stream = "\n".join(lines) + "\n" + _data(message) + f"from {parent}\n"
    for path, text in files.items():
        stream += f"D {path}\n" if text is None else f"M 100644 inline {path}\n{_data(text)}"
    argv = ("git", "-C", str(top), "fast-import", "--quiet", "--force")
    subprocess.run(argv, input=os.fsencode(stream), check=True, capture_output=True, timeout=60)
    told = subprocess.run(("git", "-C", str(top), "rev-parse", ref), check=True, capture_output=True, timeout=60)
    return told.stdout.decode().strip()


def _data(text: str) -> str:
    return f"data {len(os.fsencode(text))}\n{text}\n"


def configuration(land: str = "", *, ci: str = CI, approval: str = "none", policy: str = "merge") -> str:
    """`land` are further lines of [land], and whatever tables follow."""
    named = f"ci = '''{ci}'''\n" if ci else ""
    return (
        f'engine = "scripted"\n[land]\n{named}approval = "{approval}"\npolicy = "{policy}"\n'
        f'slots = 4\ntimeout = "60s"\n{land}\n'
    )


def is_settled(board: Board) -> bool:
    queue = board.queue
    return not queue.entries and not queue.running and queue.landing is None
