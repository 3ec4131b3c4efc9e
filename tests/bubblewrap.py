"""For tests that need a fence: skipped with the reason where this machine cannot make one."""

import pytest

from paddock.sessions.bubblewrap import fencing_ability


def need_bubblewrap() -> None:
    ability = fencing_ability()
    if ability.problem:
        pytest.skip(f"{ability.problem}: {ability.cure}")
