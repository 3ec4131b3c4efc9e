"""The adapter to ACP agents: settings, the order of a turn, what its agent gets of the user's."""

import sys
from pathlib import Path

import pytest

from paddock.core.errors import Misuse, PaddockError
from paddock.core.trace import Error, Progress, Usage, UsageScope
from paddock.engines import acp
from paddock.engines.acp_order import AcpOrder, read_order
from paddock.engines.protocol import Launch, Source, ToolServer, TurnRequest
from paddock.engines.registry import load_engine
from paddock.engines.settings import EngineSettings


def request(**more: object) -> TurnRequest:
    env = {"HOME": "/home/u", "PATH": "/bin", "ANTHROPIC_API_KEY": "k", "SECRET": "s"}
    known = {"prompt": "do\0 it", "worktree": Path("/wt"), "folder": Path("/attempt"), "base_env": env}
    return TurnRequest(**{**known, **more})  # type: ignore[arg-type]


def launch(settings: EngineSettings, **more: object) -> tuple[Launch, AcpOrder]:
    started = load_engine("mine", {"mine": settings}).launch(request(**more))
    return started, read_order(started.files[0].content.encode())


def test_the_turn_is_a_bridge_with_an_order() -> None:
    server = ToolServer(("paddock", "mcp"), {"TOKEN": "hidden"})
    settings = EngineSettings(acp=("agent", "--acp"), args=("-v",), model="m")
    started, order = launch(settings, mailbox=Path("/mail"), tool_server=server, messages=(4,), session_id="s")
    assert started.argv == (sys.executable, "-I", "-m", "paddock.bridges.acp", str(started.files[0].path))
    assert (started.mailbox, started.programs) == (Path("/mail"), ("agent",))
    assert (order.argv, order.cwd, order.prompt) == (("agent", "--acp", "-v"), "/wt", "do it")
    assert (order.session, order.model, order.mailbox, order.messages) == ("s", "m", "/mail", (4,))
    assert [(one.name, one.argv, one.env) for one in order.servers] == [("paddock", server.argv, dict(server.env))]
    assert "hidden" not in " ".join(started.argv)


@pytest.mark.parametrize(
    ("permissions", "fenced", "policy"),
    [("auto", True, "allow"), ("auto", False, "ask"), ("ask", True, "ask"), ("deny", True, "deny")],
)
def test_who_decides_on_permissions(permissions: str, fenced: bool, policy: str) -> None:
    settings = EngineSettings(acp=("agent",), permissions=permissions)  # type: ignore[arg-type]
    assert launch(settings, fenced=fenced)[1].permissions == policy


def test_an_unknown_agent_gets_no_more_than_is_named() -> None:
    started, _ = launch(EngineSettings(acp=("/opt/x/agent",), env=("SECRET",), set={"A": "1"}))
    assert "ANTHROPIC_API_KEY" not in started.env
    assert (started.env["SECRET"], started.env["A"]) == ("s", "1")
    assert (started.belongings.kept, started.belongings.reads) == ((), (Path("/opt/x/agent"),))


@pytest.mark.parametrize(
    ("argv", "family", "kept"),
    [
        (("claude-agent-acp",), "claude", "/home/u/.claude/projects"),
        (("npx", "-y", "@agentclientprotocol/claude-agent-acp"), "claude", "/home/u/.claude/projects"),
        (("/opt/codex-acp", "-c", "model=gemini"), "codex", "/home/u/.codex/sessions"),
        (("gemini", "--acp"), "gemini", "/home/u/.gemini/tmp"),
        (("opencode", "acp"), "opencode", "/home/u/.local/share/opencode"),
    ],
)
def test_an_agent_of_a_known_cli_keeps_its_conversations_where_that_does(
    argv: tuple[str, ...], family: str, kept: str
) -> None:
    started, _ = launch(EngineSettings(acp=argv))
    assert acp.find_family(argv) == family
    assert Path(kept) in started.belongings.kept
    assert "SECRET" not in started.env
    assert ("ANTHROPIC_API_KEY" in started.env) == (family in ("claude", "opencode"))


@pytest.mark.parametrize("key", ["command", "like", "resume"])
def test_two_ways_to_start_an_agent_are_one_too_many(key: str) -> None:
    other = {"command": ("x",), "like": "claude", "resume": ("x",)}[key]
    with pytest.raises(Misuse, match=f"sets both `acp` and `{key}`"):
        load_engine("mine", {"mine": EngineSettings(acp=("agent",), **{key: other})})  # type: ignore[arg-type]


def test_without_the_library_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acp, "is_library_here", lambda: False)
    engine = load_engine("mine", {"mine": EngineSettings(acp=("agent",))})
    with pytest.raises(PaddockError) as raised:
        engine.launch(request())
    assert raised.value.hint == "run `pip install 'paddock[acp]'`"
    probe = engine.probe({"PATH": "/bin"})
    assert (probe.installed, "pip install 'paddock[acp]'" in probe.hints[0]) == (False, True)


def test_a_program_that_is_there_is_found() -> None:
    probe = load_engine("mine", {"mine": EngineSettings(acp=("sh",))}).probe({"PATH": "/bin:/usr/bin"})
    assert (probe.installed, probe.mcp, probe.hints) == (True, True, ())


def test_standard_error_of_an_agent_decides_nothing() -> None:
    parser = load_engine("mine", {"mine": EngineSettings(acp=("agent",))}).parser()
    assert list(parser.feed(b"error: 429 rate limit", Source.STDERR)) == []
    assert list(parser.feed(b"noise", Source.STDOUT)) == [Progress("unreadable line")]
    assert list(parser.feed(b'{"paddock":{"type":"error","message":"x"}}')) == [Error("x")]


def test_what_codex_has_used_is_read_where_it_keeps_the_conversation() -> None:
    engine = load_engine("mine", {"mine": EngineSettings(acp=("codex-acp",))})
    started = engine.launch(request())
    assert started.session_log.startswith("/home/u/.codex/sessions/")
    line = b'{"payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":9,"output_tokens":2}}}}'
    [usage] = engine.parser().feed(line, Source.LOG)
    assert isinstance(usage, Usage)
    assert (usage.scope, usage.tokens.input_total, usage.tokens.output) == (UsageScope.CONVERSATION, 9, 2)
