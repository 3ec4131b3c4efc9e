"""The words of a notification: short, plain, and harmless wherever they are shown.

Services cut long text, and show HTML, Markdown or a markup of their own. Titles, questions and reasons may be an
agent's words, so nothing of them may become a link, a mention or a tag.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from paddock.core.alerts.alert import Alert, AlertKind
from paddock.core.ids import printable
from paddock.core.redaction import redact

TITLE_CHARACTERS = 100
BODY_CHARACTERS = 1000
"""Pushover, one of the narrowest, shows 1024."""
MOST_SHOWN = 6
_SUBJECT, _WHY, _RUN, _PLACE = 70, 160, 110, 40
REST_ROOM = 60

_COMMAND = re.compile(r"[\w ,.:/=+#'\"…`-]+")
_MENTION = re.compile(r"(?<![\w.])@(?=\w)")
_TAGS = str.maketrans({"<": "‹", ">": "›"})
_COUNTED = {
    AlertKind.HALTED: ("merge queue halted", "merge queue halted"),
    AlertKind.BUDGET: ("1 budget", "{} budgets"),
    AlertKind.APPROVAL: ("1 approval", "{} approvals"),
    AlertKind.ANSWER: ("1 answer", "{} answers"),
    AlertKind.BLOCKED: ("1 blocked", "{} blocked"),
    AlertKind.FAILED: ("1 failed", "{} failed"),
    AlertKind.LANDED: ("1 landed", "{} landed"),
}
_ALONE = {
    AlertKind.HALTED: "merge queue halted",
    AlertKind.BUDGET: "a budget runs out",
    AlertKind.APPROVAL: "needs approval",
    AlertKind.ANSWER: "needs an answer",
    AlertKind.BLOCKED: "is blocked",
    AlertKind.FAILED: "has failed",
    AlertKind.LANDED: "has landed",
}
_ABOUT_A_TASK = frozenset({AlertKind.APPROVAL, AlertKind.ANSWER, AlertKind.BLOCKED, AlertKind.FAILED, AlertKind.LANDED})


@dataclass(frozen=True, slots=True)
class Bulletin:
    """Plain text; `body` has several lines."""

    title: str
    body: str


def compose(alerts: Sequence[Alert], place: str, secrets: Collection[str] = ()) -> Bulletin:
    """One notification about all of them, the first of which are shown. `place` names the fleet."""
    name = defuse_words(place, _PLACE, secrets)
    title = f"{name}: {_alone(alerts[0], secrets) if len(alerts) == 1 else count_kinds(alerts)}"
    body, shown = "", 0
    for alert in alerts[:MOST_SHOWN]:
        lines = _lines(alert, secrets)
        if body and len(body) + len(lines) + 1 > BODY_CHARACTERS - REST_ROOM:
            break
        body, shown = f"{body}\n{lines}" if body else lines, shown + 1
    if more := len(alerts) - shown:
        body += f"\n… and {more:,} more: paddock status"
    return Bulletin(printable(title, TITLE_CHARACTERS), body)


def count_kinds(alerts: Iterable[Alert]) -> str:
    """`2 approvals, 1 answer`."""
    counts = Counter(alert.kind for alert in alerts)
    words = [_COUNTED[kind][counts[kind] > 1].format(f"{counts[kind]:,}") for kind in AlertKind if counts[kind]]
    return ", ".join(words)


def defuse_words(text: str, limit: int, secrets: Collection[str] = ()) -> str:
    """One line that no service takes for more than words."""
    line = printable(redact(" ".join(text.split()), secrets), limit).translate(_TAGS)
    return _MENTION.sub("@ ", line).replace("](", "] (")


def _alone(alert: Alert, secrets: Collection[str]) -> str:
    words = _ALONE[alert.kind]
    name = defuse_words(alert.subject.partition(" ")[0], _PLACE, secrets)
    return f"{name} {words}" if alert.kind in _ABOUT_A_TASK else words


def _lines(alert: Alert, secrets: Collection[str]) -> str:
    subject, why = defuse_words(alert.subject, _SUBJECT, secrets), defuse_words(alert.why, _WHY, secrets)
    told = f"{subject}: {why}" if why else f"{subject} {_ALONE[alert.kind]}"
    return f"{told}\n  run: {_command(alert)}"


def _command(alert: Alert) -> str:
    """People paste it. One with a name in it that is not plain is left to the terminal, which shows all of it."""
    if _is_plain(alert.run):
        return alert.run
    shown = f"paddock show {alert.subject.partition(' ')[0]}"
    return shown if alert.kind in _ABOUT_A_TASK and _is_plain(shown) else "paddock status"


def _is_plain(command: str) -> bool:
    return len(command) <= _RUN and command.isprintable() and _COMMAND.fullmatch(command) is not None
