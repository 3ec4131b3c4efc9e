"""The browser reads and evaluates filters as the server does."""

import random
from collections.abc import Callable, Iterator

import msgspec
import pytest
from playwright.sync_api import Browser

from paddock.core.filter.errors import FilterError
from paddock.core.filter.fields import FIELDS, SEARCHED
from paddock.views.board.row_filter import filter_rows
from tests.views.filter_cases import CASES
from tests.web.client import Client, client_in

MARKS = [" ", " ", " ", " and ", " or ", "not ", "-", "(", ")", ",", "=", "=", "!=", "<", ">=", ":", '"', "'", "*", "?"]
BITS = ["\\", "t1", "t2-t12", "T3.1", "stuck", "pars", "ÄRG", "2h", "90s", "$1.5", "0", "-2", "ready", "r*", "&&", "x"]
PIECES = [*MARKS, *BITS, *FIELDS]
FIND = """
  const {texts, rows, now} = given;
  return texts.map((text) => {
    const {test, mistake} = m.filterOf(text);
    if (mistake) return [mistake.message, mistake.start, mistake.end];
    return rows.filter((row) => !test || test(row, now * 1000)).map((row) => row.id).join(" ");
  });
"""


@pytest.fixture(scope="module")
def client(launch: Callable[[], Browser]) -> Iterator[Client]:
    with client_in(launch()) as found:
        yield found


def find(client: Client, texts: list[str]) -> list[object]:
    given = {"texts": texts, "rows": msgspec.to_builtins(CASES.rows), "now": CASES.now}
    return list(client.run("lib/filter.js", FIND, given))


def expected(text: str) -> object:
    try:
        return " ".join(row.id for row in filter_rows(CASES.rows, text, CASES.now))
    except FilterError as error:
        return [error.problem, error.start, error.end]


def test_the_browser_finds_what_the_server_finds(client: Client) -> None:
    texts = [text for text, _ in CASES.found]
    assert dict(zip(texts, find(client, texts), strict=True)) == dict(CASES.found)


def test_the_browser_says_what_the_server_says_of_a_mistake(client: Client) -> None:
    texts = [text for text, *_ in CASES.mistakes]
    assert find(client, texts) == [list(mistake) for _, *mistake in CASES.mistakes]


def test_the_browser_agrees_with_the_server_on_any_text(client: Client) -> None:
    chance = random.Random(7)
    texts = ["".join(chance.choices(PIECES, k=chance.randint(1, 9))) for _ in range(4000)]
    texts += [f"{chance.choice(list(FIELDS))}{chance.choice(['=', '!=', '<', '>='])}{text}" for text in texts[:2000]]
    told = [(text, found, expected(text)) for text, found in zip(texts, find(client, texts), strict=True)]
    assert [one for one in told if one[1] != one[2]][:5] == []
    assert sum(isinstance(found, str) for _, found, _ in told) > 1000


def test_the_browser_knows_the_same_fields(client: Client) -> None:
    body = (
        "return [[...m.FIELDS.values()].map((one) => [one.name, one.kind, one.choices.sort(), one.lacks]), m.SEARCHED]"
    )
    fields, searched = client.run("lib/filter-fields.js", body)
    known = [[one.name, one.values.name.lower(), sorted(one.choices), one.may_lack] for one in FIELDS.values()]
    assert fields == known
    assert searched == list(SEARCHED)
