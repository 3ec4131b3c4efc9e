"""Who asks through the Python API, and with which rights: a person, or the agent whose attempt the program runs in."""

from collections.abc import Iterable
from pathlib import Path

from paddock.core.errors import Misuse
from paddock.core.intent.workers import NotForWorkers, Worker, require_command
from paddock.fleet.workspace import Workspace
from paddock.git.repo import Repo, discover


class Access:
    """Opens the repository again for each request, so that whoever keeps one for long sees edits of `paddock.toml`.

    `via` is the edge a person asks through; the log names it.
    """

    def __init__(self, repo: Repo, settings: tuple[str, ...] = (), via: str = "") -> None:
        self.repo = repo
        self._settings = settings
        self._via = via
        self._worker: tuple[Worker | None] | None = None

    @classmethod
    def at(cls, place: str | Path, settings: tuple[str, ...] = (), via: str = "python") -> "Access":
        if not Path(place).is_dir():
            raise Misuse(f"`{place}` is not a directory", "name one inside the repository")
        return cls(discover(Path(place)), settings, via)

    def seen_by(self, worker: Worker | None) -> "Access":
        """The same for somebody who came in by another way than a process of their own."""
        theirs = Access(self.repo, self._settings, self._via)
        theirs._worker = (worker,)
        return theirs

    def open(self, command: str, subjects: Iterable[str] = ()) -> Workspace:
        """For what `paddock COMMAND` does. Raises NotForWorkers, on record, where an agent or CI may not."""
        workspace = Workspace(self.repo, self._settings, via=self._via)
        if self._worker is None:
            self._worker = (workspace.worker,)
        [worker] = self._worker
        workspace.worker = worker
        if worker is None:
            return workspace
        try:
            require_command(worker, command, subjects)
        except NotForWorkers as refusal:
            workspace.refuse(refusal)
            raise
        return workspace
