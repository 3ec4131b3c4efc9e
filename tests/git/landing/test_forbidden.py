"""What must not reach main is refused before it is held, wherever in the history of a change it is."""

import subprocess
from collections.abc import Mapping

import pytest

from paddock.core.merge.model import RefusalCause
from paddock.git.landing.audit import Move, audit
from paddock.git.landing.compose import Policy
from paddock.git.landing.forbidden import forbidden_paths
from paddock.git.landing.held import NotHeld, hold_change
from paddock.git.landing.messages import NamedMember
from tests.git.conftest import commit, git
from tests.git.landing.lab import Lab, part

Entry = tuple[str, str]


def blob(lab: Lab, text: str) -> str:
    argv = ("git", "-C", str(lab.top), "hash-object", "-w", "--stdin")
    return subprocess.run(argv, input=text, text=True, check=True, capture_output=True, timeout=60).stdout.strip()


def tree(lab: Lab, entries: Mapping[str, Entry]) -> str:
    """A tree with any name in it that its format can hold; `entries` are mode and object by name."""
    kinds = {"040000": "tree", "160000": "commit"}
    rows = "".join(f"{mode} {kinds.get(mode, 'blob')} {sha}\t{name}\0" for name, (mode, sha) in entries.items())
    argv = ("git", "-C", str(lab.top), "mktree", "-z", "--missing")
    ended = subprocess.run(
        argv, input=rows.encode("utf-8", "surrogateescape"), check=True, capture_output=True, timeout=60
    )
    return ended.stdout.decode().strip()


def on_top(lab: Lab, parent: str, extra: Mapping[str, Entry], *parents: str) -> str:
    """A commit whose tree is its parent's with these entries at the top."""
    rows = git(lab.top, "ls-tree", "-z", parent).split("\0")
    had = {
        name: (facts.split(" ")[0], facts.split(" ")[2]) for row in rows if row for facts, name in [row.split("\t", 1)]
    }
    made = tree(lab, {**had, **extra})
    words = [word for one in (parent, *parents) for word in ("-p", one)]
    return git(lab.top, "commit-tree", made, *words, "-m", "hostile")


def refused(lab: Lab, head: str) -> str:
    held = hold_change(lab.repo, part("t1", head).member, lab.main)
    assert isinstance(held, NotHeld), held
    assert not lab.repo.refs("refs/paddock/changes")
    return held.reason


@pytest.mark.parametrize("name", [".git", ".GIT", ".git ", "git~1", ".g\u200cit", "..", ".", ".git::$INDEX_ALLOCATION"])
def test_a_folder_that_git_or_a_file_system_reads_as_another_is_refused(lab: Lab, name: str) -> None:
    inner = tree(lab, {"config": ("100644", blob(lab, "[core]\n"))})
    head = on_top(lab, lab.main, {name: ("040000", inner)})
    assert "must not reach main" in refused(lab, head)


@pytest.mark.parametrize("name", ["..\\evil", "C:\\evil", "a\\..\\..\\evil", ".git\\config"])
def test_a_name_that_leads_out_of_the_tree_on_windows_is_refused(lab: Lab, name: str) -> None:
    assert "must not reach main" in refused(lab, on_top(lab, lab.main, {name: ("100644", blob(lab, "x"))}))


def test_a_name_that_came_and_went_is_refused(lab: Lab) -> None:
    inner = tree(lab, {"hook": ("100755", blob(lab, "#!/bin/sh\n"))})
    bad = on_top(lab, lab.main, {".git": ("040000", inner)})
    good = git(lab.top, "commit-tree", f"{lab.main}^{{tree}}", "-p", bad, "-m", "removed again")
    head = on_top(lab, good, {"fine": ("100644", blob(lab, "fine"))})
    assert bad[:10] in refused(lab, head)


def test_a_name_whose_content_main_has_elsewhere_is_refused(lab: Lab) -> None:
    """Listing objects would miss it: the very same folder is in main under an honest name."""
    folder = git(lab.top, "rev-parse", "main:src")
    assert ".git" in refused(lab, on_top(lab, lab.main, {".git": ("040000", folder)}))


def test_a_name_that_only_a_merge_brings_is_refused(lab: Lab) -> None:
    side = lab.branch("side", {"side.txt": "side\n"}).member.head
    own = lab.branch("own", {"own.txt": "own\n"}).member.head
    inner = tree(lab, {"x": ("100644", blob(lab, "x"))})
    head = on_top(lab, own, {"side.txt": ("100644", blob(lab, "side\n")), ".Git": ("040000", inner)}, side)
    assert ".Git" in refused(lab, head)


def test_what_a_merge_of_main_brings_is_not_the_change_of_the_branch(lab: Lab) -> None:
    """Somebody committed an odd name to main by hand; that is not held against whoever merges main."""
    own = lab.branch("own", {"own.txt": "own\n"}).member.head
    odd = on_top(lab, lab.main, {"c:odd": ("100644", blob(lab, "x"))})
    git(lab.top, "update-ref", "refs/heads/main", odd)
    head = on_top(lab, own, {"c:odd": ("100644", blob(lab, "x"))}, odd)
    assert forbidden_paths(lab.bench, head, lab.main) == ()


