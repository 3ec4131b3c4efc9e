"""What `paddock.toml` may say. One struct per section; the field's default is the documented default.

The reference page docs/reference/config.md is generated from this file.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Seconds = Annotated[float, Meta(title="duration")]
Dollars = Annotated[float, Meta(ge=0, le=1e6)]
Count = Annotated[int, Meta(ge=0)]
FenceLevel = Literal["auto", "none", "files", "files+network"]


class Section(msgspec.Struct, frozen=True, kw_only=True):
    pass


class Limits(Section, frozen=True):
    """How much the fleet may do at once."""

    max_agents: Annotated[int, Meta(ge=1, le=10000, description="agents running at the same time")] = 4
    attempts: Annotated[int, Meta(ge=1, le=100, description="attempts before a task fails")] = 3
    fresh: Annotated[
        bool,
        Meta(description="start every retry from main, instead of continuing after a crash or a timeout"),
    ] = False
    backoff: Annotated[Seconds, Meta(description="first pause after a provider refuses a call; doubles each time")] = (
        15.0
    )
    merge_queue: Annotated[
        int, Meta(ge=1, description="how many changes may wait to land before no more agents start")
    ] = 200
    agent_memory_mb: Annotated[int, Meta(ge=1, description="memory one agent is expected to need")] = 300
    adapt_to_load: Annotated[bool, Meta(description="start fewer agents while the machine is overloaded")] = True
    inline: Annotated[bool, Meta(description="let one agent do several small tasks in turn where that is worth it")] = (
        True
    )
    hour_usd: Annotated[
        float, Meta(ge=0, le=1e6, description="what an hour less of waiting is worth in dollars; 0: ignore cost")
    ] = 30.0
    hour_tokens: Annotated[
        float, Meta(ge=0, le=1e12, description="the same in tokens, if they are scarcer than money; 0: ignore tokens")
    ] = 0.0
    output_mb: Annotated[int, Meta(ge=1, description="how much output of one turn is kept: its head and its tail")] = 64
    pace: Annotated[
        Literal["auto", "always", "never"],
        Meta(description="space out starts: once a limit of the account is known or was hit, always, or never"),
    ] = "auto"
    window_percent: Annotated[
        int,
        Meta(
            ge=1,
            le=100,
            description="how much of an account's quota window may be used before nothing more starts on it",
        ),
    ] = 95
    attempt_usd: Annotated[
        float, Meta(ge=0, le=1e6, description="what one attempt may cost in dollars before it is stopped; 0: no limit")
    ] = 20.0
    repeats: Annotated[
        int, Meta(ge=0, description="the same call with the same result this many times in a row is a loop; 0: never")
    ] = 20
    max_calls: Annotated[int, Meta(ge=0, description="tool calls in one turn; 0: no limit")] = 1000
    max_turns: Annotated[
        int, Meta(ge=0, description="model answers in one turn (which CLIs call turns); 0: no limit")
    ] = 500


class Janitor(Section, frozen=True):
    """What is swept automatically."""

    every: Annotated[Seconds, Meta(description="time between two rounds")] = 300.0
    transcripts_age: Annotated[Seconds, Meta(description="how long agents' output is kept")] = 30 * 86400.0
    transcripts_mb: Annotated[int, Meta(ge=1, description="how much of it is kept; the oldest goes first")] = 4096
    conversations_mb: Annotated[
        int, Meta(ge=1, description="how much of the conversations of unfinished tasks is kept; the largest goes first")
    ] = 2048


class LeaseSettings(Section, frozen=True):
    """Named things agents may lease; the prompt mentions leases only if there are any."""

    resources: Annotated[tuple[str, ...], Meta(description='e.g. "port:5432" or "service:postgres"')] = ()
    ttl: Annotated[Seconds, Meta(description="how long a lease lasts unless it is renewed")] = 600.0


class Timeouts(Section, frozen=True):
    """When a turn is ended. Durations such as "90s" or "10m"."""

    start: Annotated[Seconds, Meta(description="time until the engine's first output")] = 120.0
    silence: Annotated[Seconds, Meta(description="time without output from the engine, while no tool runs")] = 600.0
    tool: Annotated[Seconds, Meta(description="time without output from the engine, while a tool runs")] = 1800.0
    turn: Annotated[Seconds, Meta(description="time for a whole turn")] = 3600.0
    grace: Annotated[Seconds, Meta(description="time between asking a process to stop and killing it")] = 10.0
    linger: Annotated[Seconds, Meta(description="time from the engine's final event until its process is ended")] = 30.0


class Worktrees(Section, frozen=True):
    """Where agents work."""

    root: Annotated[str, Meta(description="folder for worktrees; empty: `../NAME.paddock` beside the repository")] = ""
    pool: Annotated[int, Meta(ge=0, le=1000, description="warm worktrees kept ready")] = 2
    most: Annotated[
        int,
        Meta(
            ge=0,
            le=10000,
            description="how many worktrees to have before a new task takes one that a conversation may return to; "
            "0: twice `limits.max_agents`",
        ),
    ] = 0
    keep: Annotated[
        tuple[str, ...], Meta(description="ignored folders a reused worktree keeps, e.g. node_modules")
    ] = ()
    setup: Annotated[str, Meta(description="command run once in every new worktree")] = ""
    setup_timeout: Annotated[Seconds, Meta(description="time for the setup command")] = 600.0
    setup_env: Annotated[
        tuple[str, ...],
        Meta(description="names of variables the setup command gets besides those agents get; `PREFIX_*` is allowed"),
    ] = ()
    ports: Annotated[int, Meta(ge=0, le=100, description="ports each attempt gets for itself")] = 10
    first_port: Annotated[
        int,
        Meta(ge=0, le=65535, description="the first port; 0: one derived from the repository, from 20000 on"),
    ] = 0
    disk_floor_mb: Annotated[int, Meta(ge=0, description="free space below which no worktree is created")] = 1024
    largest_file_mb: Annotated[
        int,
        Meta(ge=1, le=1024, description="no larger file is delivered, committed or not; its worktree is kept instead"),
    ] = 100
    isolate_home: Annotated[bool, Meta(description="give each attempt its own HOME")] = False


class FenceSettings(Section, frozen=True):
    """What agents are shut out of."""

    level: Annotated[
        FenceLevel, Meta(description="how strong the fence is; auto: `files` where the machine can, otherwise none")
    ] = "auto"
    read: Annotated[
        tuple[str, ...], Meta(description="more that agents and CI may read, e.g. `~/.m2`; absolute or from `~`")
    ] = ()
    write: Annotated[
        tuple[str, ...], Meta(description="more that they may write, e.g. `~/.cache/pip`; all of them share it")
    ] = ()


class StoreSettings(Section, frozen=True):
    """Where the log is kept."""

    url: Annotated[
        str,
        Meta(
            description="empty: in a file of the repository; `postgresql://USER@HOST/DATABASE`: in a database that "
            "several machines share; `${NAME}` is a variable of the environment"
        ),
    ] = ""
    schema: Annotated[
        str,
        Meta(
            pattern="^[a-z_][a-z0-9_]{0,62}$",
            description="the schema of the database that holds this log: another one for each repository",
        ),
    ] = "paddock"


class SessionsSettings(Section, frozen=True):
    """Which machines agents run on."""

    runner: Annotated[
        Literal["local", "ray"],
        Meta(description="`local`: the machine of the daemon; `ray`: the nodes of a Ray cluster"),
    ] = "local"
    address: Annotated[
        str, Meta(description="the Ray cluster: `auto` for the one of this machine, `HOST:PORT` or `ray://HOST:PORT`")
    ] = "auto"
    agent_slots: Annotated[
        int,
        Meta(
            ge=0, le=10000, description="agents at the same time on one node; 0: as many as it offers Ray as a resource"
        ),
    ] = 0
    remote: Annotated[
        str, Meta(description="the git remote over which commits reach the nodes and come back; empty: `land.remote`")
    ] = ""
    root: Annotated[
        str, Meta(description="folder on the nodes for mirrors, worktrees and what turns write; from `~`, or absolute")
    ] = "~/.paddock/nodes"
    lost_after: Annotated[
        Seconds, Meta(description="how long a node may be out of reach before its attempts are lost")
    ] = 60.0
    labels: Annotated[
        tuple[str, ...],
        Meta(description='with `runner = "local"`: what this machine has for tasks that need it, such as `gpu`'),
    ] = ()


class GroupSettings(Section, frozen=True):
    """The repositories that draw on the same accounts as this one."""

    name: Annotated[
        str,
        Meta(
            pattern="^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$",
            description="repositories with the same name share limits and pauses; "
            "the limits are in `~/.config/paddock/groups/NAME.toml`",
        ),
    ] = ""


class Check(Section, frozen=True):
    name: str
    run: str
    timeout: Annotated[Seconds | None, Meta(description="time for this check alone")] = None
    paths: Annotated[
        tuple[str, ...],
        Meta(description="globs of everything it depends on: it runs when one of them changes; none: it always runs"),
    ] = ()
    retry: Annotated[
        int, Meta(ge=0, le=10, description="how often it is retried within a run before it counts as failed")
    ] = 0
    quarantine: Annotated[bool, Meta(description="known to be flaky: run and shown, but never decides a run")] = False


class LandGate(Section, frozen=True):
    """A change that matches all that is set here waits for a person, whatever `land.approval` says."""

    name: Annotated[str, Meta(description="what people are told it is; default: what it matches")] = ""
    paths: Annotated[tuple[str, ...], Meta(description="globs: it touches one of these")] = ()
    kinds: Annotated[tuple[str, ...], Meta(description="its task is of one of these kinds")] = ()
    agents: Annotated[tuple[str, ...], Meta(description="one of these agents made it")] = ()
    files: Annotated[Count | None, Meta(description="it changes more files than this")] = None
    lines: Annotated[Count | None, Meta(description="it adds and removes more lines than this")] = None


class LandSettings(Section, frozen=True):
    """How work reaches main."""

    branch: Annotated[str, Meta(description="branch to land on; empty: the value of `main`")] = ""
    policy: Annotated[Literal["merge", "squash", "rebase"], Meta(description="the shape of main's history")] = "merge"
    ci: Annotated[str, Meta(description="command that must pass before anything lands")] = ""
    slots: Annotated[int, Meta(ge=1, le=1000, description="CI runs at the same time")] = 2
    runner: Annotated[
        Literal["local", "ray"],
        Meta(description="where CI runs: on the machine of the daemon, or on the nodes of `sessions`"),
    ] = "local"
    needs: Annotated[
        tuple[str, ...], Meta(description="labels of the nodes that CI may run on, such as `os=linux`")
    ] = ()
    exclusive: Annotated[
        bool,
        Meta(description="one CI run at a time, whatever `slots` says, for CI that needs a fixed port or the like"),
    ] = False
    timeout: Annotated[Seconds, Meta(description="time for one CI run")] = 1800.0
    setup: Annotated[str, Meta(description="command run once in every CI sandbox")] = ""
    approval: Annotated[
        Literal["human", "review", "none"],
        Meta(description="who must approve a change before it is queued: a person, the reviewers, or nobody"),
    ] = "human"
    gate: Annotated[tuple[LandGate, ...], Meta(description="changes that a person must approve nevertheless")] = ()
    outside_paths: Annotated[
        Literal["ask", "allow", "reject"],
        Meta(description="a change outside its task's paths: a person decides, it may land, or it is sent back"),
    ] = "ask"
    remote: Annotated[str, Meta(description="remote to push main to; empty: none")] = ""
    protected: Annotated[
        tuple[str, ...], Meta(description="globs of paths that only a person may let a change touch")
    ] = ()
    checkout: Annotated[
        Literal["update", "never"],
        Meta(description="what happens to a checkout of main when something lands"),
    ] = "update"
    keep_branches: Annotated[bool, Meta(description="keep a task's branch after it landed")] = True
    keep: Annotated[tuple[str, ...], Meta(description="ignored folders a CI sandbox keeps between runs")] = ()
    notify: Annotated[
        tuple[str, ...], Meta(description="argv to run when a change lands or is returned, or the queue halts")
    ] = ()
    env: Annotated[dict[str, str], Meta(description="environment of the CI command")] = {}
    fence: Annotated[FenceLevel, Meta(description="how strong CI's fence is, as `fence.level`")] = "auto"
    checks: Annotated[tuple[Check, ...], Meta(description="several named checks instead of one `ci` command")] = ()

    @property
    def runs_at_once(self) -> int:
        return 1 if self.exclusive else self.slots


class ReviewCheck(Section, frozen=True):
    """A fast check of every delivered change, before its reviewers see it."""

    name: str
    run: Annotated[str, Meta(description="command that fails, or writes findings, where something is wrong")]
    timeout: Annotated[Seconds, Meta(description="time for this check")] = 300.0
    paths: Annotated[tuple[str, ...], Meta(description="globs: it runs only for changes of these")] = ()
    sarif: Annotated[
        str, Meta(description="file with findings that the command writes, in SARIF; `-`: its standard output")
    ] = ""


class ReviewSettings(Section, frozen=True):
    """Who looks at a change before a person does."""

    reviewers: Annotated[
        tuple[str, ...],
        Meta(description="agents that review every change; none: all of role reviewer, if `land.approval` asks for it"),
    ] = ()
    rounds: Annotated[int, Meta(ge=1, le=20, description="how often a change is reviewed before a person is asked")] = 3
    votes: Annotated[
        Literal["any", "majority", "all"],
        Meta(description="how many of its reviewers must object before a change is sent back"),
    ] = "any"
    blocking: Annotated[
        Literal["error", "warning", "note"], Meta(description="the least severity with which a finding blocks")
    ] = "error"
    other_model: Annotated[
        bool, Meta(description="choose reviewers of another engine or model than the worker's, where there are any")
    ] = True
    checks: Annotated[tuple[ReviewCheck, ...], Meta(description="checks that come before the reviewers")] = ()


class McpSettings(Section, frozen=True):
    """What agents reach over the Model Context Protocol."""

    agents: Annotated[bool, Meta(description="give `paddock mcp` to agents whose CLI takes such a configuration")] = (
        False
    )


class AgentTimeouts(Section, frozen=True):
    """When a turn of this agent is ended, where that differs from [timeouts]."""

    start: Annotated[Seconds | None, Meta(description="time until the engine's first output")] = None
    silence: Annotated[Seconds | None, Meta(description="time without output, while no tool runs")] = None
    tool: Annotated[Seconds | None, Meta(description="time without output, while a tool runs")] = None
    turn: Annotated[Seconds | None, Meta(description="time for a whole turn")] = None


class Agent(Section, frozen=True):
    """A specialised worker, reviewer or planner."""

    description: Annotated[str, Meta(description="in one line, what it is for; helps to choose it")] = ""
    role: Annotated[
        Literal["worker", "reviewer", "planner"], Meta(description="changes files, looks at changes, or plans tasks")
    ] = "worker"
    engine: Annotated[str, Meta(description="engine that runs it")] = ""
    model: Annotated[str, Meta(description="model requested from the engine")] = ""
    brief: Annotated[str, Meta(description="what it is for; precedes the brief of every task")] = ""
    owns: Annotated[tuple[str, ...], Meta(description="globs of the paths it may change")] = ()
    kinds: Annotated[
        tuple[str, ...], Meta(description="kinds of task it takes when no agent is named (`paddock add --kind`)")
    ] = ()
    labels: Annotated[
        tuple[str, ...],
        Meta(description="labels of tasks that it takes when no agent is named (`paddock add --label`)"),
    ] = ()
    needs: Annotated[
        tuple[str, ...],
        Meta(description="labels of the machines that its tasks may run on, such as `gpu` or `os=linux`"),
    ] = ()
    tools: Annotated[
        tuple[str, ...], Meta(description="the only tools its CLI may use, where the CLI can be told; none: all")
    ] = ()
    timeouts: Annotated[AgentTimeouts, Meta(description="other deadlines than those of [timeouts]")] = AgentTimeouts()
    lease_owned: Annotated[bool, Meta(description="hold a lease on what it owns while it works")] = False
    attempt_usd: Annotated[
        Dollars | None, Meta(description="what one attempt may cost in dollars; default: `limits.attempt_usd`")
    ] = None
    max_calls: Annotated[Count | None, Meta(description="tool calls in one turn; default: `limits.max_calls`")] = None
    max_turns: Annotated[Count | None, Meta(description="model answers in one turn; default: `limits.max_turns`")] = (
        None
    )
    fresh: Annotated[bool, Meta(description="like `limits.fresh`, for the tasks of this agent")] = False
    fence: Annotated[FenceLevel | None, Meta(description="how strong its fence is; default: `fence.level`")] = None
    mode: Annotated[
        Literal["headless", "tmux"],
        Meta(description="how its CLI runs: without a terminal, or in one that people can watch"),
    ] = "headless"


class AgentRights(Section, frozen=True):
    """What agents may ask of Paddock themselves. Keys of `[agents]`, beside its tables."""

    may_add: Annotated[bool, Meta(description="agents may add tasks (`paddock add`)")] = False


class EngineSettings(Section, frozen=True):
    """A coding agent's command line: one that Paddock knows, or any other through `command`."""

    program: Annotated[str, Meta(description="name or path of the CLI, if not the usual one")] = ""
    args: Annotated[tuple[str, ...], Meta(description="arguments added to every headless call")] = ()
    env: Annotated[tuple[str, ...], Meta(description="names of variables let through; `PREFIX_*` is allowed")] = ()
    set: Annotated[dict[str, str], Meta(description="variables set for the engine")] = {}
    model: Annotated[str, Meta(description="model to request when neither the agent nor the task names one")] = ""
    sandbox: Annotated[bool, Meta(description="use the CLI's own sandbox, if it has one")] = False
    like: Annotated[str, Meta(description="the built-in engine that this is a second account or configuration of")] = ""
    account: Annotated[str, Meta(description="engines with the same account share a quota; empty: its own")] = ""
    command: Annotated[tuple[str, ...], Meta(description="argv; {prompt}, {prompt_file} and {task} are filled in")] = ()
    resume: Annotated[tuple[str, ...], Meta(description="argv of a follow-up turn, with {session}")] = ()
    interactive: Annotated[tuple[str, ...], Meta(description="argv for a person in a terminal")] = ()
    session_id_regex: Annotated[
        str, Meta(description="regular expression that finds the session id in the output, as group 1")
    ] = ""
    format: Annotated[Literal["text", "claude-stream", "codex-jsonl"], Meta(description="what the output is")] = "text"
    acp: Annotated[
        tuple[str, ...],
        Meta(description="argv of a CLI that speaks the Agent Client Protocol, instead of `command`"),
    ] = ()
    permissions: Annotated[
        Literal["auto", "allow", "ask", "deny"],
        Meta(description="what an agent's request for a permission gets; auto: allow behind a fence, otherwise ask"),
    ] = "auto"
    session_log: Annotated[
        str,
        Meta(description="glob of the file in which `interactive` keeps its conversation; {session} is filled in"),
    ] = ""
    listens: Annotated[
        bool, Meta(description="`command` takes messages while it works, and tells of them (docs/engines.md)")
    ] = False


