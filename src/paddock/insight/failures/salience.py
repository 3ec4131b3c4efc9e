"""Lines that may say why: those that name a trouble, and those with a word for one."""

from dataclasses import dataclass
from functools import cache

from paddock.insight.failures.lines import CALL, ERROR, STEP, Line
from paddock.insight.failures.masks import mask
from paddock.insight.failures.phrases import Sign, SignBook, words_in

_SALIENT = frozenset(
    b"abort aborted broken cannot conflict corrupt crash crashed critical denied error errors exceeded exception"
    b" exhausted fail failed failing fails failure fatal forbidden illegal invalid killed limit locked lost missing no"
    b" not overload overloaded panic refused rejected stopped timeout unable unavailable undefined unexpected unhandled"
    b" unknown unreachable unrecognized unsupported violation".split()
)
_SALIENT_ENDINGS = (b"error", b"exception", b"failure", b"timeout")
_NAMING = frozenset({"missing-module", "missing-command", "missing-library", "port-in-use"})
"""Signs of which what is quoted matters: another module is another cause."""
_GUESS = ("warning:", "warn ", "[warn", "warn:", "deprecat", "debug", "info:", "[info")
MOST_WORDS = 40


@dataclass(frozen=True, slots=True)
class Salient:
    """`template` is what remains of a line without what differs from run to run. `strength` is the sign's, or less
    where such a line is heard of often although nothing came of it."""

    line: Line
    template: str
    sign: Sign | None
    strength: int


@cache
def book() -> SignBook:
    from paddock.insight.failures.signs.contention import SIGNS as CONTENTION
    from paddock.insight.failures.signs.dependency import SIGNS as DEPENDENCY
    from paddock.insight.failures.signs.effort import SIGNS as EFFORT
    from paddock.insight.failures.signs.network import SIGNS as NETWORK
    from paddock.insight.failures.signs.provider import SIGNS as PROVIDER
    from paddock.insight.failures.signs.saturation import SIGNS as SATURATION

    return SignBook((*PROVIDER, *CONTENTION, *SATURATION, *NETWORK, *DEPENDENCY, *EFFORT))


class Reader:
    """Reads lines for one diagnosis: what was read once is remembered."""

    def __init__(self) -> None:
        self._signs: dict[str, tuple[Sign | None, bool]] = {}
        self._book = book()

    def salient(self, line: Line, task: str) -> Salient | None:
        known = self._signs.get(line.text)
        if known is None:
            words = words_in(line.text)
            sign = self._book.strongest(words)
            known = sign, sign is not None or _is_salient(words)
            self._signs[line.text] = known
        sign, is_salient = known
        if not is_salient and line.where not in (ERROR, CALL):
            return None
        template = mask(line.text, task, keeps_quoted=sign is not None and sign.name in _NAMING)
        short = " ".join(template.split(" ", MOST_WORDS)[:MOST_WORDS])
        return Salient(line, short, sign, _strength(sign, line))


def _is_salient(words: bytes) -> bool:
    split = words.split()
    return not _SALIENT.isdisjoint(split) or any(word.endswith(_SALIENT_ENDINGS) for word in split)


def _strength(sign: Sign | None, line: Line) -> int:
    """A step that fails is everyday work, and a warning is one because it went on."""
    if sign is None:
        return 0
    is_guess = line.where == STEP or line.text[:24].lower().startswith(_GUESS)
    return max(0, sign.strength - 1) if is_guess else sign.strength
