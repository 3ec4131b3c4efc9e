"""How errors and refusals are answered: a status, a code for programs, and words with a hint for people."""

from dataclasses import dataclass

import msgspec

from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.intent.landing import Outdated
from paddock.core.intent.workers import NotForWorkers
from paddock.store.protocol import LogUnusable
from paddock.views.document import Document, to_json_line
from paddock.web.access import Denial
from paddock.web.log_threads import Busy, Unfinished


class Complaint(msgspec.Struct, frozen=True, omit_defaults=True):
    """A refusal. `code` is for programs; `seen` and `now` are there where a version is outdated."""

    code: str
    message: str
    hint: str | None = None
    seen: str | None = None
    now: str | None = None


class ErrorAnswer(Document, frozen=True, kw_only=True):
    error: Complaint


@dataclass(frozen=True, slots=True)
class Problem:
    status: int
    complaint: Complaint

    def to_json(self) -> bytes:
        return to_json_line(ErrorAnswer(error=self.complaint))


def problem_of(error: Exception) -> Problem:
    """How an error is answered. What nobody expected is a 500 that tells nothing of the machine."""
    match error:
        case PaddockError():
            return Problem(status_of(error), complaint_about(error))
        case OSError():
            words = f"the system refused: {error.strerror or type(error).__name__}"
            return Problem(503, Complaint("system", words, "`paddock doctor` checks disk and permissions"))
        case _:
            words = f"internal error: {type(error).__name__}"
            return Problem(500, Complaint("internal", words, "this is a bug in Paddock: the server's log has more"))


def status_of(error: PaddockError) -> int:
    match error:
        case Misuse():
            return 400
        case NotFound():
            return 404
        case NotForWorkers():
            return 403
        case LogUnusable() | Busy() | Unfinished():
            return 503
        case _:
            return 409


_CODES = {400: "misuse", 403: "worker", 404: "unknown", 409: "refused", 503: "log"}


def complaint_about(error: PaddockError) -> Complaint:
    if isinstance(error, Outdated):
        return Complaint("outdated", error.message, error.hint, error.seen, error.now)
    return Complaint(_code_of(error), error.message, error.hint)


def _code_of(error: PaddockError) -> str:
    match error:
        case Busy():
            return "busy"
        case Unfinished():
            return "unfinished"
        case _:
            return _CODES[status_of(error)]


def problem_of_denial(denial: Denial) -> Problem:
    return Problem(denial.status, Complaint(denial.code, denial.message, denial.hint))
