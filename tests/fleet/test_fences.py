"""Agents and CI behind a fence, as a person configures it: what they see, what is said, what is refused."""

import json
import os
from pathlib import Path

import pytest

from paddock.core.events import TurnStarted
from paddock.core.tasks.task import Phase
from tests.bubblewrap import need_bubblewrap
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, play, write

LOOK = """
for path in HOME/.ssh/id HOME/notes TOP/README.md TOP/.git/paddock/log.db OTHER /etc/shadow; do
    if cat "$path" >/dev/null 2>&1; then echo "sees $path"; fi
done
for path in HOME/.gitconfig README.md; do
    if ! cat "$path" >/dev/null 2>&1; then echo "lacks $path"; fi
done
touch HOME/planted HOME/.gitconfig TOP/planted /usr/planted 2>/dev/null
ls /proc | grep -c '^[0-9]' | sed 's/^/processes: /'
"""


def furnished(make_yard: MakeYard, **settings: str) -> Yard:
    """A person's home with secrets in it; only the folder `out` is named for agents to write to."""
    yard = make_yard(**settings)
    home = yard.folder / "home"
    (home / ".ssh").mkdir()
    for name in (".ssh/id", "notes", ".gitconfig"):
        (home / name).write_text("[user]\n")
    (yard.folder / "out").mkdir()
    yard.env["PADDOCK_FENCE_WRITE"] = str(yard.folder / "out")
    return yard


def look(yard: Yard, file: str) -> Step:
    other = yard.worktrees.slots_folder
    script = LOOK.replace("HOME", str(yard.folder / "home")).replace("TOP", str(yard.top)).replace("OTHER", str(other))
    return {"run": ["sh", "-c", f"({script}) > '{yard.folder}/out/{file}'"]}


def seen(yard: Yard, file: str = "seen") -> list[str]:
    return (yard.folder / "out" / file).read_text().splitlines()


def without_bubblewrap(yard: Yard) -> dict[str, str]:
    """Every program of this machine but that one."""
    programs = yard.folder / "programs"
    programs.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for path in sorted(Path(folder).glob("*")):
            link = programs / path.name
            if path.name != "bwrap" and not link.exists():
                link.symlink_to(path)
    return {"PATH": str(programs)}


def test_an_agent_sees_its_work_and_its_tools_and_leaves_nothing_elsewhere(make_yard: MakeYard) -> None:
    need_bubblewrap()
    yard = furnished(make_yard)
    yard.add(look(yard, "seen"), write("a.txt"), commit("Add a"))
    yard.run(code=0)
    assert yard.task().phase is Phase.APPROVAL
    told = seen(yard)
    assert not [line for line in told if line.startswith(("sees", "lacks"))], told
    assert int(told[-1].split()[1]) < 15
    assert not list(yard.folder.rglob("planted"))
    assert (yard.folder / "home/.gitconfig").read_text() == "[user]\n"
    assert yard.attempt().fence == "files"
    assert "fence     files" in yard.paddock("show", "t1")
    yard.assert_nothing_is_left()


def test_a_conversation_is_shown_to_its_own_task_alone_and_goes_when_that_has_finished(make_yard: MakeYard) -> None:
    """One worktree for all of them: what is kept there would be everybody's."""
    need_bubblewrap()
    yard = furnished(make_yard, PADDOCK_LIMITS_MAX_AGENTS="1", PADDOCK_WORKTREES_MOST="1")
    memory = yard.log_path.parent / "memory"
    leave = {"run": ["sh", "-c", f"for d in $(find {memory} -type d); do echo canary >$d/left; done"]}
    find = {"run": ["sh", "-c", f"find {memory} -type f -exec cat {{}} + >{yard.folder}/out/$PADDOCK_ATTEMPT"]}
    yard.add(leave, write("a.txt"), commit("Add a"), {"say": "hello"}, find, write("b.txt"), commit("Add b"))
    yard.add(find, write("c.txt"), commit("Add c"))
    yard.run(code=0)
    assert [yard.attempt(name).worktree for name in ("t1", "t2")] == [yard.attempt("t1").worktree] * 2
    assert "canary" in (yard.folder / "out/t1.1").read_text()
    assert "canary" not in (yard.folder / "out/t2.1").read_text()

    yard.paddock("message", "t1", play(find, write("d.txt"), commit("Add d")))
    yard.run(code=0)
    assert yard.attempt("t1").memory == "t1.1"
    assert "canary" in (yard.folder / "out/t1.2").read_text(), "it goes on with its own"

    yard.paddock("cancel", "t1")
    assert "conversation" not in yard.paddock("janitor"), "a person may have more to say"
    age = {"PADDOCK_JANITOR_TRANSCRIPTS_AGE": "0s"}
    assert "conversation that will not go on" in yard.paddock("janitor", env=age)
    assert [path.name for path in memory.glob("*/*")] == ["t2.1"]
    yard.paddock("message", "t2", play(find, write("e.txt"), commit("Add e")))
    yard.run(code=0, env={"PADDOCK_JANITOR_CONVERSATIONS_MB": "1"})
    assert yard.attempt("t2").session == yard.task("t2").attempts[0].session


