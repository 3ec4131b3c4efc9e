"""What a CLI has in the user's home: its configuration, its login, its conversations.

In a fence a CLI finds a home with these and nothing else. Its configuration is read-only: what an agent writes there
would run the next time the user starts the CLI. A login is writable, because a CLI that cannot renew it loses it.
Each conversation is kept apart from all others.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class HomePlace:
    """A folder of a CLI's below HOME, or where the variable `moved_by` says, there in the folder `below`.

    `reads`, `logins` and `keeps` are names in it; "" is the folder itself. Names of `keeps` are folders.
    """

    folder: str
    reads: tuple[str, ...] = ()
    logins: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    moved_by: str = ""
    below: str = ""

    def path(self, env: Mapping[str, str]) -> Path:
        moved = env.get(self.moved_by, "") if self.moved_by else ""
        return Path(moved) / self.below if moved else Path(env.get("HOME") or "/") / self.folder


@dataclass(frozen=True, slots=True)
class Belongings:
    """Full paths, whether they exist or not. `kept` are folders."""

    reads: tuple[Path, ...] = ()
    logins: tuple[Path, ...] = ()
    kept: tuple[Path, ...] = ()


_FILES = (
    *("GOOGLE_APPLICATION_CREDENTIALS", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"),
    *("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_MODELS_PATH"),
)


def find_belongings(places: Iterable[HomePlace], env: Mapping[str, str], args: Iterable[str] = ()) -> Belongings:
    """`args` are the user's own words for the CLI: what they name by its full path is readable."""
    found = [(place, place.path(env)) for place in places]
    named = [Path(word) for word in (*args, *(env.get(name, "") for name in _FILES)) if word.startswith("/")]
    return Belongings(
        (*(path / name for place, path in found for name in place.reads), *named),
        tuple(path / name for place, path in found for name in place.logins),
        tuple(path / name for place, path in found for name in place.keeps),
    )
