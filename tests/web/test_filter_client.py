"""The browser filters its own rows as `views/board/search.py` does."""

from collections.abc import Callable, Iterator

import msgspec
import pytest
from playwright.sync_api import Browser

from tests.views.test_search import CASES, ROWS
from tests.web.client import Client, client_in


@pytest.fixture(scope="module")
def client(launch: Callable[[], Browser]) -> Iterator[Client]:
    with client_in(launch()) as found:
        yield found


def test_the_browser_finds_what_the_server_finds(client: Client) -> None:
    body = """
      const test = (text) => m.filterOf(text) ?? (() => true);
      return given[0].map((text) => given[1].filter(test(text)).map((row) => row.id).join(" "));
    """
    rows = msgspec.to_builtins(ROWS)
    assert client.run("lib/filter.js", body, [[text for text, _ in CASES], rows]) == [found for _, found in CASES]
