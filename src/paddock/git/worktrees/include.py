"""`.worktreeinclude`: which ignored files of the user's main tree (.env …) every worktree gets a copy of.

Patterns are written as in .gitignore. A file is copied when a pattern matches it and git ignores it. A folder
git ignores as a whole (node_modules) is entered only for a pattern that has a slash in it and so says where it
means; `.env` alone does not search node_modules.
"""

import contextlib
import os
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from paddock.core.ids import recordable
from paddock.git.enclosure.enclosure import Enclosure
from paddock.git.repo import run_git

INCLUDE_FILE = ".worktreeinclude"
_MOST_FILES = 20_000
_PATHS_PER_CALL = 500
_MOST_PATTERN_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Pattern:
    expression: re.Pattern[str]
    segments: tuple[str, ...]  # of an anchored pattern, for deciding which folders to enter
    anchored: bool
    folders_only: bool
    negated: bool


@dataclass(frozen=True, slots=True)
class Inclusion:
    """`copied` are relative paths now in the worktree on our account; `skipped` says why others are not."""

    copied: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


def parse_patterns(text: str) -> tuple[Pattern, ...]:
    return tuple(pattern for line in text.splitlines() if (pattern := _parse_line(line)) is not None)


def matches(patterns: tuple[Pattern, ...], path: str) -> bool:
    """Whether the file `path` is meant: the last pattern that matches it or a folder above it decides."""
    parts = path.split("/")
    verdict = False
    for depth in range(1, len(parts) + 1):
        decided = _last_match(patterns, "/".join(parts[:depth]), is_folder=depth < len(parts))
        verdict = verdict if decided is None else decided
        if verdict and depth < len(parts):
            return True  # as in .gitignore: nothing below a matched folder can be taken out again
    return verdict


def find_included(main: Path) -> tuple[str, ...]:
    """Relative paths of the ignored files in `main` that its .worktreeinclude asks for."""
    try:
        with open(main / INCLUDE_FILE, "rb") as file:
            patterns = parse_patterns(os.fsdecode(file.read(_MOST_PATTERN_BYTES)))
    except (FileNotFoundError, IsADirectoryError):
        return ()
    if not patterns:
        return ()
    ignored = run_git(
        main, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z", "--full-name"
    )
    found: list[str] = []
    for entry in ignored.records:
        if not entry.endswith("/"):
            found.extend([entry] if matches(patterns, entry) else [])
        elif _is_wanted_folder(patterns, entry.rstrip("/")):
            below = _files_below(main, entry.rstrip("/"), _MOST_FILES)
            found.extend(path for path in below if matches(patterns, path))
    return tuple(found[:_MOST_FILES])


def copy_included(main: Path, enclosure: Enclosure, scratch: Path, ours: tuple[str, ...]) -> Inclusion:
    """Copy what `main` includes. Only paths in `ours`, copied earlier, are overwritten, never tracked ones.

    What is in `ours` but no longer included goes. `scratch` is a folder on the worktree's file system: files
    appear whole or not at all.
    """
    wanted, worktree = find_included(main), enclosure.tree
    if not wanted and not ours:
        return Inclusion()
    tracked = _tracked(enclosure, tuple(dict.fromkeys((*wanted, *ours))))
    for path in set(ours) - set(wanted) - tracked:
        with contextlib.suppress(OSError):
            (worktree / path).unlink()
    copied, skipped = [], []
    for path in wanted:
        problem = _copy_one(main, worktree, scratch, path, replace=path in ours and path not in tracked)
        if problem is None:
            copied.append(path)
        else:
            skipped.append(f"{recordable(path)}: {problem}")
    return Inclusion(tuple(copied), tuple(skipped))


