"""What an attempt really did, judged from facts.

The agent's claims decide nothing: success is exit 0, the engine's own final event where it has
one, and commits that are there. Each rule below is one question, asked in this order; the first that
answers wins.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from paddock.core.ids import printable
from paddock.core.summary import Final, TurnSummary
from paddock.core.tasks.questions import told_of_question
from paddock.core.tasks.vocabulary import EndedBy, Outcome
from paddock.core.trace import RequestFault, TroubleKind

# How a shell reports a command that is missing or not executable.
UNRUNNABLE_EXITS = frozenset({126, 127})
NAMED_FILES = 5


@dataclass(frozen=True, slots=True)
class AttemptFacts:
    """What was seen of an attempt's last turn and of its worktree.

    `exit` is negative for a signal and None when nobody saw the end; `lost` says why, where that is the host's doing.
    `ended_by` names the deadline that was passed (startup, silence, tool, turn), or is empty. `commits` are ahead of
    the base; `nothing_new`: they are those that were delivered before. `kept` is what could be neither imported nor
    saved in a commit, and why.
    One that only `reads` delivers an answer instead; `unanswered` says why there is none that can be used.
    `outside` are changed files outside the paths it was given; `may_stray`: that alone sends nothing back.
    `question` is what its agent has asked a person who has not answered yet. `left_by` is the person who worked with
    its agent last and has left; `found` is why the task stood where it did before they came.

    `has_model`: the engine waits for a provider's model, so that its silence is the provider's. `greets`: it prints
    something before its first call to a model. `streams`: it prints as it goes.
    """

    exit: int | None = None
    ended_by: EndedBy = EndedBy.ITSELF
    stopped_by: str | None = None
    no_space: str = ""
    setup_problem: str = ""
    start_problem: str = ""
    lost: str = ""
    over_budget: str = ""
    looping: str = ""
    expects_final: bool = True
    has_model: bool = False
    greets: bool = True
    streams: bool = True
    summary: TurnSummary = field(default_factory=TurnSummary)
    commits: int = 0
    dirty: int = 0
    nothing_new: bool = False
    kept: str = ""
    reads: bool = False
    unanswered: str = ""
    outside: tuple[str, ...] = ()
    may_stray: bool = True
    question: str = ""
    left_by: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`wait_seconds` is how long the provider asked us to wait, if it said so."""

    outcome: Outcome
    reason: str
    wait_seconds: float | None = None


Rule = Callable[[AttemptFacts], Verdict | None]


def judge(facts: AttemptFacts) -> Verdict:
    for rule in _RULES:
        verdict = rule(facts)
        if verdict is not None:
            return verdict
    return _what_is_there(facts)


def _no_space(facts: AttemptFacts) -> Verdict | None:
    return Verdict(Outcome.NO_SPACE, facts.no_space) if facts.no_space else None


def _setup_failed(facts: AttemptFacts) -> Verdict | None:
    return Verdict(Outcome.SETUP_FAILED, facts.setup_problem) if facts.setup_problem else None


def _killed(facts: AttemptFacts) -> Verdict | None:
    return Verdict(Outcome.KILLED, f"stopped by {facts.stopped_by}") if facts.stopped_by is not None else None


def _left(facts: AttemptFacts) -> Verdict | None:
    """How a terminal was closed tells nothing: only what is there now counts."""
    if not facts.left_by or facts.kept:
        return None
    if (facts.commits and not facts.nothing_new) or facts.dirty:
        return _what_is_there(facts)
    return Verdict(Outcome.LEFT, facts.found or f"{facts.left_by} left it as it was")


def _over_budget(facts: AttemptFacts) -> Verdict | None:
    return Verdict(Outcome.OVER_BUDGET, facts.over_budget) if facts.over_budget else None


def _did_its_work(facts: AttemptFacts) -> bool:
    """By the engine's own word, or, where it has none, by what it left: the last words of a plain program may be a
    test's, which found a connection refused."""
    is_done = facts.summary.final is Final.SUCCESS or (not facts.expects_final and facts.commits > 0)
    return facts.exit == 0 and is_done


