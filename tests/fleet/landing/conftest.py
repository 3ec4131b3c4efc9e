"""Fleets that land."""

from collections.abc import Callable

import pytest

from tests.fleet.conftest import MakeYard
from tests.fleet.landing.lab import CI, CI_SCRIPT, TEN_LINES, Farm, configuration

MakeFarm = Callable[..., Farm]


@pytest.fixture
def make_farm(make_yard: MakeYard) -> MakeFarm:
    """make_farm('keep_branches = false', policy="squash"): main is green and has a file of ten lines."""

    def make(
        land: str = "", *, name: str = "app", ci: str = CI, approval: str = "none", policy: str = "merge", **env: str
    ) -> Farm:
        yard = make_yard(name, **env)
        (yard.top / "paddock.toml").write_text(configuration(land, ci=ci, approval=approval, policy=policy))
        (yard.top / "ci.sh").write_text(CI_SCRIPT)
        (yard.top / "ten.txt").write_text(TEN_LINES)
        yard.git("add", "-A")
        yard.git("commit", "-q", "-m", "A project with tests")
        return Farm(yard, policy)

    return make


@pytest.fixture
def farm(make_farm: MakeFarm) -> Farm:
    return make_farm()
