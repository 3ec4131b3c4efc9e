"""The parts agents play, in the words of claude: each is what real ones have been seen to do."""

import json
from collections.abc import Callable, Iterator
from random import Random

from paddock.sessions.protocol import TurnOrder
from tests.simulation.troupe import Part

MODEL = "claude-sonnet-4-5"
CALL_USD = 0.05


def write_part(kind: str, chance: Random, order: TurnOrder) -> Part:
    return PARTS[kind](chance, conversation_of(order))


def conversation_of(order: TurnOrder) -> str:
    words = list(order.argv)
    for flag in ("--resume", "--session-id"):
        if flag in words:
            return words[words.index(flag) + 1]
    return "nobody"


Lines = Iterator[tuple[float, str]]


def _line(**fields: object) -> str:
    return json.dumps(fields)


def _greet(session: str) -> tuple[float, str]:
    return 2.0, _line(type="system", subtype="init", session_id=session, model=MODEL)


def _work(chance: Random, session: str, steps: int, tokens: int = 4000) -> Lines:
    """Answers with a tool call each, seconds to minutes apart."""
    at = 5.0
    for number in range(steps):
        at += chance.uniform(5.0, 240.0)
        usage = {"input_tokens": tokens, "output_tokens": tokens // 8}
        call = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {"command": f"step {number}"}}
        message = {"id": f"m{number}", "model": MODEL, "content": [call], "usage": usage}
        yield at, _line(type="assistant", session_id=session, message=message)
        at += chance.uniform(1.0, 60.0)
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"ok {number}"}
        yield at, _line(type="user", session_id=session, message={"content": [result]})


def _result(session: str, steps: int, **more: object) -> str:
    usage = {"input_tokens": 4000 * steps, "output_tokens": 500 * steps}
    fields = {"subtype": "success", "is_error": False, "result": "done", **more}
    return _line(type="result", session_id=session, usage=usage, total_cost_usd=CALL_USD * steps, **fields)


def delivers(chance: Random, session: str, commits: int = 1, **more: object) -> Part:
    steps = chance.randint(1, 12)
    says = [_greet(session), *_work(chance, session, steps)]
    ends = says[-1][0] + chance.uniform(1.0, 20.0)
    return Part((*says, (ends - 0.5, _result(session, steps))), ends, commits=commits, **more)  # type: ignore[arg-type]


def answers(chance: Random, session: str, text: str) -> Part:
    """Ends with these words."""
    steps = chance.randint(1, 6)
    says = [_greet(session), *_work(chance, session, steps)]
    at = says[-1][0]
    message = {
        "id": "last",
        "model": MODEL,
        "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 100},
    }
    says += [(at + 5.0, _line(type="assistant", session_id=session, message=message))]
    return Part((*says, (at + 6.0, _result(session, steps, result=text))), at + 7.0)


def lies(chance: Random, session: str) -> Part:
    return delivers(chance, session, commits=0)


def leaves_a_server(chance: Random, session: str) -> Part:
    return delivers(chance, session, leaves=True)


def lingers(chance: Random, session: str) -> Part:
    part = delivers(chance, session)
    return Part(part.says, None, commits=1, deaf=chance.random() < 0.3)


def crashes(chance: Random, session: str) -> Part:
    says = [_greet(session), *_work(chance, session, chance.randint(0, 4))]
    return Part(tuple(says), says[-1][0] + 1.0, code=chance.choice((1, 2, 139)), commits=chance.choice((0, 1)))


def vanishes(chance: Random, session: str) -> Part:
    says = [_greet(session), *_work(chance, session, chance.randint(0, 4))]
    return Part(tuple(says), says[-1][0] + 1.0, vanishes=True)


def stalls(chance: Random, session: str) -> Part:
    return Part((_greet(session), *_work(chance, session, 1)), None, deaf=chance.random() < 0.5)


def never_speaks(chance: Random, _session: str) -> Part:
    return Part((), None, deaf=chance.random() < 0.5)


def never_ends(chance: Random, session: str) -> Part:
    return Part((_greet(session), *_work(chance, session, 200)), None)


def loops(_chance: Random, session: str) -> Part:
    call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "make test"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "the same"}
    says = [_greet(session)]
    for number in range(60):
        message = {"id": f"m{number}", "model": MODEL, "content": [call], "usage": {"input_tokens": 100}}
        says.append((10.0 + 20 * number, _line(type="assistant", session_id=session, message=message)))
        says.append((15.0 + 20 * number, _line(type="user", session_id=session, message={"content": [result]})))
    return Part(tuple(says), None)


def is_throttled(_chance: Random, session: str) -> Part:
    words = "API Error: 429 rate limit exceeded, please retry after 60 s"
    says = (_greet(session), (8.0, _result(session, 0, is_error=True, result=words, api_error_status=429)))
    return Part(says, 9.0, code=1)


def is_overloaded(_chance: Random, session: str) -> Part:
    words = "API Error: 529 overloaded"
    says = (_greet(session), (8.0, _result(session, 0, is_error=True, result=words, api_error_status=529)))
    return Part(says, 9.0, code=1)


def is_refused(_chance: Random, session: str) -> Part:
    words = "API Error: 400 prompt is too long"
    says = (_greet(session), (8.0, _result(session, 0, is_error=True, result=words, api_error_status=400)))
    return Part(says, 9.0, code=1)


def cannot_start(_chance: Random, _session: str) -> Part:
    return Part(refuses="turn cannot start: command `claude` was not found")


def spends(chance: Random, session: str) -> Part:
    return Part((_greet(session), *_work(chance, session, 60, tokens=150_000)), None, commits=1)


PARTS: dict[str, Callable[[Random, str], Part]] = {
    part.__name__: part
    for part in (
        delivers, lies, leaves_a_server, lingers, crashes, vanishes, stalls, never_speaks, never_ends, loops,
        is_throttled, is_overloaded, is_refused, cannot_start, spends,
    )
}  # fmt: skip
WEIGHTS = {"delivers": 12, "is_refused": 1, "cannot_start": 1, "spends": 1}
"""Of the other parts there are two each."""
