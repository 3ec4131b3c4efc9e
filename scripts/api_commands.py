"""Which request of the API does what a command does, and which commands have none, and why."""

from collections.abc import Iterator

REQUESTS = {
    "add": "`POST /tasks`; with --file `POST /tasks/file`",
    "fork": "`POST /tasks/{id}/fork`",
    "plan": "`POST /plans`, `GET /tasks/{id}/plan`; with --accept `POST /tasks/{id}/plan/accept`, with --drop "
    "`POST /tasks/{id}/plan/drop`",
    "status": "`GET /status`; `GET /board` has more",
    "watch": "`GET /events`",
    "show": "`GET /tasks/{id}`; with --prompt `GET /tasks/{id}/prompt`; a CI run `GET /runs/{run}`",
    "up": "`POST /fleet/up`",
    "down": "`POST /fleet/down`; the page that was asked stays, unless it is that of `run --web`",
    "stop": "`POST /tasks/stop`",
    "message": "`POST /tasks/message`",
    "messages": "`GET /messages`",
    "tail": "`GET /tasks/{id}/transcript`; with --raw `GET /tasks/{id}/raw`; a CI run `GET /runs/{run}/log`",
    "diff": "`GET /tasks/{id}/diff`",
    "land": "`POST /tasks/approve`; with --branch `POST /queue/branches`",
    "approve": "`POST /tasks/approve`",
    "reject": "`POST /tasks/reject`",
    "review": "`GET /review`; then `POST /tasks/approve` and `POST /tasks/reject`",
    "comment": "`POST /tasks/{id}/comments`, all at once: whoever writes them keeps them until then",
    "findings list": "`GET /findings`; with --format sarif `GET /findings/sarif`",
    "findings waive": "`POST /findings/waive`",
    "findings confirm": "`POST /findings/confirm`",
    "findings file": "`POST /findings/file`",
    "audit": "`POST /audit`",
    "revert": "`POST /queue/changes/{id}/revert`",
    "resolve": "`POST /queue/changes/{id}/resolve`",
    "queue": "`GET /queue`; `GET /queue/picture` has more",
    "queue cancel": "`POST /queue/changes/{id}/cancel`",
    "queue drain": "`POST /queue/drain`",
    "queue freeze": "`POST /queue/freeze`",
    "queue move": "`POST /queue/changes/{id}/move`",
    "queue pause": "`POST /queue/pause`",
    "queue restore": "`POST /queue/restore`",
    "queue resume": "`POST /queue/resume`",
    "queue unfreeze": "`POST /queue/unfreeze`",
    "queue why": "`GET /queue/why/{change}`",
    "sync": "`POST /sync`",
    "convoy list": "`GET /convoys`",
    "convoy show": "`GET /convoys/{name}`",
    "workflow list": "`GET /workflows`",
    "workflow show": "`GET /workflows/{name}`",
    "workflow check": "`GET /workflows`: the `problem` of each",
    "workflow run": "`POST /workflows/{name}/run`; with --dry-run `GET /workflows/{name}` has the steps",
    "results": "`GET /tasks/{id}/result`; of a convoy `GET /convoys/{name}/results`",
    "edit": "`POST /tasks/{id}/edit`",
    "retry": "`POST /tasks/retry`; a branch `POST /queue/changes/{id}/retry`",
    "cancel": "`POST /tasks/cancel`",
    "log": "`GET /log`; with --follow `GET /events`",
    "log push": "`POST /log/push`",
    "log verify": "`GET /log/verify`",
    "agents": "`GET /agents`",
    "agents check": "`GET /doctor`: its findings about `agents` are the problems",
    "agents list": "`GET /agents`",
    "agents show": "`GET /agents/{name}`",
    "route": "`GET /route`",
    "engines": "`GET /engines`",
    "engines check": "`POST /engines/check`",
    "gc": "`POST /gc`",
    "failures": "`GET /failures`",
    "costs": "`GET /costs`; with --label `GET /costs/imported`",
    "alerts ack": "`POST /alerts/ack`",
    "alerts list": "`GET /alerts`",
    "alerts rules": "`GET /alerts/rules`",
    "report": "`GET /report`; -o and the other forms are for who asks",
    "budget set": "`POST /budget`; with neither amount it is --none",
    "budget show": "`GET /budgets`",
    "limits": "`GET /limits`; with --reset `POST /limits/reset`",
    "fanout": "`GET /fanout`",
    "lease acquire": "`POST /leases/acquire`",
    "lease list": "`GET /leases`",
    "lease release": "`POST /leases/release`",
    "lease renew": "`POST /leases/renew`",
    "janitor": "`POST /janitor`",
    "doctor": "`GET /doctor`",
    "notify status": "`GET /doctor`: its finding about `notify`; with --json the command tells more",
    "config check": "`GET /settings`: its `warnings`",
    "config show": "`GET /settings`",
}
ELSEWHERE = {
    "alerts test": "it reads all that is kept of the last days; what the rules found is in `GET /alerts`",
    "agents new": "it writes a file into your working tree, for you to edit there",
    "init": "it writes the settings and the log that a server needs to start",
    "run": "it is the fleet in a terminal; `POST /fleet/up` starts it in the background",
    "web": "it is the server itself",
    "top": "it is a screen in a terminal; the page is the same for a browser",
    "connect": "it needs a terminal; `POST /tasks/message` tells an agent something",
    "handback": "it ends the terminal that `paddock connect` opened; after that `POST /tasks/message` does the same",
    "path": "worktrees are on the server's machine",
    "open": "it starts an editor in a terminal",
    "exec": "it runs a command of yours, with your streams",
    "ask": "it is for agents, inside their attempt; people answer with `POST /tasks/message`",
    "noop": "it is for agents, inside their attempt",
    "mcp": "it is a server itself",
    "mcp call": "it is one call of `paddock mcp`, asked for at a desk",
    "with-lease": "it runs a command of yours: `POST /leases/acquire` before it, `POST /leases/release` after it",
    "log accept-loss": "records are lost, and nothing reads the log, no server either, until a person decides this",
    "log fetch": "it restores the log that the server reads",
    "log rebuild": "it drops what the server has open",
    "notify test": "it tries addresses that are written in your settings, where you edit them",
    "resurrect": "only a person at a terminal knows that a machine is gone for good",
    "traces crosscheck": "it runs CI in sandboxes, up to 64 times, while you wait",
    "wait": "it is for scripts: `GET /events` tells of every change",
    "completion": "it is for a shell",
}
NOT_TAKEN = """\
Options without a counterpart: --json, --yes, -C and --set (every answer is JSON, whoever asks is not asked back, and a
server has one repository and its settings); --all of `status` and `queue` (answers are complete); --unsafe of `tail`
and `diff` (control characters never go out); --stat and --name-only of `diff` (`files` has that); --install and --web
of `up` (the one is about the machine's start, the other is there already); --ci of `doctor` (it takes as long as CI
does)."""


def lines() -> Iterator[str]:
    yield from ("## By command", "", "Every command that reads or changes the fleet has its request here:", "")
    yield from ("| `paddock …` | request |", "|---|---|")
    yield from (f"| `{name}` | {words} |" for name, words in REQUESTS.items())
    yield from ("", "These have none:", "", "| `paddock …` | why |", "|---|---|")
    yield from (f"| `{name}` | {why} |" for name, why in ELSEWHERE.items())
    yield from ("", *NOT_TAKEN.splitlines())
