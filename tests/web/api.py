"""A real `paddock web` over a repository, asked as a script asks it: one connection for each request, no browser."""

import http.client
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.fleet.yard import Yard
from tests.warm import PATIENCE_SECONDS, RunningCommand

PRINTED = re.compile(r"http://([^/]+):(\d+)/(?:\?token=(\w+))?\s")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The code of a refusal."""
        code: str = self.json["error"]["code"]
        return code


@dataclass(frozen=True)
class Told:
    """One server-sent event."""

    kind: str
    id: int | None
    data: Any


@dataclass
class Served:
    yard: Yard
    command: RunningCommand
    port: int
    token: str
    host: str = "127.0.0.1"

    @property
    def name(self) -> str:
        return f"{self.host}:{self.port}"

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE_SECONDS)

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str | None) -> Answer:
        """As a script that has the token; a header that is None is not sent."""
        told: dict[str, str | None] = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        told.update((name.replace("_", "-"), value) for name, value in headers.items())
        connection = self.connect()
        try:
            connection.request(method, path, body, {name: value for name, value in told.items() if value is not None})
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        answer = self.ask("GET", f"/api/v1/{path}")
        assert answer.status == 200, answer
        return answer.json

    def post(self, path: str, body: object) -> Any:
        answer = self.ask("POST", f"/api/v1/{path}", json.dumps(body).encode())
        assert answer.status == 200, answer
        return answer.json

    @contextmanager
    def stream(self, query: str = "", **headers: str) -> Iterator[Iterator[Told]]:
        """The events of a stream, as they come."""
        connection = self.connect()
        try:
            told = {"Authorization": f"Bearer {self.token}", **{k.replace("_", "-"): v for k, v in headers.items()}}
            connection.request("GET", f"/api/v1/events?{query}" if query else "/api/v1/events", headers=told)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            yield _events(answer)
        finally:
            connection.close()


def _events(answer: http.client.HTTPResponse) -> Iterator[Told]:
    fields: dict[str, str] = {}
    while line := answer.readline():
        text = line.decode().rstrip("\n")
        if text:
            name, _, value = text.partition(": ")
            fields[name] = value
            continue
        if "data" in fields:
            number = int(fields["id"]) if "id" in fields else None
            yield Told(fields.get("event", "record"), number, json.loads(fields["data"]))
        fields = {}


def serve_api(yard: Yard, *flags: str, port: int = 0) -> Served:
    command = yard.start("web", "--port", str(port), *flags)
    command.await_words("http://")
    found = yard.await_that(lambda: PRINTED.search(command.words), "the address of the page")
    return Served(yard, command, int(found[2]), found[3] or "", host=found[1].strip("[]"))
