"""What insight computes with, where it is installed."""

from paddock.core.errors import PaddockError

HINT = "install it with `pip install 'paddock[insight]'`"


def has_numpy() -> bool:
    from importlib.util import find_spec

    return find_spec("numpy") is not None


def require_numpy(purpose: str) -> None:
    """Raises PaddockError where numpy is missing; `purpose` is what cannot be done without it."""
    if not has_numpy():
        raise PaddockError(f"{purpose} needs numpy, which is not installed", HINT)
