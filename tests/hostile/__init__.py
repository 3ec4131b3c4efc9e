import pytest

pytest.register_assert_rewrite("tests.hostile.ground", "tests.hostile.siege", "tests.hostile.promises")
