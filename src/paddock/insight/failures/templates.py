"""Lines that say the same with another word in it, as one template, after Drain: lines of as many words that begin
alike are one where most of their words are the same. Templates are found in the order of the alphabet, so that they do
not depend on the order of runs."""

from collections import defaultdict
from collections.abc import Iterable

SAME_SHARE = 0.75
LEAST_WORDS = 5
MOST_COMPARED = 40


class Templates:
    def __init__(self, lines: Iterable[str]) -> None:
        self._of: dict[str, str] = {}
        leaders: dict[tuple[int, str], list[list[str]]] = defaultdict(list)
        for line in sorted(set(lines)):
            words = line.split(" ")
            if len(words) < LEAST_WORDS:
                continue
            bucket = leaders[len(words), words[0]]
            leader = next((known for known in bucket[-MOST_COMPARED:] if _same(known, words)), None)
            if leader is None:
                bucket.append(words)
            else:
                self._of[line] = " ".join(leader)

    def of(self, line: str) -> str:
        return self._of.get(line, line)


def _same(one: list[str], other: list[str]) -> bool:
    same = sum(left == right for left, right in zip(one, other, strict=True))
    return same >= SAME_SHARE * len(one)
