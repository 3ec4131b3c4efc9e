"""Words that a person writes in their editor."""

import click


def write_words(about: str) -> str:
    """Opens the editor with `about` below an empty line; empty if nothing was written. Lines that begin with `#` do not
    count, so `about` should be such lines."""
    told = click.edit(f"\n{about}# Lines that begin with # are left out.\n") or ""
    return "\n".join(line for line in told.split("\n") if not line.startswith("#")).strip()
