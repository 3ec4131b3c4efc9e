"""What the events of an attempt add up to: its turns, what they used, and how it ended."""

from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.ids import AttemptId
from paddock.core.tasks.task import Attempt


def begin_attempt(name: AttemptId, event: ev.AttemptStarted, at: float) -> Attempt:
    return Attempt(
        id=name,
        engine=event.engine,
        branch=event.branch,
        base=event.base,
        started=at,
        agent=event.agent,
        model=event.model,
        host=event.host,
        worktree=event.worktree,
        continues=event.continues,
        session=event.session,
        account=event.account,
        inlined=event.inlined,
        session_used=event.session_used,
        session_cost=event.session_cost,
        role=event.role,
        host_id=event.host_id,
        memory=event.memory,
        fork=event.fork,
    )


def open_turn(attempt: Attempt, event: ev.TurnStarted) -> Attempt:
    folder = event.worktree or attempt.worktree
    opened = replace(
        attempt,
        turn=event.turn,
        turn_open=True,
        session=event.session or attempt.session,
        worktree=folder,
        moved_from=attempt.worktree if attempt.worktree != folder else "",
        session_lost="",
        new_conversation=event.new_conversation or attempt.new_conversation,
        fence=event.fence,
        memory=event.memory or attempt.memory,
        owes_answer=0,
        noop="",
        interactive=event.interactive,
        left_by="",
    )
    return _forget_conversation(opened) if event.new_conversation else opened


def _forget_conversation(attempt: Attempt) -> Attempt:
    """The next one has used nothing yet: what the attempt has used so far is taken off again."""
    used = (attempt.input_tokens, attempt.cache_write_tokens, attempt.cache_read_tokens, attempt.output_tokens)
    negated = (-used[0], -used[1], -used[2], -used[3])
    return replace(attempt, session=None, session_used=negated, session_cost=-(attempt.cost_usd or 0.0), fork=False)


def close_turn(attempt: Attempt, event: ev.TurnEnded) -> Attempt:
    return replace(
        attempt,
        turn_open=False,
        interactive=False,
        exit=event.exit,
        ended_by=event.ended_by,
        problem=event.problem,
        startup_seconds=event.startup_seconds if attempt.turn == 1 else attempt.startup_seconds,
        startup_tokens=event.startup_tokens if attempt.turn == 1 else attempt.startup_tokens,
        startup_usd=_add(attempt.startup_usd, event.startup_usd),
        assumed_usd=attempt.assumed_usd + event.assumed_usd,
        session=event.session or attempt.session,
        fork=attempt.fork and event.session in (None, attempt.session),
        session_lost=event.session_lost,
        model=event.model or attempt.model,
        steps=attempt.steps + event.steps,
        input_tokens=attempt.input_tokens + event.input_tokens,
        cache_write_tokens=attempt.cache_write_tokens + event.cache_write_tokens,
        cache_read_tokens=attempt.cache_read_tokens + event.cache_read_tokens,
        output_tokens=attempt.output_tokens + event.output_tokens,
        cost_usd=_add(attempt.cost_usd, event.cost_usd),
        uncounted_calls=attempt.uncounted_calls + event.uncounted_calls,
        assumed_tokens=attempt.assumed_tokens + event.assumed_tokens,
    )


def _add(so_far: float | None, more: float | None) -> float | None:
    return so_far if more is None else (so_far or 0.0) + more


def end_attempt(attempt: Attempt, event: ev.AttemptEnded, at: float) -> Attempt:
    return replace(
        attempt,
        ended=at,
        outcome=event.outcome,
        counted=event.counted,
        reason=event.reason,
        exit=event.exit if event.exit is not None else attempt.exit,
        head=event.head,
        commits=event.commits,
        files=event.files,
        insertions=event.insertions,
        deletions=event.deletions,
        outside=event.outside,
    )
