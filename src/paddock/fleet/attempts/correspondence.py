"""What passes between people and one turn: letters to it while it runs, its receipts, and its engine's dialogs.

Everything said here is in the log before it is posted, and posting it again changes nothing. What the engine says of it
is read from the turn's own output, from the beginning by each daemon, so nothing is lost or told twice by a kill.
"""

from dataclasses import dataclass, field

from paddock.core.board import Board
from paddock.core.events import (
    Draft,
    Event,
    MessagesDelivered,
    MessageSent,
    MessagesRead,
    QuestionAsked,
    QuestionWithdrawn,
    TurnStarted,
)
from paddock.core.ids import AttemptId, TaskId
from paddock.core.tasks.receipts import evidence_of_answer, evidence_of_end, evidence_of_taking, is_answer
from paddock.core.tasks.task import Attempt, Task
from paddock.core.tasks.vocabulary import EndedBy
from paddock.core.trace import DialogClosed, DialogOpened, MessagesTaken, TraceEntry, clip
from paddock.fleet.attempts.prompts import dialog_of
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.ledger import Ledger
from paddock.sessions.mailbox import Letter
from paddock.sessions.protocol import Sessions, Turn
from paddock.store.protocol import Query, Store

MOST_QUESTION = 4_000
MOST_OPTIONS = 20
MOST_OPTION = 200
MOST_REQUEST = 200
MOST_DIALOGS = 500
MOST_WITHDRAWN = 5
"""Of one turn, and of those the ones that it takes back before anybody could answer. Further ones are not put to
people, and deadlines go on while they are open."""


