"""What the facts of an attempt are called, one row per way an attempt can end, and what follows from each."""

from dataclasses import replace

import msgspec
import pytest

from paddock.core.ids import AttemptId, TaskId
from paddock.core.summary import Final, TurnSummary
from paddock.core.tasks.outcome import AttemptFacts, Verdict, judge
from paddock.core.tasks.policy import LONGEST_BACKOFF_SECONDS, NEVER_RAN_RETRIES, Next, backoff, decide_next
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.core.tasks.vocabulary import CONTINUES, RESUMED, EndedBy, Outcome, Step
from paddock.core.trace import Error, RateLimited, RequestFault, TroubleKind

WORKED = TurnSummary(entries=9, saw_llm_call=True, final=Final.SUCCESS, last_step="Bash make")
DIED = TurnSummary(entries=9, saw_llm_call=True, last_step="Bash make", last_error="boom")


def refused_by_provider(kind: TroubleKind, **more: float) -> TurnSummary:
    trouble = RateLimited(kind, message="come back later", **more)  # type: ignore[arg-type]
    return msgspec.structs.replace(DIED, final=Final.ERROR, trouble=trouble)


def refused_request(fault: RequestFault, **more: object) -> TurnSummary:
    made = TurnSummary(entries=4, final=Final.ERROR, fault=Error("no, never", fault), last_error="no, never")
    return msgspec.structs.replace(made, **more)


