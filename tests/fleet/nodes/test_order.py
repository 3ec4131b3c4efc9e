"""What a node is told: all that configures the fleet, and nothing secret."""

from pathlib import Path

import msgspec
import pytest

from paddock import __version__
from paddock.core.errors import PaddockError
from paddock.fleet.nodes.order import MOST_BYTES, NodeOrder, order_for, require_same_version
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from tests.fleet.conftest import MakeYard

SECRET = "s3cret"


@pytest.fixture
def workspace(make_yard: MakeYard, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    top = make_yard().top
    agents = top / ".paddock" / "agents"
    agents.mkdir(parents=True)
    (agents / "fixer.md").write_text("---\nname: fixer\n---\nFix it.\n")
    monkeypatch.setenv("PADDOCK_LIMITS_ATTEMPTS", "7")
    monkeypatch.setenv("PADDOCK_NOTIFY_URLS", f"json://{SECRET}")
    return Workspace(discover(top), ("engine=scripted", f"land.env=TOKEN={SECRET}"))


def test_a_node_is_told_what_configures_the_fleet_and_nothing_secret(workspace: Workspace) -> None:
    order = order_for(workspace, "/srv/origin.git")
    assert set(order.files) == {"paddock.toml", ".paddock/agents/fixer.md"}
    assert order.settings == ("engine=scripted",)
    assert order.environment == {"PADDOCK_LIMITS_ATTEMPTS": "7"}
    assert SECRET.encode() not in msgspec.json.encode(order)
    assert msgspec.json.decode(msgspec.json.encode(order), type=NodeOrder) == order


def test_more_than_a_node_can_be_sent_is_refused(workspace: Workspace) -> None:
    brief = "---\nname: part{number}\n---\n" + "x" * 200_000
    for number in range(MOST_BYTES // 200_000 + 1):
        Path(workspace.top, f".paddock/agents/part{number}.md").write_text(brief.format(number=number))
    with pytest.raises(PaddockError, match=r"nodes are sent 8,388,608 at most"):
        order_for(workspace, "/srv/origin.git")


def test_a_node_of_another_version_says_what_to_install(workspace: Workspace) -> None:
    order = msgspec.structs.replace(order_for(workspace, ""), version="9.9.9")
    with pytest.raises(PaddockError) as refused:
        require_same_version(order)
    assert f"this node has Paddock {__version__}, and the daemon has 9.9.9" in refused.value.message
    assert "paddock[ray,postgres]==9.9.9" in (refused.value.hint or "")
