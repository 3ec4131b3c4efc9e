"""The tools: what each takes, the command whose rights it needs, and what it does. The same list for everybody.

A tool is a thin call of what every edge asks with. What may be large is bounded here, for models read it.
"""

import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from paddock.api.access import Access
from paddock.api.fleet import Fleet
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.filter.parser import MOST_CHARACTERS
from paddock.core.ids import parse_task, printable
from paddock.core.intent.finding_reports import report_finding
from paddock.core.intent.leases import LeaseClaim, LeaseRequest, release_lease, renew_lease
from paddock.core.intent.questions import LONGEST_WAIT_SECONDS, declare_noop
from paddock.core.intent.workers import NotForWorkers
from paddock.core.leases.lease import LeaseRenewed
from paddock.core.review.events import Claim, FindingReported, Severity
from paddock.core.tasks.task import Phase
from paddock.fleet.leases import holder_of, take_lease
from paddock.fleet.questions import AskedQuestion, ask
from paddock.views.document import document, to_json_line

MOST_RESULT_BYTES = 256 * 1024
MOST_ROWS = 200
MOST_TEXT = 8_000
LONGEST_LEASE_WAIT_SECONDS = 600.0

Text = Annotated[str, Meta(min_length=1, max_length=200_000)]
Name = Annotated[str, Meta(max_length=80)]
EXAMPLE = "`phase=blocked,failed and age>2h and not label=area/*`"
TaskName = Annotated[str, Meta(description="a task, such as t3", max_length=40)]


class Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    """What a tool takes."""


Taken = TypeVar("Taken", bound=Arguments)


class Tool(Struct, Generic[Taken], frozen=True):
    """`command` is the one whose rights it needs. `call` is given who asks."""

    name: str
    command: str
    description: str
    takes: type[Taken]
    call: Callable[[Access, Taken], object]
    reads_only: bool = False


class AddTask(Arguments, frozen=True):
    brief: Annotated[str, Meta(min_length=1, max_length=200_000, description="what to do, in full sentences")]
    title: Annotated[str, Meta(max_length=200)] = ""
    agent: Name = ""
    engine: Name = ""
    kind: Annotated[str, Meta(max_length=80, description="the kind of work, such as docs")] = ""
    convoy: Annotated[str, Meta(max_length=80, description="the group it belongs to; made if there is none")] = ""
    after: Annotated[tuple[str, ...], Meta(max_length=100, description="tasks that must land first")] = ()
    priority: int = 0
    paths: Annotated[tuple[str, ...], Meta(max_length=100, description="globs it may change")] = ()
    needs: Annotated[
        tuple[str, ...], Meta(max_length=20, description="labels that its machine must have: gpu, os=linux")
    ] = ()


def add_task(access: Access, wish: AddTask) -> object:
    new = Fleet.through(access).add(
        wish.brief,
        title=wish.title or None,
        agent=wish.agent or None,
        engine=wish.engine or None,
        kind=wish.kind or None,
        convoy=wish.convoy or None,
        after=wish.after,
        priority=wish.priority,
        paths=wish.paths,
        needs=wish.needs,
    )
    return document(id=new)


class ListTasks(Arguments, frozen=True):
    phase: Annotated[str, Meta(max_length=20, description=f"one of {', '.join(Phase)}; none: all")] = ""
    convoy: Name = ""
    where: Annotated[str, Meta(max_length=MOST_CHARACTERS, description=f"a filter such as {EXAMPLE}; none: all")] = ""
    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = 50
    newest_first: bool = True


class TaskLine(Struct, frozen=True):
    id: str
    title: str
    phase: str
    reason: str
    unblock: str
    convoy: str | None
    agent: str | None
    head: str | None


def list_tasks(access: Access, wish: ListTasks) -> object:
    fleet = Fleet.through(access)
    found = fleet.tasks(phase=wish.phase or None, convoy=wish.convoy or None, where=wish.where or None)
    chosen = list(reversed(found)) if wish.newest_first else found
    lines = [
        TaskLine(one.id, one.title, one.phase, one.reason, one.unblock, one.convoy, one.agent, one.head)
        for one in chosen[: wish.limit]
    ]
    return document(total=len(found), tasks=lines)


class OneTask(Arguments, frozen=True):
    task: TaskName


def show_task(access: Access, wish: OneTask) -> object:
    fleet = Fleet.through(access)
    return document(task=fleet.task(wish.task), brief=_cut(fleet.brief(wish.task)))


class NoArguments(Arguments, frozen=True):
    pass


