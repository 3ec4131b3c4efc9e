"""The repositories of a server that shows several: each with its fleet, or with why it has none now."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from starlette.types import ASGIApp

from paddock.core.errors import PaddockError
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.views.overview import RepositoryFace
from paddock.web.addresses import name_places, root_of
from paddock.web.app import fleet_app
from paddock.web.served_fleet import ServedFleet

AGAIN_SECONDS = 2.0
"""How soon to look again for one that was not there."""


@dataclass
class ServedRepository:
    """`path` is absolute, as it was named. Once found it keeps its fleet, whose pages tell what becomes of it."""

    name: str
    path: Path
    settings: tuple[str, ...] = ()
    trouble: str = ""
    hint: str = ""
    _fleet: ServedFleet | None = None
    _app: ASGIApp | None = None
    _look_at: float = 0.0

    @property
    def root(self) -> str:
        return root_of(self.name)

    @property
    def fleet(self) -> ServedFleet | None:
        if self._fleet is None and time.monotonic() >= self._look_at:
            try:
                self._fleet = ServedFleet(Workspace(discover(self.path), self.settings))
            except (PaddockError, OSError) as error:
                self._look_at = time.monotonic() + AGAIN_SECONDS
                self.trouble = str(error) if isinstance(error, OSError) else error.message
                self.hint = "" if isinstance(error, OSError) else error.hint or ""
            else:
                self.trouble = self.hint = ""
        return self._fleet

    @property
    def identity(self) -> Path:
        """The git directory; the path where there is none."""
        return self.fleet.workspace.repo.common_dir if self.fleet is not None else self.path

    @property
    def app(self) -> ASGIApp | None:
        """None while it cannot be found."""
        if self._app is None and (fleet := self.fleet) is not None:
            self._app = fleet_app(fleet, self.root)
        return self._app

    def face(self) -> RepositoryFace:
        fleet, group = self._fleet, ""
        if fleet is not None:
            with suppress(PaddockError, OSError):
                group = fleet.workspace.config.group.name
        top = fleet.workspace.top if fleet is not None else self.path
        return RepositoryFace(self.name, self.root, str(top), group)


@dataclass
class ServedRepositories:
    """In the order in which they were named."""

    by_name: dict[str, ServedRepository] = field(default_factory=dict)

    @classmethod
    def at(cls, paths: Sequence[Path], settings: tuple[str, ...] = ()) -> "ServedRepositories":
        """`paths` lie in different repositories, or in none yet."""
        names = name_places([place_of(path) for path in paths])
        return cls({n: ServedRepository(n, path, settings) for n, path in zip(names, paths, strict=True)})

    def __iter__(self) -> Iterator[ServedRepository]:
        return iter(self.by_name.values())

    @property
    def identities(self) -> tuple[str, ...]:
        """By which another command finds the server that shows the same."""
        return tuple(sorted(str(one.identity) for one in self))

    @property
    def fleets(self) -> list[ServedFleet]:
        """Of those that were found."""
        return [fleet for one in self if (fleet := one.fleet) is not None]

    def end_streams(self) -> None:
        for fleet in self.fleets:
            fleet.broadcast.close()

    def close(self) -> None:
        for fleet in self.fleets:
            fleet.close()


def place_of(path: Path) -> Path:
    """The main working tree of the repository there, whichever worktree was named; the path itself where none is."""
    try:
        repo = discover(path)
    except (PaddockError, OSError):
        return path
    return repo.main or repo.common_dir
