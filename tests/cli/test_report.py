"""`paddock report` where there is little to tell, and with what it cannot do."""

import re
from contextlib import closing

import pytest

from paddock.core.alerts.events import AlertRaised, AlertResolved, AlertSeverity
from paddock.core.alerts.model import KEPT_ENDED
from paddock.core.events import Draft
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.store.protocol import Author
from tests.cli.conftest import Cli

EMPTY = """\
# app: what the fleet did

Nothing was finished and nobody was at work, so there is nothing to tell. _<span>_

## What it cost

No agent was at work.

## Where time went

Too little data: no task was finished.

## Why things failed

Too little data: no attempt has ended.

## Did an agent change?

Too little data: no batch of attempts was completed.

## Slowest checks

Too little data: no check was run.

## Worst offenders

Nothing was thrown away.
"""


def test_a_fleet_that_has_done_nothing_says_so_in_every_part(cli: Cli) -> None:
    said = re.sub(r"_[^_]* UTC_", "_<span>_", cli.good("report").out)
    assert said == EMPTY.replace("# app:", f"# {cli.top.name}:")
    whole = cli.good("report", "--since", "all", "--json").json()
    assert (whole["began"], whole["landings"]["bars"][-1]["landed"], whole["time"]) == (None, 0, None)
    assert "<main" in cli.good("report", "--format", "html").out


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("--since", "soon"), 2, "`soon` is neither a time nor an age"),
        (("--json", "--format", "md"), 2, "--json and --format md cannot be used together"),
        (("--format", "pdf"), 2, "pdf"),
        (("-o", "week.pdf"), 2, "`.pdf` is not an ending of a report"),
        (("-o", "none/week.html"), 1, "`none/week.html` cannot be written: No such file"),
        (("-o", "."), 1, "`.` cannot be written: Is a directory"),
        (("--since", "2099-01-01"), 2, "--since 2099-01-01 is still to come"),
    ],
)
def test_what_it_cannot_do_is_refused_with_its_reason(
    cli: Cli, words: tuple[str, ...], code: int, complaint: str
) -> None:
    said = cli("report", *words)
    assert (said.code, complaint in said.err) == (code, True), said.err


def test_every_alert_of_its_time_is_counted_although_the_board_has_only_the_last_that_ended(cli: Cli) -> None:
    def raise_many(_: object) -> list[Draft]:
        kinds = [(f"a{number}", f"stuck:t{number}.1") for number in range(1, KEPT_ENDED + 21)]
        raised = [(AlertRaised(*kind, "stuck", AlertSeverity.TICKET, "t"), AlertResolved(kind[0])) for kind in kinds]
        return [Draft(event) for pair in raised for event in pair]

    with closing(Workspace(discover(cli.top)).write()) as store:
        store.append(raise_many, Author("daemon"))
    assert cli.good("report", "--json").json()["alerts"]["raised"] == KEPT_ENDED + 20


@pytest.mark.parametrize(("file", "begins"), [("w.html", "<!doctype html>"), ("w.json", "{"), ("w.txt", "# ")])
def test_the_form_follows_the_ending_of_the_file(cli: Cli, file: str, begins: str) -> None:
    cli.good("report", "-o", file)
    assert (cli.top / file).read_text("utf-8").startswith(begins)