class NotifySettings(Section, frozen=True):
    """Who is told when the fleet needs a person, through Apprise (`paddock[notify]`)."""

    urls: Annotated[
        tuple[str, ...], Meta(description="Apprise URLs, e.g. `ntfy://…`; `${NAME}` is a variable of the environment")
    ] = ()
    desktop: Annotated[
        Literal["auto", "never"],
        Meta(description="notifications on this desktop, where there is one and `urls` is empty"),
    ] = "auto"
    about: Annotated[
        tuple[
            Literal[
                "approval", "answer", "blocked", "failed", "halted", "budget", "page", "ticket", "notice", "landed"
            ],
            ...,
        ],
        Meta(description="what is worth a notification; page, ticket and notice are alerts of that severity"),
    ] = ("approval", "answer", "blocked", "failed", "halted", "budget", "page", "ticket")
    every: Annotated[
        Seconds,
        Meta(
            description="least time between two notifications, at least a minute; what comes meanwhile is told in one"
        ),
    ] = 60.0


class AlertSettings(Section, frozen=True):
    """How many alerts there may be, and how long each stays. Keys of `[alerts]`, beside its tables."""

    most_open: Annotated[
        int, Meta(ge=2, le=100, description="alerts that wait for somebody; one more stands for all above that")
    ] = 20
    most_new: Annotated[int, Meta(ge=1, le=50, description="alerts raised in an hour, apart from that one")] = 12
    gone: Annotated[Seconds, Meta(description="how long a cause must be gone before its alert is resolved")] = 120.0
    expires: Annotated[
        Seconds, Meta(description="how long an alert stands for a cause that never goes, from when it was last noticed")
    ] = 7 * 86400.0


