"""A real `paddock web` over a repository, and pages of it in a real browser.

Whatever a page complains about on its console fails the test that opened it: errors, and refusals by its content
policy. Only what a request was answered is the test's own affair.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from bench.browser import PRINTED
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from tests.fleet.yard import Yard
from tests.warm import PATIENCE_SECONDS, RunningCommand

MILLISECONDS = 1000 * PATIENCE_SECONDS / 2
DESK, LAPTOP, PHONE = (1440, 900), (1024, 768), (390, 844)
Scheme = Literal["light", "dark"]


@dataclass
class Site:
    """`url` is the printed one, with the token; `origin` has neither path nor token."""

    yard: Yard
    server: RunningCommand
    launch: Callable[[], Browser]
    url: str
    origin: str
    token: str
    contexts: list[BrowserContext] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def page(
        self, path: str = "/", *, size: tuple[int, int] = DESK, scheme: Scheme = "light", motion: bool = False
    ) -> Page:
        """A page of a browser that has never been here, opened by the printed address, then sent to `path`."""
        context = self.launch().new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            reduced_motion="no-preference" if motion else "reduce",
            has_touch=size == PHONE,
            locale="en-GB",
            timezone_id="UTC",
        )
        self.contexts.append(context)
        context.set_default_timeout(MILLISECONDS)
        page = context.new_page()
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(f"{error.name}: {error.message}\n{error.stack}"))
        page.goto(self.url)
        if path != "/":
            page.goto(self.origin + path)
        return page

    def _note(self, message: ConsoleMessage) -> None:
        where = message.location.get("url", "")
        of_a_request = message.text.startswith("Failed to load resource") and "/static/" not in where
        if message.type == "error" and not of_a_request:
            self.complaints.append(f"{message.text} ({where})")

    def get(self, path: str) -> Any:
        """JSON, as a script gets it. Raises urllib's HTTPError for what is no success."""
        return json.loads(self.request(path))

    def post(self, path: str, body: object) -> Any:
        return json.loads(self.request(path, json.dumps(body).encode()))

    def request(self, path: str, body: bytes | None = None, **headers: str) -> bytes:
        told = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **headers}
        request = urllib.request.Request(self.origin + path, data=body, headers=told)
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            content: bytes = answer.read()
        return content

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        self.server.kill()


def serve(yard: Yard, launch: Callable[[], Browser], *flags: str, port: int = 0) -> Site:
    server = yard.start("web", "--port", str(port), *flags)
    server.await_words("token=")
    found = yard.await_that(lambda: PRINTED.search(server.words), "the address of the page")
    return Site(yard, server, launch, found[0], found[1], found[2])
