"""Comments on lines of a change: what the line says in which version, and those that wait in the log."""

from collections.abc import Sequence
from contextlib import closing
from typing import Literal

from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import CommentDrafted
from paddock.core.ids import TaskId, harmless, printable, recordable, some_names
from paddock.core.intent.comments import LineComment
from paddock.core.intent.drafted_comments import DraftedComment, version_to_comment
from paddock.core.tasks.task import Task
from paddock.core.wording import did_you_mean
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Store

LOOKED_AT_BYTES = 8000
"""As far as git looks for a NUL, too, to tell what is no text."""


def read_drafted(store: Store, task: Task) -> tuple[DraftedComment, ...]:
    """Those that nobody has sent yet, in the order in which they were written."""
    return tuple(_drafted(store, seq) for seq in task.comments)


def drafted_on(workspace: Workspace, name: TaskId) -> tuple[DraftedComment, ...]:
    with closing(workspace.read()) as store:
        return read_drafted(store, store.board().task(name))


def _drafted(store: Store, seq: int) -> DraftedComment:
    record = store.record(seq)
    event = record.event
    assert isinstance(event, CommentDrafted)
    side: Literal["new", "old"] = "old" if event.side == "old" else "new"
    comment = LineComment(event.path, event.line, event.text, side, event.quote, event.head)
    return DraftedComment(seq, record.actor, record.at, comment)


def parse_place(said: str) -> tuple[str, int]:
    """`src/x.py:41`. Raises Misuse."""
    path, colon, line = said.rpartition(":")
    if not colon or not path or not (line.isascii() and line.isdecimal()) or len(line) > 9:
        raise Misuse(f"`{printable(said, 80)}` is no line of a file", "name it as in `src/x.py:41`")
    return path.removeprefix("./"), int(line)


def comment_at(site: Site, task: Task, said: str, text: str, *, old: bool = False) -> LineComment:
    """A comment with the line it is about, checked against the newest version. Raises PaddockError."""
    head = version_to_comment(task)
    path, line = parse_place(said)
    worker = task.worker
    base = task.base or (worker.base if worker is not None else head)
    commit = base if old else head
    lines = _read_lines(site, task, commit, path, (base, head))
    if lines is not None and not 1 <= line <= len(lines):
        count = f"{len(lines):,} line{'' if len(lines) == 1 else 's'}"
        raise Misuse(f"`{path}` has {count} at `{commit[:10]}`: there is no line {line}", "lines are counted from 1")
    quote = harmless(lines[line - 1]).strip() if lines is not None else ""
    return LineComment(path, line, text, "old" if old else "new", quote, head)


def _read_lines(site: Site, task: Task, commit: str, path: str, ends: Sequence[str]) -> list[str] | None:
    """None for what has no lines. Raises Misuse for a file that is not there."""
    if site.repo.resolve(commit) is None:
        raise PaddockError(f"commit `{commit[:10]}` of `{task.id}` is not in the repository", "fetch it and try again")
    found = site.repo.git("cat-file", "blob", f"{commit}:{path}", check=False)
    if not found.ok:
        changed = tuple(map(recordable, site.repo.changed_paths(*ends)))
        other = "it is new: leave out --old" if commit == ends[0] else "it is gone: comment on what it was with --old"
        hint = did_you_mean(path, changed, f"it changes {some_names(changed) or 'nothing'}")
        raise Misuse(
            f"there is no file `{printable(path, 80)}` in `{task.id}` at `{commit[:10]}`",
            other if path in changed else hint,
        )
    if b"\0" in found.stdout[:LOOKED_AT_BYTES]:
        return None
    return found.stdout.decode("utf-8", "replace").removesuffix("\n").split("\n")
