"""What goes wrong, on standard error."""

import sys

from paddock.core.ids import harmless


def complain(message: str, hint: str | None) -> None:
    """Messages quote what people typed and programs printed; none of it may control the terminal."""
    sys.stderr.write(f"error: {harmless(message)}\n")
    if hint:
        sys.stderr.write(f"\nhint: {harmless(hint)}\n")
    sys.stderr.flush()
