"""The scriptable agent, as a real process: what it does well and how it misbehaves."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from paddock.core.summary import Final
from paddock.core.trace import TroubleKind
from paddock.engines import scripted, scripted_plays
from paddock.engines.registry import load_engine
from paddock.engines.settings import EngineSettings
from tests.engines.refusals import refusal_of
from tests.engines.unit.conftest import Place, Turn, read_turn, run_turn, start

ENGINE = load_engine("scripted")


def script(*steps: dict[str, object]) -> str:
    return f"Please do this. <<SCRIPT {json.dumps(list(steps))} SCRIPT>>"


def play(place: Place, *steps: dict[str, object], **changes: object) -> Turn:
    return run_turn(ENGINE, place.request(script(*steps), **changes))


def go_on(place: Place, session: str, prompt: str = "go on", **changes: object) -> Turn:
    return run_turn(ENGINE, place.request(prompt, session_id=session, **changes))


def test_it_edits_and_commits(place: Place) -> None:
    turn = play(
        place,
        {"write": "src/a.txt", "text": "one\n"},
        {"append": "src/a.txt", "text": "two\n"},
        {"replace": "src/a.txt", "old": "one", "new": "1"},
        {"commit": "Add a"},
        {"say": "done"},
    )
    assert (turn.exit_code, turn.summary.final, turn.summary.steps) == (0, Final.SUCCESS, 4)
    assert (place.worktree / "src/a.txt").read_text() == "1\ntwo\n"
    assert place.git("log", "-1", "--format=%s") == "Add a"
    assert place.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ('Write: {"findings": []}', '"findings": []'),
        ("Write your plan to the file.", '"convoy": "fix-it"'),
        ("Write your answer.", "# Fix it"),
    ],
)
def test_without_a_play_list_it_gives_the_shortest_answer_that_is_asked_for(
    asked: str, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PADDOCK_ANSWER", "x")
    steps = scripted_plays.script_for("Fix it", f"Fix it\n# How to finish\n{asked}", None)
    answer = steps[0]["answer"]
    assert part in (answer if isinstance(answer, str) else json.dumps(answer))


def test_a_reviewer_does_not_play_what_the_worker_was_told() -> None:
    quoted = "# The task t1 that the change is for\n" + script({"crash": 1})
    assert scripted_plays.find_script(scripted_plays.own_words(f"Review it.\n\n{quoted}")) is None
    assert scripted_plays.find_script(scripted_plays.own_words(script({"say": "hi"}) + "\n\n" + quoted)) == [
        {"say": "hi"}
    ]
    assert scripted_plays.own_words("# The task\nis this") == "# The task\nis this"


def test_a_task_without_a_play_list_plays_the_one_named_like_its_first_line(place: Place, tmp_path: Path) -> None:
    engine = load_engine("scripted", {"scripted": EngineSettings(args=("--plays", str(tmp_path)))})
    play_list = tmp_path / "fix-the-parser.json"
    play_list.write_text(json.dumps([{"write": "a.txt", "text": "one"}, {"commit": "Add a"}]))
    request = place.request("Do it.", task_text="Fix the parser!\n\nIt fails.")
    assert tmp_path in engine.launch(request).belongings.reads
    assert run_turn(engine, request).exit_code == 0
    assert place.git("log", "-1", "--format=%s") == "Add a"
    play_list.write_text("[1]")
    assert run_turn(engine, request).summary.final is Final.ERROR
    run_turn(engine, place.request("Do it.", task_text="Another"))
    assert place.git("log", "-1", "--format=%s") == "Note: Another"


def test_it_can_leave_files_uncommitted_and_claim_to_be_done(place: Place) -> None:
    turn = play(place, {"write": "a.txt", "text": "x"}, {"done": "All finished!"})
    assert turn.summary.final is Final.SUCCESS
    assert place.git("status", "--porcelain") == "?? a.txt"


def test_without_a_play_list_it_writes_a_note_and_commits_it(place: Place) -> None:
    turn = run_turn(ENGINE, place.request("# Task t1: Greet the world", task_text="Greet the world"))
    assert turn.summary.final is Final.SUCCESS
    assert place.git("log", "-1", "--format=%s") == "Note: Greet the world"


def test_the_last_play_list_in_a_prompt_counts(place: Place) -> None:
    turn = run_turn(ENGINE, place.request(script({"say": "old"}) + script({"say": "new"})))
    assert turn.summary.last_step == "new"


@pytest.mark.parametrize("text", ["<<SCRIPT [{] SCRIPT>>", "<<SCRIPT {} SCRIPT>>", '<<SCRIPT ["say"] SCRIPT>>'])
def test_a_play_list_that_cannot_be_read_is_an_error_that_says_so(place: Place, text: str) -> None:
    turn = run_turn(ENGINE, place.request(text))
    assert (turn.exit_code, turn.summary.final) == (1, Final.ERROR)
    assert "play-list" in turn.summary.last_error


def test_an_unknown_step_is_an_error_that_names_it(place: Place) -> None:
    turn = play(place, {"dance": True})
    assert (turn.exit_code, turn.summary.final) == (2, Final.ERROR)
    assert "dance" in turn.summary.last_error


def test_it_keeps_the_session_id_it_is_given(place: Place) -> None:
    assert play(place, {"say": "hi"}, new_session_id="s-1").summary.session_id == "s-1"


def test_a_resumed_turn_goes_on_after_the_step_that_ended_the_last_one(place: Place) -> None:
    first = play(place, {"rate_limited": 2}, {"write": "a.txt", "text": "x"}, {"commit": "Add a"}, new_session_id="s")
    assert (first.exit_code, refusal_of(first.summary)) == (1, "throttled")
    second = go_on(place, "s", turn=2)
    assert (second.exit_code, second.summary.session_id) == (0, "s")
    assert place.git("log", "-1", "--format=%s") == "Add a"


def test_a_resumed_turn_survives_a_kill_in_mid_step(place: Place) -> None:
    request = place.request(script({"say": "hi"}, {"hang": True}, {"say": "after"}), new_session_id="s")
    with start(ENGINE.launch(request)) as process:
        assert process.stdout is not None
        process.stdout.readline()
        while b"hi" not in process.stdout.readline():
            pass
        _await_step(place, session="s", step=2)
        process.kill()
    assert go_on(place, "s").summary.last_step == "after"


def _await_step(place: Place, session: str, step: int) -> None:
    path = place.folder / f"scripted-{session}.json"
    deadline = time.monotonic() + 30
    while json.loads(path.read_text())["next"] < step:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_step_for_a_later_turn_ends_this_one(place: Place) -> None:
    first = play(place, {"say": "one"}, {"turn": 2, "say": "two"}, new_session_id="s")
    assert (first.summary.last_step, first.summary.final) == ("one", Final.SUCCESS)
    assert go_on(place, "s").summary.last_step == "two"


def test_a_follow_up_may_bring_a_play_list_of_its_own(place: Place) -> None:
    play(place, {"say": "one"}, new_session_id="s")
    assert go_on(place, "s", script({"say": "fixed"})).summary.last_step == "fixed"


def test_a_step_for_another_attempt_is_passed_over(place: Place) -> None:
    steps: tuple[dict[str, object], ...] = ({"attempt": 1, "crash": 3}, {"say": "well"})
    assert play(place, *steps).exit_code == 3
    assert play(place, *steps, attempt=2).summary.last_step == "well"


def test_a_step_that_always_plays_is_met_again_on_resume(place: Place) -> None:
    steps: tuple[dict[str, object], ...] = ({"overloaded": True, "always": True}, {"say": "never"})
    assert refusal_of(play(place, *steps, new_session_id="s").summary) == "overloaded"
    assert refusal_of(go_on(place, "s").summary) == "overloaded"


def test_resuming_an_unknown_conversation_fails_as_it_does_with_claude(place: Place) -> None:
    turn = go_on(place, "nobody")
    assert (turn.exit_code, turn.summary.final) == (1, Final.ERROR)
    assert "No conversation found" in turn.summary.last_error


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ({"rate_limited": 5}, TroubleKind.PER_MINUTE),
        ({"rate_limited": 3600}, TroubleKind.WINDOW),
        ({"window_limited": 600}, TroubleKind.WINDOW),
        ({"overloaded": True}, TroubleKind.OVERLOAD),
        ({"server_error": True}, TroubleKind.OVERLOAD),
        ({"auth_failed": True}, TroubleKind.AUTH),
    ],
)
def test_the_provider_can_refuse_in_each_way(place: Place, step: dict[str, object], kind: TroubleKind) -> None:
    turn = play(place, step, {"say": "never"})
    assert (turn.exit_code, turn.summary.final) == (1, Final.ERROR)
    assert turn.summary.trouble is not None
    assert turn.summary.trouble.kind is kind
    assert not turn.summary.saw_llm_call


def test_a_refusal_may_pass(place: Place) -> None:
    turn = play(place, {"rate_limited": 1, "recovers": True}, {"say": "done"})
    assert (turn.exit_code, turn.summary.trouble, turn.summary.refusals) == (0, None, 1)


def test_it_declares_a_noop_it_refuses_and_it_is_denied(place: Place) -> None:
    assert play(place, {"noop": "it is there already"}).summary.noop_reason == "it is there already"
    assert play(place, {"refuse": "I will not"}).summary.refused
    assert play(place, {"deny": "Bash"}).summary.permission_denials == 1


def test_it_crashes_with_a_code_or_by_a_signal_and_says_no_last_word(place: Place) -> None:
    for how, code in ((3, 3), (0, 0), ("SIGSEGV", -signal.SIGSEGV), ("SIGKILL", -signal.SIGKILL)):
        turn = play(place, {"crash": how})
        assert (turn.exit_code, turn.summary.final) == (code, Final.NONE)
        assert turn.summary.saw_llm_call


def test_it_can_fail_to_start_at_all(place: Place) -> None:
    turn = play(place, {"never_start": 127})
    assert (turn.exit_code, turn.output) == (127, b"")
    assert b"not found" in turn.errors


def test_it_can_lie_with_its_exit_code(place: Place) -> None:
    turn = play(place, {"done": "fine", "exit": 9})
    assert (turn.exit_code, turn.summary.final) == (9, Final.SUCCESS)


@pytest.mark.parametrize("shape", ["text", "garbage", "line"])
def test_it_floods_its_output(place: Place, shape: str) -> None:
    turn = play(place, {"flood": 2_000_000, "as": shape}, {"say": "done"})
    assert len(turn.output) >= 2_000_000
    assert turn.summary.final is Final.SUCCESS


def test_it_waits_for_a_file_and_gives_up_in_time(place: Place) -> None:
    (place.worktree / "go").touch()
    assert play(place, {"wait_for": "go"}, {"say": "went"}).summary.last_step == "went"
    assert play(place, {"wait_for": "never", "seconds": 0.05}).summary.final is Final.ERROR


def test_it_reports_the_usage_it_is_told_to(place: Place) -> None:
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 11, "cost": 0.25}
    used = play(place, {"usage": usage}, {"say": "done"}).summary.usage
    assert (used.input_uncached, used.output, used.cache_read, used.cost_usd) == (5, 7, 11, 0.25)


def test_it_dies_of_sigterm_unless_told_to_ignore_it(place: Place) -> None:
    polite = _running(place, {"say": "ready"}, {"hang": True})
    polite.terminate()
    assert polite.wait(30) == -signal.SIGTERM
    stubborn = _running(place, {"ignore_sigterm": True}, {"say": "ready"}, {"wait_for": "go"}, {"say": "unmoved"})
    stubborn.terminate()
    (place.worktree / "go").touch()
    output, errors = stubborn.communicate(timeout=30)
    assert read_turn(ENGINE, output, errors, stubborn.returncode).summary.last_step == "unmoved"
    _close(polite, stubborn)


def _running(place: Place, *steps: dict[str, object]) -> subprocess.Popen[bytes]:
    process = start(ENGINE.launch(place.request(script(*steps))))
    assert process.stdout is not None
    while b"ready" not in process.stdout.readline():
        pass
    return process


def _close(*processes: subprocess.Popen[bytes]) -> None:
    for process in processes:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.mark.parametrize("own_session", [False, True])
def test_it_leaves_an_orphan_behind(place: Place, own_session: bool) -> None:
    seconds = 4321 if own_session else 4322
    turn = play(
        place, {"orphan": seconds, "own_session": own_session, "ignore_sigterm": True}, attempt_env={"MARK": str(place)}
    )
    orphan = _await_sleeper(seconds, str(place))
    try:
        assert turn.exit_code == 0
        assert (os.getsid(orphan.pid) == orphan.pid) == own_session
        orphan.terminate()
        assert orphan.is_running()
    finally:
        orphan.kill()


def _await_sleeper(seconds: int, mark: str) -> psutil.Process:
    """It shows neither words nor variables while it is still becoming `sleep`."""
    deadline = time.monotonic() + 30
    while True:
        for process in psutil.process_iter(["cmdline", "environ"]):
            words, variables = process.info["cmdline"], process.info["environ"] or {}
            if words == ["sleep", str(seconds)] and variables.get("MARK") == mark:
                return process
        assert time.monotonic() < deadline


def test_a_prompt_too_long_for_an_argument_is_read_from_a_file(place: Place) -> None:
    turn = run_turn(ENGINE, place.request("x" * 300_000 + script({"say": "read it all"})))
    assert turn.summary.last_step == "read it all"


def test_it_runs_without_site_packages_and_imports_nothing_heavy(place: Place) -> None:
    argv = ENGINE.launch(place.request(script({"say": "hi"}))).argv
    assert argv[1:4] == ("-I", "-S", scripted.__file__)
    told = subprocess.run(
        (argv[0], "-X", "importtime", *argv[1:]), cwd=place.worktree, capture_output=True, check=True, text=True
    ).stderr
    imported = {line.rsplit("|", 1)[-1].strip() for line in told.splitlines()}
    assert not imported & {"subprocess", "asyncio", "typing", "dataclasses", "pathlib", "msgspec", "argparse", "random"}


def test_it_is_a_module_too(place: Place) -> None:
    words = (
        "python",
        "-m",
        "paddock.engines.scripted",
        "--prompt",
        script({"say": "hi"}),
        "--state",
        str(place.folder),
    )
    venv = Path(load_engine("scripted").launch(place.request()).argv[0]).parent
    done = subprocess.run(words, cwd=place.worktree, env={"PATH": str(venv)}, capture_output=True, check=True)
    assert read_turn(ENGINE, done.stdout, done.stderr, 0).summary.last_step == "hi"
