"""One turn with an ACP agent: its prompt, the letters that arrive meanwhile, its permissions, its end.

A letter reaches the agent as a further prompt: at once where the agent takes one while another runs, otherwise right
after the prompt that runs, and with `now` after that was cancelled. The turn ends when every prompt is answered and no
letter waits. A letter counts as taken only when the agent has shown that it works on it.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from paddock.bridges.acp_permissions import Permissions, Tell
from paddock.bridges.acp_session import AgentLink, AgentRefused, Opened, open_session
from paddock.bridges.failure import BridgeFailed, ExitStatus
from paddock.bridges.wording import promptable
from paddock.core.trace import MessagesTaken, ModelTokens, Progress, TokenUsage, TraceEntry, Usage, UsageScope
from paddock.engines.acp_order import AcpOrder
from paddock.engines.acp_updates import UpdateReader, is_aside, read_end, read_usage
from paddock.engines.jsonline import Node
from paddock.engines.letters import LetterBox, ReceivedLetter

CANCEL_SECONDS = 30.0


@dataclass
class _Prompt:
    """What was sent with one `session/prompt`. `answer` is there once it was answered."""

    texts: tuple[str, ...]
    messages: tuple[int, ...]
    number: int
    is_taken: bool = False
    answer: Node | None = None

    @property
    def is_of_letters(self) -> bool:
        return not self.is_taken and len(self.texts) == len(self.messages)


class AcpTurn:
    def __init__(self, order: AcpOrder, tell: Tell) -> None:
        self._order = order
        self._tell = tell
        self._reader = UpdateReader()
        self._permissions = Permissions(order.permissions, tell, self._reader.deny)
        self._mailbox = LetterBox(order.mailbox) if order.mailbox else None
        self._letters: list[ReceivedLetter] = []
        self._sent: list[_Prompt] = []
        self._running: dict[asyncio.Task[None], _Prompt] = {}
        self._opened: Opened | None = None
        self._link: AgentLink | None = None
        self._usage: TokenUsage | None = None
        self._cost_before: float | None = None
        self._news = asyncio.Event()
        self._is_stopping = False
        self._queues = False

    @property
    def _may_queue(self) -> bool:
        return self._queues and not self._permissions.is_open

    async def run(self, link: AgentLink) -> ExitStatus:
        """To its end. Raises BridgeFailed where there is none, AgentRefused where the agent answers with an error.

        What it has used is told however it ends."""
        try:
            await self._converse(link)
        finally:
            self._tell_all(self._reader.flush())
            self._tell_usage()
        return self._end()

    async def _converse(self, link: AgentLink) -> None:
        self._link = link
        opened = await open_session(link, self._order)
        self._tell(opened.started)
        self._queues = opened.queues
        self._opened, self._cost_before = opened, 0.0 if opened.is_new else self._reader.cost
        if self._mailbox is not None:
            asyncio.get_running_loop().add_reader(self._mailbox.fileno(), self._sort_letters)
            self._sort_letters()
        self._send((self._order.prompt,), self._order.messages)
        while self._running and not self._is_stopping:
            await self._wait()
            if any(letter.now for letter in self._letters):
                await self._interrupt()
            if self._letters and (not self._running or self._may_queue):
                letters, self._letters = self._letters, []
                self._send([letter.text for letter in letters], [letter.number for letter in letters])

    async def cancel(self) -> None:
        """Ends what runs, for good."""
        self._is_stopping = True
        self._permissions.cancel()
        if self._link is not None and self._opened is not None and self._running:
            await self._link.tell("session/cancel", {"sessionId": self._opened.session})

    async def serve(self, method: str, params: Any, is_notification: bool) -> Any:
        """What the agent asks of its client, and tells it."""
        from acp.exceptions import RequestError

        if method == "session/update":
            self._take_update(Node(params))
            return None
        if method == "session/request_permission" and not is_notification:
            request = Node(params)
            self._tell_all(self._reader.show(request.at("toolCall")))
            self._show_taken("session/request_permission")
            answer = await self._permissions.decide(request)
            self._news.set()
            return answer
        if is_notification:
            return None
        raise RequestError.method_not_found(method)

    def _take_update(self, params: Node) -> None:
        update = params.at("update")
        if self._opened is None:
            # The history of a conversation that is being loaded; only what it has cost is of use.
            if update.text("sessionUpdate") == "usage_update":
                self._tell_all(self._reader.read(update))
            else:
                self._tell(Progress("history"))
            return
        if params.text("sessionId") != self._opened.session:
            self._tell(Progress("another session"))
            return
        if not is_aside(update):
            self._show_taken(f"session/update {update.word('sessionUpdate')}")
        self._tell_all(self._reader.read(update))

    def _show_taken(self, seen: str) -> None:
        """The agent is at work on the first prompt that is not answered, whatever waits behind it."""
        first = next((prompt for prompt in self._sent if prompt.answer is None), None)
        if first is not None:
            self._taken(first, f"{seen} after session/prompt {first.number}")

    def _taken(self, prompt: _Prompt, evidence: str) -> None:
        if not prompt.is_taken and prompt.messages:
            self._tell(MessagesTaken(prompt.messages, evidence))
        prompt.is_taken = True

    def _send(self, texts: Iterable[str], messages: Iterable[int]) -> None:
        prompt = _Prompt(tuple(texts), tuple(messages), len(self._sent) + 1)
        self._sent.append(prompt)
        self._running[asyncio.create_task(self._prompt(prompt))] = prompt

    async def _prompt(self, prompt: _Prompt) -> None:
        assert self._link is not None
        assert self._opened is not None
        blocks = [{"type": "text", "text": promptable(text)} for text in prompt.texts]
        params = {"sessionId": self._opened.session, "prompt": blocks}
        prompt.answer = await self._link.ask("session/prompt", params, None)
        self._tell_all(self._reader.flush())
        reason = prompt.answer.word("stopReason")
        if reason != "cancelled":
            self._taken(prompt, f"session/prompt {prompt.number} answered: {reason}")
        if prompt.answer.has("usage"):
            self._usage = (self._usage or TokenUsage()).plus(read_usage(prompt.answer.at("usage")))

    async def _wait(self) -> None:
        """Until a prompt is answered or a letter has come. Raises what a prompt has failed with."""
        news = asyncio.create_task(self._news.wait())
        try:
            await asyncio.wait({news, *self._running}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
        self._news.clear()
        self._collect()

    def _collect(self) -> None:
        for task in [task for task in self._running if task.done()]:
            prompt = self._running.pop(task)
            error = task.exception()
            if isinstance(error, AgentRefused) and self._running and prompt.is_of_letters:
                self._put_back(prompt)
            elif error is not None:
                raise error

    def _put_back(self, prompt: _Prompt) -> None:
        """It does not take a prompt while another runs, whatever it has said: what it refused is for later."""
        self._queues = False
        self._sent.remove(prompt)
        again = zip(prompt.messages, prompt.texts, strict=True)
        self._letters[:0] = [ReceivedLetter(number, text) for number, text in again]

    def _sort_letters(self) -> None:
        for letter in self._mailbox.take_all() if self._mailbox is not None else ():
            if not self._permissions.answer(letter):
                self._letters.append(letter)
        self._news.set()

    async def _interrupt(self) -> None:
        """Drops what runs. What the agent had not begun with is said again, before what interrupted it."""
        assert self._link is not None
        assert self._opened is not None
        dropped = list(self._running.values())
        self._permissions.cancel()
        if self._running:
            await self._link.tell("session/cancel", {"sessionId": self._opened.session})
            _, late = await asyncio.wait(self._running, timeout=CANCEL_SECONDS)
            self._collect()
            if late:
                raise BridgeFailed(
                    f"the agent did not obey session/cancel within {CANCEL_SECONDS:g} s", ExitStatus.PROTOCOL
                )
        unheard = [prompt for prompt in dropped if not prompt.is_taken]
        letters, self._letters = self._letters, []
        texts = [text for prompt in unheard for text in prompt.texts] + [letter.text for letter in letters]
        numbers = [number for prompt in unheard for number in prompt.messages] + [letter.number for letter in letters]
        self._send(texts, numbers)

    def _end(self) -> ExitStatus:
        """The last answer is the turn's."""
        answer = self._sent[-1].answer
        if answer is None:
            return ExitStatus.STOPPED
        end = read_end(answer.word("stopReason"), self._reader.denials)
        self._tell(end)
        return ExitStatus.DONE if end.success else ExitStatus.FAILED

    def _tell_usage(self) -> None:
        cost, before = self._reader.cost, self._cost_before
        known = None if cost is None or before is None else max(0.0, cost - before)
        if self._usage is not None:
            tokens = self._usage.plus(TokenUsage(cost_usd=known))
            model = self._reader.model
            self._tell(Usage(tokens, UsageScope.TURN, (ModelTokens(model, tokens),) if model else ()))

    def close(self) -> None:
        for task in self._running:
            task.cancel()

    def fail(self, refusal: AgentRefused) -> None:
        """Tells what an error of the agent means; the turn is over."""
        self._tell(refusal.entry)

    def _tell_all(self, entries: Iterable[TraceEntry]) -> None:
        for entry in entries:
            self._tell(entry)
