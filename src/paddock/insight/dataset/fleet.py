"""The fleet's own attempts, taken into the dataset as they go on: from the log, and from what their turns write.

Each look takes a bounded part of what is new and commits it together with how far it has come. What is kept in mind
between looks only saves work: whoever has lost it, because of a failure or because another process has looked
meanwhile, takes the attempts that are not over in again from the beginning of their output.
"""

import os
from dataclasses import dataclass
from itertools import islice

from msgspec.structs import replace

from paddock.core.errors import PaddockError
from paddock.core.events import AttemptStarted
from paddock.core.ids import AttemptId, TaskId, task_of
from paddock.fleet.site import Site
from paddock.insight.dataset.attempt_news import Followed, News, Retold, write_growth, write_retold
from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.histories import AttemptHistory, TaskHistory, read_history
from paddock.insight.dataset.live import AttemptFollower
from paddock.insight.dataset.progress import CLAIM_SECONDS, Progress
from paddock.insight.dataset.transcripts import has_output
from paddock.insight.dataset.writer import DatasetWriter, KeptRow
from paddock.insight.facts import facts_of_patch
from paddock.insight.trace import EXTRACTOR_VERSION, Facts
from paddock.store.protocol import Ask, Query

MOST_RECORDS = 20_000
TASKS_AT_ONCE = 16
"""As many are read and written by one look."""
NOTE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Looked:
    """`changed` are the attempts of which something new is told, `ended` those of them that are over by now. `more`:
    there is more to take in at once. `claimed`: another process is in the middle of it, and nothing was done."""

    changed: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    more: bool = False
    position: int = 0
    claimed: bool = False


@dataclass(frozen=True, slots=True)
class LogMark:
    """A log, and the newest record that it has."""

    log: str
    head: int


