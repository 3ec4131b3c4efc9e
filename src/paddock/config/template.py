"""The `paddock.toml` that `paddock init` writes."""

import json


def render_config(main: str, ci: str, engines: list[str]) -> str:
    """A short commented file; what is left at its default is shown as a comment."""
    default = engines[0] if engines else ""
    found = ", ".join(engines) if engines else "none found on PATH; `paddock engines` lists what is available"
    engine_line = f'engine = "{default}"' if default else '# engine = "claude"'
    ci_line = f"ci = {_quoted(ci)}" if ci else '# ci = "make test"      # nothing lands until this passes'
    return f"""\
# Paddock: how a fleet of agents works on this repository.
# `paddock config show` lists every key. The environment overrides this file: PADDOCK_TIMEOUTS_TURN=20m paddock run

main = {_quoted(main)}          # agents start from this branch and land on it
{engine_line}       # for tasks that do not name one (here: {found})

[limits]
max_agents = 4         # running at the same time
attempts = 3           # attempts before a task fails
attempt_usd = 20.0     # what one attempt may cost before it is stopped; 0: no limit

[timeouts]
start = "2m"           # until the engine's first output
silence = "10m"        # without any output, while no tool runs
tool = "30m"           # the same, while one runs
turn = "1h"            # for a whole turn
grace = "10s"          # between asking a process to stop and killing it

[worktrees]
pool = 2               # warm worktrees kept ready
# keep = ["node_modules", ".venv"]   # ignored folders a reused worktree keeps
# setup = "make setup"               # run once in every new worktree

[land]
{ci_line}
slots = 2              # CI runs at the same time
policy = "merge"       # or "squash", "rebase"
approval = "human"     # or "review": what reviewers pass is queued at once; "none": everything is

# Agents are files in .paddock/agents: `paddock init --agents` writes five, `paddock agents new NAME` one.

# [engines.mine]
# command = ["mytool", "--prompt", "{{prompt}}"]
"""


def _quoted(text: str) -> str:
    """As a TOML string, which reads JSON's escapes except those beyond the basic plane."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
