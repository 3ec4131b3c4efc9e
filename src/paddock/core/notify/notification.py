"""The words of a notification: short, plain, and harmless wherever they are shown.

Services cut long text, and show HTML, Markdown or a markup of their own. Titles, questions and reasons may be an
agent's words, so nothing of them may become a link, a mention or a tag.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from paddock.core.ids import printable
from paddock.core.notify.concern import Concern, ConcernKind
from paddock.core.redaction import redact

TITLE_CHARACTERS = 100
BODY_CHARACTERS = 1000
"""Pushover, one of the narrowest, shows 1024."""
MOST_SHOWN = 6
_SUBJECT, _WHY, _RUN, _PLACE = 70, 160, 110, 40
_QUESTION = 400
"""Its options come last."""
REST_ROOM = 60

_COMMAND = re.compile(r"[\w ,.:/=+#'\"…-]+")
_MENTION = re.compile(r"(?<![\w.])@(?=\w)")
_TAGS = str.maketrans({"<": "‹", ">": "›"})
_COUNTED = {
    ConcernKind.HALTED: ("merge queue halted", "merge queue halted"),
    ConcernKind.PAGE: ("1 urgent alert", "{} urgent alerts"),
    ConcernKind.BUDGET: ("1 budget", "{} budgets"),
    ConcernKind.APPROVAL: ("1 approval", "{} approvals"),
    ConcernKind.ANSWER: ("1 answer", "{} answers"),
    ConcernKind.BLOCKED: ("1 blocked", "{} blocked"),
    ConcernKind.FAILED: ("1 failed", "{} failed"),
    ConcernKind.TICKET: ("1 alert", "{} alerts"),
    ConcernKind.NOTICE: ("1 notice", "{} notices"),
    ConcernKind.LANDED: ("1 landed", "{} landed"),
}
_ALONE = {
    ConcernKind.HALTED: "merge queue halted",
    ConcernKind.PAGE: "urgent alert",
    ConcernKind.BUDGET: "a budget runs out",
    ConcernKind.APPROVAL: "needs approval",
    ConcernKind.ANSWER: "needs an answer",
    ConcernKind.BLOCKED: "is blocked",
    ConcernKind.FAILED: "has failed",
    ConcernKind.TICKET: "alert",
    ConcernKind.NOTICE: "notice",
    ConcernKind.LANDED: "has landed",
}
_ABOUT_A_TASK = frozenset(
    {ConcernKind.APPROVAL, ConcernKind.ANSWER, ConcernKind.BLOCKED, ConcernKind.FAILED, ConcernKind.LANDED}
)


@dataclass(frozen=True, slots=True)
class Notification:
    """Plain text; `body` has several lines."""

    title: str
    body: str


def compose(concerns: Sequence[Concern], place: str, secrets: Collection[str] = ()) -> Notification:
    """One notification about all of them, the first of which are shown. `place` names the fleet."""
    name = defuse_words(place, _PLACE, secrets)
    title = f"{name}: {_alone(concerns[0], secrets) if len(concerns) == 1 else count_kinds(concerns)}"
    body, shown = "", 0
    for concern in concerns[:MOST_SHOWN]:
        lines = _lines(concern, secrets)
        if body and len(body) + len(lines) + 1 > BODY_CHARACTERS - REST_ROOM:
            break
        body, shown = f"{body}\n{lines}" if body else lines, shown + 1
    if more := len(concerns) - shown:
        body += f"\n… and {more:,} more: paddock status"
    return Notification(printable(title, TITLE_CHARACTERS), body)


def count_kinds(concerns: Iterable[Concern]) -> str:
    """`2 approvals, 1 answer`."""
    counts = Counter(concern.kind for concern in concerns)
    words = [_COUNTED[kind][counts[kind] > 1].format(f"{counts[kind]:,}") for kind in ConcernKind if counts[kind]]
    return ", ".join(words)


def defuse_words(text: str, limit: int, secrets: Collection[str] = ()) -> str:
    """One line that no service takes for more than words."""
    line = printable(redact(" ".join(text.split()), secrets), limit).translate(_TAGS)
    return _MENTION.sub("@ ", line).replace("](", "] (").replace("://", ": //")


def _alone(concern: Concern, secrets: Collection[str]) -> str:
    words = _ALONE[concern.kind]
    name = defuse_words(concern.subject.partition(" ")[0], _PLACE, secrets)
    return f"{name} {words}" if concern.kind in _ABOUT_A_TASK else words


def _lines(concern: Concern, secrets: Collection[str]) -> str:
    subject = defuse_words(concern.subject, _SUBJECT, secrets)
    why = defuse_words(concern.why, _QUESTION if concern.kind is ConcernKind.ANSWER else _WHY, secrets)
    told = f"{subject}: {why}" if why else f"{subject} {_ALONE[concern.kind]}"
    return f"{told}\n  run: {_command(concern)}"


def _command(concern: Concern) -> str:
    """People paste it. One with a name in it that is not plain is left to the terminal, which shows all of it."""
    if _is_plain(concern.run):
        return concern.run
    shown = f"paddock show {concern.subject.partition(' ')[0]}"
    return shown if concern.kind in _ABOUT_A_TASK and _is_plain(shown) else "paddock status"


def _is_plain(command: str) -> bool:
    return len(command) <= _RUN and command.isprintable() and _COMMAND.fullmatch(command) is not None
