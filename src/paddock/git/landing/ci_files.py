"""The files CI consists of: those its commands name, and the scripts that these start in turn.

Which words of a script are files it starts is a guess that errs on the side of yes for what is executable or a shell
script, and does not follow programs into the code under test.
"""

import posixpath
import re
from functools import lru_cache

from paddock.git.landing.workbench import Workbench
from paddock.git.sandboxes.ci import CiDefinition

MOST_FILES = 200
LARGEST_BYTES = 262_144
_WORD = re.compile(rb"[A-Za-z0-9_@%+./-]+")
_SCRIPTS = (".sh", ".bash", ".zsh", ".ksh", ".mk")
_EXECUTABLE = "100755"


def ci_files(bench: Workbench, definition: CiDefinition, tree: str) -> frozenset[str]:
    """As they are in `tree`; also names of files that are not there, where a command names them."""
    return definition.named_files | _started_by(bench, definition.named_files, tree)


@lru_cache(maxsize=16)
def _started_by(bench: Workbench, named: frozenset[str], tree: str) -> frozenset[str]:
    modes = _modes(bench, tree)
    found = {path for path in named if path in modes}
    unread = sorted(found)
    while unread and len(found) < MOST_FILES:
        words = {word for path in unread for word in _words_of(bench, tree, path)}
        started = {path for path in words if path not in found and _is_script(path, modes.get(path))}
        found |= started
        unread = sorted(started)[:MOST_FILES]
    return frozenset(found)


def _modes(bench: Workbench, tree: str) -> dict[str, str]:
    rows = (row.split("\t", 1) for row in bench.git("ls-tree", "-r", "-z", "--full-tree", tree).records)
    return {path: facts.split(" ")[0] for facts, path in rows}


def _is_script(path: str, mode: str | None) -> bool:
    return mode is not None and (mode == _EXECUTABLE or path.endswith(_SCRIPTS))


def _words_of(bench: Workbench, tree: str, path: str) -> set[str]:
    """Words of the file that may be paths, as seen from the top and from the file's own folder."""
    told = bench.git("cat-file", "blob", f"{tree}:{path}", check=False)
    if not told.ok or len(told.stdout) > LARGEST_BYTES:
        return set()
    words = {word.decode() for word in _WORD.findall(told.stdout)}
    folder = posixpath.dirname(path)
    return {posixpath.normpath(posixpath.join(start, word)) for word in words for start in {"", folder}}