ROWS = [
    pytest.param(AttemptFacts(exit=1, left_by="ana"), "left", "ana left it as it was", id="left"),
    pytest.param(
        AttemptFacts(exit=1, left_by="ana", commits=1, nothing_new=True, found="waits for ana"),
        "left",
        "waits for ana",
        id="left-unchanged",
    ),
    pytest.param(AttemptFacts(exit=None, left_by="ana", commits=2), "delivered", "2 commits", id="left-with-commits"),
    pytest.param(AttemptFacts(exit=1, left_by="ana", dirty=1), "unsaved", "1 uncommitted file", id="left-dirty"),
    pytest.param(
        AttemptFacts(exit=0, summary=WORKED, commits=1, outside=("a", "b"), may_stray=False),
        "strayed",
        "it changed 2 files outside its paths: a, b",
        id="outside",
    ),
    pytest.param(
        AttemptFacts(exit=0, summary=WORKED, commits=1, dirty=3, outside=tuple("abcdefg"), may_stray=False),
        "strayed",
        "7 files outside its paths: a, b, c, d, e and 2 more",
        id="outside-and-uncommitted",
    ),
    pytest.param(
        AttemptFacts(exit=0, summary=WORKED, commits=1, outside=("a",)), "delivered", "1 commit", id="outside-allowed"
    ),
    pytest.param(
        AttemptFacts(exit=1, summary=WORKED, commits=1, outside=("a",), may_stray=False),
        "crashed",
        "exit 1",
        id="outside-but-crashed",
    ),
    pytest.param(AttemptFacts(exit=0, summary=WORKED, commits=2), "delivered", "2 commits", id="commits"),
    pytest.param(
        AttemptFacts(exit=0, summary=WORKED, commits=2, nothing_new=True),
        "unchanged",
        "nothing new; the earlier delivery of 2 commits still stands",
        id="follow-up-without-work",
    ),
    pytest.param(AttemptFacts(exit=0, summary=WORKED, nothing_new=True), "empty", "committed nothing", id="never-any"),
    pytest.param(AttemptFacts(exit=0, summary=WORKED, reads=True), "answered", "", id="answered"),
    pytest.param(
        AttemptFacts(exit=0, summary=WORKED, reads=True, unanswered="it is not JSON"),
        "empty",
        "cannot be used: it is not JSON",
        id="answered-badly",
    ),
    pytest.param(AttemptFacts(exit=1, summary=WORKED, reads=True), "crashed", "exit 1", id="answered-and-crashed"),
    pytest.param(AttemptFacts(exit=0, summary=WORKED, dirty=3), "unsaved", "3 uncommitted files", id="dirty"),
    pytest.param(AttemptFacts(exit=0, summary=WORKED, commits=1, dirty=1), "unsaved", "1 uncommitted", id="both"),
    pytest.param(
        AttemptFacts(exit=0, summary=WORKED, commits=2, dirty=1, kept="dump: too large"),
        "kept",
        "dump: too large",
        id="kept",
    ),
    pytest.param(
        AttemptFacts(exit=1, summary=WORKED, kept="dump: too large"), "crashed", "exit 1", id="crashed-and-kept"
    ),
    pytest.param(AttemptFacts(exit=0, summary=WORKED), "empty", "committed nothing", id="nothing"),
    pytest.param(
        AttemptFacts(exit=0, summary=msgspec.structs.replace(WORKED, noop_reason="done before")),
        "noop",
        "done before",
        id="noop",
    ),
    pytest.param(
        AttemptFacts(exit=0, summary=msgspec.structs.replace(WORKED, noop_reason="lies"), commits=1),
        "delivered",
        "1 commit",
        id="noop-with-commits",
    ),
    pytest.param(
        AttemptFacts(exit=0, summary=msgspec.structs.replace(WORKED, refused=True, last_step="I will not")),
        "refused",
        "I will not",
        id="refused",
    ),
    pytest.param(
        AttemptFacts(exit=0, summary=msgspec.structs.replace(WORKED, permission_denials=4)),
        "refused",
        "4 tool calls were denied",
        id="denied",
    ),
    pytest.param(
        AttemptFacts(exit=0, summary=msgspec.structs.replace(WORKED, permission_denials=1)),
        "refused",
        "1 tool call was denied",
        id="denied-once",
    ),
    pytest.param(AttemptFacts(exit=3, summary=DIED), "crashed", "exit 3: boom", id="exit"),
    pytest.param(AttemptFacts(exit=-9, summary=DIED), "crashed", "signal 9: boom", id="signal"),
    pytest.param(AttemptFacts(exit=3, summary=DIED, commits=5), "crashed", "exit 3", id="exit-after-commits"),
    pytest.param(
        AttemptFacts(exit=0, summary=msgspec.structs.replace(WORKED, final=Final.ERROR), commits=1),
        "crashed",
        "the engine reported failure",
        id="final-error",
    ),
    pytest.param(
        AttemptFacts(exit=0, summary=msgspec.structs.replace(WORKED, final=Final.NONE), commits=1),
        "crashed",
        "the engine's final event is missing",
        id="no-final",
    ),
    pytest.param(
        AttemptFacts(exit=0, expects_final=False, commits=1), "delivered", "1 commit", id="no-final-not-expected"
    ),
    pytest.param(AttemptFacts(exit=None, summary=DIED), "crashed", "vanished", id="vanished"),
    pytest.param(AttemptFacts(exit=None, lost="the host restarted", summary=DIED), "lost", "restarted", id="reboot"),
    pytest.param(
        AttemptFacts(exit=-15, ended_by=EndedBy.TURN, summary=DIED), "timeout", "last step: Bash make", id="turn"
    ),
    pytest.param(AttemptFacts(exit=-15, ended_by=EndedBy.SILENCE, summary=DIED), "stalled", "Bash make", id="silence"),
    pytest.param(AttemptFacts(exit=-15, ended_by=EndedBy.SILENCE), "never_ran", "no activity", id="silent-from-start"),
    pytest.param(AttemptFacts(exit=-15, ended_by=EndedBy.STARTUP), "never_ran", "produced no output", id="startup"),
    pytest.param(AttemptFacts(exit=127), "never_ran", "before any call to a model", id="no-model-call"),
    pytest.param(AttemptFacts(exit=3, expects_final=False), "crashed", "exit 3", id="script-fails"),
    pytest.param(AttemptFacts(exit=127, expects_final=False), "never_ran", "was not found", id="no-such-command"),
    pytest.param(AttemptFacts(exit=126, expects_final=False), "never_ran", "is not executable", id="not-executable"),
    pytest.param(
        AttemptFacts(exit=127, expects_final=False, commits=1), "crashed", "exit 127", id="command-missing-after-work"
    ),
    pytest.param(
        AttemptFacts(exit=127, expects_final=False, dirty=1), "crashed", "exit 127", id="command-missing-after-edits"
    ),
    pytest.param(AttemptFacts(exit=1, commits=1), "crashed", "exit 1", id="no-model-call-but-a-commit"),
    pytest.param(AttemptFacts(exit=1, dirty=1), "crashed", "exit 1", id="no-model-call-but-a-file"),
    pytest.param(
        AttemptFacts(exit=1, summary=TurnSummary(entries=1, last_step="usage: claude")),
        "crashed",
        "exit 1",
        id="no-model-call-but-words",
    ),
    pytest.param(
        AttemptFacts(exit=1, summary=refused_request(RequestFault.CONTENT)),
        "refused",
        "content filter: no, never",
        id="content-filter",
    ),
    pytest.param(
        AttemptFacts(exit=1, summary=refused_request(RequestFault.TOO_LONG)),
        "refused",
        "too long for the model: no, never",
        id="prompt-too-long",
    ),
    pytest.param(
        AttemptFacts(exit=1, summary=refused_request(RequestFault.INVALID)),
        "refused",
        "refused the request: no, never",
        id="400",
    ),
    pytest.param(
        AttemptFacts(exit=1, summary=refused_request(RequestFault.MODEL)),
        "misconfigured",
        "does not offer the model: no, never",
        id="unknown-model",
    ),
    pytest.param(
        AttemptFacts(exit=1, summary=refused_request(RequestFault.NOT_FOUND)),
        "misconfigured",
        "not know this address or model: no, never",
        id="404",
    ),
    pytest.param(
        AttemptFacts(exit=0, summary=refused_request(RequestFault.CONTENT, final=Final.SUCCESS), commits=1),
        "delivered",
        "1 commit",
        id="refused-request-but-done",
    ),
    pytest.param(
        AttemptFacts(exit=-15, ended_by=EndedBy.SILENCE, has_model=True, summary=DIED),
        "overloaded",
        "no answer from the provider for too long; last step: Bash make",
        id="silent-provider",
    ),
    pytest.param(
        AttemptFacts(exit=-15, ended_by=EndedBy.SILENCE, has_model=True),
        "overloaded",
        "last step: its start",
        id="silent-provider-from-the-first-call",
    ),
    pytest.param(
        AttemptFacts(exit=-15, ended_by=EndedBy.STARTUP, has_model=True),
        "never_ran",
        "produced no output",
        id="no-greeting",
    ),
    pytest.param(
        AttemptFacts(exit=-15, ended_by=EndedBy.STARTUP, has_model=True, greets=False),
        "overloaded",
        "no answer from the provider",
        id="no-word-from-who-never-greets",
    ),
    pytest.param(
        AttemptFacts(exit=-15, ended_by=EndedBy.STARTUP, commits=1),
        "stalled",
        "silent for too long",
        id="wordless-commit",
    ),
    pytest.param(
        AttemptFacts(exit=-15, ended_by=EndedBy.TOOL, has_model=True, summary=DIED),
        "stalled",
        "a tool was silent for too long: Bash make",
        id="silent-tool",
    ),
    pytest.param(
        AttemptFacts(exit=-15, ended_by=EndedBy.TURN, has_model=True, streams=False),
        "overloaded",
        "no activity for a whole turn",
        id="wordless-turn",
    ),
    pytest.param(
        AttemptFacts(exit=-15, ended_by=EndedBy.TURN, has_model=True, streams=False, commits=1),
        "timeout",
        "timed out",
        id="wordless-turn-with-a-commit",
    ),
    pytest.param(
        AttemptFacts(exit=-15, looping="20 times the same", summary=DIED), "looping", "20 times", id="looping"
    ),
    pytest.param(
        AttemptFacts(exit=1, summary=msgspec.structs.replace(DIED, final=Final.ERROR, final_reason="max_turns")),
        "looping",
        "own turn limit was reached",
        id="engine-max-turns",
    ),
    pytest.param(AttemptFacts(start_problem="no such program"), "never_ran", "no such program", id="unstartable"),
    pytest.param(AttemptFacts(exit=-9, ended_by=EndedBy.OUTPUT, summary=DIED), "crashed", "disk limit", id="flood"),
    pytest.param(AttemptFacts(no_space="no room", setup_problem="npm failed"), "no_space", "no room", id="disk"),
    pytest.param(AttemptFacts(setup_problem="npm failed"), "setup_failed", "npm failed", id="setup"),
    pytest.param(AttemptFacts(exit=-15, stopped_by="ana", summary=DIED), "killed", "stopped by ana", id="stopped"),
    pytest.param(
        AttemptFacts(exit=-15, over_budget="spent $3 of $2", summary=DIED), "over_budget", "spent $3", id="budget"
    ),
    pytest.param(
        AttemptFacts(exit=0, summary=WORKED, commits=1, question="Which?"), "asked", "asks: Which?", id="asked"
    ),
    pytest.param(
        AttemptFacts(exit=1, summary=refused_by_provider(TroubleKind.PER_MINUTE)), "throttled", "rate limit", id="429"
    ),
    pytest.param(
        AttemptFacts(exit=1, summary=refused_by_provider(TroubleKind.WINDOW)), "throttled", "window", id="window"
    ),
    pytest.param(
        AttemptFacts(exit=1, summary=refused_by_provider(TroubleKind.OVERLOAD)), "overloaded", "overloaded", id="529"
    ),
    pytest.param(AttemptFacts(exit=1, summary=refused_by_provider(TroubleKind.AUTH)), "auth", "credentials", id="401"),
    pytest.param(
        AttemptFacts(exit=-15, ended_by=EndedBy.SILENCE, summary=refused_by_provider(TroubleKind.PER_MINUTE)),
        "throttled",
        "rate limit",
        id="silent-in-backoff",
    ),
    pytest.param(
        AttemptFacts(
            exit=0,
            summary=msgspec.structs.replace(WORKED, trouble=RateLimited(TroubleKind.WINDOW)),
            commits=1,
        ),
        "delivered",
        "1 commit",
        id="refused-once-but-done",
    ),
]