class AlertRuleSettings(Section, frozen=True):
    """What is different for one rule; `paddock alerts rules` lists them with their thresholds."""

    on: Annotated[bool, Meta(description="false: it raises no alerts")] = True
    severity: Annotated[
        Literal["page", "ticket", "notice"] | None,
        Meta(description="how grave its alerts are; default: the rule's own"),
    ] = None
    limit: Annotated[float | None, Meta(description="its threshold; default: the rule's own")] = None
    window: Annotated[Seconds | None, Meta(description="how far back it looks; default: the rule's own")] = None


class InsightSettings(Section, frozen=True):
    """What the daemon learns from what agents do; see docs/how-to/traces.md."""

    follow: Annotated[
        bool,
        Meta(
            description="follow attempts while they run, for causes of failures and alerts; false: when somebody asks"
        ),
    ] = True
    every: Annotated[Seconds, Meta(description="time between two looks at agents at work")] = 5.0


class PriceSettings(Section, frozen=True):
    """What a model costs, in US dollars per million tokens; overrides the price that Paddock ships."""

    input: Annotated[Dollars, Meta(description="fresh input")]
    output: Annotated[Dollars, Meta(description="output")]
    cache_read: Annotated[Dollars | None, Meta(description="input read from a cache; default: as fresh input")] = None
    cache_write: Annotated[Dollars | None, Meta(description="input written to a cache; default: as fresh input")] = None


