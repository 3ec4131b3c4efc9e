"""The client's modules in a real browser, without a server of ours: only their files are served."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

import paddock.web

STATIC = Path(paddock.web.__file__).parent / "static"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


class Client:
    def __init__(self, page: Page) -> None:
        self.page = page

    def run(self, module: str, body: str, given: object = None) -> Any:
        """What `body` returns: JavaScript in which `m` is the module, such as lib/state.js, and `given` is given."""
        code = """async ([path, body, given]) => {
          const run = new Function("m", "given", `return (async () => {${body}})()`);
          return run(await import(path), given);
        }"""
        return self.page.evaluate(code, [f"/{module}", body, given])


@contextmanager
def client_in(browser: Browser) -> Iterator[Client]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(STATIC)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    page = browser.new_page()
    try:
        page.goto(f"http://127.0.0.1:{server.server_port}/favicon.svg")
        yield Client(page)
    finally:
        page.close()
        server.shutdown()
        thread.join()
        server.server_close()
