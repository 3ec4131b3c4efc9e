"""What an agent's request for a permission gets: an answer by policy, or a person's."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from paddock.core.tasks.questions import recorded_option
from paddock.core.trace import ID_LIMIT, DialogClosed, DialogOpened, MessagesTaken, TraceEntry, clip, one_line
from paddock.engines.acp_order import Policy
from paddock.engines.acp_updates import read_argument
from paddock.engines.jsonline import Node
from paddock.engines.letters import ReceivedLetter

WORD_LIMIT = 100
QUESTION_LIMIT = 1_000
MOST_OPTIONS = 20

_ALLOW = ("allow_once", "allow_always")
_DENY = ("reject_once", "reject_always")

Tell = Callable[[TraceEntry], None]


@dataclass(frozen=True, slots=True)
class Option:
    """`name` is what people see and answer with: no two of a request have the same."""

    id: str
    name: str
    kind: str

    @property
    def allows(self) -> bool:
        return self.kind.startswith("allow")


def read_options(request: Node) -> tuple[Option, ...]:
    found: dict[str, Option] = {}
    for node in list(request.items("options"))[:MOST_OPTIONS]:
        option_id = node.text("optionId", limit=ID_LIMIT)
        name = one_line(node.text("name"), WORD_LIMIT) or option_id
        name = f"{name} ({one_line(option_id, WORD_LIMIT // 2)})" if name in found else name
        if option_id and name not in found:
            found[name] = Option(option_id, name, node.word("kind"))
    return tuple(found.values())


def choose(options: Iterable[Option], policy: Policy) -> Option | None:
    """By policy; once is preferred to always, which some agents write into the user's settings."""
    wanted = _DENY if policy == "deny" else _ALLOW
    return next((option for kind in wanted for option in options if option.kind == kind), None)


def read_answer(options: tuple[Option, ...], text: str) -> Option | None:
    """The option that a person's answer names; None for what is none of them."""
    named = {option.name: option for option in options}
    chosen = recorded_option(tuple(named), text)
    return named[chosen] if chosen is not None else None


def describe_request(request: Node) -> str:
    """What the agent wants to do, in its own words."""
    call = request.at("toolCall")
    title = call.text("title", limit=QUESTION_LIMIT) or call.word("kind") or "a tool"
    argument = read_argument(call.at("rawInput"))
    more = f": {argument}" if argument and argument not in title else ""
    return f"May it use {clip(title + more, QUESTION_LIMIT)}?"


class Permissions:
    """Answers requests one after the other. `refused` is called with the id of a call that may not be."""

    def __init__(self, policy: Policy, tell: Tell, refused: Callable[[str], None]) -> None:
        self._policy = policy
        self._tell = tell
        self._refused = refused
        self._turn = asyncio.Lock()
        self._count = 0
        self._cancelled = 0
        self._waiting: tuple[str, tuple[Option, ...], asyncio.Future[Option | None]] | None = None

    @property
    def is_open(self) -> bool:
        return self._waiting is not None

    async def decide(self, request: Node) -> dict[str, object]:
        """The answer to `session/request_permission`."""
        asked_at = self._cancelled
        async with self._turn:
            options = read_options(request)
            if self._policy != "ask":
                chosen = choose(options, self._policy)
            else:
                chosen = await self._ask(request, options) if asked_at == self._cancelled else None
        if chosen is None or not chosen.allows:
            self._refused(request.word("toolCall", "toolCallId"))
        if chosen is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": chosen.id}}

    def answer(self, letter: ReceivedLetter) -> bool:
        """Whether the letter was for a request; one that answers nothing that is still asked has had its effect."""
        if not letter.request:
            return False
        if self._waiting is None or self._waiting[0] != letter.request:
            self._tell(MessagesTaken((letter.number,), "the request is no longer open"))
            return True
        _, options, answered = self._waiting
        option = read_answer(options, letter.text)
        if option is not None and not answered.done():
            self._tell(MessagesTaken((letter.number,), f"session/request_permission answered: {option.id}"))
            answered.set_result(option)
        return True

    def cancel(self) -> None:
        """What is asked is answered `cancelled`, as the protocol demands when a prompt is cancelled."""
        self._cancelled += 1
        if self._waiting is not None and not self._waiting[2].done():
            self._waiting[2].set_result(None)

    async def _ask(self, request: Node, options: tuple[Option, ...]) -> Option | None:
        if not options:
            return None
        self._count += 1
        name = f"permission-{self._count}"
        answered: asyncio.Future[Option | None] = asyncio.get_running_loop().create_future()
        self._waiting = name, options, answered
        self._tell(DialogOpened(name, describe_request(request), tuple(option.name for option in options)))
        try:
            return await answered
        finally:
            self._waiting = None
            self._tell(DialogClosed(name))