class FleetFollower:
    """For one thread. `stays` is for who looks again and again; anybody else leaves attempts alone that have written
    nothing since they were last read."""

    def __init__(self, site: Site, writer: DatasetWriter, *, stays: bool) -> None:
        self._site = site
        self._writer = writer
        self._stays = stays
        self._me = os.urandom(8).hex()
        self._live: dict[AttemptId, Followed] = {}
        self._pending: dict[TaskId, None] = {}
        self._upto = 0
        self._is_in_mind = False

    def look(self, ask: Ask, mark: LogMark, now: float) -> Looked:
        """Whatever is raised, nothing of it was written."""
        try:
            return self._look(ask, mark, now)
        except BaseException:
            self._forget()
            self._writer.roll_back()
            raise

    def start_over(self, ask: Ask, mark: LogMark, now: float) -> int:
        """Everything is to be taken in again; how many attempts keep their trace, because their output is gone."""
        self._forget()
        writer = self._writer
        writer.enter()
        is_same = writer.progress().log == mark.log
        names = writer.names(FLEET)
        known = (
            {record.attempt for record in ask(Query(kind=AttemptStarted.kind))} if is_same else set[AttemptId | None]()
        )
        writer.forget_runs(FLEET, [name for name in names if name not in known])
        there = [name for name in names if name in known]
        again = [name for name in there if has_output(self._site, AttemptId(name))]
        writer.mark_outdated(FLEET, again)
        writer.fates.forget()
        writer.note_progress(Progress(mark.log, writer=self._me, claimed_until=now + CLAIM_SECONDS))
        writer.commit()
        return len(there) - len(again)

    def _look(self, ask: Ask, mark: LogMark, now: float) -> Looked:
        before = self._writer.progress()
        if before.is_claimed(self._me, now):
            return Looked(claimed=True)
        if before.log != mark.log or before.position > mark.head:
            self.start_over(ask, mark, now)
            return Looked(more=True)
        if before.writer != self._me or not self._is_in_mind:
            self._forget()
            self._pending.update((task_of(AttemptId(name)), None) for name in before.live)
            self._upto = before.position
            self._is_in_mind = True
        if not self._pending or self._upto == before.position:
            self._read_log(ask, mark, before)
        news = self._follow(ask, before, now)
        return self._write(news, before, mark, now)

    def _forget(self) -> None:
        self._is_in_mind = False
        self._live.clear()
        self._pending.clear()

    def _read_log(self, ask: Ask, mark: LogMark, before: Progress) -> None:
        """Which tasks are concerned by what is new."""
        if before.position >= mark.head:
            return
        query = Query(after=before.position, until=mark.head)
        records = list(islice(ask(query), MOST_RECORDS))
        self._upto = records[-1].seq if len(records) == MOST_RECORDS else mark.head
        self._pending.update((record.task, None) for record in records if record.task is not None)
        if any(record.event.kind.startswith("queue.") for record in records):
            self._writer.enter()
            self._pending.update(dict.fromkeys(self._writer.fates.take(records)))
            self._writer.commit()

    def _follow(self, ask: Ask, before: Progress, now: float) -> News:
        news = News()
        for name in tuple(islice(self._pending, TASKS_AT_ONCE)):
            history = read_history(name, ask(Query(task=name)))
            for attempt in history.attempts.values():
                self._take_up(history, attempt, before, news)
            del self._pending[name]
        if not self._pending:
            told = {followed.attempt.id for followed in news.followed}
            news.followed += [followed for name, followed in self._live.items() if name not in told]
        for followed in news.followed:
            followed.size = followed.follower.size()
            followed.more = followed.follower.follow(followed.attempt, now if self._stays else None)
            if followed.is_over:
                followed.patch = self._facts(followed.attempt)
        return news

    def _take_up(self, task: TaskHistory, attempt: AttemptHistory, before: Progress, news: News) -> None:
        followed = self._live.get(attempt.id)
        if followed is None:
            row = self._writer.kept(FLEET, attempt.id)
            if row is not None and self._is_told(attempt, row, before):
                patch = self._facts(attempt) if row.kept.trace.facts.files is None else None
                news.retold.append(Retold(task, attempt, row, patch))
                return
            followed = Followed(AttemptFollower(self._site, attempt), task, row)
            read = before.live.get(attempt.id)
            if not self._stays and row is not None and attempt.ended is None and followed.follower.size() == read:
                news.resting[attempt.id] = read
                return
            self._live[attempt.id] = followed
        followed.task, followed.follower.attempt = task, attempt
        news.followed.append(followed)

    def _is_told(self, attempt: AttemptHistory, row: KeptRow, before: Progress) -> bool:
        """Whether its steps are there as they will remain: read to their end, or gone with its output."""
        if attempt.ended is None:
            return False
        is_whole = attempt.id not in before.live and row.extractor == EXTRACTOR_VERSION
        return is_whole or not has_output(self._site, attempt.id)

    def _facts(self, attempt: AttemptHistory) -> Facts | None:
        """What git says of what it delivered; None where there is nothing, or it is gone."""
        ended = attempt.ended
        if ended is None or not ended.head or not ended.base:
            return None
        from paddock.git.patches import stream_patch

        try:
            return facts_of_patch(stream_patch(self._site.repo, ended.base, ended.head))
        except (PaddockError, OSError):
            return None

    def _write(self, news: News, before: Progress, mark: LogMark, now: float) -> Looked:
        writer = self._writer
        position = before.position if self._pending else self._upto
        live = {**before.live, **news.resting}
        changed: list[str] = []
        ended: list[str] = []
        writer.enter()
        if writer.progress() != before:
            writer.roll_back()  # another process has looked meanwhile
            self._forget()
            return Looked(more=True)
        for followed in news.followed:
            name = followed.attempt.id
            if write_growth(writer, followed):
                changed.append(name)
            if followed.is_over:
                ended.append(name)
                live.pop(name, None)
                del self._live[name]
            else:
                live[name] = followed.size
        for retold in news.retold:
            live.pop(retold.attempt.id, None)
            if write_retold(writer, retold):
                changed.append(retold.attempt.id)
                ended.append(retold.attempt.id)
        more = bool(self._pending) or position < mark.head or any(one.more for one in self._live.values())
        claimed_until = now + CLAIM_SECONDS if more and not self._stays else 0.0
        after = Progress(mark.log, position, live, self._me, now, self._stays, claimed_until)
        is_news = changed or replace(after, looked_at=before.looked_at) != before
        if is_news or not 0 <= now - before.looked_at < NOTE_SECONDS:
            writer.note_progress(after)
        writer.commit()
        return Looked(tuple(changed), tuple(ended), more, position)
