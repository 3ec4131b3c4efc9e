"""What is read of one failed run before runs are compared: its lines, the one at the root of it, the one that shows."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from paddock.insight.failures.lines import CALL, ERROR, OUTPUT, STEP, Line, window_of
from paddock.insight.failures.salience import Reader, Salient, Work
from paddock.insight.failures.speech import AGENT_VOICES, shows_speech
from paddock.insight.failures.stubborn import Stubborn
from paddock.insight.failures.vocabulary import PASSING, FailureCause
from paddock.insight.trace import EndState, KeptTrace, Result

CLEAR, USUAL = 3, 2
FINAL_LINES = 2
MOST_TEMPLATES = 24
"""Strengths of signs from which on a line is the root of a failure."""
_TRUST = {ERROR: 3, CALL: 2, OUTPUT: 1, STEP: 0}
_PROVIDER = frozenset({FailureCause.RATE_LIMIT, FailureCause.OVERLOAD})
_SPOKEN_SIGNS = frozenset({"context-overflow", "step-limit", "refused-by-policy", "malformed-answer"})
_NO_PLACE = frozenset({"build-failed", "no-image"})
"""Signs that there was no environment to start an engine in."""
_END_WORDS = {
    EndState.TIMEOUT: "ran out of time",
    EndState.GAVE_UP: "gave up",
    EndState.CRASHED: "crashed",
    EndState.NEVER_RAN: "never ran",
    EndState.BUDGET: "used up its budget",
    EndState.REFUSED: "was refused",
    EndState.THROTTLED: "was throttled by its provider",
    EndState.OVERLOADED: "met an overloaded provider",
    EndState.KILLED: "was killed",
}
_END_CAUSES = {
    EndState.THROTTLED: FailureCause.RATE_LIMIT,
    EndState.OVERLOADED: FailureCause.OVERLOAD,
}
_MARKED_LINES = 2
_VAGUE = frozenset({"absent", "unfit-object"})
_VAGUE_AT_WORK = _VAGUE | {"missing-file", "exists-already", "missing-service"}
_STARTED = frozenset({EndState.OK, EndState.GAVE_UP, EndState.TIMEOUT, EndState.BUDGET})
_SENTENCE_ENDS = frozenset(".!?:;)]}>`'\"*|│╯#$%…")


@dataclass(frozen=True, slots=True)
class Reading:
    """`lines` are the salient ones. `root` is the line that tells most of why, `last` the last one, None where no line
    tells anything. `spoke` is None where nobody knows whether a model was called. `symptom` is what one sees first,
    `templates` what the run is compared by."""

    kept: KeptTrace
    lines: tuple[Salient, ...]
    root: Salient | None
    symptom: str
    symptom_key: str
    templates: frozenset[str]
    spoke: bool | None

    @property
    def cause(self) -> FailureCause:
        """What its own lines say, unknown if they say nothing."""
        if self.root is not None and self.root.sign is not None:
            return self.root.sign.cause
        return _END_CAUSES.get(self.kept.trace.end_state, FailureCause.UNKNOWN)

    @property
    def never_ran(self) -> bool:
        """Unless the harness itself says what went wrong before an engine could be started, and would have for any. A
        run that came to an end of its own was started."""
        if self.spoke is not False:
            return False
        if self.kept.trace.end_state in _STARTED:
            return True
        root = self.root
        if root is None or root.sign is None or root.line.where != ERROR or root.strength < USUAL:
            return True
        return root.sign.cause not in PASSING and root.sign.name not in _NO_PLACE

    @property
    def strength(self) -> int:
        return 0 if self.root is None else self.root.strength


def read_run(
    kept: KeptTrace,
    reader: Reader,
    refused: Sequence[int],
    *,
    tells_steps: bool,
    everyday: Container[str] = (),
    stubborn: Stubborn = frozenset(),
) -> Reading:
    """`tells_steps`: other runs of the same source have steps, so that one without any made none. `everyday` are the
    templates of lines that mean nothing unless a run ends with them."""
    window = window_of(kept, refused)
    work = _work_of(kept)
    read = (_insisting(reader.salient(line, kept.trace.task, work), kept.trace.task, stubborn) for line in window)
    lines = tuple(
        found
        for found in read
        if found is not None
        and (found.strength >= (USUAL if found.line.where == STEP else 1) or not _is_work(found, work))
        and (found.line.is_closing or found.line.where not in (OUTPUT, STEP) or found.template not in everyday)
    )
    root = _root_of(lines) or _last_resort(window, lines, work)
    symptom, key = _symptom_of(kept, lines)
    spoke = _has_spoken(kept, window, lines, refused, tells_steps=tells_steps)
    return Reading(
        kept,
        lines,
        root,
        symptom,
        key,
        _templates(lines, is_clear=root is not None and root.strength >= USUAL) or frozenset({f"<{key}>"}),
        spoke,
    )


def _insisting(found: Salient | None, task: str, stubborn: Stubborn) -> Salient | None:
    """What no attempt at the task gets over counts as what is said outside of the work."""
    if found is None or found.sign is None or (task, found.sign.name) not in stubborn:
        return found
    return replace(found, strength=max(found.strength, min(found.sign.strength, USUAL)))


def _work_of(kept: KeptTrace) -> Work:
    if not kept.step_count:
        return Work.NONE
    return Work.ENDED if kept.trace.end_state is EndState.OK else Work.BROKEN_OFF


def _is_work(salient: Salient, work: Work) -> bool:
    """What fails in the course of the work, and what is said of it, is different each time and tells nothing."""
    return salient.line.where == STEP or (work is not Work.NONE and salient.line.where == OUTPUT)


def _root_of(lines: tuple[Salient, ...]) -> Salient | None:
    """The strongest; of those as strong what the harness said, and then the last."""
    return max((salient for salient in lines if salient.strength >= USUAL), key=_weight, default=None)


def _weight(salient: Salient) -> tuple[int, int, int]:
    return salient.strength, _TRUST[salient.line.where], -salient.line.place


def _last_resort(window: Sequence[Line], lines: tuple[Salient, ...], work: Work) -> Salient | None:
    """What follows from many causes tells of one if it is the last thing that is heard of a run."""
    weak = [salient for salient in lines if salient.strength > 0]
    if not weak:
        return None
    said = [salient for salient in weak if salient.line.where == ERROR and not _is_vague(salient, work)]
    final = weak[-1]
    if said:
        return replace(said[-1], strength=USUAL)
    outputs = [line.place for line in window if line.where == OUTPUT]
    is_final = bool(outputs) and final.line.where == OUTPUT and final.line.place >= outputs[-1] - FINAL_LINES
    promotes = is_final and work is Work.NONE and not _is_vague(final, work)
    return replace(final, strength=USUAL) if promotes else final


def _is_vague(salient: Salient, work: Work) -> bool:
    """What programs say that are at work says little of why a run failed, unless it came to no work at all."""
    sign = salient.sign
    return sign is not None and sign.name in (_VAGUE if work is Work.NONE else _VAGUE_AT_WORK)


def _templates(lines: tuple[Salient, ...], *, is_clear: bool) -> frozenset[str]:
    """What lines say and what trouble they name; a line that was cut, or that is only the name of how it ended, counts
    where there is no other."""
    whole = [line for line in lines if not line.line.is_cut]
    clear = [line for line in whole if line.tells] if is_clear else []
    telling = [line for line in whole if line.sign is not None or " " in line.template]
    chosen = clear or telling or whole or lines
    if len(chosen) > MOST_TEMPLATES:
        chosen = sorted(chosen, key=_weight)[-MOST_TEMPLATES:]
    return frozenset(part for line in chosen for part in (line.template, line.key if line.tells else "") if part)


def _symptom_of(kept: KeptTrace, lines: tuple[Salient, ...]) -> tuple[str, str]:
    """The last line that names a trouble, as it stands and as it is compared; without one, how the run ended."""
    telling = [salient for salient in lines if salient.sign is not None and salient.strength > 0]
    errors = [salient for salient in telling if salient.line.where == ERROR]
    shown = errors[-1] if errors else telling[-1] if telling else None
    if shown is None and (said := [salient for salient in lines if salient.line.where == ERROR]):
        shown = said[-1]
    if shown is None and (outputs := [salient for salient in lines if salient.line.where != STEP]):
        shown = outputs[-1]
    if shown is not None:
        return shown.line.text, shown.template
    return _silent_symptom(kept)


def _silent_symptom(kept: KeptTrace) -> tuple[str, str]:
    trace = kept.trace
    if trace.end_state in _END_WORDS:
        words = _END_WORDS[trace.end_state]
    elif _changed_nothing(kept):
        words = "ended well and changed nothing"
    elif _stops_in_a_sentence(trace.tail):
        words = "ended in the middle of a sentence"
    elif trace.outcome is Result.FAILURE and trace.tests and not all(trace.tests.values()):
        words = "did other than its tests ask for"
    else:
        words = "failed without an error"
    return words, words


def _changed_nothing(kept: KeptTrace) -> bool:
    facts = kept.trace.facts
    if facts.files is not None:
        return not facts.files
    return facts.insertions == 0 and facts.deletions == 0


def _stops_in_a_sentence(tail: str) -> bool:
    last = next((line.strip() for line in reversed(tail.splitlines()) if line.strip()), "")
    return len(last.split()) >= 4 and last[-1] not in _SENTENCE_ENDS and last[-1].islower()


def _has_spoken(
    kept: KeptTrace, window: Sequence[Line], lines: tuple[Salient, ...], refused: Sequence[int], *, tells_steps: bool
) -> bool | None:
    trace = kept.trace
    if kept.step_count or trace.model_calls or refused or (trace.usage is not None and trace.usage.output):
        return True
    if trace.model_spoke is not None:
        return trace.model_spoke
    if any(_shows_a_call(salient) for salient in lines):
        return True
    if trace.end_state is EndState.NEVER_RAN or trace.model_calls == 0:
        return False
    if any(salient.sign is not None and salient.sign.name == "not-started" for salient in lines):
        return False
    if sum(line.where == OUTPUT and line.text.startswith(AGENT_VOICES) for line in window) >= _MARKED_LINES:
        return True
    if tells_steps:
        return shows_speech(line.text for line in window if line.where in (OUTPUT, ERROR))
    return None


def _shows_a_call(salient: Salient) -> bool:
    """Only a model that was asked can answer that it was asked too much."""
    sign = salient.sign
    if sign is None or salient.strength < USUAL:
        return False
    return sign.cause in _PROVIDER or sign.name in _SPOKEN_SIGNS
