"""The one way in for every edge: what it opens, what it refuses, and whom it tells."""

import shutil
from pathlib import Path

import pytest

from paddock.core.errors import Misuse
from paddock.core.events import TaskAdded
from paddock.core.intent.tasks import Batch, TaskSpec, add_tasks
from paddock.fleet.outlook import look_around
from paddock.fleet.service.presence import Presence
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.store.location import log_of, open_store
from paddock.store.protocol import LogUnusable, Query
from paddock.views.notices import find_notices
from tests.cli.conftest import git


@pytest.fixture
def top(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "-b", "main", "repo")
    git(tmp_path / "repo", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "First")
    (tmp_path / "repo" / "paddock.toml").write_text(
        'engine = "sh"\n[engines.sh]\ncommand = ["true"]\n[agents.writer]\nengine = "sh"\nkinds = ["docs"]\n'
    )
    return tmp_path / "repo"


@pytest.fixture
def workspace(top: Path) -> Workspace:
    repo = discover(top)
    open_store(log_of(repo), create=True).close()
    return Workspace(repo)


def test_a_repository_without_a_log_is_refused_with_what_to_run(top: Path) -> None:
    with pytest.raises(LogUnusable) as refused:
        Workspace(discover(top)).board()
    assert refused.value.hint is not None
    assert "paddock init" in refused.value.hint


def test_settings_of_a_call_win_over_the_file_and_a_slip_in_one_is_misuse(workspace: Workspace) -> None:
    assert Workspace(workspace.repo, ("limits.attempts=7",)).config.limits.attempts == 7
    with pytest.raises(Misuse, match="is not KEY=VALUE"):
        Workspace(workspace.repo, ("limits.attempts",)).load()


def test_any_edge_asks_with_an_intent_and_reads_what_came_of_it(workspace: Workspace) -> None:
    batch = Batch((TaskSpec("write the manual", kind="docs"),))
    [added] = workspace.record(lambda board: add_tasks(board, batch, workspace.known))
    assert added.task is not None
    assert workspace.board().task(added.task).agent == "writer"
    assert [record.seq for record in workspace.records(Query(kind=TaskAdded.kind))] == [added.seq]


def test_one_log_has_one_site_and_a_copy_of_it_another(workspace: Workspace, tmp_path: Path) -> None:
    again = Workspace(workspace.repo)
    assert workspace.site is workspace.site
    assert again.site.marker == workspace.site.marker
    git(tmp_path, "clone", "--quiet", "repo", "copy")
    copy = Workspace(discover(tmp_path / "copy"))
    shutil.copytree(workspace.state_dir, copy.state_dir)
    assert copy.site.marker != workspace.site.marker


def test_a_repository_where_nothing_is_wrong_has_nothing_to_tell(workspace: Workspace) -> None:
    board = workspace.board()
    outlook = look_around(workspace, board, 0.0)
    assert outlook.daemon.presence is Presence.NONE
    assert find_notices(board, outlook) == []
