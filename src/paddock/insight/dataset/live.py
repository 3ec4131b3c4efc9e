"""One attempt on its way into the dataset: its turns are followed, and what is new of them is handed on."""

from itertools import chain

from paddock.core.ids import AttemptId
from paddock.core.trace import TokenUsage
from paddock.fleet.attempts.preparation import SETUP_OUTPUT
from paddock.fleet.raw_output import read_file_end
from paddock.fleet.site import Site
from paddock.insight.dataset.headers import Told
from paddock.insight.dataset.histories import AttemptHistory, TurnHistory
from paddock.insight.dataset.transcripts import TurnFeed, has_output, open_feed
from paddock.insight.trace import TAIL_LINES, ModelCall, Step


class AttemptFollower:
    """Call `follow` whenever its history or its output may have changed, and take what is new with `drain`."""

    def __init__(self, site: Site, attempt: AttemptHistory) -> None:
        self.attempt = attempt
        self._site = site
        self._feeds: dict[int, TurnFeed] = {}
        self._finished: set[int] = set()

    def follow(self, attempt: AttemptHistory, now: float | None = None) -> bool:
        """Whether there is more to read at once. `now` is the time of lines of which nobody has noted it yet."""
        self.attempt = attempt
        for turn in attempt.turns.values():
            if turn.number in self._finished:
                continue
            feed = self._feed(turn)
            if feed is not None and feed.read(now):
                return True
            if turn.ended is not None or attempt.ended is not None:
                if feed is not None:
                    feed.finish(turn.ended_at or attempt.ended_at)
                self._finished.add(turn.number)
        return False

    def size(self) -> int:
        """How many bytes its turns have written."""
        feeds = [self._feed(turn) for turn in self.attempt.turns.values()]
        return sum(feed.size() for feed in feeds if feed is not None)

    def drain(self) -> tuple[list[Step], list[ModelCall]]:
        drained = [feed.tally.drain() for feed in self._feeds.values()]
        return list(chain.from_iterable(one[0] for one in drained)), list(
            chain.from_iterable(one[1] for one in drained)
        )

    def told(self) -> Told:
        tallies = [feed.tally for feed in self._feeds.values()]
        waited = sum(tally.waited_seconds for tally in tallies)
        return Told(
            model=next((tally.model for tally in reversed(tallies) if tally.model), ""),
            engine_version=next((feed.engine_version for feed in self._feeds.values() if feed.engine_version), ""),
            model_spoke=self._model_spoke(),
            usage=self._open_usage(),
            waited_seconds=waited if tallies else None,
            tail=self._tail(),
            calls=sum(tally.called for tally in tallies) or None,
            startup_cached=self._feeds[1].tally.first_cached if 1 in self._feeds else None,
        )

    def _feed(self, turn: TurnHistory) -> TurnFeed | None:
        if turn.number not in self._feeds:
            worktree = turn.worktree or self.attempt.started.worktree
            feed = open_feed(self._site, self.attempt, turn, worktree)
            if feed is None:
                return None
            self._feeds[turn.number] = feed
        return self._feeds[turn.number]

    def _model_spoke(self) -> bool | None:
        """Of a plain program nobody can tell."""
        if any(feed.tally.has_spoken for feed in self._feeds.values()):
            return True
        ends = [turn.ended for turn in self.attempt.turns.values() if turn.ended is not None]
        if any(end.steps or end.output_tokens for end in ends):
            return True
        if any(turn.interactive for turn in self.attempt.turns.values()):
            return None
        if self.attempt.turns and not has_output(self._site, self.attempt.id):
            return None
        is_structured = self._site.capabilities_of(self.attempt.started.engine).final_event
        return False if is_structured or (self.attempt.ended is not None and not self.attempt.turns) else None

    def _open_usage(self) -> TokenUsage | None:
        for turn in self.attempt.turns.values():
            if turn.ended is None and turn.number in self._feeds:
                return self._feeds[turn.number].tally.usage
        return None

    def _tail(self) -> list[str]:
        """Of the last turn; where none has begun, what the set-up of its worktree printed."""
        if self._feeds:
            return list(self._feeds[max(self._feeds)].tally.tail)
        if self.attempt.turns:
            return []
        printed = read_file_end(self._site.attempt_folder(AttemptId(self.attempt.id)) / SETUP_OUTPUT).text
        return printed.splitlines()[-TAIL_LINES:]
