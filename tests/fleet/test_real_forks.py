"""The real claude and codex fork a conversation: the copy knows the other task, which never hears of the copy."""

import pytest

from tests.fleet.test_real_conversations import DONE, Stage, add_file, mock_model, real_cli, stage
from tests.mockmodel import play

__all__ = ["mock_model", "real_cli", "stage"]

pytestmark = pytest.mark.xdist_group("real-engines")


CASES = (("claude", "files"), ("codex", "none"), ("claude", "none"), ("codex", "files"))


@pytest.mark.parametrize(
    ("stage", "fence"),
    [
        pytest.param(name, fence, marks=[pytest.mark.engine(name), *([pytest.mark.slow] if place > 1 else [])])
        for place, (name, fence) in enumerate(CASES)
    ],
    indirect=["stage"],
)
def test_a_fork_goes_on_with_a_copy_of_the_conversation(stage: Stage, fence: str) -> None:
    yard = stage.yard
    yard.env["PADDOCK_FENCE_LEVEL"] = fence
    yard.add_all([{"brief": f"Add the first file. {play(add_file('a'), DONE)}", "title": "Real work"}])
    yard.run(code=0)
    yard.paddock("fork", "t1", f"Now a second one. {play(add_file('b'), DONE)}")
    yard.run(code=0)
    origin, forked = yard.attempt("t1"), yard.attempt("t2")
    assert (forked.outcome, forked.new_conversation, forked.fence) == ("delivered", "", fence)
    assert forked.session not in (None, origin.session)
    assert forked.worktree != origin.worktree
    assert stage.subjects("t2") == ["Add b", "Add a"]
    told = "\n".join(stage.model.exchanges[-1].user_texts)
    assert "Add the first file." in told
    assert "You have worked on task t1 so far: Real work." in told

    yard.paddock("message", "t1", f"And a third one. {play(add_file('c'), DONE)}")
    yard.run(code=0)
    assert stage.subjects("t1") == ["Add c", "Add a"]
    assert yard.attempt("t1").session == origin.session
    told = "\n".join(stage.model.exchanges[-1].user_texts)
    assert "Add the first file." in told
    assert "Now a second one." not in told, "the other task never hears of its fork"

    yard.paddock("message", "t2", f"And a fourth one. {play(add_file('d'), DONE)}")
    yard.run(code=0)
    assert (stage.subjects("t2")[0], yard.attempt("t2").session) == ("Add d", forked.session)
    assert "Now a second one." in "\n".join(stage.model.exchanges[-1].user_texts)
    yard.assert_nothing_is_left()
