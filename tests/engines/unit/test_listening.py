"""Agents that take messages while they work: the scripted one, and any command."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

import pytest

from paddock.core.trace import DialogClosed, DialogOpened, MessagesTaken, Text, TraceEntry
from paddock.engines.protocol import Engine, TurnRequest
from paddock.engines.registry import load_engine
from paddock.engines.settings import EngineSettings
from paddock.sessions.mailbox import Letter, make_mailbox, post
from tests.engines.unit.conftest import Place, start

Entry = TypeVar("Entry", bound=TraceEntry)
SCRIPTED = load_engine("scripted")
LISTENING = load_engine("scripted", {"scripted": EngineSettings(listens=True)})


class Listener:
    """A turn that runs, whose entries are read as they come."""

    def __init__(self, engine: Engine, request: TurnRequest, mailbox: Path) -> None:
        self.launch = engine.launch(request)
        self.mailbox = mailbox
        self.process = start(self.launch)
        self._parser = engine.parser()
        self._entries = self._read()
        self.seen: list[TraceEntry] = []

    def post(self, *letters: Letter) -> None:
        for letter in letters:
            post(self.mailbox, letter)

    def until(self, kind: type[Entry]) -> Entry:
        return next(entry for entry in self._entries if isinstance(entry, kind))

    def rest(self) -> list[TraceEntry]:
        list(self._entries)
        assert self.process.wait(30) == 0
        return self.seen

    def _read(self) -> Iterator[TraceEntry]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            for entry in self._parser.feed(line):
                self.seen.append(entry)
                yield entry


class Listen(Protocol):
    def __call__(self, *steps: dict[str, object], engine: Engine = SCRIPTED) -> Listener: ...


Begin = Callable[[Engine, TurnRequest], Listener]


@pytest.fixture
def mailbox(place: Place) -> Path:
    make_mailbox(place.folder / "mail")
    return place.folder / "mail"


@pytest.fixture
def begin(mailbox: Path) -> Iterator[Begin]:
    running: list[subprocess.Popen[bytes]] = []

    def begin(engine: Engine, request: TurnRequest) -> Listener:
        listener = Listener(engine, request, mailbox)
        running.append(listener.process)
        return listener

    yield begin
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def listen(place: Place, mailbox: Path, begin: Begin) -> Listen:
    def listen(*steps: dict[str, object], engine: Engine = SCRIPTED) -> Listener:
        return begin(engine, place.request(f"<<SCRIPT {json.dumps(list(steps))} SCRIPT>>", mailbox=mailbox))

    return listen


def taken(entries: list[TraceEntry]) -> list[int]:
    return [number for entry in entries if isinstance(entry, MessagesTaken) for number in entry.messages]


def words(entries: list[TraceEntry]) -> list[str]:
    return [entry.text for entry in entries if isinstance(entry, Text)]


def test_it_takes_messages_and_plays_what_they_bring(place: Place, listen: Listen) -> None:
    notes = place.folder / "notes"
    agent = listen({"say": "hello"}, {"listen": 60, "messages": 3, "to": str(notes)}, {"say": "bye"})
    agent.until(Text)
    agent.post(Letter(5, "first"), Letter(8, 'then <<SCRIPT [{"write": "b.txt"}, {"say": "written"}] SCRIPT>>'))
    agent.until(MessagesTaken)
    agent.post(Letter(9, "third"), Letter(5, "first"))
    entries = agent.rest()
    assert taken(entries) == [5, 8, 9]
    said = words(entries)
    assert (said[0], said[1], said[-2:]) == ("hello", "read: first", ["written", "bye"])
    assert [json.loads(line)[0] for line in notes.read_text().splitlines()] == [5, 8, 9]
    assert (place.worktree / "b.txt").exists()


def test_a_letter_that_was_there_first_is_taken(listen: Listen, mailbox: Path) -> None:
    post(mailbox, Letter(5, "early"))
    assert taken(listen({"listen": 60, "messages": 1}).rest()) == [5]


def test_a_step_that_does_not_listen_leaves_letters_unless_they_say_now(listen: Listen) -> None:
    agent = listen({"say": "hello"}, {"hang": 600}, {"say": "dropped it"})
    agent.until(Text)
    agent.post(Letter(5, "whenever"), Letter(6, "at once", now=True))
    entries = agent.rest()
    assert (taken(entries), words(entries)) == ([6], ["hello", "read: at once", "dropped it"])


@pytest.mark.parametrize("step", [{"think": 1e6}, {"hang": 1e6}, {"chatter": 1e6}, {"wait_for": "never"}])
def test_every_step_that_waits_listens_where_the_engine_is_to(step: dict[str, object], listen: Listen) -> None:
    agent = listen({"say": "hello"}, step, engine=LISTENING)
    agent.until(Text)
    agent.post(Letter(5, "whenever"))
    agent.until(MessagesTaken)
    agent.post(Letter(6, "drop it", now=True))
    assert taken(agent.rest()) == [5, 6]


def test_it_asks_and_acts_on_the_choice(place: Place, listen: Listen) -> None:
    dialog = {"text": "Delete it?", "options": ["yes", "no"], "then": {"yes": [{"write": "gone.txt"}]}}
    agent = listen({"dialog": dialog}, {"say": "bye"})
    opened = agent.until(DialogOpened)
    assert (opened.text, opened.options) == ("Delete it?", ("yes", "no"))
    agent.post(Letter(4, "not an answer"), Letter(5, "no", request="another"), Letter(6, "yes", request=opened.request))
    entries = agent.rest()
    assert taken(entries) == [6]
    assert DialogClosed(opened.request) in entries
    assert words(entries) == ["answered: yes", "bye"]
    assert (place.worktree / "gone.txt").exists()


def test_it_goes_on_without_a_mailbox(place: Place, begin: Begin) -> None:
    prompt = '<<SCRIPT [{"listen": 600}, {"dialog": {"text": "?"}}, {"say": "alone"}] SCRIPT>>'
    assert words(begin(LISTENING, place.request(prompt)).rest()) == ["nobody answers", "alone"]


COMMAND = """
import json, os, select
folder = os.environ["PADDOCK_MAILBOX"]
wake = os.open(os.path.join(folder, "wake"), os.O_RDWR)
while not os.path.exists(place := os.path.join(folder, "41.letter")):
    select.select([wake], [], [])
letter = json.load(open(place))
print("heard", letter["text"])
print('{"paddock": {"type": "taken", "messages": [41], "evidence": "line 17 of the session file"}}')
"""


def test_a_command_can_take_messages(place: Place, mailbox: Path, begin: Begin) -> None:
    settings = EngineSettings(command=("python3", "-c", COMMAND), listens=True)
    engine = load_engine("mine", {"mine": settings})
    agent = begin(engine, place.request(mailbox=mailbox))
    assert engine.capabilities.listens
    assert agent.launch.mailbox == mailbox
    agent.post(Letter(41, "you there"))
    assert agent.rest() == [Text("heard you there"), MessagesTaken((41,), "line 17 of the session file")]


def test_a_command_that_does_not_listen_has_no_mailbox(place: Place, mailbox: Path) -> None:
    engine = load_engine("mine", {"mine": EngineSettings(command=("env",))})
    outer = {"PATH": "/usr/bin:/bin", "PADDOCK_MAILBOX": "/outer", "PADDOCK_TASK": "t1"}
    launch = engine.launch(place.request(mailbox=mailbox, base_env=outer))
    assert not engine.capabilities.listens
    assert (launch.mailbox, launch.env.get("PADDOCK_MAILBOX"), launch.env["PADDOCK_TASK"]) == (None, None, "t1")
