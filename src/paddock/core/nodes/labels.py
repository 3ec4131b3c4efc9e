"""What work needs of the machine that it runs on: labels, as nodes have them.

A need is `KEY=VALUE`; a bare `KEY` is short for `KEY=true`. A machine meets it if its label KEY has exactly that value.
Keys and values are written as Ray writes them, and Kubernetes.
"""

import re
from collections.abc import Iterable, Mapping

from paddock.core.errors import Misuse
from paddock.core.ids import printable

YES = "true"
OS = "os"
"""A machine that has no label of this name counts as having the system that it runs."""
MOST_NEEDS = 20
_NAME = r"[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?"
_KEY = re.compile(rf"({_NAME}/)?{_NAME}")
_VALUE = re.compile(_NAME)


def read_needs(words: Iterable[str]) -> tuple[str, ...]:
    """As they are recorded, each once. Raises Misuse."""
    labels: dict[str, str] = {}
    for word in words:
        key, value = _read_need(word)
        if labels.setdefault(key, value) != value:
            raise Misuse(
                f"it needs `{key}={labels[key]}` and `{key}={value}` at the same time",
                "a label has one value: keep one",
            )
    if len(labels) > MOST_NEEDS:
        raise Misuse(f"{len(labels)} needs are more than {MOST_NEEDS}", "one label may stand for several things")
    return tuple(need_of(key, value) for key, value in labels.items())


def labels_needed(*needs: Iterable[str]) -> dict[str, str]:
    """Those of all of them together; where two name one key, the later counts."""
    return dict(_split(need) for some in needs for need in some)


def need_of(key: str, value: str) -> str:
    return key if value == YES else f"{key}={value}"


def needs_words(labels: Mapping[str, str]) -> str:
    """For people: `gpu, os=linux`."""
    return ", ".join(need_of(key, value) for key, value in labels.items())


def unmet(labels: Mapping[str, str], having: Mapping[str, str]) -> dict[str, str]:
    """Those that a machine with the labels `having` does not meet."""
    return {key: value for key, value in labels.items() if having.get(key) != value}


def _split(need: str) -> tuple[str, str]:
    key, _, value = need.partition("=")
    return key, value or YES


def _read_need(word: str) -> tuple[str, str]:
    """`os: linux` counts as well: that is how YAML has it."""
    key, sign, value = (part.strip() for part in word.partition("=" if "=" in word else ":"))
    if not _KEY.fullmatch(key) or (sign and not _VALUE.fullmatch(value)):
        raise Misuse(
            f"`{printable(word, 80)}` is not a label that a node can have",
            "write `gpu` or `os=linux`: letters and digits, with `-`, `_` and `.` between them, at most 63",
        )
    return key, value or YES
