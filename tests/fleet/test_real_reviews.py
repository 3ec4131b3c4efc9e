"""The real claude works, the real codex reviews: a planted defect is found, and fixed in the same conversation."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.core.review.events import FindingReported, FindingSettled, ReviewGiven, ReviewSentBack
from paddock.core.tasks.vocabulary import Role
from tests.engines.real.agents import seed_home
from tests.engines.real.fixtures import engine_table, mock_model, provider_of, real_cli
from tests.fleet.conftest import MakeYard
from tests.fleet.test_real_conversations import DONE, SETTINGS
from tests.fleet.test_review_loop import events
from tests.mockmodel import MockModel, play

__all__ = ["mock_model", "real_cli"]

pytestmark = [pytest.mark.xdist_group("real-engines"), pytest.mark.engine("claude"), pytest.mark.engine("codex")]

# What the reviewer runs with its own tools. What its finding suggests is what the worker's model will do about it.
LOOK = """
import json, os, subprocess
head = subprocess.run(("git", "rev-parse", "HEAD"), capture_output=True, text=True).stdout.strip()
lines = open("a.py").read().splitlines()
bad = [number for number, line in enumerate(lines, 1) if "BUG" in line]
found = [{"path": "a.py", "line": n, "severity": "error", "claim": "a bug", "suggestion": %r} for n in bad]
earlier = [] if bad else [{"id": "f1", "now": "fixed", "why": "it is gone"}]
with open(os.environ["PADDOCK_ANSWER"], "w") as file:
    json.dump({"head": head, "summary": "looked at it", "findings": found, "earlier": earlier}, file)
"""


def write_a(content: str, message: str) -> dict[str, object]:
    return {"commit": {"path": "a.py", "content": content, "message": message}}


def test_one_engine_works_and_another_reviews(
    make_yard: MakeYard, mock_model: MockModel, real_cli: Callable[[str], Path]
) -> None:
    names = ("claude", "codex")
    providers = {key: value for name in names for key, value in provider_of(name, mock_model.base_url)}
    yard = make_yard(**SETTINGS, **providers)
    seed_home(Path(yard.env["HOME"]))
    look = yard.folder / "look.py"
    look.write_text(LOOK % play(write_a("one\n", "Fix a"), DONE))
    briefs = {
        "coder": play(write_a("one\nBUG\n", "Add a"), DONE),
        "critic": play({"shell": f"{sys.executable} {look}"}, {"text": "My answer is in the file."}),
    }
    tables = [engine_table(name, real_cli(name), mock_model.base_url, yard.folder) for name in names]
    agents = [
        f'[agents.coder]\nengine = "claude"\nbrief = {json.dumps(briefs["coder"])}',
        f'[agents.critic]\nrole = "reviewer"\nengine = "codex"\nbrief = {json.dumps(briefs["critic"])}',
    ]
    policy = '[land]\napproval = "review"\nci = "true"'
    (yard.top / "paddock.toml").write_text("\n".join(('engine = "claude"', policy, *tables, *agents)))
    yard.git("commit", "-qam", "Configure")
    yard.add_all([{"brief": "Write a.", "title": "Real work", "agent": "coder"}])
    yard.run(code=0)

    task = yard.task()
    assert [(one.role, one.engine, one.outcome) for one in task.attempts] == [
        (Role.WORK, "claude", "delivered"),
        (Role.REVIEW, "codex", "answered"),
        (Role.WORK, "claude", "delivered"),
        (Role.REVIEW, "codex", "answered"),
    ], yard.paddock("log")
    assert task.attempts[2].session == task.attempts[0].session
    [found] = events(yard, FindingReported)
    assert (found.claim.path, found.claim.line, found.blocking) == ("a.py", 2, True)
    assert [one.findings for one in events(yard, ReviewSentBack)] == [("f1",)]
    assert [(one.id, one.how, one.by) for one in events(yard, FindingSettled)] == [("f1", "fixed", "critic")]
    assert [one.objects for one in events(yard, ReviewGiven)] == [True, False]
    assert (task.phase, yard.git("show", "main:a.py")) == ("landed", "one")
    yard.assert_nothing_is_left()
