"""What a change does, from its patch alone: its files and lines, its tests, dependencies and CI. For any text."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from hashlib import sha256

from paddock.core.leases.globs import matches_file
from paddock.core.merge.protection import defines_ci
from paddock.insight.patches.dependencies import DependencyTally
from paddock.insight.patches.reading import PatchedFile, PatchPart, read_parts
from paddock.insight.patches.tests import TestTally
from paddock.insight.trace import Facts

MOST_FILES = 2_000
DIGEST_CHARS = 32
_PIECE = 1 << 16


def facts_of_patch(
    patch: str | bytes | Iterable[bytes],
    paths: Sequence[str] = (),
    *,
    ci_files: Collection[str] = (),
    gate: str = "",
) -> Facts:
    """The facts that git's patch tells; those of the agent's steps stay None.

    `paths` are the globs that the task was given, none if it may change anything; `ci_files` are those CI consists of,
    besides those that define it in every project. Two patches that make the same edits have the same digest, wherever
    in their files these are.
    """
    tests, dependencies, lines = TestTally(), DependencyTally(), _LineTally()
    files: dict[str, None] = {}
    for part in read_parts(_pieces(patch)):
        for name in _names(part.file):
            if len(files) < MOST_FILES:
                files[name] = None
        lines.take(part)
        tests.take(part)
        dependencies.take(part)
    changes = tests.changes()
    return Facts(
        files=tuple(files),
        insertions=lines.insertions,
        deletions=lines.deletions,
        tests_added=changes.added,
        tests_deleted=changes.deleted,
        tests_skipped=changes.skipped,
        asserts_removed=changes.asserts_removed,
        new_dependency=dependencies.is_there,
        outside=tuple(name for name in files if paths and not any(matches_file(glob, name) for glob in paths)),
        ci=tuple(name for name in files if name in ci_files or defines_ci(name)),
        gate=gate,
        diff=lines.digest,
    )


class _LineTally:
    def __init__(self) -> None:
        self.insertions = 0
        self.deletions = 0
        self._digest = sha256()

    def take(self, part: PatchPart) -> None:
        if not part.lines:
            file = part.file
            self._digest.update(repr((file.path, file.old_path, file.added, file.deleted)).encode("utf-8", "replace"))
        for sign, text in part.lines:
            if sign == " ":
                continue
            self.insertions += sign == "+"
            self.deletions += sign == "-"
            self._digest.update(f"{sign}{text}\n".encode("utf-8", "replace"))

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()[:DIGEST_CHARS]


def _names(file: PatchedFile) -> Iterator[str]:
    """Of a file that was renamed, both."""
    if file.old_path is not None and file.old_path != file.path and file.old_path:
        yield file.old_path
    if file.path:
        yield file.path


def _pieces(patch: str | bytes | Iterable[bytes]) -> Iterable[bytes]:
    if isinstance(patch, str):
        return (patch[at : at + _PIECE].encode("utf-8", "replace") for at in range(0, len(patch), _PIECE))
    if isinstance(patch, bytes):
        return (patch[at : at + _PIECE] for at in range(0, len(patch), _PIECE))
    return patch
