"""Whatever the facts, there is one outcome, and it follows from them."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.ids import AttemptId, TaskId
from paddock.core.summary import Final, TurnSummary
from paddock.core.tasks.outcome import AttemptFacts, judge
from paddock.core.tasks.policy import decide_next
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.core.tasks.vocabulary import PROVIDERS_DOING, EndedBy, Outcome
from paddock.core.trace import Error, RateLimited, RequestFault, TroubleKind

words = st.sampled_from(["", "boom"])
troubles = st.none() | st.builds(
    RateLimited,
    kind=st.sampled_from(TroubleKind),
    status=st.none() | st.just(429),
    retry_after=st.none() | st.floats(0, 1e9),
    message=words,
)
summaries = st.builds(
    TurnSummary,
    entries=st.integers(0, 3),
    saw_llm_call=st.booleans(),
    last_step=words,
    trouble=troubles,
    fault=st.none() | st.builds(Error, words, st.sampled_from(RequestFault)),
    last_error=words,
    permission_denials=st.integers(0, 2),
    noop_reason=st.none() | st.just("was there"),
    refused=st.booleans(),
    final=st.sampled_from(Final),
    final_reason=words,
)
all_facts = st.builds(
    AttemptFacts,
    exit=st.none() | st.sampled_from([0, 1, 127, -9, -15]),
    ended_by=st.sampled_from([EndedBy(word) for word in ("", "startup", "silence", "tool", "turn", "output")]),
    stopped_by=st.none() | st.just("ana"),
    setup_problem=words,
    start_problem=words,
    lost=st.sampled_from(["", "its host restarted"]),
    over_budget=words,
    looping=words,
    expects_final=st.booleans(),
    has_model=st.booleans(),
    greets=st.booleans(),
    streams=st.booleans(),
    summary=summaries,
    commits=st.integers(0, 2),
    dirty=st.integers(0, 2),
)


@given(all_facts)
def test_any_facts_get_one_outcome_with_a_reason(facts: AttemptFacts) -> None:
    verdict = judge(facts)
    assert verdict == judge(facts)
    assert verdict.reason or facts.summary.noop_reason == ""


@given(all_facts)
def test_success_needs_a_clean_exit_the_final_word_and_something_there(facts: AttemptFacts) -> None:
    verdict = judge(facts)
    if verdict.outcome in (Outcome.DELIVERED, Outcome.UNSAVED):
        assert facts.exit == 0
        assert not facts.ended_by
        assert facts.stopped_by is None
        assert facts.summary.final is Final.SUCCESS or not facts.expects_final
        assert facts.commits or facts.dirty
    if verdict.outcome is Outcome.DELIVERED:
        assert facts.commits
        assert not facts.dirty


@given(all_facts)
def test_work_done_well_is_never_thrown_away(facts: AttemptFacts) -> None:
    good = msgspec.structs.replace(facts.summary, final=Final.SUCCESS, refused=False)
    done = AttemptFacts(exit=0, expects_final=facts.expects_final, summary=good, commits=1, dirty=facts.dirty)
    assert judge(done).outcome in (Outcome.DELIVERED, Outcome.UNSAVED)


@given(all_facts)
def test_what_never_ran_has_left_no_trace(facts: AttemptFacts) -> None:
    if judge(facts).outcome is Outcome.NEVER_RAN and not facts.start_problem:
        assert not facts.commits
        assert not facts.dirty
        assert not facts.expects_final or facts.ended_by or not facts.summary.saw_llm_call
        assert facts.summary.fault is None or facts.exit == 0 or not facts.expects_final


@given(all_facts)
def test_a_refused_request_is_never_taken_for_an_engine_that_cannot_run(facts: AttemptFacts) -> None:
    """One task whose prompt no provider takes must not look like an engine that is broken."""
    if facts.summary.fault is not None and facts.exit != 0 and not facts.start_problem:
        assert judge(facts).outcome is not Outcome.NEVER_RAN


def ended(number: int, outcome: str) -> Attempt:
    return msgspec.structs.replace(live(number), ended=1.0, outcome=outcome)


def live(number: int) -> Attempt:
    return Attempt(AttemptId(f"t1.{number}"), "claude", "b", "base", started=0.0)


histories = st.lists(st.sampled_from([outcome.value for outcome in Outcome]), max_size=12)


@given(all_facts, histories, st.integers(0, 4), st.integers(1, 4))
def test_the_provider_never_costs_a_task_an_attempt(
    facts: AttemptFacts, history: list[str], counted: int, allowed: int
) -> None:
    past = tuple(ended(number, outcome) for number, outcome in enumerate(history, 1))
    now = live(len(past) + 1)
    task = Task(
        TaskId("t1"), "x", 1, Phase.RUNNING, 0.0, 0.0, allowed, counted=counted, attempts=(*past, now), started=1
    )
    verdict = judge(facts)
    following = decide_next(verdict, task, now, now=50.0, backoff_seconds=5.0)
    if verdict.outcome in PROVIDERS_DOING:
        assert not following.counted
        assert following.step in ("retry", "block")
    if following.step == "retry" and following.counted:
        assert counted + 1 < allowed
    if following.step == "fail":
        assert following.counted
        assert counted + 1 >= allowed
    if following.retry_at is not None:
        assert following.retry_at >= 50.0


@given(st.lists(all_facts, min_size=1, max_size=60), st.integers(1, 4))
def test_a_task_left_to_itself_comes_to_rest(stream: list[AttemptFacts], allowed: int) -> None:
    """Counted attempts are bounded by what is allowed. Refusals are not, but each is followed by a pause."""
    task = Task(TaskId("t1"), "x", 1, Phase.RUNNING, 0.0, 0.0, allowed)
    for number, facts in enumerate(stream, 1):
        attempt = live(number)
        verdict = judge(facts)
        following = decide_next(verdict, task, attempt, now=0.0, backoff_seconds=1.0)
        if verdict.outcome in (Outcome.THROTTLED, Outcome.OVERLOADED):
            assert following.step == "retry"
            assert following.retry_at is not None
            assert following.retry_at > 0.0
        task = msgspec.structs.replace(
            task,
            attempts=(*task.attempts, ended(number, verdict.outcome.value)),
            counted=task.counted + following.counted,
        )
        if following.step != "retry":
            break
    assert task.counted <= allowed
