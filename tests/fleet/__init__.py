import pytest

pytest.register_assert_rewrite("tests.fleet.yard", "tests.fleet.scenarios")
