"""Where each of several repositories is on one server."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.web.access import RequestHead
from paddock.web.addresses import name_places, root_of, split_address


@pytest.mark.parametrize(
    ("path", "name", "within"),
    [
        ("/", "", "/"), ("/queue", "", "/queue"), ("/r", "", "/r"), ("/r/", "", "/r/"), ("/r//queue", "", "/r//queue"),
        ("/r/api", "api", ""), ("/r/api/", "api", "/"), ("/r/api/tasks/t1", "api", "/tasks/t1"),
        ("/r/api/api/v1/status", "api", "/api/v1/status"), ("/r/a/r/b/", "a", "/r/b/"), ("/rest/x", "", "/rest/x"),
    ],
)  # fmt: skip
def test_an_address_names_its_repository_and_the_path_within(path: str, name: str, within: str) -> None:
    assert split_address(path) == (name, within)
    if name:
        assert f"{root_of(name)}{within}" == path


def test_data_of_a_repository_is_no_page_wherever_it_is() -> None:
    """A link of another site may open a page, and nothing else."""
    for root in ("", "/r/api"):
        for path in ("/api/v1/status", "/api/v1/events", "/metrics"):
            assert not RequestHead("GET", f"{root}{path}", "localhost").is_page
        assert RequestHead("GET", f"{root}/tasks/t1", "localhost").is_page


@pytest.mark.parametrize(
    ("places", "names"),
    [
        ([], []),
        (["/src/api", "/src/web"], ["api", "web"]),
        (["/src/api", "/old/api", "/src/web"], ["src-api", "old-api", "web"]),
        (["/a/x/api", "/b/x/api"], ["a-x-api", "b-x-api"]),
        (["/src/Api", "/old/api"], ["src-Api", "old-api"]),
        (["/src/api.git", "/src/my repo", "/src/äö"], ["api", "my-repo", "repository"]),
        (["/src/ü/x", "/src/ö/x"], ["src-x", "src-x-2"]),
        (["/"], ["repository"]),
    ],
)
def test_names_are_those_of_folders_told_apart_by_what_is_above_them(places: list[str], names: list[str]) -> None:
    assert name_places([Path(place) for place in places]) == names


@given(st.lists(st.lists(st.sampled_from(["a", "b", "A", "x y", "..", "-", "é", "r"]), max_size=4), max_size=6))
def test_no_two_repositories_have_the_same_address(parts: list[list[str]]) -> None:
    names = name_places([Path("/", *part) for part in parts])
    assert len({name.lower() for name in names}) == len(parts)
    assert all(split_address(f"{root_of(name)}/queue") == (name, "/queue") for name in names)
