"""Gemini: `POST /v1beta/models/M:streamGenerateContent` and `:generateContent`."""

from __future__ import annotations

from tests.mockmodel.wire import Ask, Conversation, Dialect, Json, Reply, frame, text_of

ERRORS = {
    401: ("UNAUTHENTICATED", "API key not valid. Please pass a valid API key."),
    403: ("PERMISSION_DENIED", "Permission denied."),
    429: ("RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    529: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
}


def read(path: str, body: Json) -> Ask:
    talk = Conversation()
    for content in body.get("contents", []):
        parts = content.get("parts", [])
        if content.get("role") == "model":
            talk.rounds += any("functionCall" in part for part in parts)
            continue
        for part in parts:
            if "functionResponse" in part:
                talk.tool_answered(str(part["functionResponse"].get("response", "")))
        said = text_of(parts)
        if said:
            talk.user_said(said)
    model, _, method = path.rpartition("/")[2].partition(":")
    declared = [entry for tool in body.get("tools", []) for entry in tool.get("functionDeclarations", [])]
    return Ask(
        model=model,
        instructions=text_of(body.get("systemInstruction", {}).get("parts", "")),
        prompt=talk.prompt,
        rounds=talk.rounds,
        tools=tuple(str(entry.get("name", "")) for entry in declared),
        streaming=method.startswith("stream"),
        user_texts=talk.user_texts,
        tool_results=talk.tool_results,
    )


def write_whole(ask: Ask, reply: Reply) -> Json:
    parts: list[Json] = [{"text": reply.text}] if reply.text else []
    if reply.call is not None:
        parts.append({"functionCall": {"name": reply.call.name, "args": reply.call.arguments}})
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": reply.tokens.input,
            "cachedContentTokenCount": reply.tokens.cached,
            # A third of the output is thought, which is told apart and billed alike.
            "candidatesTokenCount": reply.tokens.output - reply.tokens.output // 3,
            "thoughtsTokenCount": reply.tokens.output // 3,
            "totalTokenCount": reply.tokens.input + reply.tokens.output,
        },
        "modelVersion": ask.model,
    }


def write_stream(ask: Ask, reply: Reply) -> list[bytes]:
    opening = {"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "index": 0}]}
    return [frame(None, opening), frame(None, write_whole(ask, reply))]


def write_error(status: int, message: str) -> Json:
    name, words = ERRORS.get(status, ("INTERNAL", "An internal error has occurred."))
    return {"error": {"code": status, "message": message or words, "status": name}}


def write_stream_error(kind: str) -> bytes:
    return frame(None, {"error": {"code": 503, "message": kind, "status": "UNAVAILABLE"}})


GEMINI = Dialect("gemini", read, write_stream, write_whole, write_error, write_stream_error)