def status(access: Access, _wish: NoArguments) -> object:
    """Without the tasks that neither run nor need anybody: a fleet has thousands."""
    shown = Fleet.through(access).status()
    needy = set(shown.needs_you.tasks)
    tasks = [one for one in shown.tasks if one.id in needy or one.phase == Phase.RUNNING.value]
    return msgspec.structs.replace(shown, tasks=tasks[:50], convoys=shown.convoys[:50])


class Message(Arguments, frozen=True):
    tasks: Annotated[tuple[str, ...], Meta(min_length=1, max_length=100)]
    text: Text


def send_message(access: Access, wish: Message) -> object:
    return document(messages=Fleet.through(access).message(wish.tasks, wish.text))


class Acquire(Arguments, frozen=True):
    name: Annotated[str, Meta(max_length=200, description="such as port:5432, service:db, file:src/api/**")]
    ttl_seconds: Annotated[float, Meta(ge=0, le=86_400, description="0: as [leases] ttl says")] = 0.0
    wait_seconds: Annotated[float, Meta(ge=0, le=LONGEST_LEASE_WAIT_SECONDS)] = 0.0


def lease_acquire(access: Access, wish: Acquire) -> object:
    workspace = access.open("lease acquire")
    seconds = wish.ttl_seconds or workspace.config.leases.ttl
    held = take_lease(workspace, LeaseRequest(wish.name, holder_of(workspace, None), seconds), wish.wait_seconds)
    return document(name=held.name, generation=held.generation, ttl_seconds=seconds)


class Renew(Arguments, frozen=True):
    name: Annotated[str, Meta(max_length=200)]
    ttl_seconds: Annotated[float, Meta(ge=0, le=86_400, description="0: as [leases] ttl says")] = 0.0
    generation: Annotated[int, Meta(ge=0, description="as lease_acquire gave it; 0: the current one")] = 0


def lease_renew(access: Access, wish: Renew) -> object:
    workspace = access.open("lease renew")
    claim = LeaseClaim(wish.name, holder_of(workspace, None).name, wish.generation or None)
    seconds = wish.ttl_seconds or workspace.config.leases.ttl
    shorten = wish.ttl_seconds > 0
    [renewed] = workspace.record(lambda board: renew_lease(board, claim, seconds, time.time(), may_shorten=shorten))
    assert isinstance(renewed.event, LeaseRenewed)
    return document(name=wish.name, ttl_seconds=renewed.event.ttl_seconds)


class Release(Arguments, frozen=True):
    name: Annotated[str, Meta(max_length=200)]
    generation: Annotated[int, Meta(ge=0, description="as lease_acquire gave it; 0: the current one")] = 0


def lease_release(access: Access, wish: Release) -> object:
    workspace = access.open("lease release")
    claim = LeaseClaim(wish.name, holder_of(workspace, None).name, wish.generation or None)
    workspace.record(lambda board: release_lease(board, claim))
    return document(name=wish.name)


class ReportFinding(Arguments, frozen=True):
    claim: Annotated[str, Meta(min_length=1, max_length=4_000, description="what is wrong, in a sentence")]
    path: Annotated[str, Meta(max_length=1_000)] = ""
    line: Annotated[int, Meta(ge=0)] = 0
    severity: Literal["error", "warning", "note"] = "warning"
    evidence: Annotated[str, Meta(max_length=16_000)] = ""
    suggestion: Annotated[str, Meta(max_length=16_000)] = ""
    task: Annotated[str, Meta(max_length=40, description="only for people; a reviewer reports on its own")] = ""

    @property
    def finding(self) -> Claim:
        return Claim(self.claim, self.path, self.line, Severity(self.severity), self.evidence, self.suggestion)


def report(access: Access, wish: ReportFinding) -> object:
    workspace = access.open("report_finding")
    if not wish.task:
        raise Misuse("a person's finding is about a task", "name it in `task`")
    name = parse_task(wish.task)
    [record] = workspace.record(lambda board: report_finding(board, name, wish.finding, workspace.author.name))
    assert isinstance(record.event, FindingReported)
    return document(id=record.event.id, blocking=record.event.blocking)


class Noop(Arguments, frozen=True):
    reason: Annotated[str, Meta(min_length=1, max_length=4_000)]


def noop(access: Access, wish: Noop) -> object:
    workspace = access.open("noop")
    [record] = workspace.record(lambda board: declare_noop(board, workspace.worker, wish.reason))
    return document(task=record.task, then="end your turn without a commit")


