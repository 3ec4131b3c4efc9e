"""Messages on their way into a conversation, each pasted once and struck off when the conversation has it."""

from collections import deque
from dataclasses import dataclass, field

from paddock.bridges.wording import core_of, pasteable

_REMEMBERED_CHARACTERS = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Paste:
    """What was pasted, and the messages it stands for."""

    text: str
    numbers: tuple[int, ...]
    core: str

    @classmethod
    def of(cls, text: str, numbers: tuple[int, ...]) -> "Paste":
        words = pasteable(text)
        return cls(words, numbers, core_of(words))


@dataclass
class Pastes:
    """`is_exact`: the conversation tells the user's messages as such. Otherwise all of its words are searched."""

    is_exact: bool
    pasted: deque[Paste] = field(default_factory=deque)
    _words: str = ""

    def add(self, paste: Paste) -> None:
        if not self.pasted:
            self._words = ""
        self.pasted.append(paste)

    def found(self, prompt: str) -> list[Paste]:
        """Those that these words of the conversation confirm. A terminal may have sent several as one."""
        core = core_of(prompt)
        if self.is_exact:
            return self._in_order(core)
        self._words = (self._words + core)[-_REMEMBERED_CHARACTERS:]
        done = []
        while self.pasted and (at := self._words.find(self.pasted[0].core)) >= 0:
            self._words = self._words[at + len(self.pasted[0].core) :]
            done.append(self.pasted.popleft())
        return done

    def _in_order(self, core: str) -> list[Paste]:
        matched: list[Paste] = []
        rest = core
        while rest:
            found = next((one for one in self.pasted if one not in matched and rest.startswith(one.core)), None)
            if found is None:
                break
            matched.append(found)
            rest = rest[len(found.core) :]
        # With words left over it is a message that only begins like one of these.
        done = matched if not rest else []
        for one in done:
            self.pasted.remove(one)
        return done
