"""`paddock message`: what people tell agents."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import click

from paddock.cli.options import DURATION, prints_json
from paddock.cli.selection import parse_tasks, takes_where
from paddock.cli.terminal.complaint import complain
from paddock.cli.terminal.source import read_source
from paddock.cli.terminal.text import plural, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Draft, MessageSent, Record, TaskAdded
from paddock.core.ids import TaskId, printable, task_of
from paddock.core.intent.forks import follow_up, needs_follow_up, told_of_follow_up
from paddock.core.intent.messages import message_name, parse_message, send_message, text_to_repeat
from paddock.core.intent.selection import Bulk, RefusedTask, Selection, select_tasks
from paddock.core.tasks.task import Phase
from paddock.core.wording import BRIEF_LIMIT
from paddock.fleet.bulk import record_each, try_each
from paddock.fleet.message_log import find_record, read_receipts
from paddock.fleet.service.presence import ABSENT, look_for_daemon
from paddock.fleet.workspace import Workspace

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter

_WRITE_IT_LAST = 'write it last: `paddock message t3 "also the tests"`'
LOOK_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 600.0


@click.command("message")
@click.argument("words", nargs=-1, metavar="[TASKS]… TEXT")
@click.option("--phase", type=click.Choice([phase.value for phase in Phase]), help="Send to all tasks in this phase.")
@click.option("--convoy", help="Send to all tasks of this convoy that have had an agent.")
@takes_where
@click.option("--file", metavar="FILE", help="Read the text from a file, or from standard input with `-`.")
@click.option("--like", metavar="MESSAGE", help="Send the text of an earlier message, such as m12, once more.")
@click.option("--now", is_flag=True, help="Interrupt what they are doing, instead of waiting for the end of the turn.")
@click.option("--wait", type=DURATION, default=0.0, help="Wait this long, 10m at most, until the agents have it.")
@click.option("--dry-run", is_flag=True, help="Show whom it would go to, and send nothing.")
@prints_json
@click.pass_context
def message_command(
    ctx: click.Context,
    words: tuple[str, ...],
    phase: str | None,
    convoy: str | None,
    where: "TaskFilter | None",
    file: str | None,
    like: str | None,
    now: bool,
    wait: float,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Send TEXT to the agents of TASKS, or of all tasks that match.

    It is delivered at once where the engine takes messages while it works, and otherwise as their next turn. Agents
    that have ended are resumed with it. Where an agent's engine waits for an answer, TEXT is that answer. The agent of
    a task that has landed or was cancelled goes on in a new task, which forks it.
    """
    if wait > LONGEST_WAIT_SECONDS:
        raise Misuse("--wait takes 10m at most", "`paddock messages` shows later what became of it")
    workspace = open_workspace(ctx)
    number = parse_message(like) if like is not None else 0
    _refuse_to_workers(workspace, now=now, like=number)
    in_bulk = bool(phase or convoy or where)
    named, text = _read_words(workspace, words, file, number, in_bulk=in_bulk)
    chosen = Selection(tuple(named), convoy=convoy, phase=phase, where=where)
    if named and chosen.in_bulk:
        raise Misuse("task names cannot be combined with --phase, --convoy or --where", "use one or the other")
    board = workspace.board()
    names = select_tasks(board, chosen, Bulk.MESSAGE) if named or chosen.in_bulk else []
    if not names and chosen.in_bulk:
        raise PaddockError(
            "none of these tasks has an agent to tell, or none matches",
            "`paddock status --all` lists tasks; a task that has landed or was cancelled has to be named",
        )
    if not names:
        raise Misuse(
            "there is no task to send it to", "name tasks before the text, or use --phase, --convoy or --where"
        )
    by_agent, known = workspace.worker is not None, workspace.known

    def decide(b: Board, name: TaskId) -> list[Draft]:
        if named and not by_agent and needs_follow_up(b.task(name)):
            return follow_up(b, name, text, known, workspace.config.limits.attempts)
        return send_message(b, [name], text, now=now, like=number, by_agent=by_agent)

    if dry_run:
        possible, refused = try_each(board, names, decide)
        _say_what_would(board, [name for name, _ in possible], refused, text, as_json=as_json)
        if refused:
            ctx.exit(1)
        return
    recorded, refused = record_each(workspace, names, decide)
    records = [record for record in recorded if isinstance(record.event, MessageSent)]
    follow_ups = _follow_ups(recorded)
    if wait and records and not as_json:
        click.echo(f"waiting for {_names(records)} to arrive …", err=True)
    told = _await_receipts(workspace, records, wait) if wait else {}
    _report(workspace, records, follow_ups, refused, told, as_json=as_json)
    if refused:
        ctx.exit(1)


def _follow_ups(recorded: Sequence[Record]) -> dict[TaskId, Record]:
    """By the task whose agent goes on in each."""
    added = [(one.event, one) for one in recorded if isinstance(one.event, TaskAdded)]
    return {task_of(event.forks): record for event, record in added if event.forks is not None}


def _refuse_to_workers(workspace: Workspace, *, now: bool, like: int) -> None:
    """Agents may tell each other something, and neither interrupt others nor read what people told them."""
    if workspace.worker is None or not (now or like):
        return
    from paddock.core.intent.workers import NotForWorkers

    asked = "message --now" if now else "message --like"
    refusal = NotForWorkers(asked, f"`paddock {asked}` is not for agents", "send the text itself, without the option")
    workspace.refuse(refusal)
    raise refusal


