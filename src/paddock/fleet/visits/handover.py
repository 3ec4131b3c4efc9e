"""A person's environment, on its way into a tmux pane: a server that has run for weeks has that of weeks ago, and what
is named in arguments every user of the machine can read."""

import contextlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import msgspec

from paddock.core.errors import PaddockError

_FOLDER = "seats"
_OF_THE_PANE = ("TMUX", "TMUX_PANE", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLUMNS", "LINES")


def write_handover(state_dir: Path, environment: Mapping[str, str]) -> Path:
    """For its owner alone."""
    folder = state_dir / _FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = folder / secrets.token_hex(8)
    content = msgspec.json.encode({name: _plain(value) for name, value in environment.items()})
    with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    return place


def take_over(place: Path) -> None:
    """Makes the environment ours, as far as it is not the pane's. Once. Raises PaddockError."""
    try:
        taken = msgspec.json.decode(place.read_bytes(), type=dict[str, str])
        place.unlink()
    except (OSError, msgspec.DecodeError) as error:
        raise PaddockError("what was to be taken over is gone", "run `paddock connect` again") from error
    own = {name: os.environ[name] for name in _OF_THE_PANE if name in os.environ}
    os.environ.clear()
    os.environ.update({**{n: v for n, v in taken.items() if n not in _OF_THE_PANE}, **own})


def drop_handover(place: Path) -> None:
    """What nobody came to take."""
    with contextlib.suppress(OSError):
        place.unlink()
        place.parent.rmdir()


def _plain(value: str) -> str:
    return value.encode("utf-8", "replace").decode()