@pytest.mark.parametrize(("facts", "outcome", "words"), ROWS)
def test_facts_are_called_by_their_name(facts: AttemptFacts, outcome: str, words: str) -> None:
    verdict = judge(facts)
    assert (verdict.outcome.value, words in verdict.reason) == (outcome, True), verdict


def test_every_outcome_has_a_row() -> None:
    rows: set[object] = {row.values[1] for row in ROWS}
    assert rows == {outcome.value for outcome in Outcome}


def test_a_person_who_stopped_it_outranks_what_the_provider_said() -> None:
    facts = AttemptFacts(exit=1, stopped_by="ana", summary=refused_by_provider(TroubleKind.AUTH))
    assert judge(facts).outcome is Outcome.KILLED


def test_the_providers_own_pause_is_kept() -> None:
    facts = AttemptFacts(exit=1, summary=refused_by_provider(TroubleKind.PER_MINUTE, retry_after=42.0))
    assert judge(facts).wait_seconds == 42.0


# -- what follows -----------------------------------------------------------------------------------------------


def attempt_of(number: int = 1, **more: object) -> Attempt:
    made = Attempt(AttemptId(f"t1.{number}"), "claude", "paddock/t1", "b" * 40, started=0.0)
    return msgspec.structs.replace(made, **more)


