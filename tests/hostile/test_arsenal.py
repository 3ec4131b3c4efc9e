"""The attacks as data: enough of them, each with a name of its own, and what the docs say of them is what they say."""

from collections import Counter

from paddock.core.fence import Level
from tests.hostile.arsenal import ALL
from tests.hostile.attack import Kind
from tests.hostile.holes import HOLES
from tests.hostile.table import PAGE, replace_table

FEWEST = 80


def test_there_are_enough_attacks_of_every_kind_and_no_two_are_the_same() -> None:
    assert len(ALL) >= FEWEST
    assert {attack.kind for attack in ALL} == set(Kind)
    assert [name for name, count in Counter(attack.name for attack in ALL).items() if count > 1] == []
    assert [what for what, count in Counter(attack.what for attack in ALL).items() if count > 1] == []


def test_every_known_hole_is_that_of_an_attack() -> None:
    names = {name.partition("@")[0] for names in HOLES.values() for name in names}
    assert names <= {attack.name for attack in ALL}


def test_a_higher_level_stops_whatever_a_lower_one_stops() -> None:
    for attack in ALL:
        gaps = [attack.gaps_at(level) for level in Level]
        assert gaps[0] >= gaps[1] >= gaps[2], attack.name


def test_the_page_on_security_says_what_the_attacks_say() -> None:
    page = PAGE.read_text()
    assert replace_table(page) == page, "run `make security-table`"
