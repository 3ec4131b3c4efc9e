"""What agents said to messages: their first words after each, as the turn that has it tells them."""

from collections.abc import Mapping, Sequence

from paddock.core.errors import PaddockError
from paddock.core.ids import AttemptId
from paddock.core.tasks.mail import SentMessage
from paddock.core.tasks.receipts import evidence_of_answer
from paddock.core.tasks.task import Attempt
from paddock.core.trace import MessagesTaken, Text
from paddock.fleet.attempts.excerpts import MOST_ENTRIES, read_on
from paddock.fleet.site import Site

MOST_TURNS = 50
MOST_PAGES = 8


def first_words(site: Site, attempts: Mapping[AttemptId, Attempt], messages: Sequence[SentMessage]) -> dict[int, str]:
    """By the number of the message; without those that nothing was said to, or whose output is no longer kept."""
    by_turn: dict[tuple[AttemptId, int], list[SentMessage]] = {}
    for one in messages:
        if one.attempt is not None and one.attempt in attempts:
            by_turn.setdefault((one.attempt, one.turn), []).append(one)
    found: dict[int, str] = {}
    for (name, turn), told in list(by_turn.items())[-MOST_TURNS:]:
        try:
            found |= _words_of_turn(site, attempts[name], turn, told)
        except (PaddockError, OSError):
            continue
    return found


def _words_of_turn(site: Site, attempt: Attempt, turn: int, told: Sequence[SentMessage]) -> dict[int, str]:
    began = evidence_of_answer(attempt.id, turn)
    waiting = {one.number for one in told if one.evidence == began}
    awaited = {one.number for one in told} - waiting
    found: dict[int, str] = {}
    after = -1
    for _ in range(MOST_PAGES):
        page = read_on(site, attempt, turn, MOST_ENTRIES, after)
        for placed in page.entries:
            match placed.entry:
                case MessagesTaken(messages=numbers):
                    waiting |= awaited & set(numbers)
                case Text(text=text) if text.strip() and waiting:
                    found |= dict.fromkeys(waiting, text)
                    awaited, waiting = awaited - waiting, set()
                case _:
                    pass
        if not (awaited or waiting) or not page.more_after:
            break
        after = page.last
    return found
