"""Which group a repository is in, and what its repositories meet in."""

from dataclasses import dataclass
from pathlib import Path

from paddock.config.group import GroupFile, group_file_of, read_group_file
from paddock.config.schema import Config
from paddock.config.user_folder import user_folder
from paddock.fleet.group.protocol import GroupBook
from paddock.fleet.group.sqlite import SqliteGroup


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """`file` is where the group's limits are written."""

    name: str
    file: Path

    def read(self) -> GroupFile:
        """Raises Misuse."""
        return read_group_file(self.file)

    def book(self, settings: GroupFile) -> GroupBook:
        """Raises GroupUnreachable where the database's driver is not installed."""
        if settings.url:
            from paddock.fleet.group.postgres import PostgresGroup

            return PostgresGroup(settings.url, self.name)
        return SqliteGroup(user_folder("XDG_STATE_HOME", ".local/state") / "groups" / f"{self.name}.db")


def group_of(config: Config) -> GroupPlace | None:
    """None for a repository that shares nothing."""
    name = config.group.name
    return GroupPlace(name, group_file_of(name)) if name else None
