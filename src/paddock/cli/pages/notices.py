"""What needs a person, shown at the end of a command that is about something else."""

import time

from paddock.cli.terminal.text import cut, paint
from paddock.core.merge.model import Halted
from paddock.fleet.outlook import know_checkouts
from paddock.fleet.workspace import Workspace
from paddock.views.halts import cure_of
from paddock.views.notices import DETAILS, checkout_notices


def checkout_lines(workspace: Workspace) -> list[str]:
    """Empty if there is nothing to say."""
    lines = []
    for notice in checkout_notices(know_checkouts(workspace), workspace.config.landing_branch):
        lines += ["", notice.text, paint(f"run: {notice.run}", dim=True)]
    return lines


def halt_lines(halted: Halted) -> list[str]:
    return [
        paint(f"merge queue halted: {cut(halted.reason, 200)}", "red"),
        *(f"  {line}" for line in cure_of(halted, time.time())),
        f"  `{DETAILS}` has the details",
    ]
