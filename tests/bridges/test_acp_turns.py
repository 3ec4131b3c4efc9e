"""The bridge to ACP agents, as a real process with a real agent made with the protocol's own library."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from paddock.core.trace import (
    DialogClosed,
    DialogOpened,
    End,
    Error,
    FileEdit,
    MessagesTaken,
    Partial,
    RateLimited,
    RequestFault,
    SessionStarted,
    Text,
    TokenUsage,
    ToolCall,
    ToolResult,
    ToolStatus,
    TroubleKind,
    Usage,
    UsageScope,
)
from paddock.engines.acp_order import AcpToolServer
from paddock.engines.lost_session import find_lost_session
from tests.bridges.stage import Stage, steps


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.close()


def test_a_turn_is_told_as_it_happens(stage: Stage) -> None:
    file = stage.root / "tree" / "a.txt"
    plan = {"plan": [["look", "completed"], ["write", "in_progress"]]}
    write = {"write": {"path": str(file), "text": "one\ntwo\n"}}
    server = AcpToolServer("paddock", ("true",), {"TOKEN": "secret"})
    played = steps({"think": "hm"}, {"say": "I write it now."}, plan, write, {"say": "all done"})
    turn = stage.start(f"Please. {played}", permissions="allow", servers=(server,), model="Fast")
    assert turn.wait() == 0, turn.words
    [session] = turn.of(SessionStarted)
    assert (bool(session.session_id), session.model) == (True, "fast")
    assert [text.text for text in turn.of(Text)] == ["I write it now.", "all done"]
    assert "".join(partial.text for partial in turn.of(Partial)) == "I write it now.all done"
    assert [(call.tool, call.argument) for call in turn.of(ToolCall)] == [
        ("plan", "[x] look\n[>] write"),
        ("edit", "Write a file"),
    ]
    [edit] = turn.of(FileEdit)
    assert (edit.path, edit.insertions, edit.diff) == (str(file), 2, "+one\n+two")
    assert [result.status for result in turn.of(ToolResult)] == [ToolStatus.OK, ToolStatus.OK]
    assert turn.of(Usage) == [Usage(TokenUsage(10, 0, 1, 5), UsageScope.TURN)]
    assert turn.entries()[-1] == End(success=True, reason="end_turn")
    told = {"cwd": str(stage.root / "tree"), "servers": ["paddock"]}
    assert [json.loads(line) for line in stage.notes("sessions")] == [told]
    assert stage.notes("options") == ["model=fast"]


@pytest.mark.parametrize(
    ("reason", "refused"), [("max_tokens", False), ("max_turn_requests", False), ("refusal", True)]
)
def test_a_turn_that_did_not_end_well_says_so(stage: Stage, reason: str, refused: bool) -> None:
    turn = stage.start(steps({"say": "well"}, {"end": reason}))
    assert turn.wait() == 1
    [end] = turn.of(End)
    assert (end.success, end.refused) == (False, refused)


@pytest.mark.parametrize("options", [(), ("no-resume",)], ids=["resume", "load"])
def test_a_conversation_is_resumed_and_its_history_is_not_told_again(stage: Stage, options: tuple[str, ...]) -> None:
    first = stage.start(steps({"say": "one"}), *options)
    assert first.wait() == 0, first.words
    session = first.of(SessionStarted)[0].session_id
    second = stage.start(steps({"say": "two"}), *options, session=session)
    assert second.wait() == 0, second.words
    assert [text.text for text in second.of(Text)] == ["two"]
    assert second.of(SessionStarted)[0].session_id == session


@pytest.mark.parametrize("options", [("no-load", "no-resume"), ("no-resume",), ()], ids=["cannot", "load", "resume"])
def test_a_lost_conversation_is_said_so_that_a_new_one_begins(stage: Stage, options: tuple[str, ...]) -> None:
    turn = stage.start(steps({"say": "two"}), *options, session="gone")
    assert turn.wait() == 1
    assert find_lost_session(turn.words)
    assert (turn.of(SessionStarted), stage.prompts()) == ([], [])


@pytest.mark.parametrize("options", [(), ("queue",)], ids=["after", "while"])
def test_a_letter_reaches_the_running_turn_once(stage: Stage, options: tuple[str, ...]) -> None:
    gate = stage.root / "gate"
    turn = stage.start(steps({"say": "begun"}, {"await": str(gate)}), *options, messages=(7,))
    turn.await_that(lambda: stage.notes("waits"))
    stage.post(12, f'Also "this" {steps({"say": "second"})}')
    stage.post(12, "never: the number is taken")
    stage.post(13, "/clear 🦊 \0 that")
    gate.touch()
    assert turn.wait() == 0, turn.words
    assert sum("Also" in text for text in stage.prompts()) == 1
    assert sum("Message:\n/clear 🦊  that" in text for text in stage.prompts()) == 1
    assert not any("never" in text for text in stage.prompts())
    taken = [number for entry in turn.of(MessagesTaken) for number in entry.messages]
    assert taken == [7, 12, 13]
    assert all("session/" in entry.evidence for entry in turn.of(MessagesTaken))
    assert [text.text for text in turn.of(Text)][-1] == "second"
    assert len(turn.of(End)) == 1


def test_no_letter_is_a_command_of_the_agents_own(stage: Stage) -> None:
    gate = stage.root / "gate"
    turn = stage.start(steps({"say": "begun"}, {"await": str(gate)}))
    turn.await_that(lambda: stage.notes("waits"))
    stage.post(4, " /clear the table first")
    gate.touch()
    assert turn.wait() == 0, turn.words
    assert stage.prompts()[-1] == "Message:\n /clear the table first"


def test_a_letter_with_now_interrupts_what_runs(stage: Stage) -> None:
    turn = stage.start(steps({"say": "begun"}, {"await": str(stage.root / "never")}))
    turn.await_that(lambda: turn.of(Partial))
    stage.post(5, f"Stop. {steps({'say': 'obeyed'})}", now=True)
    assert turn.wait() == 0, turn.words
    assert len(stage.notes("cancels")) == 1
    assert len(stage.prompts()) == 2
    assert [text.text for text in turn.of(Text)] == ["begun", "obeyed"]
    assert [entry.messages for entry in turn.of(MessagesTaken)] == [(5,)]
    assert turn.of(End) == [End(success=True, reason="end_turn")]


def test_a_signal_cancels_the_prompt_and_leaves_nothing(stage: Stage) -> None:
    turn = stage.start(steps({"say": "begun"}, {"await": str(stage.root / "never")}))
    turn.await_that(lambda: turn.of(Partial))
    family = psutil.Process(turn.process.pid).children(recursive=True)
    turn.process.send_signal(signal.SIGTERM)
    assert turn.wait() == 143
    assert len(stage.notes("cancels")) == 1
    assert psutil.wait_procs(family, timeout=10)[1] == []
    assert not any(end.success for end in turn.of(End))


def test_an_agent_that_obeys_no_cancel_is_ended_all_the_same(stage: Stage) -> None:
    turn = stage.start(steps({"say": "begun"}, {"await": str(stage.root / "never")}), "deaf")
    turn.await_that(lambda: turn.of(Partial))
    family = psutil.Process(turn.process.pid).children(recursive=True)
    turn.process.send_signal(signal.SIGTERM)
    assert turn.wait() == 143
    assert psutil.wait_procs(family, timeout=10)[1] == []


@pytest.mark.parametrize(("policy", "chosen"), [("allow", "yes"), ("deny", "no")])
def test_permissions_by_policy(stage: Stage, policy: str, chosen: str) -> None:
    turn = stage.start(steps({"ask": "rm -rf x"}, {"say": "done"}), permissions=policy)
    assert turn.wait() == 0, turn.words
    assert stage.notes("answers") == [chosen]
    assert turn.of(DialogOpened) == []
    expected = ToolStatus.OK if policy == "allow" else ToolStatus.DENIED
    assert [result.status for result in turn.of(ToolResult)] == [expected]
    assert turn.of(End)[0].permission_denials == (policy == "deny")


def test_people_are_asked_for_one_permission_after_the_other(stage: Stage) -> None:
    turn = stage.start(steps({"ask_twice": ["make test", "git push"]}, {"say": "done"}), permissions="ask")
    turn.await_that(lambda: turn.of(DialogOpened))
    [dialog] = turn.of(DialogOpened)
    assert dialog.options == ("Allow", "Always allow", "Reject")
    assert "make test" in dialog.text
    assert next(call.argument for call in turn.of(ToolCall)) == "make test"
    stage.post(20, "allow", request=dialog.request)
    turn.await_that(lambda: len(turn.of(DialogOpened)) == 2)
    stage.post(21, "3", request=turn.of(DialogOpened)[1].request)
    assert turn.wait() == 0, turn.words
    assert stage.notes("answers") == ["yes", "no"]
    assert [entry.messages for entry in turn.of(MessagesTaken)] == [(20,), (21,)]
    assert [entry.request for entry in turn.of(DialogClosed)] == [entry.request for entry in turn.of(DialogOpened)]
    assert len(stage.prompts()) == 1


def test_a_message_now_closes_the_dialog_that_is_open(stage: Stage) -> None:
    turn = stage.start(steps({"ask": "git push"}), permissions="ask")
    turn.await_that(lambda: turn.of(DialogOpened))
    stage.post(3, f"Never mind. {steps({'say': 'fine'})}", now=True)
    assert turn.wait() == 0, turn.words
    assert len(turn.of(DialogClosed)) == 1
    assert [text.text for text in turn.of(Text)] == ["fine"]


def test_files_and_terminals_are_not_offered(stage: Stage) -> None:
    turn = stage.start(steps({"read": "/etc/passwd"}, {"say": "done"}))
    assert turn.wait() == 0, turn.words
    assert stage.notes("refusals") == ["-32601"]


def test_a_login_by_a_variable_is_used(stage: Stage) -> None:
    turn = stage.start(steps({"say": "in"}), "login", env={"PLAYER_KEY": "right"})
    assert turn.wait() == 0, turn.words


def test_a_missing_login_is_the_providers_word(stage: Stage) -> None:
    turn = stage.start(steps({"say": "in"}), "login")
    assert turn.wait() == 1
    assert [entry.kind for entry in turn.of(RateLimited)] == [TroubleKind.AUTH]
    assert turn.of(End)[0].success is False


@pytest.mark.parametrize(
    ("code", "message", "data", "kind"),
    [
        (-32603, "Internal error", {"details": "API Error: 429 rate_limit_error"}, TroubleKind.PER_MINUTE),
        (-32603, "Overloaded", None, TroubleKind.OVERLOAD),
        (-32000, "Authentication required", None, TroubleKind.AUTH),
    ],
)
def test_what_the_provider_refuses_keeps_its_kind(
    stage: Stage, code: int, message: str, data: object, kind: TroubleKind
) -> None:
    turn = stage.start(steps({"raise": {"code": code, "message": message, "data": data}}))
    assert turn.wait() == 1
    assert [entry.kind for entry in turn.of(RateLimited)] == [kind]


def test_an_unknown_model_is_named_with_those_there_are(stage: Stage) -> None:
    turn = stage.start(steps({"say": "x"}), model="huge")
    assert turn.wait() == 78
    assert "unknown model `huge`: the agent offers slow, fast" in turn.words
    assert [error.fault for error in turn.of(Error)] == [RequestFault.MODEL]


@pytest.mark.parametrize(
    ("played", "options", "status", "words"),
    [
        ({"exit": 3}, (), 69, "ended with exit status 3 before it answered session/prompt"),
        ({"close": ""}, (), 69, "closed its output before it answered session/prompt"),
        ({"flood": 40}, (), 76, "sent a message of more than 32 MB"),
        ({"say": "x"}, ("version=2",), 76, "speaks version 2 of the Agent Client Protocol; Paddock speaks version 1"),
    ],
)
def test_an_agent_that_breaks_down_ends_the_turn_in_clear_words(
    stage: Stage, played: dict[str, object], options: tuple[str, ...], status: int, words: str
) -> None:
    turn = stage.start(steps(played), *options)
    assert (turn.wait(), words in turn.words) == (status, True), turn.words
    assert turn.of(End) == []
    assert "Traceback" not in turn.words


def test_what_was_used_before_an_agent_breaks_down_is_told(stage: Stage) -> None:
    gate = stage.root / "gate"
    turn = stage.start(steps({"say": "begun"}, {"await": str(gate)}))
    turn.await_that(lambda: stage.notes("waits"))
    stage.post(4, steps({"exit": 3}))
    gate.touch()
    assert turn.wait() == 69, turn.words
    assert turn.of(Usage) == [Usage(TokenUsage(10, 0, 1, 5), UsageScope.TURN)], "that of the first prompt"


@pytest.mark.parametrize(
    ("argv", "status", "words"),
    [
        (("no-such-agent",), 69, "`no-such-agent` cannot be started"),
        (("true",), 69, "ended with exit status 0 before it answered initialize"),
        (("yes",), 76, "prints what is not the Agent Client Protocol"),
        (("cat",), 1, "initialize: Method not found"),
    ],
)
def test_a_program_that_is_no_agent_is_told_apart(stage: Stage, argv: tuple[str, ...], status: int, words: str) -> None:
    turn = stage.start("hello", argv=argv)
    assert (turn.wait(), words in turn.words) == (status, True), turn.words


def test_chatter_between_messages_is_passed_on_and_does_not_disturb(stage: Stage) -> None:
    junk = [{"print": line} for line in ("warming up…", "[1, 2]", '{"id": {}}', '{"method": 5}', '{"id": 99}')]
    turn = stage.start(steps(*junk, {"say": "done"}))
    assert turn.wait() == 0, turn.words
    assert "warming up" in turn.words
    assert [text.text for text in turn.of(Text)] == ["done"]