def task_with(*outcomes: str, counted: int = 0, allowed: int = 3) -> Task:
    past = tuple(attempt_of(n, ended=1.0, outcome=outcome) for n, outcome in enumerate(outcomes, 1))
    now = attempt_of(len(past) + 1)
    return Task(
        TaskId("t1"), "x", 1, Phase.RUNNING, 0.0, 0.0, allowed, counted=counted, attempts=(*past, now), started=1
    )


def follow(outcome: Outcome, task: Task | None = None, **more: object) -> Next:
    task = task or task_with()
    assert task.last is not None
    attempt = msgspec.structs.replace(task.last, **more)
    return decide_next(Verdict(outcome, "why"), task, attempt, now=1000.0, backoff_seconds=10.0)


@pytest.mark.parametrize(
    ("outcome", "step", "counted"),
    [
        ("delivered", "approval", False),
        ("unsaved", "approval", False),
        ("kept", "block", True),
        ("unchanged", "approval", False),
        ("answered", "done", False),
        ("noop", "noop", False),
        ("empty", "retry", True),
        ("crashed", "retry", True),
        ("timeout", "retry", True),
        ("stalled", "retry", True),
        ("looping", "retry", True),
        ("setup_failed", "retry", True),
        ("no_space", "retry", False),
        ("refused", "block", True),
        ("over_budget", "block", True),
        ("auth", "block", False),
        ("misconfigured", "block", False),
        ("throttled", "retry", False),
        ("overloaded", "retry", False),
        ("never_ran", "retry", False),
        ("killed", "retry", False),
        ("lost", "retry", False),
    ],
)
def test_each_outcome_has_its_policy(outcome: str, step: str, counted: bool) -> None:
    following = follow(Outcome(outcome))
    assert (following.step, following.counted) == (step, counted)
    assert bool(following.unblock) == (step == "block")


def test_the_last_allowed_attempt_fails_the_task() -> None:
    assert follow(Outcome.CRASHED, task_with("crashed", counted=1)).step == "retry"
    assert follow(Outcome.CRASHED, task_with("crashed", "empty", counted=2)).step == "fail"


def test_a_window_that_resets_in_hours_is_waited_for_and_a_silly_one_is_not() -> None:
    task = task_with()
    assert task.last is not None
    for asked, waited in ((7200.0, 7200.0), (1e12, 7 * 86400.0)):
        verdict = Verdict(Outcome.THROTTLED, "window", asked)
        following = decide_next(verdict, task, task.last, now=1000.0, backoff_seconds=10.0)
        assert following.retry_at is not None
        assert waited <= following.retry_at - 1000.0 <= waited + 10.0


