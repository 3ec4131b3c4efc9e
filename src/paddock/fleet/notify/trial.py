"""Notifications as others than the daemon see them: how each recipient stands, and a test of all of them."""

import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import msgspec

from paddock.core.notify.notification import Notification, defuse_words
from paddock.core.notify.outbox import Outbox, due_at
from paddock.fleet.clock import SYSTEM_CLOCK
from paddock.fleet.notify.courier import NO_ANSWER, SEND_SECONDS, Receipt
from paddock.fleet.notify.memory import read_memory, settle
from paddock.fleet.notify.recipients import Recipient, find_recipients, pause_of
from paddock.fleet.notify.teller import COURIER
from paddock.fleet.workspace import Workspace

MARGIN_SECONDS = 10.0
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class RecipientState:
    """`outbox` is what is known of the recipient; `due_at` is when what waits is sent, None if nothing is."""

    recipient: Recipient
    outbox: Outbox
    due_at: float | None


@dataclass(frozen=True, slots=True)
class TrialResult:
    """`problem` is empty where the service has accepted it."""

    recipient: Recipient
    problem: str
    seconds: float


def know_states(workspace: Workspace) -> list[RecipientState]:
    """Of each recipient, with the receipts that no daemon has read yet."""
    settings, folder = workspace.config.notify, workspace.state_dir
    kept = read_memory(folder, workspace.site.log_identity) if workspace.has_log else None
    states = []
    for recipient in find_recipients(settings).all:
        known = kept.outboxes.get(recipient.id, Outbox()) if kept is not None else Outbox()
        outbox = settle(folder, recipient.id, known, SYSTEM_CLOCK.now())
        states.append(RecipientState(recipient, outbox, due_at(outbox, pause_of(settings))))
    return states


def send_test(workspace: Workspace, recipients: Sequence[Recipient]) -> list[TrialResult]:
    """One notification to each, with couriers like those of the daemon."""
    place = defuse_words(workspace.top.name, 40)
    notification = Notification(
        f"{place}: this is a test", "Notifications from Paddock arrive here.\n  run: paddock status"
    )
    clock = SYSTEM_CLOCK.boottime

    def send(recipient: Recipient) -> TrialResult:
        started = clock()
        problem = recipient.problem or _answer_to(recipient, notification)
        return TrialResult(recipient, problem, clock() - started)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(send, recipients))


def _answer_to(recipient: Recipient, notification: Notification) -> str:
    errand = msgspec.json.encode(recipient.errand(notification))
    limit = SEND_SECONDS + MARGIN_SECONDS
    try:
        done = subprocess.run(COURIER, input=errand, capture_output=True, cwd="/", timeout=limit, check=False)
        return msgspec.json.decode(done.stdout, type=Receipt).problem
    except (subprocess.TimeoutExpired, msgspec.DecodeError):
        return NO_ANSWER.format(SEND_SECONDS)
    except OSError as error:
        return f"no process can be started: {error.strerror or error}"
