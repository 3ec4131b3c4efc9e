"""Spans pushed to a real HTTP server on loopback, as a collector would take them."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from paddock.core.errors import Misuse, PaddockError
from paddock.insight.exports import otlp_json, otlp_protobuf
from paddock.insight.exports.batches import ExportTally, span_batches
from paddock.insight.exports.collector import Collector, headers_from
from paddock.insight.exports.spans import Span
from tests.insight.exports.made import full


@dataclass
class Receiver:
    """`answers` are given one after the other, then it takes everything."""

    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.got.append((self.path, dict(self.headers), body))
            status, headers, answer = made.answers.pop(0) if made.answers else (200, {}, b"{}")
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(answer))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *_words: object) -> None:
            del format

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def push(receiver: Receiver, body: bytes, content_type: str = otlp_json.CONTENT_TYPE) -> tuple[Collector, list[float]]:
    pauses: list[float] = []
    collector = Collector(receiver.url, content_type, {"api-key": "k"}, pauses.append)
    try:
        collector.push(body)
    finally:
        collector.close()
    return collector, pauses


def test_json_comes_to_the_place_that_otlp_names_with_the_headers_of_the_environment(receiver: Receiver) -> None:
    [batch] = span_batches([full()], ExportTally())
    push(receiver, otlp_json.encode_spans(batch.groups))
    [(path, headers, body)] = receiver.got
    assert path == "/v1/traces"
    assert (headers["Content-Type"], headers["api-key"]) == ("application/json", "k")
    assert len(json.loads(body)["resourceSpans"][0]["scopeSpans"][0]["spans"]) == 7


def test_protobuf_says_the_same_as_json(receiver: Receiver) -> None:
    [batch] = span_batches([full()], ExportTally())
    push(receiver, otlp_protobuf.encode_spans(batch.groups), otlp_protobuf.CONTENT_TYPE)
    [(_, headers, body)] = receiver.got
    assert headers["Content-Type"] == "application/x-protobuf"
    [group] = fields(body)[1]
    [scoped] = fields(group)[2]
    spans: list[Span] = batch.groups[0][1]
    for found, span in zip(fields(scoped)[2], spans, strict=True):
        told = fields(found)
        assert told[1] == [span.trace_id]
        assert told[5] == [span.name.encode()]
        assert int.from_bytes(told[7][0], "little") == span.start
        names = [fields(one)[1][0].decode() for one in told[9]]
        assert names == list(span.attributes)


def test_a_collector_that_asks_for_patience_is_asked_again_when_it_says(receiver: Receiver) -> None:
    receiver.answers = [(429, {"Retry-After": "7"}, b""), (503, {}, b"")]
    _, pauses = push(receiver, b"{}")
    assert (len(receiver.got), pauses) == (3, [7.0, 1.0])


def test_what_a_collector_does_not_take_is_told(receiver: Receiver) -> None:
    receiver.answers = [(200, {}, b'{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}')]
    collector, _ = push(receiver, b"{}")
    assert (collector.rejected, collector.complaint) == (3, "too old")


def test_a_refusal_is_told_at_once_and_never_tried_again(receiver: Receiver) -> None:
    receiver.answers = [(401, {}, b"no\x1b[31m key")]
    with pytest.raises(PaddockError, match=r"it answered 401 no.* key") as refused:
        push(receiver, b"{}")
    assert "\x1b" not in refused.value.message
    assert len(receiver.got) == 1


def test_nobody_there_is_an_error_after_a_few_tries() -> None:
    pauses: list[float] = []
    with pytest.raises(PaddockError, match="after 3 tries"):
        Collector("http://127.0.0.1:9/", "application/json", {}, pauses.append).push(b"{}")
    assert pauses == [0.5, 1.0]


@pytest.mark.parametrize(
    "url", ["", "localhost:4318", "ftp://a/", "http://", "http://a:b@c/", "http://a:99999/", "http://é/"]
)
def test_what_is_no_url_of_a_collector_is_refused(url: str) -> None:
    with pytest.raises(Misuse):
        Collector(url, "application/json", {})


def test_headers_come_from_the_variable_that_opentelemetry_has_for_them() -> None:
    assert headers_from({"OTEL_EXPORTER_OTLP_HEADERS": "a=1, b = x%20y"}) == {"a": "1", "b": "x y"}
    with pytest.raises(Misuse):
        headers_from({"OTEL_EXPORTER_OTLP_HEADERS": "nothing"})


def fields(data: bytes) -> dict[int, list[bytes]]:
    """A message of protobuf, read by the rules of its encoding alone."""
    found: dict[int, list[bytes]] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        size = {0: 0, 1: 8, 2: 0}[key & 7]
        if key & 7 == 0:
            found.setdefault(key >> 3, []).append(varint().to_bytes(10, "little"))
            continue
        size = size or varint()
        found.setdefault(key >> 3, []).append(data[at : at + size])
        at += size
    return found
