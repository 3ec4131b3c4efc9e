"""What people say about the causes of failures: that one is gone, or which class it is. Workers say nothing."""

from collections.abc import Sequence

from paddock.core.board import Board
from paddock.core.causes.events import CauseCleared, CauseProbed, CauseSettled
from paddock.core.causes.model import Cause, cause_id, cause_number
from paddock.core.causes.probing import is_at_work
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.events import Draft
from paddock.core.ids import printable
from paddock.core.intent.tasks import Batch, Known, TaskSpec, add_tasks
from paddock.core.wording import did_you_mean

REASON_CHARS = 200
SETTLED_CLASSES = tuple(cause for cause in FailureCause if cause is not FailureCause.UNKNOWN)


def clear_causes(board: Board, names: Sequence[str], reason: str = "") -> list[Draft]:
    """Everything that was done about them ends: tasks go on, engines may start again."""
    if not names:
        raise Misuse("no cause was named", "`paddock failures` lists them, with the id of each")
    _check_reason(reason)
    causes = dict.fromkeys(standing_cause(board, name).id for name in names)
    return [Draft(CauseCleared(name, reason)) for name in causes]


def settle_cause(board: Board, name: str, word: str, reason: str = "", by: str = "") -> list[Draft]:
    """Nothing if it is settled as that already."""
    cause, settled = standing_cause(board, name), parse_class(word)
    _check_reason(reason)
    if cause.is_settled and cause.cause is settled:
        return []
    evidence = f"{by} says so" if by else "a person says so"
    return [Draft(CauseSettled(cause.id, settled, (f"{evidence}: {reason}" if reason else evidence,)))]


def parse_class(word: str) -> FailureCause:
    """Raises Misuse for a word that is none."""
    said = word.strip().lower().replace("_", "-")
    if said in SETTLED_CLASSES:
        return FailureCause(said)
    classes = [cause.value for cause in SETTLED_CLASSES]
    hint = did_you_mean(said, classes, f"they are {', '.join(classes)}")
    raise Misuse(f"`{printable(word, 40)}` is not a class of causes", hint)


def standing_cause(board: Board, name: str) -> Cause:
    """By its id, or by that of the cluster in which `paddock failures` shows it. Raises PaddockError."""
    word = name.strip().lower()
    standing = sorted(board.causes.standing.values(), key=lambda cause: cause_number(cause.id))
    number = cause_number(word)
    found = [cause for cause in standing if cause.id == cause_id(number) or (not number and cause.signature == word)]
    if found:
        return found[-1]
    shown = printable(name, 40)
    ended = board.causes.find(cause_id(number)) if number else None
    if ended is not None:
        why = f": {ended.why}" if ended.why else ""
        raise PaddockError(
            f"cause `{ended.id}` was cleared already, by {ended.by}{why}", "`paddock failures` lists those that stand"
        )
    if not number and not word.startswith("f"):
        raise Misuse(f"`{shown}` is not a cause", "causes look like `c7`; `paddock failures` lists them")
    listed = f"those that stand are {', '.join(cause.id for cause in standing[-8:])}" if standing else "none stands"
    raise NotFound(f"there is no cause `{shown}`: {listed}", "`paddock failures` lists them")


def _check_reason(reason: str) -> None:
    if len(reason) > REASON_CHARS:
        raise Misuse(f"the reason has {len(reason)} characters; the limit is {REASON_CHARS}", "say it in fewer words")


def require_probeable(board: Board, name: str) -> Cause:
    """Raises PaddockError where a probe would tell nothing, or is under way."""
    cause = standing_cause(board, name)
    if cause.is_settled:
        raise PaddockError(
            f"cause `{cause.id}` is settled already: {cause.cause.value} ({'; '.join(cause.settled)})",
            f"if that is wrong, run `paddock failures settle {cause.id} CLASS`",
        )
    going_on = [name for name in cause.probes if name in board.tasks and is_at_work(board.tasks[name])]
    if going_on:
        raise PaddockError(
            f"cause `{cause.id}` is being probed already, by {', '.join(going_on)}",
            "`paddock status` shows how far they are",
        )
    return cause


def probe_cause(
    board: Board, name: str, repeats: Sequence[TaskSpec], skipped: Sequence[str], known: Known
) -> list[Draft]:
    """A task for each repeat, and what they are for."""
    cause = require_probeable(board, name)
    added = add_tasks(board, Batch(tuple(repeats)), known)
    tasks = tuple(draft.task for draft in added if draft.task is not None)
    return [*added, Draft(CauseProbed(cause.id, tasks, tuple(skipped)))]