def pause_after(*earlier: str) -> float:
    following = follow(Outcome.THROTTLED, task_with(*earlier))
    assert (following.step, following.counted) == ("retry", False)
    assert following.retry_at is not None
    return following.retry_at - 1000.0


@pytest.mark.parametrize("outcome", ["throttled", "overloaded"])
def test_a_task_refused_for_days_only_waits_longer_and_never_longer_than_half_an_hour(outcome: str) -> None:
    for earlier in range(100):
        ceiling = min(10.0 * 2**earlier, LONGEST_BACKOFF_SECONDS)
        assert ceiling / 2 <= pause_after(*[outcome] * earlier) <= ceiling


def test_work_between_two_refusals_starts_the_pauses_anew() -> None:
    assert pause_after(*["throttled"] * 9, "crashed") <= 10.0 < pause_after(*["throttled"] * 9)


def test_an_agent_that_refused_goes_on_with_a_message() -> None:
    following = follow(Outcome.REFUSED)
    assert (following.step, following.unblock) == ("block", "paddock message t1 …")


def test_an_engine_that_never_runs_is_given_up_soon_and_names_the_check() -> None:
    tries = task_with(*["never_ran"] * (NEVER_RAN_RETRIES - 1))
    following = follow(Outcome.NEVER_RAN, tries)
    assert (following.step, following.unblock) == ("block", "paddock engines check claude, then paddock retry t1")


def test_an_engine_that_never_ran_is_tried_again_after_a_pause() -> None:
    """Its program may just be being replaced."""
    first, second = follow(Outcome.NEVER_RAN), follow(Outcome.NEVER_RAN, task_with("never_ran"))
    assert first.retry_at is not None
    assert second.retry_at is not None
    assert 1005.0 <= first.retry_at <= 1010.0 <= second.retry_at <= 1020.0


def test_what_is_lost_once_starts_again_at_once_and_what_is_lost_over_and_over_ever_more_rarely() -> None:
    """A machine that restarted, and an agent that ends its own keeper."""
    assert follow(Outcome.LOST) == Next(Step.RETRY, counted=False)
    waits = []
    for earlier in range(1, 30):
        following = follow(Outcome.LOST, task_with(*["lost"] * earlier))
        assert (following.step, following.counted) == ("retry", False)
        assert following.retry_at is not None
        waits.append(following.retry_at - 1000.0)
    assert 5.0 <= waits[0] <= 10.0
    assert waits[-1] >= LONGEST_BACKOFF_SECONDS / 2
    assert sum(waits) > 8 * LONGEST_BACKOFF_SECONDS


SETTLED = {Outcome.DELIVERED, Outcome.UNSAVED, Outcome.UNCHANGED, Outcome.NOOP, Outcome.ANSWERED}


@pytest.mark.parametrize("outcome", [o for o in Outcome if o not in SETTLED])
def test_what_a_person_stopped_is_never_started_again_by_itself(outcome: Outcome) -> None:
    assert follow(outcome, stop_requested="ana").step in ("block", "fail")


def test_a_stop_that_came_too_late_keeps_the_delivery() -> None:
    assert follow(Outcome.DELIVERED, stop_requested="ana").step == "approval"


def test_backoff_is_repeatable_bounded_and_differs_between_attempts() -> None:
    assert backoff(10.0, 3, "t1.1") == backoff(10.0, 3, "t1.1")
    assert len({backoff(10.0, 3, f"t{n}.1") for n in range(50)}) == 50
    assert backoff(10.0, 10_000, "t1.1") <= LONGEST_BACKOFF_SECONDS


def test_what_is_nobodys_fault_is_always_continued_and_a_failure_unless_asked_otherwise() -> None:
    assert not any(follow(outcome).counted for outcome in CONTINUES)
    assert all(follow(outcome).counted for outcome in RESUMED)
    facts = replace(AttemptFacts(), exit=1, summary=refused_by_provider(TroubleKind.AUTH))
    assert judge(facts).outcome in CONTINUES


@pytest.mark.parametrize(
    ("code", "commits", "outcome"), [(0, 1, Outcome.DELIVERED), (0, 0, Outcome.OVERLOADED), (1, 1, Outcome.OVERLOADED)]
)
def test_the_last_words_of_a_plain_program_do_not_outweigh_its_work(code: int, commits: int, outcome: Outcome) -> None:
    summary = TurnSummary(entries=1, trouble=RateLimited(TroubleKind.OVERLOAD, message="Connection refused"))
    facts = AttemptFacts(exit=code, expects_final=False, commits=commits, summary=summary)
    assert judge(facts).outcome is outcome
