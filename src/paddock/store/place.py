"""Where a log is: in a file of this machine, or in a schema of a database that several machines share."""

from pathlib import Path


class LogPlace:
    """What this machine keeps of the log is named after `file`: its witness, its snapshot, the writers' lock. Without
    a `url` the log itself is in that file.

    As text it says where the log is and holds no secret. Not a dataclass: every command would wait for that module.
    """

    __slots__ = ("file", "schema", "url")

    def __init__(self, file: Path, url: str = "", schema: str = "") -> None:
        self.file = file
        self.url = url
        self.schema = schema

    @property
    def is_shared(self) -> bool:
        return bool(self.url)

    @property
    def state_dir(self) -> Path:
        """Where the fleet of this machine keeps its own files."""
        return self.file.parent

    def __str__(self) -> str:
        if not self.url:
            return str(self.file)
        from paddock.config.addresses import shown_url

        return f"{shown_url(self.url)} (schema {self.schema})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LogPlace) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Path, str, str]:
        return self.file, self.url, self.schema