class Question(Arguments, frozen=True):
    question: Annotated[str, Meta(min_length=1, max_length=4_000)]
    wait_seconds: Annotated[float, Meta(ge=0, le=LONGEST_WAIT_SECONDS)] = 0.0


def ask_human(access: Access, wish: Question) -> object:
    told: list[AskedQuestion] = []
    asked = ask(access.open("ask"), wish.question, wish.wait_seconds, told.append)
    then = "" if asked.answer is not None else "end your turn: the answer comes as your next message"
    return document(task=asked.task, question=asked.question, answer=asked.answer, then=then)


class OneConvoy(Arguments, frozen=True):
    convoy: Annotated[str, Meta(max_length=80)]


class ResultLine(Struct, frozen=True):
    """`text` tells in words what came of the task."""

    id: str
    title: str
    role: str
    phase: str
    reason: str
    text: str


def convoy_results(access: Access, wish: OneConvoy) -> object:
    lines = [
        ResultLine(one.task, one.title, one.role, one.phase, one.reason, _cut(one.text))
        for one in Fleet.through(access).results(wish.convoy)
    ]
    return document(convoy=wish.convoy, tasks=lines)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\n… cut: {len(text) - MOST_TEXT:,} more characters"


_ALL: tuple[Tool[Any], ...] = (
    Tool("add_task", "add", "Add a task for the fleet. Agents may where paddock.toml allows it.", AddTask, add_task),
    Tool("list_tasks", "status", "List tasks with their phase and what they wait for.", ListTasks, list_tasks, True),
    Tool("show_task", "show", "Show a task, its brief and attempts; agents see their own.", OneTask, show_task, True),
    Tool(
        "status", "status", "How the fleet stands: counts, what runs, what needs a person.", NoArguments, status, True
    ),
    Tool("send_message", "message", "Send a follow-up to the agents of tasks.", Message, send_message),
    Tool("lease_acquire", "lease acquire", "Take a lease on what only one may use at a time.", Acquire, lease_acquire),
    Tool("lease_renew", "lease renew", "Renew a lease you hold.", Renew, lease_renew),
    Tool("lease_release", "lease release", "Release a lease you hold.", Release, lease_release),
    Tool(
        "report_finding",
        "report_finding",
        "Report what is wrong with a change: reviewers about the one they review, people about a task's.",
        ReportFinding,
        report,
    ),
    Tool("declare_noop", "noop", "Say that your task needs no change, and why; then end your turn.", Noop, noop),
    Tool(
        "ask_human",
        "ask",
        "Put a question to a person. Without wait_seconds, end your turn: the answer is your next message.",
        Question,
        ask_human,
    ),
    Tool("convoy_results", "results", "What came of each task of a convoy.", OneConvoy, convoy_results, True),
)
TOOLS: Mapping[str, Tool[Any]] = {tool.name: tool for tool in _ALL}

FOR_PEOPLE = frozenset({"approve", "land", "reject", "resolve", "merge", "cancel", "retry", "stop", "edit", "down"})
"""Names an agent may try in vain: it is on record that it did."""


def input_schema(tool: Tool[Any]) -> dict[str, Any]:
    """Flat, as every client understands it: no references, and nothing that may be null."""
    _, parts = msgspec.json.schema_components([tool.takes])
    own: dict[str, Any] = parts[tool.takes.__name__]
    return {key: value for key, value in own.items() if key not in ("title", "description")}


def call_tool(access: Access, name: str, arguments: bytes) -> bytes:
    """The result as JSON. Raises PaddockError; what an agent may not ask for is on record."""
    tool = TOOLS.get(name)
    if tool is None:
        raise _no_such_tool(access, name)
    try:
        taken = msgspec.json.decode(arguments or b"{}", type=tool.takes)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise Misuse(f"{name}: {error}", "tools/list has the schema of each tool") from None
    answer = to_json_line(tool.call(access, taken))
    if len(answer) > MOST_RESULT_BYTES:
        raise PaddockError(f"the answer of {name} has {len(answer):,} bytes, which is too much", "ask for less")
    return answer


def _no_such_tool(access: Access, name: str) -> PaddockError:
    shown = printable(name, 40)
    if name.lower().split("_")[0] in FOR_PEOPLE:
        try:
            access.open(f"{name.lower().split('_')[0]} through MCP")
        except NotForWorkers as refusal:
            return refusal
    return NotFound(f"there is no tool `{shown}`", f"there are {', '.join(TOOLS)}")
