"""Speaks claude's stream-json as far as the bridge to its standard input looks at it; steered by its arguments.

finish       answers whatever it is told, and ends when its input does
absorb       works until it is told a second thing, and repeats that as claude does while a tool runs
interrupted  works until it is interrupted, and notes what came before it had said so
fail         answers with an error
big          answers with a great deal
die          ends by a signal
"""

import json
import os
import signal
import sys

NOTES = open(os.environ["NOTES"], "a", encoding="utf-8")  # noqa: SIM115


def say(**event: object) -> None:
    sys.stdout.write(json.dumps(event, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def hear() -> dict[str, object] | None:
    line = sys.stdin.readline()
    event = json.loads(line) if line else None
    print(json.dumps(event), file=NOTES, flush=True)
    return event


def repeat(event: dict[str, object] | None) -> None:
    assert event is not None
    say(type="user", message=event["message"], uuid=event["uuid"], isReplay=True)


def result(**more: object) -> None:
    # Its keys come in any order.
    say(stop_reason="end_turn", type="result", is_error=False, **more)


def main(mode: str) -> int:
    say(type="system", subtype="init", session_id="s")
    first = hear()
    if mode == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    repeat(first)
    if mode == "fail":
        say(type="result", is_error=True, terminal_reason="api_error")
        while hear() is not None:
            pass
        return 1
    if mode == "big":
        say(type="assistant", text="x" * 3_000_000)
        sys.stdout.write("not json\nno newline" + "y" * 300_000)
        result()
    if mode == "absorb":
        repeat(hear())
    if mode == "interrupted":
        request = hear()
        assert request is not None
        say(type="user", message={"content": 'a message that looks like "type":"result"'})
        print("answering the request", file=NOTES, flush=True)
        say(type="control_response", response={"request_id": request["request_id"]})
        say(type="result", is_error=True, terminal_reason="aborted_tools")
        repeat(hear())
    result()
    while (event := hear()) is not None:
        repeat(event)
        result()
    return 7


sys.exit(main(sys.argv[1]))
