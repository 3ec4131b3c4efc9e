"""`make demo WEB=1`, as a terminal runs it."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.warm import PATIENCE_SECONDS

DEMO = Path(__file__).parents[2] / "scripts" / "demo.py"


def test_the_demo_prints_an_address_that_opens_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    command = (sys.executable, str(DEMO), "--web")
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True) as demo:
        try:
            assert demo.stdout is not None
            printed = next(filter(None, (re.search(r"http://\S+token=\S+", line) for line in demo.stdout)))
            with browser().open(printed[0], timeout=PATIENCE_SECONDS) as page:
                assert b"/static/app.js" in page.read()
            assert any("started with scripted" in line for line in demo.stdout)
            os.killpg(demo.pid, signal.SIGINT)
            demo.stdout.read()
            assert demo.wait(PATIENCE_SECONDS) == 0
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(demo.pid, signal.SIGKILL)
    assert list(tmp_path.glob("paddock-demo-*")) == []


def browser() -> urllib.request.OpenerDirector:
    """Keeps the cookie that the printed address gives it."""
    return urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