class Config(Section, frozen=True):
    main: Annotated[str, Meta(description="the branch agents start from and land on")] = "main"
    engine: Annotated[str, Meta(description="engine for tasks that do not name one")] = ""
    limits: Limits = Limits()
    timeouts: Timeouts = Timeouts()
    leases: LeaseSettings = LeaseSettings()
    janitor: Janitor = Janitor()
    worktrees: Worktrees = Worktrees()
    store: StoreSettings = StoreSettings()
    sessions: SessionsSettings = SessionsSettings()
    group: GroupSettings = GroupSettings()
    fence: FenceSettings = FenceSettings()
    land: LandSettings = LandSettings()
    review: ReviewSettings = ReviewSettings()
    mcp: McpSettings = McpSettings()
    notify: NotifySettings = NotifySettings()
    agents: dict[str, Agent] = {}
    agent_rights: AgentRights = AgentRights()
    engines: dict[str, EngineSettings] = {}
    prices: dict[str, PriceSettings] = {}
    alerts: dict[str, AlertRuleSettings] = {}
    alert_settings: AlertSettings = AlertSettings()
    insight: InsightSettings = InsightSettings()

    @property
    def uses_nodes(self) -> bool:
        """Whether agents or CI runs are on the nodes of a cluster."""
        return "ray" in (self.sessions.runner, self.land.runner)

    @property
    def landing_branch(self) -> str:
        return self.land.branch or self.main
