"""The mock model itself: a wrong mock would make every test that uses it worthless."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mockmodel import MockModel, Settings, play
from tests.mockmodel.anthropic import MEANWHILE
from tests.mockmodel.playlist import BadPlaylist, Refuse, Say, Shell, due_at, find_playlist

BASH = [{"name": "Bash", "input_schema": {}}]
DONE = {"text": "done"}


@pytest.fixture
def model() -> Iterator[MockModel]:
    with MockModel() as running:
        yield running


@contextlib.contextmanager
def connected(model: MockModel) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(model.base_url.removeprefix("http://"), timeout=20)
    try:
        yield connection
    finally:
        connection.close()


def claude_body(prompt: str, rounds: int = 0, **more: Any) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    for number in range(rounds):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"output {number}"}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return {"model": "m", "messages": messages, "tools": BASH, **more}


def ask(model: MockModel, body: dict[str, Any], path: str = "/v1/messages") -> tuple[int, dict[str, str], bytes]:
    with connected(model) as connection:
        connection.request("POST", path, json.dumps(body), {"x-api-key": "k"})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


def test_the_round_is_read_off_the_conversation(model: MockModel) -> None:
    prompt = play({"shell": "one"}, {"shell": "two"}, DONE)
    commands = [json.loads(ask(model, claude_body(prompt, rounds))[2])["content"][0] for rounds in range(3)]
    assert [block.get("input", {}).get("command") for block in commands] == ["one", "two", None]
    assert commands[2]["text"] == "done"


def test_a_new_prompt_starts_its_own_playlist_from_the_beginning(model: MockModel) -> None:
    body = claude_body(play({"shell": "old"}, DONE), rounds=1)
    body["messages"].append({"role": "user", "content": play({"shell": "new"}, DONE)})
    assert json.loads(ask(model, body)[2])["content"][0]["input"]["command"] == "new"


def test_what_claude_is_told_while_it_works_starts_a_playlist_of_its_own_or_nothing(model: MockModel) -> None:
    def answer_to(words: str) -> dict[str, Any]:
        body = claude_body(play({"shell": "old"}, {"text": "old done"}), rounds=1)
        reminder = f"<system-reminder>\n{MEANWHILE}{words}\n\nThis is how Claude Code tells it.</system-reminder>"
        body["messages"][-1]["content"].append({"type": "text", "text": reminder})
        content: dict[str, Any] = json.loads(ask(model, body)[2])["content"][0]
        return content

    assert answer_to(play({"shell": "new"}, DONE))["input"]["command"] == "new"
    assert answer_to("only words")["text"] == "old done"
    assert model.outcomes() == ["answered", "answered"]
    assert [exchange.user_texts[-1] for exchange in model.exchanges][1:] == ["only words"]


def test_faults_strike_as_often_as_told_and_only_before_their_step(model: MockModel) -> None:
    prompt = play({"shell": "one"}, {"status": 429, "headers": {"retry-after": "7"}, "times": 2}, DONE)
    assert ask(model, claude_body(prompt))[0] == 200
    first, headers, body = ask(model, claude_body(prompt, rounds=1))
    assert (first, headers["retry-after"]) == (429, "7")
    assert json.loads(body)["error"]["type"] == "rate_limit_error"
    assert [ask(model, claude_body(prompt, rounds=1))[0] for _ in range(2)] == [429, 200]


def test_faults_with_one_key_share_their_count(model: MockModel) -> None:
    prompts = [play({"status": 500, "times": 1, "key": "shared"}, {"text": word}) for word in ("a", "b")]
    assert [ask(model, claude_body(prompt))[0] for prompt in prompts] == [500, 200]


def test_the_concurrency_limit_turns_the_surplus_away_with_429(model: MockModel) -> None:
    model.settings = Settings(max_concurrent=1, busy_retry_after_seconds=3)
    held = threading.Thread(target=ask, args=(model, claude_body(play({"gate": "go"}, DONE))))
    held.start()
    assert model.wait_until(lambda ledger: ledger.in_flight == 1)
    status, headers, _ = ask(model, claude_body(play(DONE)))
    assert (status, headers["retry-after"]) == (429, "3")
    model.open_gate("go")
    held.join()
    assert sorted(model.outcomes()) == ["answered", "rejected"]
    assert (model.most_in_flight, model.rejected) == (1, 1)
    assert ask(model, claude_body(play(DONE)))[0] == 200


def test_silence_ends_when_the_client_hangs_up(model: MockModel) -> None:
    with connected(model) as connection:
        connection.request("POST", "/v1/messages", json.dumps(claude_body(play({"silence": 60}, DONE))))
        assert model.wait_until(lambda ledger: ledger.in_flight == 1)
    assert model.outcomes() == ["gone"]


def test_stopping_the_server_ends_a_silence_at_once() -> None:
    with MockModel() as model, connected(model) as connection:
        connection.request("POST", "/v1/messages", json.dumps(claude_body(play({"silence": 300}, DONE))))
        assert model.wait_until(lambda ledger: ledger.in_flight == 1)
        model.stop()
        assert model.outcomes() == ["silence"]


def test_a_cut_stream_breaks_off_without_its_end(model: MockModel) -> None:
    with connected(model) as connection:
        body = claude_body(play({"cut": True}, DONE), stream=True)
        connection.request("POST", "/v1/messages", json.dumps(body))
        with pytest.raises(http.client.IncompleteRead) as cut:
            connection.getresponse().read()
    assert b"message_start" in cut.value.partial
    assert b"message_stop" not in cut.value.partial


def test_an_error_inside_the_stream_follows_status_200(model: MockModel) -> None:
    status, _, body = ask(model, claude_body(play({"stream_error": "overloaded_error"}, DONE), stream=True))
    assert status == 200
    assert b"event: error" in body
    assert b"message_stop" not in body


def test_settings_hold_for_every_request_whatever_its_prompt(model: MockModel) -> None:
    model.settings = Settings(fault=Refuse(529), headers=(("anthropic-ratelimit-requests-remaining", "0"),))
    status, headers, _ = ask(model, claude_body(play(DONE)))
    assert status == 529
    assert headers["anthropic-ratelimit-requests-remaining"] == "0"


def test_a_playlist_that_cannot_be_played_is_refused_aloud(model: MockModel) -> None:
    status, _, body = ask(model, claude_body("<<MOCK [{]} MOCK>>"))
    assert status == 400
    assert b"not a JSON list" in body
    assert model.outcomes() == ["bad_playlist"]


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/v1/messages", claude_body(play({"shell": "ls"})), b'"command": "ls"'),
        (
            "/v1/responses",
            {"input": [{"type": "message", "role": "user", "content": play({"shell": "ls"})}]}
            | {"tools": [{"type": "function", "name": "exec_command"}]},
            b'{\\"cmd\\": \\"ls\\"}',
        ),
        (
            "/v1/chat/completions",
            {"messages": [{"role": "user", "content": play({"shell": "ls"})}]}
            | {"tools": [{"type": "function", "function": {"name": "bash"}}]},
            b'\\"command\\": \\"ls\\"',
        ),
        (
            "/v1beta/models/m:streamGenerateContent",
            {"contents": [{"role": "user", "parts": [{"text": play({"shell": "ls"})}]}]}
            | {"tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}]},
            b'"command": "ls"',
        ),
    ],
)
def test_every_format_calls_the_shell_its_cli_offers(
    path: str, body: dict[str, Any], expected: bytes, model: MockModel
) -> None:
    status, _, answer = ask(model, body, path)
    assert status == 200
    assert expected in answer


def test_a_request_without_tools_does_not_use_up_the_prompts_faults(model: MockModel) -> None:
    prompt = play({"status": 500, "times": 1}, DONE)
    assert ask(model, claude_body(prompt) | {"tools": []})[0] == 200
    assert ask(model, claude_body(prompt))[0] == 500


def test_the_record_shows_what_was_said_and_what_the_tools_returned(model: MockModel) -> None:
    ask(model, claude_body("hello " + play({"shell": "x"}, DONE), rounds=1))
    assert model.outcomes() == ["answered"]
    exchange = model.exchanges[0]
    assert exchange.user_texts[0].startswith("hello")
    assert exchange.tool_results == ("output 0",)
    assert exchange.had_credentials


def test_quotes_escaped_by_a_cli_still_make_a_playlist() -> None:
    original = play({"shell": 'echo "a\\b"'}, DONE)
    escaped = find_playlist(original.replace('"', '\\"'))
    assert escaped is not None
    assert due_at(escaped, 0).step == Shell('echo "a\\b"')
    assert due_at(escaped, 1).step == Say("done")


def test_an_unclosed_playlist_is_an_error_not_a_prompt() -> None:
    with pytest.raises(BadPlaylist):
        find_playlist("<<MOCK [1, 2")


def test_the_module_serves_until_it_is_told_to_end() -> None:
    process = subprocess.Popen(
        (sys.executable, "-m", "tests.mockmodel"),
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{url}/mock/report", timeout=10) as answer:
            assert json.load(answer)["in_flight"] == 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0