def _tracked(enclosure: Enclosure, paths: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    for at in range(0, len(paths), _PATHS_PER_CALL):
        chunk = paths[at : at + _PATHS_PER_CALL]
        found.update(enclosure.git("--literal-pathspecs", "ls-files", "-z", "--", *chunk).records)
    return found


def _copy_one(main: Path, worktree: Path, scratch: Path, path: str, *, replace: bool) -> str | None:
    if path != recordable(path):
        return "its name is not UTF-8"
    source, target = main / path, worktree / path
    if not _is_inside(source.parent, main) or not _is_inside(target.parent, worktree):
        return "a symbolic link in its path leads out of the tree"
    if os.path.lexists(target) and not replace:
        return "exists in the worktree"
    whole = scratch / "included.new"
    whole.unlink(missing_ok=True)
    try:
        if source.is_symlink():
            if os.path.isabs(os.readlink(source)) or not _is_inside(source, main):
                return "a symbolic link out of the tree"
            os.symlink(os.readlink(source), whole)
        else:
            problem = _copy_bytes(source, whole)
            if problem is not None:
                return problem
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(whole, target)
    except OSError as error:
        return error.strerror or str(error)
    finally:
        with contextlib.suppress(OSError):
            whole.unlink(missing_ok=True)
    return None


def _copy_bytes(source: Path, target: Path) -> str | None:
    # O_NOFOLLOW and O_NONBLOCK: the file may be swapped for a link or a fifo after we looked.
    descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as reading:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return "not a regular file"
        with open(target, "xb", opener=_open_private) as writing:
            shutil.copyfileobj(reading, writing)
        os.chmod(target, stat.S_IMODE(found.st_mode) & 0o777)
    return None


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _is_inside(path: Path, top: Path) -> bool:
    return path.resolve().is_relative_to(top.resolve())


def _is_wanted_folder(patterns: tuple[Pattern, ...], folder: str) -> bool:
    if matches(patterns, folder + "/x"):
        return True
    parts = folder.split("/")
    return any(_may_match_below(pattern, parts) for pattern in patterns if pattern.anchored and not pattern.negated)


def _may_match_below(pattern: Pattern, folder: list[str]) -> bool:
    for wanted, part in zip(pattern.segments, folder, strict=False):
        if wanted == "**":
            return pattern.segments[0] != "**"  # a leading `**/` says no more about the place than no slash
        if not re.fullmatch(_translate_segment(wanted), part):
            return False
    return len(pattern.segments) > len(folder)


def _files_below(main: Path, folder: str, most: int) -> list[str]:
    found: list[str] = []
    for current, folders, files in os.walk(main / folder, followlinks=False):
        links = [name for name in folders if os.path.islink(os.path.join(current, name))]
        folders[:] = [name for name in folders if name not in links]
        found.extend(os.path.relpath(os.path.join(current, name), main) for name in (*files, *links))
        if len(found) >= most:
            break
    return found[:most]


def _last_match(patterns: tuple[Pattern, ...], path: str, *, is_folder: bool) -> bool | None:
    for pattern in reversed(patterns):
        if (is_folder or not pattern.folders_only) and pattern.expression.fullmatch(path):
            return not pattern.negated
    return None


def _parse_line(line: str) -> Pattern | None:
    text = re.sub(r"(?<!\\) +$", "", line.rstrip("\r"))
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[1:] if negated else text
    folders_only = text.endswith("/")
    text = text.rstrip("/") if folders_only else text
    anchored = "/" in text
    segments = tuple(text.removeprefix("/").split("/"))
    if not text or not all(segments):
        return None
    try:
        expression = re.compile(_translate(segments, anchored))
    except re.error:  # `[z-a]`, which matches nothing in git either
        return None
    return Pattern(expression, segments, anchored, folders_only, negated)


def _translate(segments: tuple[str, ...], anchored: bool) -> str:
    expression = "" if anchored else "(?:.*/)?"
    for at, segment in enumerate(segments):
        last = at == len(segments) - 1
        if segment == "**":
            expression += ".+" if last else "(?:.*/)?"
        else:
            expression += _translate_segment(segment) + ("" if last else "/")
    return f"(?s:{expression})"


def _translate_segment(segment: str) -> str:
    out, at = "", 0
    while at < len(segment):
        char = segment[at]
        at += 1
        if char == "*":
            out += "[^/]*"
        elif char == "?":
            out += "[^/]"
        elif char == "[" and (end := segment.find("]", at + 1 + (segment[at : at + 1] in ("!", "^")))) > 0:
            body = segment[at:end]
            inverse = body[:1] in ("!", "^")
            members = re.sub(r"([\\\[\]&~|^])", r"\\\1", body[1:] if inverse else body)
            out += f"(?!/)[{'^' if inverse else ''}{members}]"
            at = end + 1
        else:
            if char == "\\" and at < len(segment):
                char = segment[at]
                at += 1
            out += re.escape(char)
    return out