def _provider_said_no(facts: AttemptFacts) -> Verdict | None:
    """Before deadlines and crashes: a turn that timed out in backoff was throttled, not slow."""
    summary = facts.summary
    trouble = summary.trouble
    if trouble is None or _did_its_work(facts):
        return None
    said = trouble.message or summary.last_error or f"status {trouble.status}"
    match trouble.kind:
        case TroubleKind.AUTH:
            return Verdict(Outcome.AUTH, f"the provider does not accept the credentials: {said}")
        case TroubleKind.OVERLOAD:
            return Verdict(Outcome.OVERLOADED, f"the provider is overloaded: {said}")
        case TroubleKind.WINDOW:
            return Verdict(Outcome.THROTTLED, f"the quota window is used up: {said}", trouble.retry_after)
        case TroubleKind.PER_MINUTE:
            return Verdict(Outcome.THROTTLED, f"rate limit: {said}", trouble.retry_after)


def _request_refused(facts: AttemptFacts) -> Verdict | None:
    """The provider rejected the request itself: the same request would be refused again."""
    fault = facts.summary.fault
    if fault is None or _did_its_work(facts):
        return None
    match fault.fault:
        case RequestFault.NOT_FOUND:
            return Verdict(Outcome.MISCONFIGURED, f"the provider does not know this address or model: {fault.message}")
        case RequestFault.MODEL:
            return Verdict(Outcome.MISCONFIGURED, f"the provider does not offer the model: {fault.message}")
        case RequestFault.TOO_LONG:
            return Verdict(Outcome.REFUSED, f"the prompt is too long for the model: {fault.message}")
        case RequestFault.CONTENT:
            return Verdict(Outcome.REFUSED, f"blocked by the provider's content filter: {fault.message}")
        case _:
            return Verdict(Outcome.REFUSED, f"the provider refused the request: {fault.message}")


def _looping(facts: AttemptFacts) -> Verdict | None:
    if facts.looping:
        return Verdict(Outcome.LOOPING, facts.looping)
    summary = facts.summary
    if summary.final is Final.ERROR and "max_turns" in summary.final_reason:
        return Verdict(Outcome.LOOPING, f"the engine's own turn limit was reached: {summary.final_reason}")
    return None


def _could_not_start(facts: AttemptFacts) -> Verdict | None:
    return Verdict(Outcome.NEVER_RAN, facts.start_problem) if facts.start_problem else None


def _passed_deadline(facts: AttemptFacts) -> Verdict | None:
    after = facts.summary.last_step or "its start"
    match facts.ended_by:
        case EndedBy.STARTUP | EndedBy.SILENCE if _waits_for_provider(facts):
            return Verdict(Outcome.OVERLOADED, f"no answer from the provider for too long; last step: {after}")
        case EndedBy.STARTUP if _left_no_trace(facts):
            return Verdict(Outcome.NEVER_RAN, "the engine produced no output before the start-up deadline")
        case EndedBy.SILENCE if _left_no_trace(facts):
            return Verdict(Outcome.NEVER_RAN, "the engine showed no activity before the silence deadline")
        case EndedBy.STARTUP | EndedBy.SILENCE:
            return Verdict(Outcome.STALLED, f"silent for too long; last step: {after}")
        case EndedBy.TOOL:
            return Verdict(Outcome.STALLED, f"a tool was silent for too long: {after}")
        case EndedBy.TURN if facts.has_model and not facts.streams and _left_no_trace(facts):
            return Verdict(Outcome.OVERLOADED, "no activity for a whole turn: the provider did not answer")
        case EndedBy.TURN:
            return Verdict(Outcome.TIMEOUT, f"the turn timed out; last step: {facts.summary.last_step or 'none'}")
        case EndedBy.OUTPUT:
            return Verdict(Outcome.CRASHED, "its output exceeded the disk limit")
        case _:
            return None


def _waits_for_provider(facts: AttemptFacts) -> bool:
    """A running tool has a deadline of its own. An engine that greets and did not has not come as far as a call."""
    return facts.has_model and (facts.ended_by is EndedBy.SILENCE or not facts.greets)


def _left_no_trace(facts: AttemptFacts) -> bool:
    """No call reached a model, and there is neither output nor work."""
    summary = facts.summary
    said = summary.saw_llm_call or summary.last_step or summary.fault is not None or summary.trouble is not None
    return not (said or facts.commits or facts.dirty or facts.kept)


