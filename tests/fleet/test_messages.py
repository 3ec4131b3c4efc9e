"""Messages as a person sends them and looks after them, to agents of a real fleet."""

import json
import signal

from paddock.core.events import MessageSent
from tests.fleet.yard import Yard, commit, write

ODD = 'it\'s "quoted" `too` $HOME \\ 🐑 \x1b[31m\r\n' + "x" * 200_000


def test_a_message_is_delivered_with_evidence_while_its_agent_works_and_repeated_to_another(yard: Yard) -> None:
    heard, ready = yard.folder / "heard", yard.folder / "ready"
    touch = {"run": ["sh", "-c", f'echo >> "{ready}"']}
    for _ in range(2):
        yard.add(touch, {"listen": 600, "messages": 2, "to": str(heard)}, write("a.txt"), commit("Add a"))
    fleet = yard.start("run")
    yard.await_that(lambda: ready.exists() and len(ready.read_text()) == 2, "both agents")

    said = yard.paddock("message", "t1", "hello", "--wait", "60s")
    [record] = yard.records(MessageSent)
    name = f"m{record.seq}"
    assert said == f"delivered as {name} to t1: t1.1 turn 1: taken while it worked (the agent's own word)\n"
    assert "would send 5 bytes to t2" in yard.paddock("message", "t2", "--like", name, "--dry-run")
    assert len(yard.records(MessageSent)) == 1, "a dry run records nothing"
    yard.paddock("message", "t2", "--like", name, "--wait", "60s")

    odd = yard.folder / "odd.txt"
    odd.write_text(ODD, newline="")
    told = json.loads(yard.paddock("message", "t1-t2", "--file", str(odd), "--wait", "60s", "--json"))
    assert told["ids"] == ["t1", "t2"]
    assert told["delivered"] == told["messages"]
    texts = sorted(json.loads(line)[1] for line in heard.read_text().splitlines())
    assert texts == sorted(["hello", "hello", ODD, ODD])

    yard.await_board(lambda board: not board.live, "the end of both")
    seen = json.loads(yard.paddock("messages", "--json"))["messages"]
    assert [(one["task"], one["state"], one["like"]) for one in seen] == [
        ("t1", "answered", None),
        ("t2", "answered", name),
        ("t1", "answered", None),
        ("t2", "answered", None),
    ]
    assert seen[0]["answer"] == "read: hello"
    listed = yard.paddock("messages", "t1")
    assert listed.startswith(f"{name}  t1  answered  ")
    assert "→ read: hello" in listed
    assert "\x1b" not in listed
    fleet.send(signal.SIGTERM)
    fleet.wait()


def test_a_message_that_cannot_go_anywhere_says_what_to_run(yard: Yard) -> None:
    yard.add(write("a.txt"), commit("Add a"))
    assert "has no agent yet" in yard.paddock("message", "t1", "hello", code=1)
    assert "there is no text to send" in yard.paddock("message", code=2)
    assert "there is no text to send to `t1`" in yard.paddock("message", "t1", code=2)
    assert "there is no task to send it to" in yard.paddock("message", "hello", code=2)
    assert "a text of several words needs quotes" in yard.paddock("message", "t1", "hello", "there", code=2)
    assert "--like says the text" in yard.paddock("message", "t1", "hello", "--like", "m1", code=2)
    assert "--wait takes 10m at most" in yard.paddock("message", "t1", "hello", "--wait", "11m", code=2)
    assert "none matches" in yard.paddock("message", "--where", "phase=failed", "hello", code=1)
    assert "there is no message `m99`" in yard.paddock("message", "t1", "--like", "m99", code=1)
    assert "--file and --like cannot be used together" in yard.paddock(
        "message", "t1", "--like", "m99", "--file", "-", code=2
    )
    assert yard.paddock("messages", "t1") == ""


def test_a_dry_run_tells_who_would_be_refused_and_who_would_go_on_in_a_new_task(yard: Yard) -> None:
    yard.add(write("a.txt"), commit("Add a"))
    yard.add(write("b.txt"), commit("Add b"))
    yard.run()
    yard.paddock("add", "later")
    yard.paddock("cancel", "t2")
    said = yard.paddock("message", "t1-t3", "hello", "--dry-run", code=1)
    assert "would send 5 bytes to t1\n" in said
    assert "t2 was cancelled: its agent would go on in a new task" in said
    assert "has no agent yet" in said
    told = json.loads(yard.paddock("message", "t1-t3", "hello", "--dry-run", "--json", code=1))
    assert (told["ids"], told["follow_ups"]) == (["t1"], [{"task": "t2", "in": None}])
    assert [row["task"] for row in told["refused"]] == ["t3"]
    assert not yard.records(MessageSent)
