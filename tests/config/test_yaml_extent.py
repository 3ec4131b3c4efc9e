"""A few lines of YAML may stand for more than any machine holds: no file is read that does."""

from collections.abc import Callable

import pytest

from paddock.config.front_matter import read_front_matter
from paddock.config.taskfile import parse_task_file
from paddock.config.workflows import WorkflowFile, parse_workflow
from paddock.core.errors import Misuse


def levels(first: str, before: str, after: str) -> str:
    """Each level has nine of the one below it."""
    lines = [f"a{n}: &a{n} {before}{', '.join([f'*a{n - 1}'] * 9)}{after}" for n in range(1, 30)]
    return "\n".join([f"a0: &a0 {first}", *lines, ""])


BOMBS = {
    "lists": levels("[x]", "[", "]"),
    "merges": levels("{x: 1}", "{<<: [", "]}"),
    "keys": levels("[x]", "[", "]") + "? *a29\n: 1\n",
    "itself": "a: &a\n  b: *a\n",
}
READERS: dict[str, Callable[[str], object]] = {
    "front matter": lambda text: read_front_matter(f"---\n{text}---\nx", "x.md"),
    "task file": lambda text: parse_task_file(text, "x.yaml"),
    "workflow": lambda text: parse_workflow(WorkflowFile("x", "x.yaml", text)),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_what_would_not_fit_is_refused(read: Callable[[str], object], bomb: str) -> None:
    with pytest.raises(Misuse, match=r"too large|too much|refers? to"):
        read(bomb)


def test_what_is_told_twice_may_be_written_once() -> None:
    text = "tasks:\n- &one {title: a, brief: b, paths: &p [src]}\n- {<<: *one, title: c, paths: *p}\n"
    assert [spec.title for spec in parse_task_file(text, "x.yaml").tasks] == ["a", "c"]
    assert read_front_matter("---\nowns: &o [a]\nkinds: *o\n---\nx", "x.md").values["kinds"] == ["a"]
