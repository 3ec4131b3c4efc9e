"""From runs to clusters: each failure in exactly one, whatever the order, with the cause that the evidence bears."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core.trace import TokenUsage
from paddock.insight.failures.diagnose import diagnose
from paddock.insight.failures.vocabulary import FailureCause
from paddock.insight.trace import EndState, KeptTrace, Result
from tests.insight.failures.runs import HOUR, MINUTE, START, a_run, causes, failing, only, steps

LINES = st.sampled_from(
    [
        "bash: agent: command not found",
        "error: externally-managed-environment",
        "Error: listen EADDRINUSE: address already in use :::8080",
        "429 Too Many Requests",
        "dial tcp: lookup ghcr.io: no such host",
        "No space left on device",
        "AssertionError: 1 != 2",
        "Traceback (most recent call last):",
        "all is well",
        "\x1b[31m\x00 Killed \ud800".encode("utf-8", "replace").decode(),
        "",
    ]
)


@st.composite
def some_runs(draw: st.DrawFn) -> list[KeptTrace]:
    count = draw(st.integers(0, 14))
    return [
        a_run(
            number,
            fails=draw(st.booleans()),
            task=draw(st.sampled_from(["a", "b", "c", ""])),
            engine=draw(st.sampled_from(["claude", "codex", ""])),
            error=draw(LINES),
            tail="\n".join(draw(st.lists(LINES, max_size=4))),
            end_state=draw(st.sampled_from(list(EndState))),
            ended=draw(st.none() | st.floats(START, START + 9000)),
            steps=steps(draw(st.integers(0, 2)), draw(LINES)),
        )
        for number in range(count)
    ]


@given(some_runs(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_every_failure_is_in_one_cluster_whatever_the_order(runs: list[KeptTrace], order: random.Random) -> None:
    clusters = diagnose(runs)
    names = [run for cluster in clusters for run in cluster.runs]
    assert sorted(names) == sorted(kept.trace.run for kept in runs if kept.trace.outcome is Result.FAILURE)
    assert len({cluster.id for cluster in clusters}) == len(clusters)
    shuffled = list(runs)
    order.shuffle(shuffled)
    assert diagnose(shuffled) == clusters


@given(some_runs())
@settings(max_examples=30)
def test_another_kind_of_failure_changes_no_id(runs: list[KeptTrace]) -> None:
    others = failing(range(100, 105), "kernel panic: attempted to kill init zanzibar", task="elsewhere", engine="qwen")
    known = {cluster.id: cluster.runs for cluster in diagnose(runs)}
    after = {cluster.id: cluster.runs for cluster in diagnose([*runs, *others])}
    assert {name: after.get(name) for name in known} == known


def test_what_differs_from_run_to_run_keeps_no_failures_apart() -> None:
    runs = [
        a_run(number, tail=f"12:0{number}: job-00{number} pid {number}77\nModuleNotFoundError: No module named 'yaml'")
        for number in range(6)
    ]
    cluster = only(runs)
    assert (cluster.cause, cluster.sign, len(cluster.tasks)) == (FailureCause.DEPENDENCY, "missing-module", 6)


def test_another_missing_module_is_another_cluster() -> None:
    runs = failing([1, 2], "No module named 'yaml'") + failing([3, 4], "No module named 'numpy'")
    assert [cluster.runs for cluster in diagnose(runs)] in ([("r1", "r2"), ("r3", "r4")], [("r3", "r4"), ("r1", "r2")])


def test_what_lies_beneath_is_told_and_not_only_what_shows() -> None:
    refused = failing(
        range(4), "error: externally-managed-environment", "INSTALL_SUCCESS", "bash: mini: command not found"
    )
    unfit = failing(
        range(4, 7), "ERROR: Package requires a different Python: 3.8 not in >=3.10", "bash: mini: command not found"
    )
    first, second = diagnose(refused + unfit)
    assert first.symptom == second.symptom == "bash: mini: command not found"
    assert (first.sign, second.sign) == ("externally-managed", "wrong-python")


def test_no_call_of_a_model_is_told_before_all_else() -> None:
    runs = failing(range(3), "bash: agent: command not found", model_spoke=False)
    cluster = only(runs)
    assert (cluster.cause, cluster.because) == (FailureCause.NEVER_RAN, FailureCause.DEPENDENCY)


def test_a_run_without_steps_never_ran_only_if_others_of_its_engine_tell_their_steps() -> None:
    silent = failing(range(3), "stopped")
    assert set(causes(silent).values()) == {FailureCause.UNKNOWN}
    others = [a_run(number, fails=False, steps=steps(4)) for number in range(10, 14)]
    assert set(causes(silent + others).values()) == {FailureCause.NEVER_RAN}


def test_a_model_that_answered_that_it_was_asked_too_much_has_run() -> None:
    others = [a_run(number, fails=False, steps=steps(4)) for number in range(10, 14)]
    runs = failing([1], "prompt is too long: 220728 tokens > 200000 maximum")
    assert causes(runs + others) == {"r1": FailureCause.TASK}


def test_thoughts_without_a_step_are_a_model_at_work() -> None:
    others = [a_run(number, fails=False, steps=steps(4)) for number in range(10, 14)]
    runs = failing(
        [1], "THOUGHT: the tests pass now.", "Let me clean up and submit the work.", end_state=EndState.TIMEOUT
    )
    assert causes(runs + others) == {"r1": FailureCause.UNKNOWN}


def test_a_network_that_fails_before_the_start_stops_no_engine() -> None:
    error = 'failed to do request: Head "https://ghcr.io/v2": dial tcp: lookup ghcr.io: no such host'
    runs = [a_run(number, error=error, model_spoke=False) for number in range(4)]
    assert set(causes(runs).values()) == {FailureCause.NETWORK}


def test_a_limit_that_was_met_at_the_end_is_the_cause() -> None:
    runs = [
        a_run(number, steps=steps(5, "API Error: 429 rate_limit_error"), end_state=EndState.TIMEOUT)
        for number in (1, 2)
    ]
    assert set(causes(runs).values()) == {FailureCause.RATE_LIMIT}


def test_a_timeout_that_was_mostly_waiting_is_a_limit() -> None:
    waiting = [
        a_run(number, ended=START + number * MINUTE + 600, waited_seconds=400.0, steps=steps(3), error="agent_timeout")
        for number in range(3)
    ]
    assert set(causes(waiting).values()) == {FailureCause.RATE_LIMIT}


def test_refused_calls_are_heard_of() -> None:
    runs = [a_run(number, steps=steps(3)) for number in range(2)]
    [limit] = diagnose(runs, refusals=lambda _: [429, 429])
    [overload] = diagnose(runs, refusals=lambda _: [529])
    assert (limit.cause, overload.cause) == (FailureCause.RATE_LIMIT, FailureCause.OVERLOAD)


def test_a_port_that_was_fought_over_is_named() -> None:
    runs = failing(range(4), "OSError: [Errno 98] Address already in use", "could not listen on port 8080")
    told = failing(range(4), "Error: listen EADDRINUSE: address already in use 127.0.0.1:8080")
    assert only(runs).cause is FailureCause.CONTENTION
    assert only(told).resource == "port:8080"


def test_errors_in_the_course_of_the_work_are_the_works_own() -> None:
    met = "\n".join(["ModuleNotFoundError: No module named 'yaml'", *["collected what is there"] * 9])
    worked = [a_run(number, tail=met, steps=steps(9)) for number in range(3)]
    assert set(causes(worked).values()) == {FailureCause.UNKNOWN}


def test_what_a_run_ends_with_counts_even_if_it_had_worked() -> None:
    worked = [a_run(number, tail="ModuleNotFoundError: No module named 'yaml'", steps=steps(9)) for number in range(3)]
    assert set(causes(worked).values()) == {FailureCause.DEPENDENCY}


def test_what_a_model_says_of_a_trouble_is_not_yet_one() -> None:
    said = (
        "● Good, that works. Next: the error path when the disk is full.",
        "I'll add the 429 handling now: the middleware answers `Too Many Requests`.",
        "thinking: the database is locked only in the test, so let me look at the fixture.",
    )
    assert set(causes(failing(range(3), *said)).values()) == {FailureCause.UNKNOWN}
    told = failing(
        range(3), *said, "fatal: unable to access 'https://git.example/': Could not resolve host: git.example"
    )
    assert set(causes(told).values()) == {FailureCause.NETWORK}


def test_what_a_model_says_of_itself_counts() -> None:
    runs = failing(range(3), "● I've outlined the approach above. Would you like me to proceed with it?")
    assert set(causes(runs).values()) == {FailureCause.MODEL}


def test_lines_that_runs_show_which_do_well_say_nothing_unless_a_run_ends_with_them() -> None:
    line, rest = "cache: No space left on device, going on without", ["step done"] * 9
    well = [a_run(number, fails=False, tail="\n".join([line, *rest])) for number in range(10, 20)]
    assert set(causes(well + failing(range(3), line, *rest)).values()) == {FailureCause.UNKNOWN}
    assert set(causes(well + failing(range(3), *rest, line)).values()) == {FailureCause.SATURATION}


def test_tests_that_pass_and_layers_that_are_there_are_no_trouble() -> None:
    runs = failing(
        range(3),
        "tests/test_disk.py::test_no_space_left_is_reported PASSED [ 54%]",
        "test net::connection_refused_is_wrapped ... ok",
        "[ OK ] AllocTest.OutOfMemoryIsThrown (2 ms)",
        "d10e53720af4: Already exists",
        "debconf: delaying package configuration, since apt-utils is not installed",
    )
    assert set(causes(runs).values()) == {FailureCause.UNKNOWN}


def test_a_refusal_is_of_the_account_that_met_it_however_it_is_worded() -> None:
    words = ("429 Too Many Requests", "Quota exceeded for tokens per minute", "ThrottlingException: please slow down")
    runs = [a_run(number, account=f"team-{number % 2}", tail=words[number % 3]) for number in range(12)]
    assert sorted((cluster.account, len(cluster.runs)) for cluster in diagnose(runs)) == [("team-0", 6), ("team-1", 6)]


def test_a_machine_is_full_by_itself() -> None:
    runs = [a_run(number, host=f"build-{number % 2}", tail="No space left on device") for number in range(6)]
    assert sorted(cluster.host for cluster in diagnose(runs)) == ["build-0", "build-1"]


def test_a_host_that_lost_the_network_lost_it_once_whatever_noticed() -> None:
    words = ("Could not resolve host: a.example", "TLS handshake timeout", "connect ENETUNREACH 10.0.0.1:443")
    runs = [a_run(number, host="build-1", tail=words[number % 3]) for number in range(6)]
    late = [
        a_run(number, host="build-1", tail=words[0], started=START + 10 * HOUR, ended=START + 11 * HOUR)
        for number in range(10, 12)
    ]
    assert sorted(len(cluster.runs) for cluster in diagnose(runs + late)) == [2, 6]


def test_what_one_task_lacks_is_one_gap_whichever_program_notices() -> None:
    words = ("bash: poetry: command not found", "error: Recipe `bootstrap` failed on line 7 with exit code 127")
    runs = [a_run(number, task="cli", tail=words[number % 2]) for number in range(6)]
    assert (only(runs).cause, len(only(runs).runs)) == (FailureCause.DEPENDENCY, 6)


def test_one_model_that_refuses_task_after_task_is_the_trouble_and_one_refused_task_is_its_own() -> None:
    words = "API Error: this request appears to violate our Usage Policy"
    refusing = [a_run(number, model="opus", tail=words) for number in range(4)]
    refused = [a_run(number, task="exploit", model=("opus", "gpt")[number % 2], tail=words) for number in range(4)]
    assert only(refusing).cause is FailureCause.MODEL
    assert set(causes(refused).values()) == {FailureCause.TASK}


def test_one_model_that_comes_to_no_end_where_others_do_is_the_trouble() -> None:
    endless = [a_run(number, model="swift", error="Reached max session turns for this session") for number in range(8)]
    others = [a_run(number, model="steady", fails=False) for number in range(20, 60)]
    assert only(endless + others).cause is FailureCause.MODEL
    assert only(endless).cause is FailureCause.TASK


def test_lines_are_read_behind_what_log_drivers_put_before_them() -> None:
    lines = (
        "2026-11-18T03:11:02.123Z stdout F ● I'll handle a full disk next.",
        "2026-11-18T03:11:04.123Z stderr F ##[error]fatal: Could not resolve host: git.example",
        '{"ts": "2026-11-18T03:11:05Z", "level": "info", "msg": "let me see whether the disk is full"}',
    )
    assert set(causes(failing(range(3), *lines)).values()) == {FailureCause.NETWORK}


def test_a_hard_task_of_which_one_in_five_attempts_goes_well_is_not_fought_over() -> None:
    attempts = [
        a_run(
            10 * group + one, task="hard", fails=one > 0, started=START + group * HOUR, ended=START + group * HOUR + 60
        )
        for group in range(2)
        for one in range(5)
    ]
    assert FailureCause.CONTENTION not in set(causes(attempts).values())


def test_what_every_attempt_at_a_task_lacks_is_a_dependency_all_the_same() -> None:
    worked = [
        a_run(number, task="render", tail="bash: ffmpeg: command not found", steps=steps(9)) for number in range(4)
    ]
    assert set(causes(worked).values()) == {FailureCause.DEPENDENCY}


def test_a_task_that_several_engines_fail_at_is_too_much() -> None:
    hard = [
        a_run(number, task="hard", engine=("claude", "codex")[number % 2], end_state=EndState.TIMEOUT)
        for number in range(6)
    ]
    others = [a_run(number, fails=number % 5 == 0, end_state=EndState.TIMEOUT) for number in range(10, 30)]
    by_run = causes(hard + others)
    assert {by_run[f"r{number}"] for number in range(6)} == {FailureCause.TASK}
    assert {cause for run, cause in by_run.items() if int(run[1:]) >= 10} == {FailureCause.UNKNOWN}


def test_wrong_work_without_any_error_is_the_models() -> None:
    runs = [a_run(number, model="opus", end_state=EndState.OK, steps=steps(9)) for number in range(5)]
    cluster = only(runs)
    assert (cluster.cause, cluster.symptom) == (FailureCause.MODEL, "failed without an error")


def test_ends_without_an_error_are_kept_apart() -> None:
    nothing = a_run(1, facts=a_run(9).trace.facts.__class__(files=()), steps=steps(3))
    cut_off = a_run(2, tail="I will now go on and change the", steps=steps(3))
    late = a_run(3, end_state=EndState.TIMEOUT, steps=steps(3))
    symptoms = {cluster.symptom for cluster in diagnose([nothing, cut_off, late])}
    assert symptoms == {"ended well and changed nothing", "ended in the middle of a sentence", "ran out of time"}


def test_numbers_that_contradict_the_lines_leave_it_open() -> None:
    """One server that never answers one task is no failure of the network."""
    hours = 3600.0
    runs = [
        a_run(number, task="fetch", tail="connection refused by api.test", ended=START + number * hours)
        for number in range(5)
    ]
    others = [a_run(number, fails=False, ended=START + number * hours / 60) for number in range(10, 300)]
    [cluster] = diagnose(runs + others)
    assert (cluster.cause, cluster.tied) == (FailureCause.UNKNOWN, (FailureCause.NETWORK, FailureCause.DEPENDENCY))


def test_the_evidence_names_the_runs_it_is_from() -> None:
    cluster = only(failing(range(3), "OSError: [Errno 28] No space left on device"))
    lines = [one for one in cluster.evidence if one.where == "output"]
    assert [(one.line, one.run, one.label) for one in lines] == [
        ("OSError: [Errno 28] No space left on device", "r0", "batch")
    ]


def test_hostile_lines_are_read_in_bounded_time_and_lose_no_run() -> None:
    hostile = [
        "'" * 200_000,
        "a=" * 100_000,
        "/" * 100_000,
        "(" * 100_000,
        "0:" * 100_000,
        "http://" * 20_000,
        "\x1b[0" * 9999,
    ]
    runs = [a_run(number, error=line[:2000], tail=line) for number, line in enumerate(hostile)]
    assert sorted(run for cluster in diagnose(runs) for run in cluster.runs) == sorted(kept.trace.run for kept in runs)


def test_what_tests_say_is_not_what_went_wrong_around_them() -> None:
    told = [
        "ERROR: test_login_rejects_expired_token (tests.TestAuth)\nFAILED (errors=1)",
        'Error: expect(received).toBe(expected)\nExpected: "too many requests"\nReceived: undefined',
        "E   ConnectionRefusedError: [Errno 111] Connection refused\n1 failed, 11 passed in 4.21s",
        'psycopg2.errors.UndefinedColumn: column "total" does not exist',
    ]
    runs = [a_run(number, error=error, steps=steps(4)) for number, error in enumerate(told)]
    assert set(causes(runs).values()) == {FailureCause.UNKNOWN}


def test_what_is_ticked_off_as_done_is_no_trouble() -> None:
    runs = failing([1], "9. ✅ Custom 404.html with 'Page not found' content", "✓ GET /status: HTTP 503")
    assert causes(runs) == {"r1": FailureCause.UNKNOWN}


def test_a_terminal_that_stands_for_the_error_is_read_as_output() -> None:
    """What an agent printed that was at work is not what its harness says."""
    pane = "root@24cfeeeb7847:/app# make\nmake: gcc: command not found\nroot@24cfeeeb7847:/app#"
    assert causes([a_run(1, error=pane, steps=steps(9))]) == {"r1": FailureCause.UNKNOWN}
    others = [a_run(number, fails=False, steps=steps(4)) for number in range(10, 14)]
    lookup = "root@24cf:/app# agent run\ncurl: (6) Could not resolve host: claude.ai\nroot@24cf:/app#"
    silent = [a_run(number, error=lookup, end_state=EndState.OK) for number in (1, 2)]
    assert set(causes(silent + others).values()) == {FailureCause.NEVER_RAN}


def test_runs_that_are_silent_never_ran_whether_their_last_words_are_long_or_short() -> None:
    others = [a_run(number, fails=False, steps=steps(4)) for number in range(10, 14)]
    silent = [a_run(1, tail="stopped"), *(a_run(number, error="stopped") for number in (2, 3))]
    assert set(causes(silent + others).values()) == {FailureCause.NEVER_RAN}


def test_a_download_that_was_given_up_shows_what_kept_it() -> None:
    told = (
        "WARNING: Retrying (Retry(total=1)) after connection broken by 'ReadTimeoutError': /simple/six/",
        "WARNING: Retrying (Retry(total=0)) after connection broken by 'gaierror: Name or service not known'",
        "ERROR: No matching distribution found for six",
    )
    assert set(causes(failing(range(2), *told)).values()) == {FailureCause.NETWORK}


def test_what_is_tried_again_matters_only_at_the_very_end() -> None:
    refused = "litellm.RateLimitError: rate_limit_error. Retrying in 60s"
    work = ["● Bash(ls)", "  a.py b.py", "● Edit(a.py)", "  done"]
    over = a_run(1, tail="\n".join((refused, *work)), steps=steps(8), end_state=EndState.TIMEOUT)
    last = a_run(2, tail="\n".join((*work, refused)), steps=steps(8), end_state=EndState.TIMEOUT)
    assert causes([over, last]) == {"r1": FailureCause.UNKNOWN, "r2": FailureCause.RATE_LIMIT}


def test_a_run_without_tokens_where_others_have_them_never_ran() -> None:
    used = TokenUsage(input_uncached=900, output=80)
    others = [a_run(number, fails=False, usage=used) for number in range(10, 16)]
    silent = failing(range(3), "SyntaxError: Invalid regular expression flags", end_state=EndState.CRASHED)
    assert set(causes(silent + others).values()) == {FailureCause.NEVER_RAN}
    worked = failing(range(3), "SyntaxError: Invalid regular expression flags", usage=used)
    assert FailureCause.NEVER_RAN not in set(causes(worked + others).values())


def test_what_every_attempt_at_a_task_meets_in_its_steps_is_the_environments() -> None:
    met = "error NU1101: Unable to find package Contoso.Auth. No packages exist with this id"
    stuck = [
        a_run(number, task="portal", steps=(*steps(5, met), *steps(2)), end_state=EndState.OK) for number in range(4)
    ]
    assert set(causes(stuck).values()) == {FailureCause.DEPENDENCY}
    got_over_it = [a_run(number, task="portal", fails=False, steps=steps(5)) for number in range(10, 14)]
    assert FailureCause.DEPENDENCY not in set(causes(stuck + got_over_it).values())


def test_a_budget_that_one_model_uses_up_more_often_is_its_own_trouble_and_else_the_tasks() -> None:
    spent = [a_run(number, model="swift", end_state=EndState.BUDGET, steps=steps(9)) for number in range(8)]
    others = [a_run(number, model="steady", fails=False, steps=steps(9)) for number in range(20, 60)]
    assert only(spent + others).cause is FailureCause.MODEL
    assert only(spent[:2]).cause is FailureCause.TASK


def test_commits_that_are_listed_are_no_trouble() -> None:
    runs = failing(range(2), "23503da Fix crash when the disk is full", "* 9bc66ac0 Retry if it is refused.")
    assert {cluster.symptom for cluster in diagnose(runs)} == {"failed without an error"}


def test_one_library_is_lacked_once_whatever_notices() -> None:
    words = (
        "ImportError: libssl.so.1.1: cannot open shared object file: No such file or directory",
        "ldd: libssl.so.1.1 => not found",
        "wkhtmltopdf: error while loading shared libraries: libssl.so.1.1: cannot open shared object file",
    )
    assert len(only([a_run(number, tail=words[number % 3]) for number in range(9)]).runs) == 9


def test_the_name_of_a_task_is_no_trouble() -> None:
    line = (
        "Container rest-proxy-server-1 Error response from daemon: Bind for 0.0.0.0:1 failed: port is already allocated"
    )
    assert set(causes(failing(range(3), line, task="rest-proxy-server")).values()) == {FailureCause.CONTENTION}
    full = failing(range(3), "the disk is full", task="disk")
    assert set(causes(full).values()) == {FailureCause.SATURATION}


def test_an_agent_that_its_harness_could_not_start_never_ran() -> None:
    runs = failing(range(3), error="RuntimeError: Failed to start tmux session. Error: None")
    assert set(causes(runs).values()) == {FailureCause.NEVER_RAN}


def test_a_model_that_is_not_told_is_no_other_one() -> None:
    hard = [a_run(number, task="hard", model=("opus", "")[number % 2], error="boom") for number in range(8)]
    assert set(causes(hard).values()) == {FailureCause.UNKNOWN}
    other = [a_run(number, task="hard", model=("opus", "haiku")[number % 2], error="boom") for number in range(8)]
    assert set(causes(other).values()) == {FailureCause.TASK}
