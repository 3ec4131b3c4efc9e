"""Lines that may say why: those that name a trouble, and those with a word for one."""

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache

from paddock.insight.failures.lines import CALL, OUTPUT, STEP, Line
from paddock.insight.failures.log_lines import is_harmless, without_level
from paddock.insight.failures.masks import mask, without_task
from paddock.insight.failures.phrases import Sign, SignBook, words_in
from paddock.insight.failures.speech import is_speech
from paddock.insight.failures.vocabulary import FailureCause

_SALIENT = frozenset(
    b"abort aborted already broken cannot conflict corrupt crash crashed critical denied error errors exceeded"
    b" exception exhausted fail failed failing fails failure fatal forbidden illegal invalid killed overload overloaded"
    b" panic refused rejected timeout unable unavailable undefined unexpected unhandled unreachable unrecognized"
    b" unsupported violation".split()
)
_SALIENT_ENDING = re.compile(rb"(?:error|exception|failure|timeout) ")
_NAMING = frozenset(
    {
        "missing-module",
        "missing-command",
        "missing-library",
        "wrong-version",
        "missing-data",
        "port-in-use",
        "name-in-use",
    }
)
"""Signs of which what is quoted matters: another module is another cause."""
_TESTED = "E "
"""What pytest quotes of a test that failed: the test may be of just such an error."""
_OF_MODELS = frozenset({FailureCause.MODEL, FailureCause.TASK})
"""What a model itself may say of why it failed."""
_GUESS = ("warning:", "notice:", "warn ", "[warn", "warn:", "deprecat", "debug", "info:", "[info")
MOST_WORDS = 40


class Work(Enum):
    """What the agent did, as far as is known. An error that it met in its work was likely its own, and one that it met
    and then ended as it wanted to kept it from nothing."""

    NONE = "none"
    BROKEN_OFF = "broken off"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Salient:
    """`template` is what remains of a line without what differs from run to run. `strength` is the sign's, or less
    where such a line is heard of often although nothing came of it."""

    line: Line
    template: str
    sign: Sign | None
    strength: int

    @property
    def tells(self) -> bool:
        return self.sign is not None and self.strength > 0

    @property
    def key(self) -> str:
        """The same for lines that name the same trouble, however they are worded."""
        if self.sign is None:
            return self.template
        return f"<{self.sign.name}>{self.template if self.sign.name in _NAMING else ''}"


@cache
def book() -> SignBook:
    from paddock.insight.failures.signs.contention import SIGNS as CONTENTION
    from paddock.insight.failures.signs.dependency import SIGNS as DEPENDENCY
    from paddock.insight.failures.signs.effort import SIGNS as EFFORT
    from paddock.insight.failures.signs.environment import SIGNS as ENVIRONMENT
    from paddock.insight.failures.signs.network import SIGNS as NETWORK
    from paddock.insight.failures.signs.provider import SIGNS as PROVIDER
    from paddock.insight.failures.signs.saturation import SIGNS as SATURATION

    return SignBook((*PROVIDER, *CONTENTION, *SATURATION, *NETWORK, *DEPENDENCY, *ENVIRONMENT, *EFFORT))


class Reader:
    """Reads lines for one diagnosis: what was read once is remembered."""

    def __init__(self, signs: SignBook) -> None:
        self._signs: dict[str, tuple[Sign | None, bool]] = {}
        self._book = signs

    def salient(self, line: Line, task: str, work: Work) -> Salient | None:
        text = without_task(line.text, task, but_words=True)
        known = self._signs.get(text)
        if known is None:
            words = words_in(_without_tests(text))
            sign = self._book.strongest(words)
            known = sign, sign is not None or (_is_salient(words) and not is_harmless(line.text))
            self._signs[text] = known
        sign, is_salient = known
        if not is_salient and not line.is_word:
            return None
        if line.where == OUTPUT and (sign is None or sign.cause not in _OF_MODELS) and is_speech(line.text):
            return None
        template = mask(without_level(line.text), task, keeps_quoted=sign is not None and sign.name in _NAMING)
        short = " ".join(template.split(" ", MOST_WORDS)[:MOST_WORDS])
        return Salient(line, short, sign, 0 if sign is None else _strength(sign, line, work))


def _without_tests(text: str) -> str:
    """A test has its name from what it is about: `test_login_rejects_expired_token`."""
    if "test_" not in text and "_test" not in text:
        return text
    return " ".join("test" if _is_test(word) else word for word in text.split())


def _is_test(word: str) -> bool:
    name = word.rpartition("::")[2].strip("()[]{}<>,;:.'\"`")
    return "/" not in name and (name.startswith("test_") or name.partition("[")[0].endswith("_test"))


def _is_salient(words: bytes) -> bool:
    return not _SALIENT.isdisjoint(words.split()) or _SALIENT_ENDING.search(words) is not None


def _strength(sign: Sign, line: Line, work: Work) -> int:
    """A step that fails is everyday work, a refusal may be one that the run got over, and a warning is one because it
    went on."""
    doubts = int(line.where in (STEP, CALL) or line.text[:24].lower().startswith(_GUESS))
    doubts += 2 * line.text.startswith(_TESTED)
    if sign.cause is FailureCause.DEPENDENCY and (
        line.where == STEP or (work is not Work.NONE and line.where == OUTPUT and not line.is_closing)
    ):
        return int(sign.strength > 1 or sign.name in _NAMING)
    if line.where == OUTPUT and not line.is_closing:
        doubts += 2 if work is Work.ENDED else work is Work.BROKEN_OFF and not line.is_late
    return max(0, sign.strength - doubts)
