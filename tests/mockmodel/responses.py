"""OpenAI Responses: `POST /v1/responses` (codex)."""

from __future__ import annotations

import json

from tests.mockmodel.wire import Ask, Conversation, Dialect, Json, Reply, frame, fresh_id, text_of, write_openai_error

CALLS = ("function_call", "custom_tool_call", "local_shell_call")


def read(_path: str, body: Json) -> Ask:
    given = body.get("input", [])
    items = given if isinstance(given, list) else [{"type": "message", "role": "user", "content": given}]
    talk = Conversation()
    for item in items:
        kind = item.get("type", "message")
        if kind in CALLS:
            talk.rounds += 1
        elif kind.endswith("_output"):
            talk.tool_answered(str(item.get("output", "")))
        elif kind == "message" and item.get("role") == "user":
            said = text_of(item.get("content", ""))
            if not said.startswith("<environment_context>"):
                talk.user_said(said)
    return Ask(
        model=str(body.get("model", "")),
        instructions=str(body.get("instructions", "")),
        prompt=talk.prompt,
        rounds=talk.rounds,
        tools=tuple(str(tool.get("name", tool.get("type", ""))) for tool in body.get("tools", [])),
        streaming=bool(body.get("stream", False)),
        user_texts=talk.user_texts,
        tool_results=talk.tool_results,
    )


def _named(tool: str) -> Json:
    """A tool of an MCP server is in a namespace of that server's."""
    if not tool.startswith("mcp__"):
        return {"name": tool}
    server, _, name = tool.removeprefix("mcp__").partition("__")
    return {"namespace": f"mcp__{server}", "name": name}


def _items(reply: Reply) -> list[Json]:
    items: list[Json] = []
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        items.append(
            {
                "type": "message",
                "id": fresh_id("msg_"),
                "role": "assistant",
                "status": "completed",
                "content": content,
            }
        )
    if reply.call is not None:
        items.append(
            {
                "type": "function_call",
                "id": fresh_id("fc_"),
                "call_id": fresh_id("call_"),
                **_named(reply.call.name),
                "arguments": json.dumps(reply.call.arguments),
                "status": "completed",
            }
        )
    return items


def write_whole(ask: Ask, reply: Reply) -> Json:
    return {
        "id": fresh_id("resp_"),
        "object": "response",
        "status": "completed",
        "model": ask.model,
        "output": _items(reply),
        "usage": {
            "input_tokens": reply.tokens.input,
            "input_tokens_details": {"cached_tokens": reply.tokens.cached},
            "output_tokens": reply.tokens.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.tokens.input + reply.tokens.output,
        },
    }


def write_stream(ask: Ask, reply: Reply) -> list[bytes]:
    done = write_whole(ask, reply)
    opened = {"id": done["id"], "object": "response", "status": "in_progress", "model": ask.model, "output": []}
    events: list[Json] = [{"type": "response.created", "response": opened}]
    for index, item in enumerate(done["output"]):
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": item},
            {"type": "response.output_item.done", "output_index": index, "item": item},
        ]
    events.append({"type": "response.completed", "response": done})
    return [frame(str(event["type"]), event) for event in events]


def write_stream_error(kind: str) -> bytes:
    failed = {"id": fresh_id("resp_"), "status": "failed", "error": {"code": kind, "message": kind}}
    return frame("response.failed", {"type": "response.failed", "response": failed})


RESPONSES = Dialect("responses", read, write_stream, write_whole, write_openai_error, write_stream_error)
