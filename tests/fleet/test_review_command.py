"""`paddock review` at a terminal: what a person is shown, and what each key does."""

import contextlib
import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Callable, Sequence

from paddock.core.events import TaskRejected
from paddock.core.merge.events import ChangeQueued
from tests.fleet.yard import Yard, commit, play, write
from tests.warm import PATIENCE_SECONDS

PROMPT = "[q]uit [?] "
Answer = str | Callable[[], str]


def converse(yard: Yard, *words: str, answers: Sequence[tuple[str, Answer]], env: dict[str, str]) -> str:
    """All that the command writes to a terminal of 120 × 50 while each answer follows the words it waits for."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))
    process = subprocess.Popen(
        yard.argv(*words),
        cwd=yard.top,
        env={**yard.env, "TERM": "dumb", "GIT_PAGER": "cat", **env},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (this process has no other threads)
    )
    os.close(slave)
    said, read_to, waiting = bytearray(), 0, list(answers)
    with contextlib.suppress(OSError):
        while chunk := os.read(master, 65536):
            said += chunk
            while waiting and (at := said.find(waiting[0][0].encode(), read_to)) >= 0:
                words_seen, answer = waiting.pop(0)
                read_to = at + len(words_seen)
                os.write(master, (answer() if callable(answer) else answer).encode())
    os.close(master)
    assert process.wait(PATIENCE_SECONDS) == 0, said.decode()
    assert not waiting, f"{waiting[0][0]!r} was never asked\n{said.decode()}"
    return said.decode().replace("\r\n", "\n")


def test_each_key_decides_about_the_version_that_was_shown(yard: Yard) -> None:
    toml = '[land]\nci = "true"\n[[land.gate]]\nname = "schema"\npaths = ["db/**"]\n'
    (yard.top / "paddock.toml").write_text(f'engine = "scripted"\n{toml}')
    yard.git("add", "-A")
    yard.git("commit", "-qm", "Settings")
    briefs = [(write("db/a.sql"), commit()), (write("-b.txt"), commit()), (write("c.txt"), commit()), (write("d.txt"),)]
    tasks = [{"brief": play(*steps), "priority": 9 - number} for number, steps in enumerate(briefs[:3])]
    yard.add_all(tasks, convoy="summer")
    yard.add(*briefs[3], commit(), priority=1)
    yard.run()
    yard.paddock("comment", "t3", "c.txt:1", "not so")
    editor = yard.folder / "editor"
    editor.write_text('#!/bin/sh\necho more >> "$1"\n')
    editor.chmod(0o755)

    def replace_it() -> str:
        """The agent delivers another version while the person looks at t4."""
        yard.paddock("reject", "t4", "-m", play(write("d.txt", "another\n"), commit()))
        yard.run()
        return "a"

    shown = converse(
        yard,
        "review",
        answers=[
            (PROMPT, "x"),
            ("q  quit", ""),
            (PROMPT, "e"),
            ("with your changes, as ", "y"),
            (PROMPT, "r"),
            ("your editor opens): ", "use e\n"),
            (PROMPT, replace_it),
            (PROMPT, "a"),
            (PROMPT, "c"),
            ("of convoy summer? [y/N] ", "n"),
            (PROMPT, "s"),
        ],
        env={"EDITOR": str(editor), "USER": "ana"},
    )
    places = [shown.index(f"{name} ({number} of 4): ") for number, name in enumerate(("t2", "t3", "t4", "t1"), 1)]
    assert places == sorted(places), "what is ready to land comes first"
    assert "+hello\n" in shown
    assert "path taken\n  t2.1 " in shown
    assert "reject t3 with 1 comment on lines" in shown
    assert "error: task `t4` is at `" in shown
    assert "+another\n" in shown[shown.index("it is shown as it is now") :]
    assert "needs you it meets the gate `schema`: touches db/a.sql" in shown
    assert shown.rstrip().endswith("approved t2, t4 · rejected t3 · skipped t1")

    queued = [one.event.change for one in yard.records() if isinstance(one.event, ChangeQueued)]
    edited = next(change for change in queued if change.id == "t2")
    assert yard.git("show", f"{edited.head}:./-b.txt") == "hello\nmore"
    assert edited.approved_by.startswith("ana@")
    (rejected,) = yard.records(TaskRejected, task="t3")
    assert isinstance(rejected.event, TaskRejected)
    assert rejected.event.message.startswith("use e\n\nOne comment on your change at ")
    assert yard.task("t1").phase == "approval"


def test_without_a_terminal_it_tells_what_waits_and_how_to_decide(yard: Yard) -> None:
    assert yard.paddock("review") == "no change is waiting for you\n"
    yard.add(write("a.txt", "x\x1b[8m\n"), commit(), title="One")
    yard.run()
    head = yard.task("t1").head or ""
    listed = yard.paddock("review")
    assert f"t1    {head[:10]}  One" in listed
    assert f"paddock approve t1 --head {head[:10]}" in listed
    whole = yard.paddock("review", "t1")
    assert "\x1b" not in whole
    assert "diff --git a/a.txt b/a.txt" in whole
    (row,) = json.loads(yard.paddock("review", "--json"))["waiting"]
    assert (row["id"], row["head"], row["files"], row["attempts"][0]["id"]) == ("t1", head, 1, "t1.1")
    yard.paddock("add", "later")
    refused = yard.paddock("review", "t2", code=1)
    assert "task `t2` is ready: no change is waiting there for you" in refused
    assert "there is no convoy `x`" in yard.paddock("review", "--convoy", "x", code=1)
