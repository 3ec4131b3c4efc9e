"""A task's paths are a fence: what was changed outside them is seen by the judge, and may be sent back."""

from tests.fleet.yard import Yard, commit, write

REJECT = {"PADDOCK_LAND_OUTSIDE_PATHS": "reject"}

STUBBORN = """
[engines.stubborn]
command = ["bash", "-c", "cat {prompt_file} >> %s && date +%%N > c.txt && git add c.txt && git commit -qm Work"]
"""


def test_a_change_outside_its_paths_is_told_and_all_its_files_are_named(yard: Yard) -> None:
    """A rename is a file less here and one more there, a link is the link, and letters count as they are written."""
    steps = (
        {"run": ["mkdir", "-p", "src", "LIB"]},
        write("src/a.py"),
        write("LIB/b.py"),
        {"run": ["git", "mv", "README.md", "src/README.md"]},
        {"run": ["ln", "-s", "src", "link"]},
        commit(),
        write("left.txt"),
    )
    yard.add(*steps, paths=["src/**", "lib/**"])
    yard.add(write("anywhere.txt"), commit())
    yard.run()
    ended = yard.task("t1").attempts[-1]
    assert (ended.outcome, ended.outside) == ("unsaved", ("LIB/b.py", "README.md", "left.txt", "link"))
    assert "changed 4 files outside its paths: LIB/b.py, README.md, left.txt, link" in ended.reason
    assert yard.task("t2").attempts[-1].outside == ()


def test_what_strayed_is_put_back_in_the_same_conversation_or_fails_in_the_end(yard: Yard) -> None:
    fixes = yard.add(
        write("a.txt"),
        write("b.txt"),
        commit(),
        {"delete": "b.txt", "turn": 2},
        {**commit("Put back"), "turn": 2},
        paths=["a.txt"],
    )
    prompts = yard.folder / "prompts"
    with (yard.top / "paddock.toml").open("a") as file:
        file.write(STUBBORN % prompts)
    (stays,) = yard.add_all([{"brief": "Do it.", "engine": "stubborn", "paths": ["a.txt"], "attempts": 2}])
    yard.run(env=REJECT)
    first, second = yard.task(fixes).attempts
    assert (first.outcome, first.counted, first.outside) == ("strayed", True, ("b.txt",))
    assert (second.outcome, second.outside, second.continues) == ("delivered", (), first.id)
    assert second.session == first.session
    task = yard.task(stays)
    assert (task.phase, [one.outcome for one in task.attempts]) == ("failed", ["strayed", "strayed"])
    assert task.reason.startswith("it changed 1 file outside its paths: c.txt")
    first_told, _, then_told = prompts.read_text().partition("# Now")
    assert "outside your paths:" not in first_told
    assert (
        f"outside your paths:\n- c.txt\nPut each of them back as it was (`git checkout {task.attempts[0].base[:12]} --"
        in (then_told)
    )
