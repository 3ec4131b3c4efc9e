import pytest

from paddock.core.errors import PaddockError
from paddock.core.fence import AUTO, Ability, InForce, Level, level_in_force

ABLE = Ability()
UNABLE = Ability("bubblewrap is not installed", "install it: `apt-get install bubblewrap`")


@pytest.mark.parametrize(
    ("wanted", "level"),
    [(AUTO, Level.FILES), ("none", Level.NONE), ("files", Level.FILES), ("files+network", Level.FILES_AND_NETWORK)],
)
def test_a_machine_that_can_fence_gives_what_is_asked_for(wanted: str, level: Level) -> None:
    assert level_in_force(wanted, ABLE) == InForce(level)


def test_auto_works_without_a_fence_and_says_why() -> None:
    found = level_in_force(AUTO, UNABLE)
    assert (found.level, found.why, found.cure) == (Level.NONE, UNABLE.problem, UNABLE.cure)
    assert found.is_weaker


def test_no_fence_is_no_weaker_than_asked_for_where_none_was_asked_for() -> None:
    assert not level_in_force("none", UNABLE).is_weaker


@pytest.mark.parametrize("wanted", ["files", "files+network"])
def test_a_level_asked_for_by_name_is_never_quietly_given_up(wanted: str) -> None:
    with pytest.raises(PaddockError, match="cannot be had on this machine: bubblewrap is not installed") as refused:
        level_in_force(wanted, UNABLE)
    assert "apt-get install bubblewrap" in (refused.value.hint or "")
