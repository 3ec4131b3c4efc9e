"""`paddock top` as a command: where it runs, where it does not, and what it leaves alone."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paddock.cli.main import run
from tests.tui.conftest import Fleet
from tests.warm import PATIENCE_SECONDS

PROGRAM = "import sys; from paddock.cli.main import main; main()"


def test_without_a_terminal_it_names_what_works_without(
    fleet: Fleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fleet.top)
    assert run(["top"]) == 1
    said = capsys.readouterr().err
    assert "needs a terminal" in said
    assert "`paddock status`" in said
    assert "`paddock watch`" in said


def test_without_the_extra_it_says_how_to_install_it(
    fleet: Fleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fleet.top)
    for name in [name for name in sys.modules if name.startswith("paddock.tui")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "textual"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "textual", None)
    assert run(["top"]) == 1
    assert "pip install 'paddock[tui]'" in capsys.readouterr().err


def test_no_other_command_imports_textual() -> None:
    program = (
        "import sys, paddock.cli.main, paddock.cli.registry, paddock.cli.pages.overview, paddock.cli.commands.top\n"
        "assert not [name for name in sys.modules if name.startswith(('textual', 'rich'))]"
    )
    subprocess.run((sys.executable, "-c", program), check=True, timeout=PATIENCE_SECONDS)


def test_in_a_terminal_without_colour_it_draws_none_and_leaves_it_as_it_was(fleet: Fleet) -> None:
    said, code = _in_terminal(fleet.top, {"NO_COLOR": "1", "TERM": "xterm-256color"})
    assert code == 0
    assert "approval" in said
    assert "\x1b[?1049l" in said, "the screen is given back"
    codes = [part for found in re.findall(r"\x1b\[([0-9;]*)m", said) for part in found.split(";")]
    coloured = {f"{tens}{ones}" for tens in ("3", "4", "9") for ones in range(8)} | {"38", "48"}
    assert not coloured.intersection(codes)


def _in_terminal(top: Path, environment: dict[str, str]) -> tuple[str, int]:
    """Opens it, waits for rows, leaves it by `q`: all that it wrote, and how it ended."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        (sys.executable, "-c", PROGRAM, "top"),
        cwd=top,
        env={**os.environ, **environment},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    said, until, has_left = b"", time.monotonic() + PATIENCE_SECONDS, False
    while time.monotonic() < until:
        if select.select([master], [], [], 0.1)[0]:
            try:
                said += os.read(master, 65536)
            except OSError:
                break
        if b"approval" in said and not has_left:
            os.write(master, b"q")
            has_left = True
        elif process.poll() is not None:
            break
    os.close(master)
    return said.decode("utf-8", "replace"), process.wait(PATIENCE_SECONDS)
