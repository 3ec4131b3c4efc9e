"""The one way in for every edge: the repository with its configuration, its log, its site, and who is asking."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import LogCreated, Record
from paddock.core.ids import printable
from paddock.git.repo import Repo
from paddock.store.location import has_log, log_of, open_store, require_known
from paddock.store.place import LogPlace
from paddock.store.protocol import Author, Decide, LogUnusable, Query, Store

if TYPE_CHECKING:
    from paddock.config.load import Loaded
    from paddock.config.schema import Config
    from paddock.core.intent.tasks import Known
    from paddock.core.intent.workers import NotForWorkers, Worker
    from paddock.fleet.site import Site


class Workspace:
    """`settings` are `key=value` words that win over file and environment. `warn` is told what a reader should know.
    `via` is the edge a person asks through, where that is not the command line; the log names it.

    Imports what it needs when that is asked for: `paddock status` begins here, too.
    """

    def __init__(
        self,
        repo: Repo,
        settings: tuple[str, ...] = (),
        warn: Callable[[str], None] = lambda _words: None,
        via: str = "",
    ) -> None:
        self.repo = repo
        self.settings = settings
        self.via = via
        self._warn = warn

    def load(self) -> "Loaded":
        """The configuration with the source of each value. Raises Misuse."""
        from paddock.config.load import load_config

        flags = {}
        for word in self.settings:
            key, equals, value = word.partition("=")
            if not equals:
                raise Misuse(f"--set: `{word}` is not KEY=VALUE", "e.g. `--set limits.attempts=1`")
            flags[key.strip()] = value
        return load_config(self.top, flags=flags)

    @cached_property
    def config(self) -> "Config":
        return self.load().config

    @property
    def top(self) -> Path:
        """Where `paddock.toml` is looked for: the main working tree, whichever worktree we are in."""
        return self.repo.main or self.repo.top or self.repo.common_dir

    @cached_property
    def log(self) -> LogPlace:
        """Where the log is; what is there only the store knows. Raises Misuse."""
        return log_of(self.repo, self.settings)

    @property
    def has_log(self) -> bool:
        return has_log(self.log)

    @property
    def state_dir(self) -> Path:
        return self.log.state_dir

    @cached_property
    def site(self) -> "Site":
        """The repository as the fleet sees it. Needs the log: its first record is in the marker of every process."""
        from paddock.fleet.site import Site

        event = self._first.event
        own = (event.identity, event.label) if isinstance(event, LogCreated) else ("", "")
        return Site(self.repo, self.config, self.state_dir, self.marker, log_identity=own[0], label=own[1])

    @cached_property
    def marker(self) -> str:
        from paddock.fleet.site import marker_of

        return marker_of(self.repo.common_dir, self._first.hash)

    @cached_property
    def _first(self) -> Record:
        with closing(self.read()) as store:
            return store.record(1)

    @cached_property
    def worker(self) -> "Worker | None":
        """The attempt or CI run of this log that asks; None if it is a person."""
        owner = self._owner()
        return self.worker_named(owner) if owner else None

    def worker_named(self, owner: str) -> "Worker":
        """An attempt or CI run with the rights that the configuration gives it."""
        from paddock.core.intent.workers import Worker

        return Worker(owner, self._may_add())

    def seen_by(self, worker: "Worker") -> "Workspace":
        """The same as this worker asks for it: it came in by another way than a command of its own."""
        theirs = Workspace(self.repo, self.settings, self._warn)
        theirs.worker = worker
        return theirs

    def _owner(self) -> str:
        from paddock.sessions.ancestry import ATTEMPT_VARIABLE, marks_of_caller, owner_of_caller

        marks = marks_of_caller()
        if not marks:
            return os.environ.get(ATTEMPT_VARIABLE, "")
        try:
            return owner_of_caller(marks, self.marker)
        except (PaddockError, OSError):
            return ""  # there is no log whose worker it could be

    def _may_add(self) -> bool:
        """As the file says: what a worker has in its environment or on its command line must not widen its rights."""
        from paddock.config.load import load_config

        try:
            return load_config(self.top, environment={}).config.agent_rights.may_add
        except PaddockError:
            return False

    @cached_property
    def author(self) -> Author:
        """Who asks: `name@host`, perhaps `via web`, or the attempt or CI run that a worker is inside of."""
        if (worker := self.worker) is not None:
            return Author(printable(worker.author, 80), worker=worker)
        return Author(f"{self.person} via {self.via}" if self.via else self.person)

    @property
    def person(self) -> str:
        """Whose processes ours are: `name@host`."""
        return printable(f"{_user_name()}@{os.uname().nodename}", 80)

    @cached_property
    def known(self) -> "Known":
        """The agents, engines and kinds of work that tasks may name."""
        from paddock.config.roster import roster
        from paddock.core.intent.tasks import Known
        from paddock.engines.registry import engine_names

        agents, engines = self.config.agents, self.config.engines
        return Known(frozenset(agents), frozenset((*engine_names(), *engines)), roster(self.config))

    def read(self, patience_seconds: float | None = None) -> Store:
        """`patience_seconds` is for a log that another program has locked."""
        self._require_log()
        return open_store(self.log, read_only=True, patience_seconds=patience_seconds)

    def write(self) -> Store:
        self._require_log()
        return open_store(self.log)

    def board(self) -> Board:
        with closing(self.read()) as store:
            board = store.board()
        if board.unknown:
            kinds = ", ".join(sorted(board.unknown))
            self._warn(
                f"skipped {sum(board.unknown.values())} events from a newer Paddock ({kinds}); "
                f"upgrade to {board.version} or later to see them"
            )
        return board

    def records(self, query: Query) -> Iterator[Record]:
        with closing(self.read()) as store:
            yield from store.records(query)

    def record(self, decide: Decide) -> list[Record]:
        """One transaction, in the caller's name."""
        with closing(self.write()) as store:
            return self.append(store, decide)

    def append(self, store: Store, decide: Decide) -> list[Record]:
        """As `record`, on a store that stays open."""
        try:
            return store.append(decide, self.author)
        except PaddockError as error:
            self._note_refused(store, error)
            raise

    def refuse(self, refusal: "NotForWorkers") -> None:
        """Records that a worker asked for too much. Raises nothing: the worker is refused anyway."""
        with suppress(PaddockError, OSError), closing(self.write()) as store:
            self._note_refused(store, refusal)

    def _note_refused(self, store: Store, error: PaddockError) -> None:
        if (worker := self.worker) is None:
            return
        from paddock.core.intent.workers import NotForWorkers, note_refusal

        if isinstance(error, NotForWorkers):
            request = error.request
            with suppress(PaddockError):
                store.append(lambda board: note_refusal(board, worker, request), self.author)

    def _require_log(self) -> None:
        if self.log.is_shared or self.has_log:  # a shared one says itself that it is not there
            return
        if not self.repo.common_dir.is_dir():
            raise LogUnusable(f"the repository `{self.top}` was moved or deleted", "start this again where it is now")
        require_known(self.log, self.repo)
        hint = "run `paddock init` there"
        if self.repo.git("config", "--get", "remote.origin.url", check=False).ok:
            hint += "; if `origin` has a log, init fetches it, and so does `paddock log fetch`"
        raise LogUnusable(f"Paddock is not set up in `{self.top}`", hint)


def _user_name() -> str:
    if name := os.environ.get("USER") or os.environ.get("LOGNAME"):
        return name
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid{os.getuid()}"
