"""What a record of a cause of failures tells, in one line."""

from typing import assert_never

from paddock.core.board import Board
from paddock.core.causes import events as ce
from paddock.core.ids import printable

WORDS_CHARS = 140


def tell_of_cause(event: ce.CauseEvent, board: Board, attempt: str, by: str) -> str:
    """`attempt` is the one that it was found in, `by` whoever wrote it."""
    match event:
        case ce.CauseFound(id=name, cause=cause, symptom=symptom, forgiven=forgiven):
            free = ", which does not count as its failure" if forgiven else ""
            return f"{attempt} failed for {name} ({cause}{_because(symptom)}){free}"
        case ce.CauseProbed(id=name, tasks=tasks, skipped=skipped):
            left = f"; not tried: {'; '.join(skipped)}" if skipped else ""
            return f"{name} is probed by {', '.join(tasks) or 'nothing'}{printable(left, WORDS_CHARS)}"
        case ce.CauseLeftOpen(id=name, evidence=evidence):
            return f"{name} is left open by its probes{_because('; '.join(evidence))}"
        case ce.CauseSettled(id=name, cause=cause, evidence=evidence):
            return f"{name} is settled: {cause}{_because('; '.join(evidence))}"
        case ce.CauseCleared(id=name, reason=reason):
            known = board.causes.find(name)
            said = f" ({known.cause}{_because(known.symptom)})" if known is not None else ""
            return f"{name}{said} cleared by {by}{_because(reason)}"
        case _:
            assert_never(event)


def _because(why: str) -> str:
    return f": {printable(' '.join(why.split()), WORDS_CHARS)}" if why else ""
