"""Anthropic Messages: `POST /v1/messages` (claude)."""

from __future__ import annotations

import json

from tests.mockmodel.wire import Ask, Conversation, Dialect, Json, Reply, frame, fresh_id, text_of

ERRORS = {
    400: ("invalid_request_error", "Invalid request"),
    401: ("authentication_error", "invalid x-api-key"),
    403: ("permission_error", "Your API key does not have permission"),
    404: ("not_found_error", "Not found"),
    429: ("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
    529: ("overloaded_error", "Overloaded"),
}

MEANWHILE = "The user sent a new message while you were working:\n"


def _is_typed_by_user(part: Json) -> bool:
    return part.get("type") == "text" and not str(part.get("text", "")).startswith("<system-reminder>")


def _typed_meanwhile(parts: list[Json]) -> list[str]:
    """What was typed while claude worked; it is told as a reminder of claude's own."""
    texts = (str(part.get("text", "")) for part in parts if part.get("type") == "text")
    said = (piece for text in texts for piece in text.split(MEANWHILE)[1:])
    return [piece.partition("\n\nThis is how Claude Code")[0] for piece in said]


def read(_path: str, body: Json) -> Ask:
    talk = Conversation()
    for message in body.get("messages", []):
        content = message.get("content", "")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        # What has no mark around it is counted below, as words of the user's.
        marked = [part for part in parts if message.get("role") != "user" or not _is_typed_by_user(part)]
        for typed in _typed_meanwhile(marked):
            talk.joined(typed)
        if message.get("role") == "assistant":
            talk.rounds += any(part.get("type") == "tool_use" for part in parts)
        if message.get("role") != "user":
            continue
        results = [part for part in parts if part.get("type") == "tool_result"]
        for result in results:
            talk.tool_answered(text_of(result.get("content", "")))
        said = text_of([part for part in parts if _is_typed_by_user(part)])
        if said and results:
            talk.joined(said)
        elif said:
            talk.user_said(said)
    return Ask(
        model=str(body.get("model", "")),
        instructions=text_of(body.get("system", "")),
        prompt=talk.prompt,
        rounds=talk.rounds,
        tools=tuple(str(tool.get("name", "")) for tool in body.get("tools", [])),
        streaming=bool(body.get("stream", False)),
        user_texts=talk.user_texts,
        tool_results=talk.tool_results,
    )


def _blocks(reply: Reply) -> list[Json]:
    blocks: list[Json] = []
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    if reply.call is not None:
        call = reply.call
        blocks.append({"type": "tool_use", "id": fresh_id("toolu_"), "name": call.name, "input": call.arguments})
    return blocks


def _envelope(ask: Ask, reply: Reply) -> Json:
    return {
        "id": fresh_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": ask.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.tokens.fresh,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": reply.tokens.cached,
            "output_tokens": 1,
        },
    }


def write_whole(ask: Ask, reply: Reply) -> Json:
    message = _envelope(ask, reply)
    message["content"] = _blocks(reply)
    message["stop_reason"] = "tool_use" if reply.call else "end_turn"
    message["usage"]["output_tokens"] = reply.tokens.output
    return message


def write_stream(ask: Ask, reply: Reply) -> list[bytes]:
    events: list[Json] = [{"type": "message_start", "message": _envelope(ask, reply)}]
    for index, block in enumerate(_blocks(reply)):
        if block["type"] == "text":
            opened: Json = {"type": "text", "text": ""}
            delta: Json = {"type": "text_delta", "text": block["text"]}
        else:
            opened = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events += [
            {"type": "content_block_start", "index": index, "content_block": opened},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    stop = {"stop_reason": "tool_use" if reply.call else "end_turn", "stop_sequence": None}
    usage = {"output_tokens": reply.tokens.output}
    events += [{"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"}]
    return [frame(str(event["type"]), event) for event in events]


def write_error(status: int, message: str) -> Json:
    kind, words = ERRORS.get(status, ("api_error", "Internal server error"))
    return {"type": "error", "error": {"type": kind, "message": message or words}}


def write_stream_error(kind: str) -> bytes:
    return frame("error", {"type": "error", "error": {"type": kind, "message": kind}})


ANTHROPIC = Dialect("anthropic", read, write_stream, write_whole, write_error, write_stream_error)
