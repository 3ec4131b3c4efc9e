"""The clock of a running turn: bytes count, a running tool has time of its own, and an engine is asked only what it can
tell."""

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from paddock.core.tasks.deadlines import TurnLimits
from paddock.core.tasks.repetition import ToolUse, follow
from paddock.core.tasks.vocabulary import EndedBy
from paddock.core.trace import ToolCall
from paddock.engines.protocol import Capabilities
from paddock.fleet.attempts.deadlines import LOOK_SECONDS, TurnClock
from paddock.sessions.identity import ProcessIdentity, identify
from paddock.sessions.process import has_child_since
from paddock.sessions.protocol import Running

LIMITS = TurnLimits(startup_seconds=100, silence_seconds=600, turn_seconds=36000, tool_seconds=1800)
TELLS = Capabilities(model=True, greets=True, tool_starts=True)
HIDES_TOOLS = Capabilities(model=True, greets=True)
AT_WORK = follow(ToolUse(), ToolCall("1", "Bash", "make test"))
NOBODY = ProcessIdentity(2**22 + 1, 1, "no boot")
NOW = time.time()


def silent_for(seconds: float) -> Running:
    return Running(started_at=NOW - 5000, last_output_at=NOW - seconds, output_bytes=1)


def clock(can: Capabilities = TELLS, tools: ToolUse | None = None, engine: ProcessIdentity = NOBODY) -> TurnClock:
    return TurnClock(LIMITS, can, lambda: tools or ToolUse(), lambda since: has_child_since(engine, since))


def test_a_byte_is_a_sign_of_life_before_any_line_is_whole() -> None:
    assert clock().passed(silent_for(60), NOW) is None
    assert clock().passed(silent_for(700), NOW) is EndedBy.SILENCE


def test_a_tool_may_be_silent_for_longer_than_a_model() -> None:
    assert clock(tools=AT_WORK).passed(silent_for(700), NOW) is None
    assert clock(tools=AT_WORK).passed(silent_for(1900), NOW) is EndedBy.TOOL


def test_who_says_nothing_before_the_model_does_is_not_asked_for_a_first_word() -> None:
    wordless = Running(started_at=NOW - 300, last_output_at=None, output_bytes=0)
    assert clock().passed(wordless, NOW) is EndedBy.STARTUP
    assert clock(Capabilities(model=True)).passed(wordless, NOW) is None
    assert clock(Capabilities()).passed(wordless, NOW) is EndedBy.STARTUP, "a plain command has no model to wait for"


def test_who_says_nothing_before_its_end_is_not_asked_to_speak() -> None:
    at_its_end = Capabilities(model=True, streams=False)
    assert clock(at_its_end).passed(silent_for(4000), NOW) is None
    late = Running(started_at=NOW - 40_000, last_output_at=None, output_bytes=0)
    assert clock(at_its_end).passed(late, NOW) is EndedBy.TURN


@pytest.fixture
def engine() -> Iterator[subprocess.Popen[str]]:
    """A process that starts a tool when it is told to, and ends it when it is told to."""
    code = (
        "import subprocess, sys\n"
        "for line in sys.stdin:\n"
        "    if line.strip() == 'start':\n"
        "        tool = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "    else:\n"
        "        tool.kill(); tool.wait()\n"
        "    print('ok', flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process
    if process.poll() is None and process.stdin is not None and process.stdout is not None:
        tell(process, "stop")
    process.kill()
    process.communicate()


def tell(engine: subprocess.Popen[str], word: str) -> None:
    assert engine.stdin is not None
    assert engine.stdout is not None
    engine.stdin.write(f"{word}\n")
    engine.stdin.flush()
    assert engine.stdout.readline() == "ok\n"


def test_a_tool_that_nobody_told_of_is_seen_at_work(engine: subprocess.Popen[str]) -> None:
    identity = identify(engine.pid)
    assert identity is not None
    tell(engine, "start")
    watched = clock(HIDES_TOOLS, engine=identity)
    assert watched.passed(silent_for(700), NOW) is None
    looks = watched.look_again_at(silent_for(700), NOW)
    assert looks == NOW + LOOK_SECONDS, "not at once: looking costs something"
    telling = clock(TELLS, engine=identity)
    assert telling.passed(silent_for(700), NOW) is EndedBy.SILENCE, "who tells of tools has none at work"
    assert clock(HIDES_TOOLS, engine=identity).passed(silent_for(1900), NOW) is EndedBy.TOOL
    tell(engine, "stop")
    assert clock(HIDES_TOOLS, engine=identity).passed(silent_for(700), NOW) is EndedBy.SILENCE
    tell(engine, "start")


def test_what_ran_before_the_last_word_is_no_tool(engine: subprocess.Popen[str]) -> None:
    """Servers for editors and the like, which an engine starts once and keeps."""
    identity = identify(engine.pid)
    assert identity is not None
    tell(engine, "start")
    now = time.time()
    state = Running(started_at=now - 50, last_output_at=now + 5, output_bytes=1)
    limits = TurnLimits(100, -10.0, 36000, 1800)
    impatient = TurnClock(limits, HIDES_TOOLS, ToolUse, lambda since: has_child_since(identity, since))
    assert impatient.passed(state, now) is EndedBy.SILENCE
