"""Engines made by configuration alone."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from paddock.core.errors import Misuse, PaddockError
from paddock.core.summary import Final
from paddock.engines.protocol import Engine
from paddock.engines.registry import load_engine
from paddock.engines.settings import EngineSettings
from tests.engines.refusals import refusal_of
from tests.engines.unit.conftest import Place, read_table, run_turn, write_files


def engine_of(**table: object) -> Engine:
    with TemporaryDirectory() as folder:
        return load_engine("mine", {"mine": read_table(Path(folder), "mine", table)})


def test_a_shell_script_is_an_agent(place: Place) -> None:
    shell = engine_of(command=["bash", "-c", "{task}"])
    task = 'echo "$0" > a.txt && git add a.txt && git -c user.name=T -c user.email=t commit -qm "Add a" && echo ok'
    turn = run_turn(shell, place.request("the whole prompt", task_text=task))
    assert (turn.exit_code, turn.summary.last_step) == (0, "ok")
    assert place.git("log", "-1", "--format=%s") == "Add a"


def test_every_placeholder_is_filled(place: Place) -> None:
    engine = engine_of(command=["x", "--p={prompt}", "{task}", "{session}", "{model}", "{prompt_file}"])
    request = place.request("P {task}", task_text="T", new_session_id="S", model="M")
    launch = engine.launch(request)
    assert launch.argv == ("x", "--p=P {task}", "T", "S", "M", str(request.prompt_file))
    write_files(launch)
    assert request.prompt_file.read_text() == "P {task}"


def test_what_a_prompt_holds_is_never_filled_in_turn(place: Place) -> None:
    engine = engine_of(command=["x", "{prompt}"])
    assert engine.launch(place.request("{model} {{task}} {nonsense}")).argv[1] == "{model} {{task}} {nonsense}"


@pytest.mark.parametrize("word", ["${HOME}", "${home}", "awk '{print $1}'", "{PROMPT}", '{"a": 1}', "{}"])
def test_other_braces_are_left_alone(place: Place, word: str) -> None:
    assert engine_of(command=["x", word]).launch(place.request()).argv[1] == word


def test_doubled_braces_stand_for_the_characters(place: Place) -> None:
    assert engine_of(command=["x", "{{prompt}}"]).launch(place.request("P")).argv[1] == "{prompt}"


@pytest.mark.parametrize(
    ("word", "near"), [("{promt}", "{prompt}"), ("{session_id}", "{session}"), ("{tsk}", "{task}")]
)
def test_an_unknown_placeholder_names_the_nearest(word: str, near: str) -> None:
    with pytest.raises(Misuse) as caught:
        engine_of(command=["x", word])
    assert word in caught.value.message
    assert near in (caught.value.hint or "")


def test_a_placeholder_like_no_other_lists_them_all() -> None:
    with pytest.raises(Misuse) as caught:
        engine_of(command=["x"], resume=["{zzzzzz}"])
    assert "`resume`" in caught.value.message
    assert "{prompt_file}" in (caught.value.hint or "")


def test_resume_is_used_when_there_is_a_session_to_resume(place: Place) -> None:
    engine = engine_of(command=["x", "{prompt}"], resume=["x", "--session", "{session}", "{prompt}"])
    assert engine.capabilities.resume
    assert engine.launch(place.request("P")).argv == ("x", "P")
    assert engine.launch(place.request("P", session_id="S")).argv == ("x", "--session", "S", "P")


def test_an_engine_without_resume_starts_anew(place: Place) -> None:
    engine = engine_of(command=["x", "{prompt}"])
    assert not engine.capabilities.resume
    assert engine.launch(place.request("P", session_id="S")).argv == ("x", "P")


def test_a_command_that_takes_a_session_lets_us_choose_it() -> None:
    assert engine_of(command=["x", "--id", "{session}"]).capabilities.chooses_session_id
    assert not engine_of(command=["x"], resume=["x", "{session}"]).capabilities.chooses_session_id


def test_the_session_is_found_in_the_output(place: Place) -> None:
    engine = engine_of(
        command=["bash", "-c", "echo start; echo 'session: abc-1 now'"], session_id_regex=r"session: (\S+)"
    )
    turn = run_turn(engine, place.request())
    assert turn.summary.session_id == "abc-1"


def test_a_structured_format_may_lack_a_session_too(place: Place) -> None:
    line = '{"type":"result","is_error":false,"result":"ok","chat":"c-7"}'
    engine = engine_of(command=["echo", line], format="claude-stream", session_id_regex='"chat":"([^"]+)"')
    turn = run_turn(engine, place.request())
    assert (turn.summary.session_id, turn.summary.final) == ("c-7", Final.SUCCESS)
    assert engine.capabilities.final_event


def test_codex_lines_are_understood_from_any_command(place: Place) -> None:
    engine = engine_of(command=["echo", '{"type":"thread.started","thread_id":"T"}'], format="codex-jsonl")
    assert run_turn(engine, place.request()).summary.session_id == "T"


def test_plain_output_is_believed_about_refusals_only_in_its_last_words(place: Place) -> None:
    refused = engine_of(command=["bash", "-c", "echo working; echo 'error: 429 Too Many Requests'; exit 1"])
    assert refusal_of(run_turn(refused, place.request()).summary) == "throttled"
    chatty = engine_of(command=["bash", "-c", "echo 'test_rate_limit passed'; for i in 1 2 3; do echo $i; done"])
    assert refusal_of(run_turn(chatty, place.request()).summary) == "none"


def test_plain_output_may_declare_a_noop(place: Place) -> None:
    engine = engine_of(command=["echo", "PADDOCK-NOOP: nothing to do"])
    assert run_turn(engine, place.request()).summary.noop_reason == "nothing to do"


def test_a_task_too_long_for_an_argument_is_refused_with_a_way_out(place: Place) -> None:
    with pytest.raises(PaddockError) as caught:
        engine_of(command=["bash", "-c", "{task}"]).launch(place.request(task_text="x" * 200_000))
    assert "{prompt_file}" in (caught.value.hint or "")


def test_a_missing_model_is_asked_for(place: Place) -> None:
    with pytest.raises(PaddockError) as caught:
        engine_of(command=["x", "{model}"]).launch(place.request())
    assert "[engines.mine]" in (caught.value.hint or "")


def test_only_named_variables_pass(place: Place) -> None:
    engine = engine_of(command=["x"], env=["MY_KEY", "ACME_*"], set={"A": "1"})
    base = {"MY_KEY": "k", "ACME_TOKEN": "t", "OTHER_SECRET": "s", "PATH": "/bin"}
    assert dict(engine.launch(place.request(base_env=base)).env) == {
        "MY_KEY": "k",
        "ACME_TOKEN": "t",
        "PATH": "/bin",
        "A": "1",
    }


def test_a_terminal_mode_is_offered_when_configured(place: Place) -> None:
    launch = engine_of(command=["x"], interactive=["x", "-i", "{session}"]).interactive(place.request(session_id="S"))
    assert launch is not None
    assert launch.argv == ("x", "-i", "S")
    assert engine_of(command=["x"]).interactive(place.request()) is None


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"comand": ["x"]}, ("engines.mine.comand`", "`command`")),
        ({"command": "x"}, ("command", "")),
        ({"command": ["x"], "format": "xml"}, ("xml", "")),
        ({"command": ["x"], "env": "HOME"}, ("env", "")),
        ({"command": ["x"], "session_id_regex": "("}, ("session_id_regex", "")),
    ],
)
def test_bad_settings_are_refused_by_name(table: dict[str, object], words: tuple[str, str]) -> None:
    with pytest.raises(Misuse) as caught:
        engine_of(**table)
    assert words[0] in caught.value.message
    assert words[1] in (caught.value.hint or "")


def test_settings_have_no_effect_unless_given(tmp_path: Path) -> None:
    assert read_table(tmp_path, "mine", {}) == EngineSettings()
