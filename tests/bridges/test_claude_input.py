"""The bridge to claude's standard input, with a stand-in for claude that shows what it was told and when."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.bridges import claude_input
from paddock.core.trace import MessagesTaken
from paddock.engines.bridge_lines import BridgeParser
from paddock.engines.claude_stream import ClaudeStreamParser
from paddock.sessions.mailbox import Letter, make_mailbox, post

FAKE = Path(__file__).with_name("fake_claude.py")


class Bridged:
    def __init__(self, folder: Path, mode: str, prompt: str, *letters: Letter) -> None:
        self.mailbox, self.notes, place = folder / "mail", folder / "notes", folder / "order.json"
        make_mailbox(self.mailbox)
        for letter in letters:
            post(self.mailbox, letter)
        argv = [sys.executable, "-I", str(FAKE), mode]
        place.write_text(json.dumps({"argv": argv, "prompt": prompt, "messages": [1, 2], "mailbox": str(self.mailbox)}))
        self.process = subprocess.Popen(
            (sys.executable, "-I", "-S", claude_input.__file__, str(place)),
            env={**os.environ, "NOTES": str(self.notes)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )

        self._seen: list[bytes] = []

    def lines(self) -> Iterator[bytes]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._seen.append(line)
            yield line

    def finish(self) -> tuple[int, bytes]:
        with self.process:
            list(self.lines())
        return self.process.returncode, b"".join(self._seen)

    def told(self) -> list[str]:
        """What claude has heard, in words."""
        return [words_of(line) for line in self.notes.read_text().splitlines()]


def words_of(note: str) -> str:
    if not note.startswith("{"):
        return "the end" if note == "null" else note
    event = json.loads(note)
    return str(event["request"]["subtype"] if "request" in event else event["message"]["content"][0]["text"])


def taken(output: bytes) -> list[int]:
    parser = BridgeParser(ClaudeStreamParser())
    entries = [entry for line in output.splitlines() for entry in parser.feed(line)]
    return [number for entry in entries if isinstance(entry, MessagesTaken) for number in entry.messages]


def test_the_prompt_is_told_and_what_it_tells_is_receipted(tmp_path: Path) -> None:
    bridged = Bridged(tmp_path, "finish", "do it")
    code, output = bridged.finish()
    assert (code, taken(output), bridged.told()) == (7, [1, 2], ["do it", "the end"])


def test_a_receipt_follows_the_line_that_it_is_for(tmp_path: Path) -> None:
    _, output = Bridged(tmp_path, "absorb", "do it", Letter(5, "more")).finish()
    kinds = [next(iter(json.loads(line))) for line in output.splitlines() if b"Replay" in line or b"paddock" in line]
    assert kinds == ["type", "paddock", "type", "paddock"]
    assert taken(output) == [1, 2, 5]


def test_letters_that_are_there_when_it_has_answered_are_told_before_its_input_ends(tmp_path: Path) -> None:
    letters = [Letter(number, f"letter {number}") for number in range(3, 23)]
    bridged = Bridged(tmp_path, "finish", "do it", *letters)
    code, output = bridged.finish()
    assert (code, taken(output)) == (7, [1, 2, *range(3, 23)])
    assert bridged.told() == ["do it", *(letter.text for letter in letters), "the end"]


def test_after_an_answer_that_failed_nothing_more_is_told(tmp_path: Path) -> None:
    bridged = Bridged(tmp_path, "fail", "do it")
    for line in bridged.lines():
        if b'"is_error"' in line:
            post(bridged.mailbox, Letter(5, "late"))
    code, output = bridged.finish()
    assert (code, taken(output), bridged.told()) == (1, [1, 2], ["do it", "the end"])


def test_a_letter_that_says_now_is_told_once_the_interruption_is_confirmed(tmp_path: Path) -> None:
    bridged = Bridged(tmp_path, "interrupted", "do it")
    for line in bridged.lines():
        if b'"isReplay"' in line:
            post(bridged.mailbox, Letter(5, "drop it", now=True))
            break
    code, output = bridged.finish()
    assert (code, taken(output)) == (7, [1, 2, 5])
    assert bridged.told() == ["do it", "interrupt", "answering the request", "drop it", "the end"]


def test_what_claude_would_take_for_a_command_of_its_own_is_told_as_text(tmp_path: Path) -> None:
    bridged = Bridged(tmp_path, "absorb", "/init", Letter(5, "/clear"))
    bridged.finish()
    assert bridged.told() == [" /init", " /clear", "the end"]


def test_long_lines_and_long_prompts_pass_unchanged(tmp_path: Path) -> None:
    prompt = 'é"\n\0' * 100_000
    bridged = Bridged(tmp_path, "big", prompt)
    code, output = bridged.finish()
    assert (code, bridged.told()) == (7, [prompt, "the end"])
    assert max(map(len, output.splitlines())) > 3_000_000
    assert b"not json\nno newlineyyyy" in output


@pytest.mark.parametrize(("mode", "code"), [("die", -signal.SIGKILL), ("finish", 7)])
def test_it_ends_as_claude_ends(tmp_path: Path, mode: str, code: int) -> None:
    assert Bridged(tmp_path, mode, "do it").finish()[0] == code


def test_a_signal_to_it_is_one_to_claude(tmp_path: Path) -> None:
    bridged = Bridged(tmp_path, "absorb", "do it")
    next(line for line in bridged.lines() if b'"isReplay"' in line)
    bridged.process.terminate()
    assert bridged.finish()[0] == -signal.SIGTERM


def test_a_claude_that_is_not_there_is_told_as_a_shell_would(tmp_path: Path) -> None:
    place = tmp_path / "order.json"
    place.write_text(json.dumps({"argv": ["/no/such/claude"], "prompt": "x"}))
    done = subprocess.run(
        (sys.executable, "-I", "-S", claude_input.__file__, str(place)), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (127, b"/no/such/claude: No such file or directory\n")
