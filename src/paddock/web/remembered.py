"""What takes long to compute, kept until what it was computed from is another.

One thread computes it, and whoever asks meanwhile waits for that. So many answers are kept as pages have panels: the
oldest go first.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")
MOST_KEPT = 24


@dataclass
class _Answer:
    making: threading.Lock = field(default_factory=threading.Lock)
    state: Hashable = None
    value: Any = None
    is_made: bool = False


class Remembered:
    """Shared by threads. What `make` raises is raised, and nothing is kept of it."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._answers: OrderedDict[Hashable, _Answer] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Hashable, state: Hashable, make: Callable[[], T]) -> T:
        """`name` is what is asked for, and `state` what its answer depends on."""
        with self._lock:
            answer = self._answers.setdefault(name, _Answer())
            self._answers.move_to_end(name)
            while len(self._answers) > self._most:
                self._answers.popitem(last=False)
        with answer.making:
            if not answer.is_made or answer.state != state:
                answer.value, answer.state, answer.is_made = make(), state, True
            value: T = answer.value
            return value