def _read_words(
    workspace: Workspace, words: tuple[str, ...], file: str | None, like: int, *, in_bulk: bool
) -> tuple[list[TaskId], str]:
    """The tasks that were named, and the text. Raises Misuse."""
    if file is not None and like:
        raise Misuse("--file and --like cannot be used together", "say the text in one way")
    if like:
        with closing(workspace.read()) as store:
            return _parse_named(words, "--like"), text_to_repeat(find_record(store, like), like)
    if file is not None:
        return _parse_named(words, "--file"), _read_file(file)
    if not words:
        raise Misuse("there is no text to send", _WRITE_IT_LAST)
    *tasks, text = words
    if not tasks and not in_bulk and _is_task(text):
        raise Misuse(f"there is no text to send to `{text}`", _WRITE_IT_LAST)
    return _parse_named(tuple(tasks)), text


def _is_task(word: str) -> bool:
    try:
        return bool(parse_tasks((word,)))
    except PaddockError:
        return False


def _parse_named(words: tuple[str, ...], source: str = "") -> list[TaskId]:
    """The tasks before the text, which a shell has taken apart if it was not quoted."""
    wrong = next((word for word in words if word[:1].lower() != "t" or not word[1:2].isdecimal()), None)
    if wrong is None:
        return parse_tasks(words)
    if source:
        raise Misuse(f"`{printable(wrong, 40)}` is not a task id", f"{source} says the text: name only tasks beside it")
    raise Misuse(
        f"`{printable(wrong, 40)}` is not a task id",
        "task ids look like `t41`; a text of several words needs quotes, or `--file -`",
    )


def _read_file(file: str) -> str:
    name = "standard input" if file == "-" else f"`{printable(file)}`"
    try:
        content = read_source(file, BRIEF_LIMIT)
        if len(content) > BRIEF_LIMIT:
            raise Misuse(
                f"{name} has more than {BRIEF_LIMIT:,} bytes, which is the limit of a message",
                "put long material in a file in the repository and name that file in the message",
            )
        return content.decode()
    except OSError as error:
        raise Misuse(f"{name} cannot be read: {error.strerror}", "name a file of text") from None
    except UnicodeDecodeError as error:
        raise Misuse(f"{name} is not UTF-8 at byte {error.start + 1}", "messages are text") from None


def _say_what_would(
    board: Board, names: Sequence[TaskId], refused: Sequence[RefusedTask], text: str, *, as_json: bool
) -> None:
    size = len(text.encode())
    ended = [name for name in names if needs_follow_up(board.task(name))]
    reached = [name for name in names if name not in ended]
    if as_json:
        follow_ups = [{"task": name, "in": None} for name in ended]
        rows = _as_rows(refused)
        print_document(ids=reached, messages=[], follow_ups=follow_ups, bytes=size, refused=rows, dry_run=True)
        return
    if reached:
        click.echo(f"would send {plural(size, 'byte')} to {', '.join(reached)}")
    for name in ended:
        click.echo(told_of_follow_up(board.task(name), None))
    for one in refused:
        complain(one.error.message, one.error.hint)


def _as_rows(refused: Sequence[RefusedTask]) -> list[dict[str, str | None]]:
    return [{"task": one.task, "error": one.error.message, "hint": one.error.hint} for one in refused]


def _names(records: Sequence[Record]) -> str:
    names = [message_name(record.seq) for record in records]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _await_receipts(workspace: Workspace, records: Sequence[Record], seconds: float) -> dict[int, str]:
    """The evidence of those that were delivered in that time."""
    wanted = {record.seq for record in records}
    deadline = time.monotonic() + seconds
    told: dict[int, str] = {}
    with closing(workspace.read()) as store, store.listen() as listener:
        while wanted and not wanted <= told.keys():
            told = read_receipts(store, min(wanted))
            if (left := deadline - time.monotonic()) <= 0:
                break
            if not wanted <= told.keys():
                listener.wait(min(LOOK_SECONDS, left))
    return told


def _report(
    workspace: Workspace,
    records: Sequence[Record],
    follow_ups: Mapping[TaskId, Record],
    refused: Sequence[RefusedTask],
    told: dict[int, str],
    *,
    as_json: bool,
) -> None:
    if as_json:
        print_document(
            ids=[str(record.task) for record in records],
            messages=[record.seq for record in records],
            delivered=[record.seq for record in records if record.seq in told],
            follow_ups=[{"task": task, "in": str(record.task)} for task, record in follow_ups.items()],
            refused=_as_rows(refused),
        )
        return
    board = workspace.board()
    for record in records:
        name = message_name(record.seq)
        if record.seq in told:
            click.echo(f"delivered as {name} to {record.task}: {told[record.seq]}")
        else:
            click.echo(f"queued as {name} for {record.task}{_held_up(board, record)}")
    for task, record in follow_ups.items():
        click.echo(told_of_follow_up(board.task(task), record.task))
    for one in refused:
        complain(one.error.message, one.error.hint)
    is_waiting = bool(follow_ups) or any(record.seq not in told for record in records)
    if is_waiting and look_for_daemon(board, time.time()).presence in ABSENT:
        click.echo("no daemon is running: `paddock up` or `paddock run` delivers it", err=True)


def _held_up(board: Board, record: Record) -> str:
    assert record.task is not None
    live = board.task(record.task).live_attempt
    return f", until {live.held.by} leaves it" if live is not None and live.held is not None else ""