@dataclass
class Correspondence:
    """Of one turn. `told` are the messages that its prompt has, `listens` whether its command reads letters."""

    ledger: Ledger
    sessions: Sessions
    task_id: TaskId
    attempt: Attempt
    told: tuple[int, ...]
    listens: bool
    _taken: dict[int, str] = field(default_factory=dict)
    _posted: set[int] = field(default_factory=set)
    _answered: bool = False
    _asked: dict[str, int] | None = None
    """The dialogs of this turn that are in the log, by the engine's name for them."""
    _open: dict[str, DialogOpened] = field(default_factory=dict)
    _closed: set[str] = field(default_factory=set)
    _known: set[str] = field(default_factory=set)
    _withdrawn: int = 0

    @property
    def awaits_answer(self) -> bool:
        """Whether its engine waits for a person, however long that takes."""
        return bool(self._open) and self._is_heard

    @property
    def _is_heard(self) -> bool:
        return self._withdrawn < MOST_WITHDRAWN

    def hear(self, entry: TraceEntry) -> None:
        """Of every entry of the turn, also those that an earlier daemon has seen."""
        match entry:
            case MessagesTaken():
                words = evidence_of_taking(self.attempt.id, self.attempt.turn, clip(entry.evidence, 200))
                task = self.ledger.board.task(self.task_id)
                # Nobody has what was not sent yet, whatever an agent makes its engine's output say.
                self._taken |= dict.fromkeys({*entry.messages} & {*task.untold, *task.inbox}, words)
            case DialogOpened() if len(entry.request) <= MOST_REQUEST:
                self._heard_of(entry)
            case DialogClosed():
                self._open.pop(entry.request, None)
                if entry.request in self._known:
                    self._closed.add(entry.request)
            case _ if not self._answered and is_answer(entry):
                self._answered = True
                words = evidence_of_answer(self.attempt.id, self.attempt.turn)
                self._taken |= dict.fromkeys(self.told, words)

    def _heard_of(self, dialog: DialogOpened) -> None:
        """Of so many, and so much of each, as people could be asked: an agent may open any number."""
        if dialog.request not in self._known and len(self._known) >= MOST_DIALOGS:
            return
        self._known.add(dialog.request)
        options = tuple(clip(option, MOST_OPTION) for option in dialog.options[:MOST_OPTIONS])
        self._open[dialog.request] = DialogOpened(dialog.request, clip(dialog.text, MOST_QUESTION), options)
        self._closed.discard(dialog.request)

    async def exchange(self) -> EndedBy:
        """Records what was heard and posts what is waiting; MESSAGE if the turn must end for one that cannot wait."""
        if not self._is_workers:
            return EndedBy.ITSELF
        await self._record()
        return self._post()

    async def close(self, exit_status: int | None, ended_by: EndedBy) -> None:
        """Once the turn has ended and all of it was heard, before that is recorded."""
        if not self._is_workers:
            return
        if not self._answered and (evidence := evidence_of_end(self._id, self._turn.number, exit_status, ended_by)):
            self._taken |= dict.fromkeys(self.told, evidence)
        await self._record()

    def too_late(self, board: Board) -> list[Draft]:
        """Answers to dialogs that ended with the turn: nobody is told them any more."""
        store = self.ledger.store
        inbox = board.task(self.task_id).inbox if self._is_workers else ()
        late = tuple(seq for seq in inbox if _request(store, seq) is not None)
        return [self._draft(MessagesRead(late))] if late else []

    @property
    def _is_workers(self) -> bool:
        """Messages to a task are not for those who review its change."""
        return self.attempt.role is self.ledger.board.task(self.task_id).role

    @property
    def _id(self) -> AttemptId:
        return self.attempt.id

    @property
    def _turn(self) -> Turn:
        return Turn(self.attempt.id, self.attempt.turn)

    def _draft(self, event: Event) -> Draft:
        return Draft(event, self.task_id, self.attempt.id)

    def _post(self) -> EndedBy:
        store = self.ledger.store
        for seq in self.ledger.board.task(self.task_id).inbox:
            if seq in self._posted or seq in self._taken:
                continue
            event = store.record(seq).event
            if not isinstance(event, MessageSent):
                continue
            if not self.listens:
                if event.now:
                    return EndedBy.MESSAGE
                continue
            request = _request(store, seq)
            if request is None or request in self._requests():
                checkpoint("letter.posting")
                self.sessions.post(self._turn, Letter(seq, event.text, event.now, request or ""))
                checkpoint("letter.posted")
            self._posted.add(seq)
        return EndedBy.ITSELF

    async def _record(self) -> None:
        def decide(board: Board) -> list[Draft]:
            task = board.task(self.task_id)
            live = task.live_attempt
            if live is None or live.id != self.attempt.id:
                return []
            return [*self._receipts(task), *self._questions(task)]

        if not decide(self.ledger.board):
            return
        checkpoint("receipt.heard")
        for record in await self.ledger.record(decide):
            if isinstance(record.event, QuestionAsked):
                self._requests()[record.event.request] = record.seq
            self._withdrawn += isinstance(record.event, QuestionWithdrawn)
        checkpoint("receipt.recorded")

    def _receipts(self, task: Task) -> list[Draft]:
        """One for each piece of evidence, of messages that nobody has recorded as delivered yet."""
        by_evidence: dict[str, list[int]] = {}
        for seq in (*task.untold, *task.inbox):
            if seq in self._taken:
                by_evidence.setdefault(self._taken[seq], []).append(seq)
        turn = self.attempt.turn
        return [self._draft(MessagesDelivered(tuple(seqs), turn, words)) for words, seqs in by_evidence.items()]

    def _questions(self, task: Task) -> list[Draft]:
        """One dialog at a time is put to people, the oldest first; a question of the agent's own waits for none."""
        if not self._open and not self._closed:
            return []
        asked = self._requests()
        withdrawn = [asked[name] for name in self._closed if name in asked and asked[name] == task.question]
        drafts = [self._draft(QuestionWithdrawn(question)) for question in withdrawn]
        waiting = next((dialog for name, dialog in self._open.items() if name not in asked), None)
        if waiting is not None and self._is_heard and (withdrawn or not task.options):
            drafts.append(self._draft(QuestionAsked(waiting.text, waiting.options, waiting.request)))
        return drafts

    def _requests(self) -> dict[str, int]:
        if self._asked is None:
            self._asked = {}
            store = self.ledger.store
            began = 0
            for record in store.records(Query(task=self.task_id, kind=TurnStarted.kind)):
                if isinstance(record.event, TurnStarted) and record.attempt == self.attempt.id:
                    began = record.seq if record.event.turn == self.attempt.turn else began
            for record in store.records(Query(after=began, task=self.task_id, kind=QuestionAsked.kind)):
                if isinstance(record.event, QuestionAsked) and record.event.request:
                    self._asked[record.event.request] = record.seq
        return self._asked


def _request(store: Store, message: int) -> str | None:
    """What the engine waits for, where the message answers that; None of any other message."""
    event = store.record(message).event
    answers = event.answers if isinstance(event, MessageSent) else 0
    return (dialog_of(store, answers) or None) if answers else None
