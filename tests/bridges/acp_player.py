"""An ACP agent that plays what its prompts say, made with the protocol's own library: `python -m … FOLDER [OPTION…]`.

A prompt is `<<STEPS [{"say": "hello"}, …] STEPS>>` somewhere in its text. What arrives is kept in FOLDER: one line a
prompt in `prompts`, and one file a session. Options: `no-load`, `no-resume`, `queue`, `version=2`, `login`, `mute`.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import uuid
from pathlib import Path
from typing import Any

import acp
from acp import helpers, schema

FOLDER, OPTIONS = Path(sys.argv[1]), set(sys.argv[2:])
_STEPS = re.compile(r"<<STEPS (.*?) STEPS>>", re.DOTALL)


class Player:
    def __init__(self) -> None:
        self._cancelled: dict[str, asyncio.Event] = {}
        self._turn = asyncio.Lock()
        self._is_logged_in = "login" not in OPTIONS
        self.client: Any = None

    def on_connect(self, client: Any) -> None:
        self.client = client

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        if "mute" in OPTIONS:
            await asyncio.Event().wait()
        note("client", str(protocol_version))
        version = next((int(option[8:]) for option in OPTIONS if option.startswith("version=")), protocol_version)
        resume = None if "no-resume" in OPTIONS else schema.SessionResumeCapabilities()
        can = schema.AgentCapabilities(
            load_session="no-load" not in OPTIONS,
            session_capabilities=schema.SessionCapabilities(resume=resume),
            field_meta={"player": {"promptQueueing": "queue" in OPTIONS}},
        )
        login = schema.EnvVarAuthMethod(
            type="env_var", id="key", name="Key", vars=[schema.AuthEnvVar(name="PLAYER_KEY")]
        )
        return acp.InitializeResponse(protocol_version=version, agent_capabilities=can, auth_methods=[login])

    async def authenticate(self, method_id: str, **_: Any) -> None:
        self._is_logged_in = method_id == "key" and os.environ.get("PLAYER_KEY") == "right"

    async def new_session(self, cwd: str, mcp_servers: list[Any] | None = None, **_: Any) -> acp.NewSessionResponse:
        if not self._is_logged_in:
            raise acp.RequestError.auth_required()
        session = uuid.uuid4().hex
        (FOLDER / f"{session}.session").write_text("")
        note("sessions", json.dumps({"cwd": cwd, "servers": [server.name for server in mcp_servers or []]}))
        return acp.NewSessionResponse(session_id=session, config_options=[_models("slow")])

    async def set_config_option(self, config_id: str, session_id: str, value: str, **_: Any) -> Any:
        note("options", f"{config_id}={value}")
        return acp.SetSessionConfigOptionResponse(config_options=[_models(value)])

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> acp.LoadSessionResponse:
        history = self._find(session_id)
        for text in history.read_text().splitlines():
            await self._update(session_id, helpers.update_user_message_text(text))
            await self._update(session_id, helpers.update_agent_message_text(f"earlier answer to {text}"))
        return acp.LoadSessionResponse()

    async def resume_session(self, cwd: str, session_id: str, **_: Any) -> schema.ResumeSessionResponse:
        self._find(session_id)
        return schema.ResumeSessionResponse()

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> acp.PromptResponse:
        text = "\n".join(block.text for block in prompt)
        async with self._turn:
            cancelled = self._cancelled[session_id] = asyncio.Event()
            note("prompts", json.dumps(text))
            with (FOLDER / f"{session_id}.session").open("a") as history:
                history.write(text.replace("\n", " ") + "\n")
            work = asyncio.ensure_future(self._play(session_id, _steps(text)))
            stop = asyncio.ensure_future(cancelled.wait())
            await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
            stop.cancel()
            if not work.done():
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
                return acp.PromptResponse(stop_reason="cancelled")
            return acp.PromptResponse(stop_reason=work.result(), usage=_usage())

    async def cancel(self, session_id: str, **_: Any) -> None:
        note("cancels", session_id)
        if "deaf" not in OPTIONS and session_id in self._cancelled:
            self._cancelled[session_id].set()

    async def _play(self, session: str, steps: list[dict[str, Any]]) -> Any:
        for number, step in enumerate(steps):
            [(verb, what)] = step.items()
            if verb == "end":
                return what
            await getattr(self, f"_do_{verb}")(session, what, f"call-{number}")
        return "end_turn"

    async def _do_say(self, session: str, what: str, _: str) -> None:
        for word in re.split(r"(?<= )", what):
            await self._update(session, helpers.update_agent_message_text(word))

    async def _do_think(self, session: str, what: str, _: str) -> None:
        await self._update(session, helpers.update_agent_thought_text(what))

    async def _do_plan(self, session: str, what: list[list[str]], _: str) -> None:
        entries = [helpers.plan_entry(content, status=status) for content, status in what]  # type: ignore[arg-type]
        await self._update(session, helpers.update_plan(entries))

    async def _do_write(self, session: str, what: dict[str, str], call: str) -> None:
        diff = helpers.tool_diff_content(what["path"], what["text"], "")
        start = helpers.start_tool_call(call, "Write a file", kind="edit", status="in_progress", content=[diff])
        await self._update(session, start)
        Path(what["path"]).write_text(what["text"])
        await self._update(session, helpers.update_tool_call(call, status="completed"))

    async def _do_ask(self, session: str, what: str, call: str) -> None:
        options = [
            schema.PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
            schema.PermissionOption(option_id="ever", name="Always allow", kind="allow_always"),
            schema.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
        ]
        tool = schema.ToolCallUpdate(tool_call_id=call, title=what, kind="execute", raw_input={"command": what})
        answer = await self.client.request_permission(options=options, session_id=session, tool_call=tool)
        chosen = getattr(answer.outcome, "option_id", "cancelled")
        note("answers", chosen)
        status = "completed" if chosen in ("yes", "ever") else "failed"
        await self._update(session, helpers.update_tool_call(call, status=status))  # type: ignore[arg-type]

    async def _do_ask_twice(self, session: str, what: list[str], call: str) -> None:
        await asyncio.gather(*(self._do_ask(session, one, f"{call}-{n}") for n, one in enumerate(what)))

    async def _do_read(self, session: str, what: str, _: str) -> None:
        try:
            await self.client.read_text_file(path=what, session_id=session)
        except acp.RequestError as error:
            note("refusals", str(error.code))

    async def _do_await(self, session: str, what: str, _: str) -> None:
        note("waits", what)
        while not Path(what).exists():
            await asyncio.sleep(0.02)

    async def _do_raise(self, session: str, what: dict[str, Any], _: str) -> None:
        raise acp.RequestError(what["code"], what["message"], what.get("data"))

    async def _do_exit(self, session: str, what: int, _: str) -> None:
        os._exit(what)

    async def _do_print(self, session: str, what: str, _: str) -> None:
        os.write(1, what.encode() + b"\n")

    async def _do_flood(self, session: str, what: int, _: str) -> None:
        os.set_blocking(1, True)
        for _n in range(what):
            os.write(1, b"x" * 1024 * 1024)

    async def _do_close(self, session: str, what: str, _: str) -> None:
        os.close(1)
        await asyncio.Event().wait()

    async def _update(self, session: str, update: Any) -> None:
        await self.client.session_update(session_id=session, update=update)

    def _find(self, session: str) -> Path:
        place = FOLDER / f"{session}.session"
        if not place.exists():
            raise acp.RequestError.resource_not_found(session)
        return place


def note(file: str, line: str) -> None:
    with (FOLDER / file).open("a") as opened:
        opened.write(line + "\n")


def _steps(text: str) -> list[dict[str, Any]]:
    return [step for found in _STEPS.findall(text) for step in json.loads(found)]


def _usage() -> schema.Usage:
    return schema.Usage(total_tokens=16, input_tokens=10, output_tokens=5, cached_read_tokens=1)


def _models(current: str) -> Any:
    options = [schema.SessionConfigSelectOption(value=name, name=name.title()) for name in ("slow", "fast")]
    return schema.SessionConfigOptionSelect(
        type="select", id="model", name="Model", category="model", current_value=current, options=options
    )


if __name__ == "__main__":
    asyncio.run(acp.run_agent(Player(), use_unstable_protocol=True))  # type: ignore[arg-type]
