"""The HTTP side: routes, faults carried out, answers written."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import sys
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.mockmodel.anthropic import ANTHROPIC
from tests.mockmodel.chat import CHAT
from tests.mockmodel.gemini import GEMINI
from tests.mockmodel.ledger import Exchange, Ledger
from tests.mockmodel.playlist import (
    AwaitGate,
    BadPlaylist,
    CutStream,
    Fault,
    Refuse,
    Silence,
    StreamError,
)
from tests.mockmodel.reply import CLOSING_WORDS, SIDE_CALL_WORDS, is_side_call, plan_reply
from tests.mockmodel.responses import RESPONSES
from tests.mockmodel.wire import Ask, Dialect, Json, Reply, Tokens

RECORDED_TEXTS = 60
RECORDED_CHARS = 4000
DISCONNECT_POLL_SECONDS = 0.05


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], ledger: Ledger) -> None:
        self.ledger = ledger
        super().__init__(address, Connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is ordinary here; anything else must not be swallowed."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Listener

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the record is the log."""

    def do_HEAD(self) -> None:
        self._send_json(200, {})

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/mock/report":
            self._send_json(200, self.server.ledger.report())
        elif path.endswith("/models"):
            self._send_json(200, {"object": "list", "data": []})
        else:
            self._note_unknown(path)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        dialect = dialect_of(path)
        if path.endswith(("/count_tokens", ":countTokens")):
            self._send_json(200, {"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4})
        elif dialect is None:
            self._note_unknown(path)
        else:
            self._converse(dialect, dialect.read(path, json.loads(raw)), path)

    def _converse(self, dialect: Dialect, ask: Ask, path: str) -> None:
        ledger, started = self.server.ledger, time.monotonic()
        outcome, tokens = "rejected", ledger.bill_next()
        try:
            if ledger.enter():
                outcome = "gone"
                outcome = self._answer(dialect, ask, tokens)
            else:
                retry = (("retry-after", str(ledger.settings.busy_retry_after_seconds)),)
                self._send_json(429, dialect.write_error(429, "too many concurrent requests"), retry)
        except ConnectionError:
            self.close_connection = True
        finally:
            ledger.leave(
                Exchange(
                    path=path,
                    dialect=dialect.name,
                    model=ask.model,
                    round_number=ask.rounds,
                    outcome=outcome,
                    user_texts=ask.user_texts
                    if ledger.settings.whole_texts
                    else tuple(text[-RECORDED_CHARS:] for text in ask.user_texts[-RECORDED_TEXTS:]),
                    tool_results=tuple(text[-RECORDED_CHARS:] for text in ask.tool_results[-RECORDED_TEXTS:]),
                    had_credentials=any(
                        self.headers.get(name) for name in ("authorization", "x-api-key", "x-goog-api-key")
                    ),
                    started_monotonic=started,
                    seconds=time.monotonic() - started,
                    tokens=tokens if outcome in ("answered", "side_call") else Tokens(),
                )
            )

    def _answer(self, dialect: Dialect, ask: Ask, tokens: Tokens) -> str:
        ledger = self.server.ledger
        if ledger.settings.latency_seconds:
            ledger.stopping.wait(ledger.settings.latency_seconds)
        if ledger.settings.fault is not None:
            struck = self._strike(dialect, ask, Reply(CLOSING_WORDS), ledger.settings.fault)
            if struck:
                return struck
        if is_side_call(ask):
            self._send_reply(dialect, ask, Reply(SIDE_CALL_WORDS, tokens=tokens))
            return "side_call"
        try:
            planned, faults = plan_reply(ask)
        except BadPlaylist as problem:
            self._send_json(400, dialect.write_error(400, f"mock: {problem}"))
            return "bad_playlist"
        reply, fault = replace(planned, tokens=tokens), ledger.next_fault(faults)
        struck = self._strike(dialect, ask, reply, fault) if fault is not None else ""
        if not struck:
            self._send_reply(dialect, ask, reply)
        return struck or "answered"

    def _strike(self, dialect: Dialect, ask: Ask, reply: Reply, fault: Fault) -> str:
        """Carry out a fault; the empty string means that the answer may still be sent."""
        match fault:
            case Refuse(status, headers, message):
                body = dialect.write_error(status, message)
                self._send_json(status, body, headers)
                return f"refuse {status}"
            case Silence(seconds, midway):
                if midway:
                    self._open_stream()
                    self._send_chunk(dialect.write_stream(ask, reply)[0])
                self._hold(seconds)
                self.close_connection = True
                return "stall" if midway else "silence"
            case CutStream():
                self._open_stream()
                self._send_chunk(dialect.write_stream(ask, reply)[0])
                self._drop()
                return "cut"
            case StreamError(kind):
                self._open_stream()
                self._send_chunk(dialect.write_stream(ask, reply)[0])
                self._send_chunk(dialect.write_stream_error(kind))
                self._send_chunk(b"")
                return "stream_error"
            case AwaitGate(gate):
                self.server.ledger.await_gate(gate)
                return ""

    def _send_reply(self, dialect: Dialect, ask: Ask, reply: Reply) -> None:
        if not ask.streaming:
            self._send_json(200, dialect.write_whole(ask, reply))
            return
        self._open_stream()
        for piece in dialect.write_stream(ask, reply):
            self._send_chunk(piece)
        self._send_chunk(b"")

    def _send_json(self, status: int, body: Json, headers: tuple[tuple[str, str], ...] = ()) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        for name, value in (*self.server.ledger.settings.headers, *headers):
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload)

    def _open_stream(self) -> None:
        self.send_response(200)
        for name, value in self.server.ledger.settings.headers:
            self.send_header(name, value)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def _send_chunk(self, piece: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.flush()

    def _drop(self) -> None:
        """Close without the terminating chunk: to the client the connection broke."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _hold(self, seconds: float) -> None:
        """Say nothing until time is up, the server stops or the client hangs up (ConnectionError)."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self.server.ledger.stopping.is_set():
            readable, _, _ = select.select([self.connection], [], [], DISCONNECT_POLL_SECONDS)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionResetError("client hung up")

    def _note_unknown(self, path: str) -> None:
        self._send_json(404, {"error": {"message": f"mock: no route {self.command} {path}"}})
        self.server.ledger.record(Exchange(path, "", "", 0, "unknown", (), (), False, time.monotonic(), 0.0))


def dialect_of(path: str) -> Dialect | None:
    if path.endswith("/messages"):
        return ANTHROPIC
    if path.endswith("/responses"):
        return RESPONSES
    if path.endswith("/chat/completions"):
        return CHAT
    if path.endswith((":streamGenerateContent", ":generateContent")):
        return GEMINI
    return None
