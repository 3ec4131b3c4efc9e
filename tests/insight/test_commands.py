"""What a shell command does, by its name and its first words, whatever is put before it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.insight.commands import activity_of_shell


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q tests/a.py",
        "cd app && FOO=1 timeout 60 python3.12 -m pytest -x 2>&1 | tail -5",
        "uv run --with rich pytest",
        "python manage.py test shop",
        "./manage.py test shop",
        "bin/test",
        "./gradlew :app:test",
        "go test ./...",
        "cargo nextest run",
        "npm run test:unit",
        "pnpm test",
        "npx playwright test --project webkit",
        "ng test",
        "mise run test",
        "mise r test",
        "mise exec -- go test ./...",
        "turbo run test --filter web",
        "make check",
        "bash -lc 'cd x && make test'",
        "docker compose exec web pytest",
        "terraform test",
    ],
)
def test_tests_are_seen_however_they_are_started(command: str) -> None:
    assert activity_of_shell(command).symbol == "TEST"


@pytest.mark.parametrize(
    ("command", "symbol"),
    [
        ("psql test", "RUN"),
        ("echo test", "RUN"),
        ("[ -f test ]", "OTHER"),
        ("mkdir test", "FS"),
        ("mise install", "BUILD"),
        ("mise run lint", "BUILD"),
        ("turbo build", "BUILD"),
        ("playwright install", "RUN"),
        ("./manage.py migrate", "RUN"),
        ("brew install test", "BUILD"),
        ("cargo check", "BUILD"),
        ("git status", "GIT_READ"),
        ("git commit -m 'Add test'", "GIT_WRITE"),
        ("cat tests/a.py", "READ:test"),
        ("sed -i s/a/b/ src/a.py", "EDIT:src"),
        ("grep -rn test src", "SEARCH"),
    ],
)
def test_the_word_test_alone_is_no_test(command: str, symbol: str) -> None:
    assert activity_of_shell(command).symbol == symbol


@given(st.text(max_size=300))
def test_any_text_has_one_activity(text: str) -> None:
    assert activity_of_shell(text).symbol
