"""OpenAI Chat Completions: `POST /v1/chat/completions` (aider, opencode, qwen, cn, copilot)."""

from __future__ import annotations

import json
import time

from tests.mockmodel.wire import Ask, Conversation, Dialect, Json, Reply, frame, fresh_id, text_of, write_openai_error


def read(_path: str, body: Json) -> Ask:
    talk = Conversation()
    instructions: list[str] = []
    for message in body.get("messages", []):
        said = text_of(message.get("content", ""))
        match message.get("role"):
            case "system" | "developer":
                instructions.append(said)
            case "assistant":
                talk.rounds += bool(message.get("tool_calls"))
            case "tool":
                talk.tool_answered(said)
            case "user":
                talk.user_said(said)
    return Ask(
        model=str(body.get("model", "")),
        instructions="\n".join(instructions),
        prompt=talk.prompt,
        rounds=talk.rounds,
        tools=tuple(str(tool["function"]["name"]) for tool in body.get("tools", [])),
        streaming=bool(body.get("stream", False)),
        user_texts=talk.user_texts,
        tool_results=talk.tool_results,
    )


def _message(reply: Reply) -> Json:
    message: Json = {"role": "assistant", "content": reply.text or None}
    if reply.call is not None:
        function = {"name": reply.call.name, "arguments": json.dumps(reply.call.arguments)}
        message["tool_calls"] = [{"index": 0, "id": fresh_id("call_"), "type": "function", "function": function}]
    return message


def _usage(reply: Reply) -> Json:
    return {
        "prompt_tokens": reply.tokens.input,
        "prompt_tokens_details": {"cached_tokens": reply.tokens.cached},
        "completion_tokens": reply.tokens.output,
        "total_tokens": reply.tokens.input + reply.tokens.output,
    }


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.call else "stop"


def write_whole(ask: Ask, reply: Reply) -> Json:
    return {
        "id": fresh_id("chatcmpl-"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": ask.model,
        "choices": [{"index": 0, "message": _message(reply), "finish_reason": _finish(reply)}],
        "usage": _usage(reply),
    }


def write_stream(ask: Ask, reply: Reply) -> list[bytes]:
    head: Json = {
        "id": fresh_id("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": ask.model,
    }
    deltas: list[tuple[Json, str | None]] = [
        ({"role": "assistant", "content": ""}, None),
        (_message(reply), None),
        ({}, _finish(reply)),
    ]
    chunks: list[Json] = [
        head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]} for delta, finish in deltas
    ]
    chunks.append(head | {"choices": [], "usage": _usage(reply)})
    return [*(frame(None, chunk) for chunk in chunks), frame(None, "[DONE]")]


def write_stream_error(kind: str) -> bytes:
    return frame(None, {"error": {"message": kind, "type": kind, "code": kind}})


CHAT = Dialect("chat", read, write_stream, write_whole, write_openai_error, write_stream_error)
