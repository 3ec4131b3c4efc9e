"""Chromium without what belongs to its own window: nobody sees that, and it takes longer to draw than our pages."""

import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bench.browser import find_chromium

# What drops down from the address bar is a page by itself, made once for every context.
UNSEEN = "WebUIOmniboxPopup,WebUIOmniboxAimPopup"
# Chromium heeds the last such list alone, so these are added to the one that Playwright gives.
SCRIPT = """\
#!/bin/sh
for word do
    shift
    case "$word" in --disable-features=*) word="$word,{unseen}" ;; esac
    set -- "$@" "$word"
done
exec {program} "$@"
"""


@contextmanager
def lean_chromium() -> Iterator[None]:
    """Who starts Chromium by its name meanwhile, also in another process, starts it without what is not seen."""
    program = find_chromium()
    assert program is not None
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        script = Path(folder, "chromium")
        script.write_text(SCRIPT.format(unseen=UNSEEN, program=shlex.quote(program)))
        script.chmod(0o755)
        patch.setenv("PATH", folder, prepend=os.pathsep)
        yield
