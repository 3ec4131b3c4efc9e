"""The queue's reducer: `evolve(queue, event, at)` applies one fact, or refuses a fact that cannot be one."""

from typing import assert_never

from msgspec.structs import replace

from paddock.core.merge import branch, changes, runs
from paddock.core.merge import events as ev
from paddock.core.merge.halts import halt
from paddock.core.merge.model import LostRemote, Queue


def evolve(queue: Queue, event: ev.QueueEvent, at: float) -> Queue:
    """The queue after `event`; `at` is the envelope's time in epoch seconds.

    Raises `IllegalTransition` when the event does not fit. The commonest events are matched first.
    """
    match event:
        case ev.RunEnded():
            return runs.end_run(queue, event, at)
        case ev.RunStarted():
            return runs.start_run(queue, event, at)
        case ev.ChangeQueued():
            return changes.queue_change(queue, event, at)
        case ev.LandingStarted():
            return branch.start_landing(queue, event)
        case ev.TrainLanded():
            return branch.land_train(queue, event, at)
        case ev.RunCancelAsked():
            return runs.ask_cancel(queue, event)
        case ev.CompositionRefused():
            return changes.refuse_composition(queue, event)
        case ev.ChangeRejected():
            return changes.reject_change(queue, event, at)
        case ev.ChangeConflicted():
            return changes.bounce_change(queue, event, at)
        case ev.ChangeCancelled():
            return changes.cancel_change(queue, event, at)
        case ev.ChangeFoundEmpty():
            return changes.close_empty_change(queue, event, at)
        case ev.ChangeMoved():
            return changes.move_change(queue, event)
        case ev.ChangeRetried():
            return changes.retry_change(queue, event)
        case ev.ChangeRestacked():
            return changes.restack_change(queue, event)
        case ev.MainMoved():
            return branch.move_main(queue, event, at)
        case ev.MainRestored():
            return branch.restore_main(queue, event)
        case ev.WorkLost() | ev.WorkFound():
            return changes.mark_lost(queue, event.ids, lost=isinstance(event, ev.WorkLost))
        case ev.CiDefined():
            return branch.define_ci(queue, event)
        case ev.LandingRefused():
            return branch.refuse_landing(queue, event, at)
        case _:
            return _switch(queue, event, at)


def _switch(queue: Queue, event: ev.Switch | ev.Remote, at: float) -> Queue:
    match event:
        case ev.RemoteLost():
            return replace(queue, lost_remote=LostRemote(event.remote, event.problem, at))
        case ev.RemoteReached():
            return replace(queue, lost_remote=None)
        case ev.QueueHalted():
            return replace(queue, halted=halt(queue.halted, event, at))
        case ev.QueueFrozen():
            return replace(queue, frozen=True)
        case ev.QueueUnfrozen():
            return replace(queue, frozen=False)
        case ev.QueuePaused():
            return replace(queue, paused=True)
        case ev.QueueDrained():
            return replace(queue, draining_since=at)
        case ev.QueueResumed():
            return branch.resume_queue(queue)
        case _:
            assert_never(event)