def _vanished(facts: AttemptFacts) -> Verdict | None:
    if facts.exit is not None:
        return None
    if facts.lost:
        return Verdict(Outcome.LOST, facts.lost)
    return Verdict(Outcome.CRASHED, "it vanished without an exit status")


def _refused(facts: AttemptFacts) -> Verdict | None:
    if not facts.summary.refused:
        return None
    said = facts.summary.last_step or facts.summary.final_reason
    return Verdict(Outcome.REFUSED, f"the model refused: {said}" if said else "the model refused")


def _failed_exit(facts: AttemptFacts) -> Verdict | None:
    if facts.exit == 0 or facts.exit is None:
        return None
    how = f"signal {-facts.exit}" if facts.exit < 0 else f"exit {facts.exit}"
    said = facts.summary.last_error or facts.summary.final_reason
    words = f"{how}: {said}" if said else how
    if facts.expects_final and _left_no_trace(facts):
        return Verdict(Outcome.NEVER_RAN, f"{words}, before any call to a model")
    if not facts.expects_final and facts.exit in UNRUNNABLE_EXITS and not facts.commits and not facts.dirty:
        return Verdict(Outcome.NEVER_RAN, f"{words}: its command was not found or is not executable")
    return Verdict(Outcome.CRASHED, words)


def _bad_ending(facts: AttemptFacts) -> Verdict | None:
    summary = facts.summary
    if summary.final is Final.ERROR:
        words = summary.final_reason or summary.last_error or "no reason given"
        return Verdict(Outcome.CRASHED, f"exit 0, but the engine reported failure: {words}")
    if facts.expects_final and summary.final is Final.NONE:
        return Verdict(Outcome.CRASHED, "exit 0, but the engine's final event is missing")
    return None


def describe_outside(files: Sequence[str]) -> str:
    """As many by name as one line has room for."""
    named = ", ".join(printable(name, 80) for name in files[:NAMED_FILES])
    more = f" and {len(files) - NAMED_FILES} more" if len(files) > NAMED_FILES else ""
    return f"{len(files)} file{'s' if len(files) != 1 else ''} outside its paths: {named}{more}"


def _asked(facts: AttemptFacts) -> Verdict | None:
    """What it has done so far is no delivery: it goes on with the answer."""
    return Verdict(Outcome.ASKED, told_of_question(facts.question)) if facts.question and not facts.kept else None


def _what_is_there(facts: AttemptFacts) -> Verdict:
    summary = facts.summary
    if facts.reads and not facts.unanswered:
        return Verdict(Outcome.ANSWERED, "")
    if facts.reads:
        return Verdict(Outcome.EMPTY, f"its answer cannot be used: {facts.unanswered}")
    if facts.kept:
        return Verdict(Outcome.KEPT, f"not delivered, its worktree is kept: {facts.kept}")
    if facts.outside and not facts.may_stray:
        return Verdict(Outcome.STRAYED, f"it changed {describe_outside(facts.outside)}")
    if facts.dirty:
        files = f"{facts.dirty} uncommitted file{'s' if facts.dirty != 1 else ''}"
        return Verdict(Outcome.UNSAVED, f"{files}, saved in a rescue commit")
    commits = f"{facts.commits} commit{'s' if facts.commits != 1 else ''}"
    if facts.commits and facts.nothing_new:
        said = f" ({summary.noop_reason})" if summary.noop_reason is not None else ""
        return Verdict(Outcome.UNCHANGED, f"nothing new{said}; the earlier delivery of {commits} still stands")
    if facts.commits:
        return Verdict(Outcome.DELIVERED, commits)
    if summary.noop_reason is not None:
        return Verdict(Outcome.NOOP, summary.noop_reason)
    if summary.permission_denials:
        denied = summary.permission_denials
        calls = "1 tool call was" if denied == 1 else f"{denied} tool calls were"
        return Verdict(Outcome.REFUSED, f"{calls} denied and nothing was changed")
    return Verdict(Outcome.EMPTY, "reported done but committed nothing")


_RULES: tuple[Rule, ...] = (
    _no_space,
    _setup_failed,
    _could_not_start,
    _killed,
    _left,
    _over_budget,
    _looping,
    _provider_said_no,
    _request_refused,
    _passed_deadline,
    _vanished,
    _refused,
    _failed_exit,
    _bad_ending,
    _asked,
)
