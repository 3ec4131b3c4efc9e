"""Every kind of thing git can hold, landed under every policy, against what `git merge` makes of it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.core.merge.model import RefusalCause
from paddock.git.landing.audit import audit
from paddock.git.landing.compose import Policy
from paddock.git.landing.messages import NamedMember
from tests.git.conftest import commit, git
from tests.git.landing.lab import Lab, merged_in_a_worktree, part
from tests.git.landing.test_compose import poem

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n"
Case = Callable[[Lab], NamedMember]


def work(lab: Lab, change: Callable[[Path], object]) -> NamedMember:
    """A branch `t1` whose one commit is whatever `change` does to the working tree."""
    git(lab.top, "switch", "--quiet", "-c", "t1")
    change(lab.top)
    git(lab.top, "add", "--all")
    git(lab.top, "commit", "--quiet", "-m", "work")
    head = git(lab.top, "rev-parse", "HEAD")
    git(lab.top, "switch", "--quiet", "-f", "main")
    git(lab.top, "clean", "-ffdxq")
    return part("t1", head)


def submodule(lab: Lab) -> NamedMember:
    """A gitlink that is added on the branch; main has another that stays."""
    inner = lab.main
    git(lab.top, "update-index", "--add", "--cacheinfo", f"160000,{inner},vendor/kept")
    git(lab.top, "commit", "-qm", "kept submodule")
    return lab.grow(
        "t1",
        ("update-index", "--add", "--cacheinfo", f"160000,{inner},vendor/added"),
        ("update-index", "--cacheinfo", f"160000,{git(lab.top, 'rev-parse', 'HEAD')},vendor/kept"),
        ("commit", "-qm", "submodules"),
    )


def lfs_pointer(lab: Lab) -> NamedMember:
    lab.on_main({".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "a.bin": POINTER.format("a" * 64)})
    return work(lab, lambda top: (top / "a.bin").write_text(POINTER.format("b" * 64)))


def symlink(lab: Lab) -> NamedMember:
    def change(top: Path) -> None:
        (top / "link").symlink_to("src/app.py")
        (top / "dangling").symlink_to("/nowhere/at/all")
        (top / "README.md").unlink()
        (top / "README.md").symlink_to("poem.txt")

    return work(lab, change)


def rename(lab: Lab) -> NamedMember:
    one = work(lab, lambda top: os.rename(top / "poem.txt", top / "verse.txt"))
    lab.on_main({"poem.txt": poem(3, "three")})
    return one


def rename_in_main(lab: Lab) -> NamedMember:
    one = work(lab, lambda top: (top / "poem.txt").write_text(poem(3, "three")))
    git(lab.top, "mv", "poem.txt", "verse.txt")
    git(lab.top, "commit", "-qm", "rename")
    return one


def mode(lab: Lab) -> NamedMember:
    one = work(lab, lambda top: (top / "src/app.py").chmod(0o755))
    lab.on_main({"src/app.py": "print('hello')\nprint('again')\n"})
    return one


def binary(lab: Lab) -> NamedMember:
    return work(lab, lambda top: (top / "blob.bin").write_bytes(bytes(range(256)) * 40))


def crlf(lab: Lab) -> NamedMember:
    (lab.top / "dos.txt").write_bytes(b"".join(b"line %d\r\n" % n for n in range(30)))
    commit(lab.top, {}, "dos")
    text = (lab.top / "dos.txt").read_bytes()
    one = work(lab, lambda top: (top / "dos.txt").write_bytes(text.replace(b"line 3\r", b"three\r")))
    (lab.top / "dos.txt").write_bytes(text.replace(b"line 25\r", b"twenty-five\r"))
    commit(lab.top, {}, "main dos")
    return one


def case_only_rename(lab: Lab) -> NamedMember:
    one = lab.grow("t1", ("mv", "-f", "README.md", "readme.md"), ("commit", "-qm", "case"))
    lab.on_main({"other.txt": "o\n"})
    return one


def odd_names(lab: Lab) -> NamedMember:
    names = ("with space.txt", "tab\there.txt", "new\nline.txt", "ünïcode.txt", "-dash", '"quoted"')
    return work(lab, lambda top: [(top / name).write_text("x\n") for name in names])


def not_utf8(lab: Lab) -> NamedMember:
    return work(lab, lambda top: (top / os.fsdecode(b"caf\xe9.txt")).write_text("x\n"))


def file_becomes_folder(lab: Lab) -> NamedMember:
    def change(top: Path) -> None:
        (top / "README.md").unlink()
        (top / "README.md").mkdir()
        (top / "README.md" / "index").write_text("x\n")

    return work(lab, change)


def deletion(lab: Lab) -> NamedMember:
    return work(lab, lambda top: (top / "poem.txt").unlink())


def empty_commits_around_work(lab: Lab) -> NamedMember:
    return lab.grow(
        "t1",
        ("commit", "--allow-empty", "-qm", "before"),
        ("rm", "-q", "README.md"),
        ("commit", "-qm", "work"),
        ("commit", "--allow-empty", "-qm", "after"),
    )


CASES: tuple[Case, ...] = (
    submodule,
    lfs_pointer,
    symlink,
    rename,
    rename_in_main,
    mode,
    binary,
    crlf,
    case_only_rename,
    odd_names,
    not_utf8,
    file_becomes_folder,
    deletion,
    empty_commits_around_work,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_it_lands_as_git_would_merge_it(lab: Lab, tmp_path: Path, case: Case) -> None:
    one = case(lab)
    lab.on_main({"elsewhere.txt": "main goes on\n"})
    expected = merged_in_a_worktree(lab.top, tmp_path / "merge", lab.main, one.member.head)
    assert expected is not None
    for policy in Policy:
        move = lab.move(one, policy=policy)
        assert (move.tree, audit(lab.bench, move)) == (expected, ())


def test_the_same_binary_changed_on_both_sides_is_a_conflict(lab: Lab) -> None:
    (lab.top / "blob.bin").write_bytes(bytes(256))
    commit(lab.top, {}, "binary")
    one = work(lab, lambda top: (top / "blob.bin").write_bytes(bytes(255) + b"a"))
    (lab.top / "blob.bin").write_bytes(bytes(255) + b"b")
    commit(lab.top, {}, "main binary")
    refused = lab.refused(one)
    assert (refused.cause, refused.paths) == (RefusalCause.CONFLICT, ("blob.bin",))


def test_a_submodule_moved_on_both_sides_is_a_conflict(lab: Lab) -> None:
    link = ("update-index", "--add", "--cacheinfo")
    git(lab.top, *link, f"160000,{lab.main},vendor/lib")
    git(lab.top, "commit", "-qm", "submodule")
    one = lab.grow("t1", (*link, f"160000,{'1' * 40},vendor/lib"), ("commit", "-qm", "theirs"))
    git(lab.top, *link, f"160000,{'2' * 40},vendor/lib")
    git(lab.top, "commit", "-qm", "ours")
    assert lab.refused(one).paths == ("vendor/lib",)


def test_two_lfs_pointers_are_a_conflict_and_never_mixed(lab: Lab) -> None:
    one = lfs_pointer(lab)
    lab.on_main({"a.bin": POINTER.format("c" * 64)})
    assert lab.refused(one).paths == ("a.bin",)


def test_a_file_deleted_here_and_edited_there_is_a_conflict(lab: Lab) -> None:
    one = deletion(lab)
    lab.on_main({"poem.txt": poem(3, "three")})
    assert lab.refused(one).paths == ("poem.txt",)
