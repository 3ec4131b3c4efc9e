"""Whether what a run printed, or what stands for its error, is a model at work, where nobody took down its steps."""

from collections.abc import Iterable

from paddock.insight.failures.lines import ERROR, OUTPUT, Line
from paddock.insight.failures.phrases import listed, words_in

_SPEECH = tuple(
    words_in(phrase)
    for phrase in listed(
        """
        thought; thinking; let me; now let; i need to; i have; i ve; i should; next i; the task has been;
        waiting for the lm; waiting for the model; waiting for llm; assistant; tool call; tool use
        """
    )
)
ENOUGH = 2
"""One may stand in the task that was given to it. Chosen on three trials of terminal-bench whose only steps were
thoughts, and checked on the 162 beside them that never ran, of which none has two."""


def shows_speech(lines: Iterable[Line]) -> bool:
    heard: set[bytes] = set()
    for line in lines:
        if line.where in (OUTPUT, ERROR):
            words = words_in(line.text)
            heard.update(phrase for phrase in _SPEECH if phrase in words)
            if len(heard) >= ENOUGH:
                return True
    return False
