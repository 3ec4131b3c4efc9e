"""A seat in memory: what tells a daemon's effects who leads, for logs that belong to no repository."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Notice:
    """Everybody who shares it sees the same; `shown` are the generations that took it."""

    text: str = ""
    shown: list[int] = field(default_factory=list)
    post = ""

    def sign(self, generation: int) -> str:
        return f"generation {generation}"

    def read(self) -> str:
        return self.text

    def show(self, generation: int, require: Callable[[], None]) -> str:
        require()
        self.text = self.sign(generation)
        self.shown.append(generation)
        return ""
