"""What in an engine's own stream shows that it has a message: nothing else is a receipt."""

from collections.abc import Iterable, Sequence

from paddock.core.ids import AttemptId
from paddock.core.tasks.vocabulary import EndedBy
from paddock.core.trace import End, Text, ToolCall, TraceEntry, Uncounted, Usage


def is_answer(entry: TraceEntry) -> bool:
    """Whether the model, or what stands in for it, has begun to work on what its turn began with."""
    match entry:
        case Text(text=text):
            return bool(text.strip())
        case Usage(tokens=tokens):
            return tokens.output > 0
        case End(success=success):
            return success
        case ToolCall() | Uncounted():
            return True
        case _:
            return False


def evidence_of_answer(attempt: AttemptId, turn: int) -> str:
    return f"{attempt} turn {turn}: the model answered"


def evidence_of_taking(attempt: AttemptId, turn: int, seen: str) -> str:
    where = f"{attempt} turn {turn}: taken while it worked"
    return f"{where} ({seen})" if seen else where


def evidence_of_end(attempt: AttemptId, turn: int, exit_status: int | None, ended_by: EndedBy) -> str:
    """Of a turn that has ended without a word; empty if that shows nothing."""
    return f"{attempt} turn {turn}: it ended well" if exit_status == 0 and not ended_by else ""


def evidence_in_session(engine: str, session: str) -> str:
    return f"the session file of {engine} has it ({session})"


def find_told(texts: Sequence[tuple[int, str]], earlier: Iterable[str], prompts: Sequence[str]) -> tuple[int, ...]:
    """Which of the messages, each a number and its text, a conversation has that was told `prompts`. `earlier` are
    messages from before, of which it may have the same words."""
    left = list(earlier)
    found = []
    for number, text in texts:
        times = sum(_contains(prompt, text) for prompt in prompts)
        if times > left.count(text):
            found.append(number)
        left.append(text)
    return tuple(found)


def _contains(prompt: str, text: str) -> bool:
    """As whole paragraphs: words that stand in the middle of others' say nothing."""
    return f"\n\n{text.strip()}\n\n" in f"\n\n{prompt.strip()}\n\n"
