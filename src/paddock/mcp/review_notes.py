"""Findings that a reviewing agent reports one by one: kept in a file beside its answer, which the fleet reads with it.

The file is inside the agent's own fence, so nobody is asked: it says no more than the answer itself could.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.intent.finding_reports import check_claim
from paddock.core.review.events import Claim
from paddock.fleet.attempts.answer_files import ANSWER_VARIABLE, notes_beside

MOST_NOTE_BYTES = 1024 * 1024


def notes_file(environment: Mapping[str, str]) -> Path | None:
    """None outside of an attempt that only reads."""
    answer = environment.get(ANSWER_VARIABLE, "")
    return notes_beside(Path(answer)) if answer else None


def note_finding(file: Path, claim: Claim) -> int:
    """One line of JSON more; returns how many bytes there are now. Raises PaddockError."""
    check_claim(claim)
    fields = {name: getattr(claim, name) for name in ("path", "line", "severity", "claim", "evidence", "suggestion")}
    line = msgspec.json.encode(fields) + b"\n"
    try:
        with open(file, "ab", opener=_for_its_owner) as notes:
            if notes.tell() + len(line) > MOST_NOTE_BYTES:
                raise PaddockError("there are too many findings already", "name the gravest in your answer")
            notes.write(line)
            return notes.tell()
    except OSError as error:
        raise PaddockError(
            f"the finding cannot be noted: {error.strerror or error}", "write it in your answer"
        ) from None


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
