"""What a commit can hold reaches main through the daemon exactly as it was written."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import TEN_LINES, Farm

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"


class Clone:
    """A person's own clone, from which branches come."""

    def __init__(self, farm: Farm, place: Path) -> None:
        self.farm, self.top = farm, place
        farm.yard.git("clone", "-q", str(farm.top), str(place))

    def git(self, *words: str) -> str:
        argv = ("git", "-c", "protocol.file.allow=always", *words)
        ended = subprocess.run(
            argv, cwd=self.top, env=self.farm.yard.env, check=True, capture_output=True, text=True, timeout=60
        )
        return ended.stdout.strip()

    def publish(self, name: str, message: str = "Odd things") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        self.git("push", "-q", "origin", f"HEAD:refs/heads/{name}")
        head = self.git("rev-parse", "HEAD")
        self.git("switch", "-q", "-C", "work", "origin/main")
        return head


@pytest.mark.parametrize("policy", ["merge", "rebase"])
def test_every_kind_of_content_lands_byte_for_byte(make_farm: MakeFarm, tmp_path: Path, policy: str) -> None:
    farm = make_farm(policy=policy)
    clone = Clone(farm, tmp_path / "clone")
    (clone.top / "link").symlink_to("ten.txt")
    (clone.top / "broken-link").symlink_to("no/such/file")
    (clone.top / "binary").write_bytes(bytes(range(256)) * 40)
    (clone.top / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    (clone.top / "pointer.bin").write_text(POINTER)
    (clone.top / ".gitattributes").write_text("pointer.bin filter=lfs diff=lfs merge=lfs -text\n")
    (clone.top / "run.sh").write_text("#!/bin/sh\n")
    os.chmod(clone.top / "run.sh", 0o755)
    (clone.top / "näme with ✓ and space").write_text("x\n")
    kinds = clone.publish("kinds")
    clone.git("mv", "ten.txt", "moved.txt")
    clone.git("mv", "README.md", "Readme.md")
    moved = clone.publish("renames")
    clone.git("submodule", "--quiet", "add", str(farm.top), "sub")
    with_sub = clone.publish("submodule")
    farm.land("kinds", "renames", "submodule")

    farm.yard.run(code=0)

    assert farm.outcomes() == dict.fromkeys(("kinds", "renames", "submodule"), "landed")
    main = tree_of(farm, "main")
    first = tree_of(farm, farm.first)
    for head in (kinds, moved, with_sub):
        theirs = tree_of(farm, head)
        for path in theirs:
            if theirs[path] != first.get(path):
                assert main[path] == theirs[path], path
    assert not {"ten.txt", "README.md"} & set(main)
    farm.assert_green()
    farm.assert_at_rest()


def tree_of(farm: Farm, commit: str) -> dict[str, str]:
    rows = farm.yard.git("ls-tree", "-r", "-z", commit).split("\0")
    return {row.split("\t", 1)[1]: row.split("\t", 1)[0] for row in rows if row}


def test_a_change_to_a_file_that_main_has_renamed_follows_it(farm: Farm, tmp_path: Path) -> None:
    clone = Clone(farm, tmp_path / "clone")
    clone.git("mv", "ten.txt", "moved.txt")
    clone.publish("rename")
    farm.branch("edit", {"ten.txt": TEN_LINES.replace("line 5", "line five")})
    farm.land("rename")
    farm.yard.run(code=0)
    farm.land("edit")
    farm.yard.run(code=0)
    assert farm.outcomes() == {"rename": "landed", "edit": "landed"}
    assert "line five" in farm.yard.git("show", "main:moved.txt")
    farm.assert_green()


def test_a_branch_with_merges_of_main_inside_and_one_with_empty_commits(farm: Farm, tmp_path: Path) -> None:
    clone = Clone(farm, tmp_path / "clone")
    farm.push({"by-hand": "x\n"})
    (clone.top / "parts").mkdir()
    (clone.top / "parts" / "a").write_text("good\n")
    clone.git("add", "-A")
    clone.git("commit", "-q", "-m", "Add a")
    clone.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    clone.publish("merged", "Nothing more")
    clone.publish("empty", "Nothing at all")
    farm.land("merged", "empty")
    farm.yard.run(code=0)
    assert farm.outcomes() == {"merged": "landed", "empty": "noop"}
    assert farm.yard.git("show", "main:parts/a") == "good"


def test_files_whose_names_are_not_utf8_land_and_conflict_like_others(farm: Farm) -> None:
    name = os.fsdecode(b"parts/caf\xe9")
    farm.branch("one", {name: "good\n"})
    farm.branch("two", {name: "better\n"})
    farm.land("one", "two")
    farm.yard.run()
    assert sorted(farm.outcomes().values()) == ["conflicted", "landed"]
    [conflicted] = [old for old in farm.queue.decided if old.outcome.value == "conflicted"]
    assert conflicted.paths == ("parts/caf\N{REPLACEMENT CHARACTER}",)
    farm.assert_green()