@pytest.mark.parametrize("other", ["readme.md", "Src/app.py", "SRC"])
def test_two_names_of_one_file_are_refused(lab: Lab, other: str) -> None:
    head = lab.branch("t1", {other: "x\n"}).member.head
    assert "are one file" in refused(lab, head)


def test_two_names_of_one_file_are_refused_although_one_is_gone_again(lab: Lab) -> None:
    both = lab.branch("t1", {"readme.md": "x\n"}).member.head
    head = lab.grow("t1", ("rm", "-q", "readme.md"), ("commit", "-qm", "gone"), start="t1").member.head
    assert both[:10] in refused(lab, head)


def test_two_names_that_only_a_merge_brings_together_are_refused(lab: Lab) -> None:
    lab.branch("t1", {"Notes.md": "x\n"})
    lab.on_main({"notes.md": "y\n"})
    head = lab.grow("t1", ("merge", "-q", "--no-edit", "main"), start="t1").member.head
    assert head[:10] in refused(lab, head)


def test_a_file_may_be_renamed_in_case_only(lab: Lab) -> None:
    head = lab.grow("t1", ("mv", "-f", "README.md", "readme.md"), ("commit", "-qm", "case")).member.head
    assert forbidden_paths(lab.bench, head, lab.main) == ()


def test_accents_composed_and_not_are_one_file(lab: Lab) -> None:
    lab.on_main({"caf\u00e9.txt": "x\n"})
    assert "are one file" in refused(lab, lab.branch("t1", {"cafe\u0301.txt": "y\n"}).member.head)


def test_names_that_clash_only_with_what_landed_meanwhile_are_a_conflict(lab: Lab) -> None:
    one = lab.branch("t1", {"Notes.md": "x\n"})
    lab.on_main({"notes.md": "y\n"})
    result = lab.refused(one)
    assert (result.cause, result.against) == (RefusalCause.CONFLICT, None)
    assert set(result.paths) == {"Notes.md", "notes.md"}


def test_two_changes_that_clash_only_with_each_other_name_the_other(lab: Lab) -> None:
    one, two = lab.branch("t1", {"Notes.md": "x\n"}), lab.branch("t2", {"notes.md": "y\n"})
    result = lab.refused(one, two)
    assert (result.member, result.cause, result.against) == (two.member, RefusalCause.CONFLICT, "t1")


MODULE = '[submodule "{name}"]\n\tpath = {path}\n\turl = {url}\n{more}'


def with_modules(lab: Lab, name: str = "lib", path: str = "lib", url: str = "../lib", more: str = "") -> NamedMember:
    return lab.branch("t1", {".gitmodules": MODULE.format(name=name, path=path, url=url, more=more)})


def test_an_ordinary_submodule_is_taken(lab: Lab) -> None:
    assert forbidden_paths(lab.bench, with_modules(lab).member.head, lab.main) == ()


@pytest.mark.parametrize(
    "trap",
    [
        {"url": "--upload-pack=touch${IFS}pwned"}, {"url": '"ext::sh -c evil"'}, {"path": "../outside"},
        {"path": "-x"}, {"path": ".git/modules"}, {"name": "../../evil"}, {"more": '\tupdate = "!touch pwned"\n'},
    ],
)  # fmt: skip
def test_a_submodule_that_is_a_trap_is_refused(lab: Lab, trap: Mapping[str, str]) -> None:
    assert "submodule" in refused(lab, with_modules(lab, **trap).member.head)


def test_the_list_of_submodules_may_not_be_a_link(lab: Lab) -> None:
    head = on_top(lab, lab.main, {".gitmodules": ("120000", blob(lab, "../elsewhere"))})
    assert "symbolic link" in refused(lab, head)


def test_what_main_has_already_is_not_held_against_a_change(lab: Lab) -> None:
    commit(lab.top, {"xt_TCP.h": "1\n", "xt_tcp.h": "2\n"}, "both, by hand")
    head = lab.branch("t1", {"xt_tcp.h": "3\n", "new": "x\n"}).member.head
    assert forbidden_paths(lab.bench, head, lab.main) == ()


def test_the_audit_refuses_what_was_not_refused_before(lab: Lab) -> None:
    inner = tree(lab, {"x": ("100644", blob(lab, "x"))})
    hidden = on_top(lab, lab.main, {".git": ("040000", inner)})
    head = on_top(
        lab,
        git(lab.top, "commit-tree", f"{lab.main}^{{tree}}", "-p", hidden, "-m", "hide"),
        {"a": ("100644", blob(lab, "a"))},
    )
    one = part("t1", head)
    built = lab.composed(one)
    move = Move("main", lab.main, built.commit, built.tree, (one.member,), Policy.MERGE)
    assert any("reads as `.git`" in problem for problem in audit(lab.bench, move))