def test_a_conversation_that_is_kept_no_longer_begins_again_and_says_so(make_yard: MakeYard) -> None:
    need_bubblewrap()
    yard = furnished(make_yard)
    memory = yard.log_path.parent / "memory"
    fill = {"run": ["sh", "-c", f"head -c 2000000 /dev/urandom >$(find {memory} -type d | tail -1)/much"]}
    yard.add(fill, write("a.txt"), commit("Add a"))
    yard.run(code=0)
    said = yard.paddock("janitor", env={"PADDOCK_JANITOR_CONVERSATIONS_MB": "1"})
    assert "more than 1 MB are kept of conversations" in said
    yard.paddock("message", "t1", play(write("b.txt"), commit("Add b")))
    yard.run(code=0)
    assert yard.attempt().new_conversation == "what was kept of the previous one is gone"
    assert yard.attempt().outcome == "delivered"


def test_the_setup_command_is_run_like_the_agents_whose_work_it_may_run(make_yard: MakeYard) -> None:
    """An attempt that goes on with a branch is set up with what an earlier one committed there."""
    need_bubblewrap()
    yard = furnished(make_yard, PADDOCK_WORKTREES_SETUP="test ! -e setup.sh || sh ./setup.sh", SECRET="canary")
    yard.env |= {"NPM_TOKEN": "for-setup", "PADDOCK_WORKTREES_SETUP_ENV": "NPM_TOKEN"}
    script = str(look(yard, "setup")["run"][2])  # type: ignore[index]
    evil = f"{script}\nenv >'{yard.folder}/out/env'\n(setsid sleep 600 &)\necho done >built\nexit 0\n"
    yard.add(write("setup.sh", evil), write("package.json", "{}"), commit("Plant"))
    yard.run(code=0)
    yard.paddock("message", "t1", play(write("b.txt"), commit("Add b")))
    yard.run(code=0)
    assert yard.attempt().outcome == "delivered"
    told = seen(yard, "setup")
    assert not [line for line in told if line.startswith(("sees", "lacks"))], told
    assert not list(yard.folder.rglob("planted"))
    env = seen(yard, "env")
    assert "NPM_TOKEN=for-setup" in env
    assert not [line for line in env if "canary" in line]
    yard.assert_nothing_is_left()


def test_a_setup_command_that_fails_in_the_fence_says_how(make_yard: MakeYard) -> None:
    need_bubblewrap()
    yard = furnished(make_yard, PADDOCK_WORKTREES_SETUP="echo no compiler; exit 7", PADDOCK_LIMITS_ATTEMPTS="1")
    yard.add(write("a.txt"), commit("Add a"))
    yard.run(code=1)
    assert "the setup command failed (exit 7)" in yard.attempt().reason
    assert "no compiler" in yard.paddock("tail", "t1")


def test_ci_is_fenced_too_and_at_a_level_of_its_own(make_yard: MakeYard) -> None:
    need_bubblewrap()
    lines = "cat HOME/notes TOP/.git/paddock/log.db >/dev/null 2>&1 && exit 1; sed 1,2d /proc/net/dev | wc -l >OUT/ci"
    yard = furnished(make_yard, PADDOCK_LAND_APPROVAL="none", PADDOCK_LAND_FENCE="files+network")
    places = {"HOME": yard.folder / "home", "TOP": yard.top, "OUT": yard.folder / "out"}
    for name, path in places.items():
        lines = lines.replace(name, str(path))
    yard.env["PADDOCK_LAND_CI"] = lines
    yard.add(write("a.txt"), commit("Add a"))
    yard.run(code=0)
    assert yard.task().phase is Phase.LANDED
    assert seen(yard, "ci") == ["1"], "the loopback interface is the only one"


