"""The ref that says which daemon leads. Every transaction in which a daemon moves refs verifies it, so that being in
charge and moving them is one step for git.

It names a blob that tells the generation and the log.
"""

from collections.abc import Callable

from paddock.core.errors import PaddockError
from paddock.git.refs import ABSENT, LEADER
from paddock.git.repo import Repo

_TRIES = 20


def name_leader(repo: Repo, generation: int, log: str, require: Callable[[], None]) -> str:
    """Has the ref name who leads; returns the object that it names then.

    `require` raises if another has the lease. It is asked between the look at the ref and its move: who has lost the
    lease by then finds the ref moved by its successor, or leaves it where the successor will move it on.
    """
    own = repo.git("hash-object", "-w", "--stdin", input=f"generation {generation} of log {log}\n").text
    for _ in range(_TRIES):
        found = repo.refs(LEADER)
        named = found.pop(LEADER, ABSENT)
        require()
        for ref, sha in found.items():  # below it: git keeps no ref beside those
            repo.update_ref(ref, ABSENT, sha, "paddock: lead")
        if named == own or repo.update_ref(LEADER, own, named, "paddock: lead"):
            return own
    raise PaddockError(f"`{LEADER}` does not stay where it is put", "find out what else moves refs in this repository")
