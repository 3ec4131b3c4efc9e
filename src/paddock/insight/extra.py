"""What insight computes with, where it is installed."""

import os
import sys

from paddock.core.errors import PaddockError
from paddock.core.ids import printable

_THREADS = "OPENBLAS_NUM_THREADS"
HINT = "install it with `pip install 'paddock[insight]'`"
REPAIR = "install it again with `pip install --force-reinstall numpy`"


def has_numpy() -> bool:
    from importlib.util import find_spec

    return find_spec("numpy") is not None


def require_numpy(purpose: str) -> None:
    """Raises PaddockError where numpy is missing or broken; `purpose` is what cannot be done without it."""
    if not has_numpy():
        raise PaddockError(f"{purpose} needs numpy, which is not installed", HINT)
    try:
        _load_with_one_thread()
    except ImportError as error:
        # As it says on many lines where it was built for another Python or C library.
        why = printable(next(iter(str(error).strip().splitlines()), "") or type(error).__name__, 200)
        raise PaddockError(f"{purpose} needs numpy, which is installed and cannot be loaded: {why}", REPAIR) from None


def require_pyarrow(purpose: str) -> None:
    """Raises PaddockError where pyarrow is missing."""
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        raise PaddockError(
            f"{purpose} needs pyarrow, which is not installed", "install it with `pip install 'paddock[parquet]'`"
        )


def _load_with_one_thread() -> None:
    """Its matrices are small here: threads that wait for each other beside a busy fleet cost ten times what they save.
    The variable is gone before any agent could inherit it."""
    if "numpy" in sys.modules or _THREADS in os.environ:
        return
    os.environ[_THREADS] = "1"
    try:
        import numpy  # noqa: F401
    finally:
        del os.environ[_THREADS]