def test_an_agents_own_level_wins_and_every_turn_notes_its_own(make_yard: MakeYard) -> None:
    need_bubblewrap()
    yard = furnished(make_yard)
    config = yard.top / "paddock.toml"
    config.write_text(f'{config.read_text()}[agents.free]\nfence = "none"\n')
    (yard.top / ".paddock/agents").mkdir(parents=True)
    (yard.top / ".paddock/agents/alone.md").write_text("---\nfence: files+network\n---\nWork alone.\n")
    for agent in ("free", "alone"):
        yard.add(look(yard, agent), write("a.txt"), commit("Add a"), agent=agent)
    yard.run(code=0)
    levels = {
        str(record.task): record.event.fence
        for record in yard.records(TurnStarted)
        if isinstance(record.event, TurnStarted)
    }
    assert levels == {"t1": "none", "t2": "files+network"}
    assert f"sees {yard.folder}/home/.ssh/id" in seen(yard, "free")
    assert not [line for line in seen(yard, "alone") if line.startswith("sees")]


def test_where_a_level_asked_for_cannot_be_had_nothing_starts(make_yard: MakeYard) -> None:
    yard = furnished(make_yard, PADDOCK_FENCE_LEVEL="files")
    yard.add(write("a.txt"), commit("Add a"))
    env = without_bubblewrap(yard)
    for command in ("run", "up"):
        said = yard.paddock(command, code=1, env=env)
        assert "the fence `files` cannot be had on this machine: bubblewrap is not installed" in said
        assert "install" in said
    assert yard.task().attempts == ()


def test_auto_works_without_a_fence_and_says_so(make_yard: MakeYard) -> None:
    yard = furnished(make_yard)
    gate = yard.folder / "out/gate"
    yard.add({"wait_for": str(gate)}, write("a.txt"), commit("Add a"))
    env = without_bubblewrap(yard)
    fleet = yard.start("run", "--until-idle", env=env)
    yard.await_board(lambda board: board.live, "an attempt")
    assert "no fence (bubblewrap is not installed)" in yard.paddock("status")
    note = json.loads(yard.paddock("status", "--json"))["fence"]
    assert (note["agents"], note["ci"], note["why"]) == ("none", "none", "bubblewrap is not installed")
    assert "install" in note["cure"]
    doctor = yard.paddock("doctor", env=env)
    assert "agents and CI work without one: bubblewrap is not installed" in doctor
    gate.touch()
    assert fleet.wait() == 0, fleet.words
    assert yard.attempt().fence == "none"


@pytest.mark.parametrize("key", ["read", "write"])
def test_a_path_that_depends_on_where_one_stands_is_refused(make_yard: MakeYard, key: str) -> None:
    yard = make_yard(**{f"PADDOCK_FENCE_{key.upper()}": "cache/pip"})
    yard.add(write("a.txt"), commit("Add a"))
    said = yard.paddock("run", code=2)
    assert f"`cache/pip` in `{key}` of [fence] is neither absolute nor begins with `~`" in said


def test_a_model_is_not_called_for_where_it_cannot_be_reached(make_yard: MakeYard) -> None:
    need_bubblewrap()
    yard = make_yard(PADDOCK_FENCE_LEVEL="files+network")
    config = yard.top / "paddock.toml"
    config.write_text(f'{config.read_text()}[engines.far]\ncommand = ["true"]\nformat = "claude-stream"\n')
    yard.add(write("a.txt"), engine="far", attempts=1)
    yard.run(code=1)
    assert "engine `far` cannot reach its model: the fence `files+network` has no network" in yard.attempt().problem


def test_a_script_of_an_agents_does_not_widen_the_fence_of_whoever_runs_it(make_yard: MakeYard) -> None:
    """What a program leads to is shown with it, but not where an agent has written where it leads."""
    need_bubblewrap()
    yard = furnished(make_yard)
    private = yard.folder / "home" / ".ssh" / "private"
    private.write_text("#!/bin/sh\necho reached\n")
    private.chmod(0o755)
    script: Step = {"run": ["sh", "-c", f"echo '#!{private}' > look.sh; chmod +x look.sh"]}
    yard.add(script, {"run": ["git", "add", "look.sh"]}, commit("Add a script"))
    yard.run(code=0)
    own = yard.top / "look.sh"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    said = yard.paddock("exec", "t1", "--", "./look.sh", code=1)
    assert "reached" not in said
