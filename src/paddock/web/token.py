"""The token that opens the page: made once for each repository and kept, so that open pages survive a restart."""

from pathlib import Path

from paddock.fleet.kept_secret import kept_secret

FILE = "web.token"


def token_of(state_dir: Path, *, new: bool = False) -> str:
    """The token that is kept; another one if there is none, if others could have read it, or if `new`."""
    return kept_secret(state_dir / FILE, new=new)
