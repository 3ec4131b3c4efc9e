"""git's patch as JSON: complete, bounded, and inert, whatever the files are called and contain."""

import os
import subprocess
from functools import cache

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import harmless
from paddock.git.patches import ChangedFile, changed_lines, list_changes, quote_path, stream_patch, unquote_path
from paddock.git.repo import Repo, discover
from paddock.git.stream import stream_git
from paddock.views.tasks import patch
from paddock.views.tasks.patch import DiffView, FileDiffView, read_patch, view_difference

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
HOSTILE = [
    b"<script>alert(1)</script>\n",
    b"\x1b[31mred\x1b[0m\n",
    "\u202egnp.exe\u202c\n".encode(),
    b"diff --git a/x b/x\n",
    b"@@ -1 +1 @@\n",
    b"--- a/x\n+++ b/x\n",
    b"\\ No newline at end of file\n",
    b"crlf\r\n",
    b"lone\rreturn\n",
    b"\xff\xfe not utf-8\n",
    b"\n",
    b"tab\there\n",
]
NAMES = [
    b"a.py",
    b"new\nline",
    b'quo"te',
    b"tab\tbed",
    b"\xff\xfe",
    "\u202egnp".encode(),
    b"-p",
    b"sp ace",
    b":(glob)*",
]
lines = st.lists(st.sampled_from(HOSTILE), max_size=8).map(b"".join)
contents = st.one_of(lines, lines.map(lambda text: text[:-1]), lines.map(lambda text: text + b"\0binary\n"))
modes = st.sampled_from(["100644", "100755", "120000"])
trees = st.dictionaries(st.sampled_from(NAMES), st.tuples(modes, contents), max_size=5)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    top = tmp_path_factory.mktemp("patches")
    subprocess.run(["git", "init", "-q", "-b", "main", top], check=True)
    return discover(top)


@cache
def write_blob(repo: Repo, content: bytes) -> str:
    return repo.git("hash-object", "-w", "--stdin", input=content).text


def write_tree(repo: Repo, files: dict[bytes, tuple[str, bytes]]) -> str:
    rows = []
    for name, (mode, content) in sorted(files.items()):
        sha = write_blob(repo, content)
        rows.append(f"{mode} blob {sha}\t".encode() + name + b"\0")
    return repo.git("mktree", "-z", input=b"".join(rows)).text


def numstat(repo: Repo, before: str, after: str) -> tuple[int, int]:
    found = repo.git("diff", "-M", "--numstat", before, after).lines
    rows = [line.split("\t")[:2] for line in found if not line.startswith("-")]
    return sum(int(row[0]) for row in rows), sum(int(row[1]) for row in rows)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trees, trees)
def test_every_line_of_every_patch_is_told_and_none_can_do_anything(
    repo: Repo, old: dict[bytes, tuple[str, bytes]], new: dict[bytes, tuple[str, bytes]]
) -> None:
    before, after = write_tree(repo, old), write_tree(repo, new)
    view = view_difference(repo, before, after)
    assert (view.insertions, view.deletions) == numstat(repo, before, after)
    assert not view.truncated
    for one in view.files:
        shown = [line.k for hunk in one.hunks for line in hunk.lines]
        if one.status != "T":
            assert (shown.count("+"), shown.count("-")) == (one.insertions, one.deletions)
    text = msgspec.json.encode(view).decode()
    assert harmless(text) == text
    names = [one.path for one in view.files]
    assert len(set(names)) == len(names) == view.count
    assert msgspec.json.decode(text, type=DiffView) == view


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trees, trees)
def test_one_file_asked_for_by_its_name_is_told_as_among_the_others(
    repo: Repo, old: dict[bytes, tuple[str, bytes]], new: dict[bytes, tuple[str, bytes]]
) -> None:
    before, after = write_tree(repo, old), write_tree(repo, new)
    for one in view_difference(repo, before, after).files:
        assert view_difference(repo, before, after, path=one.path).files == [one]


def test_the_sides_are_what_the_files_hold(repo: Repo) -> None:
    before = write_tree(repo, {b"f": ("100644", b"one\ntwo\nthree\n")})
    after = write_tree(repo, {b"f": ("100644", b"one\n2\nthree\nfour")})
    [hunk] = view_difference(repo, before, after).files[0].hunks
    assert [line.t for line in hunk.lines if line.old] == ["one", "two", "three"]
    assert [line.t for line in hunk.lines if line.new] == ["one", "2", "three", "four"]
    assert [line.new for line in hunk.lines if line.new] == [1, 2, 3, 4]
    assert hunk.lines[-1].k == "\\"
    assert hunk.header.startswith("@@ -1,3 +1,4 @@")


def test_moves_modes_links_and_binaries_are_told(repo: Repo) -> None:
    text = b"".join(b"line %d\n" % number for number in range(30))
    before = write_tree(
        repo,
        {b"old": ("100644", text), b"run": ("100644", b"x\n"), b"bin": ("100644", b"\0"), b"kind": ("100644", b"k\n")},
    )
    after = write_tree(
        repo,
        {
            b"new": ("100644", text),
            b"run": ("100755", b"x\n"),
            b"bin": ("100644", b"\0\0"),
            b"kind": ("120000", b"new"),
            b"link": ("120000", b"run"),
        },
    )
    found = {one.path: one for one in view_difference(repo, before, after).files}
    assert (found["new"].status, found["new"].old_path, found["new"].hunks) == ("R", "old", [])
    assert found["run"].mode == "100644 → 100755"
    assert found["bin"].binary
    assert not found["bin"].truncated
    assert (found["kind"].status, len(found["kind"].hunks)) == ("T", 2)
    assert found["link"].mode == "symbolic link"


def test_a_carriage_return_shows_only_where_the_line_changed(repo: Repo) -> None:
    before = write_tree(repo, {b"f": ("100644", b"same\r\nplain\n")})
    after = write_tree(repo, {b"f": ("100644", b"same\r\nplain\r\n")})
    [hunk] = view_difference(repo, before, after).files[0].hunks
    assert [(line.k, line.t) for line in hunk.lines] == [(" ", "same"), ("-", "plain"), ("+", "plain␍")]


def test_a_line_of_a_megabyte_is_cut_and_the_next_one_is_whole(repo: Repo) -> None:
    after = write_tree(repo, {b"f": ("100644", b"x" * 1_000_000 + b"\r\nshort\n")})
    [hunk] = view_difference(repo, EMPTY_TREE, after).files[0].hunks
    assert [len(line.t) for line in hunk.lines] == [patch.LINE_CHARS + 1, 5]
    assert hunk.lines[0].t.endswith("…␍")


def test_a_large_file_leaves_room_for_the_others_and_comes_whole_by_its_name(repo: Repo) -> None:
    many = b"".join(b"%d\n" % number for number in range(patch.FILE_LINES + 10))
    after = write_tree(repo, {b"a": ("100644", many), b"b": ("100644", b"small\n")})
    view = view_difference(repo, EMPTY_TREE, after)
    large, small = view.files
    assert view.truncated
    assert large.truncated
    assert not small.truncated
    assert sum(len(hunk.lines) for hunk in large.hunks) == patch.FILE_LINES
    [whole] = view_difference(repo, EMPTY_TREE, after, path="a").files
    assert not whole.truncated
    assert len(whole.hunks[0].lines) == patch.FILE_LINES + 10


def test_of_more_files_than_are_shown_the_rest_is_folded_and_counted(repo: Repo) -> None:
    count = patch.SHOWN_FILES + 3
    after = write_tree(repo, {b"%04d" % number: ("100644", b"x\n") for number in range(count)})
    view = view_difference(repo, EMPTY_TREE, after)
    assert (view.count, view.insertions, view.truncated) == (count, count, True)
    assert [one.truncated for one in view.files] == [False] * patch.SHOWN_FILES + [True] * 3


def test_no_more_of_the_patch_is_read_than_is_shown() -> None:
    taken = 0

    def endless() -> object:
        nonlocal taken
        yield b"diff --git a/f b/f\n@@ -0,0 +1,900000000 @@\n"
        while True:
            taken += 1
            yield b"+x\n" * 1000

    one = ChangedFile("A", "f", None, "000000", "100644", 900_000_000, 0)
    [file] = read_patch([one], endless(), patch.SHOWN_LINES)  # type: ignore[arg-type]
    assert file.truncated
    assert taken <= patch.SHOWN_LINES // 1000 + 1


def test_a_file_that_does_not_differ_is_refused(repo: Repo) -> None:
    with pytest.raises(PaddockError, match="does not differ"):
        view_difference(repo, EMPTY_TREE, EMPTY_TREE, path="nowhere")


def test_git_ends_with_whoever_stops_listening(repo: Repo) -> None:
    after = write_tree(repo, {b"f": ("100644", b"line\n" * 2_000_000)})
    pieces = stream_patch(repo, EMPTY_TREE, after)
    next(iter(pieces))
    pieces.close()  # type: ignore[attr-defined]
    assert list(stream_git(repo.common_dir, "rev-parse", "--git-dir", timeout=60))


@given(st.binary(min_size=1, max_size=40).filter(lambda name: b"\0" not in name))
def test_a_quoted_name_leads_back_to_the_file_and_can_be_printed(name: bytes) -> None:
    path = os.fsdecode(name)
    quoted = quote_path(path)
    assert quoted.isprintable()
    assert unquote_path(quoted) == path


@given(st.text(max_size=20))
def test_what_is_no_quoted_name_is_refused_or_names_itself(text: str) -> None:
    try:
        assert quote_path(unquote_path(text)) == text or text == unquote_path(text)
    except Misuse:
        assert text.startswith('"')


def test_paths_are_taken_literally(repo: Repo) -> None:
    before = write_tree(repo, {})
    after = write_tree(repo, {b":(glob)*": ("100644", b"x\n"), b"other": ("100644", b"y\n")})
    listed = list_changes(repo, before, after)
    assert [one.path for one in listed] == [":(glob)*", "other"]
    found: list[FileDiffView] = view_difference(repo, before, after, path=":(glob)*").files
    assert [one.path for one in found] == [":(glob)*"]


def test_changed_lines_are_those_of_the_new_version_with_their_neighbours(repo: Repo) -> None:
    lines = [b"%d\n" % number for number in range(1, 41)]
    before = write_tree(repo, {b"f": ("100644", b"".join(lines)), b"gone": ("100644", b"x\n")})
    lines[19] = b"++ b/other\n"
    lines[29:31] = []
    files = {b"f": ("100644", b"".join(lines)), b'n"w\xff x': ("100644", b"1\n2"), b"b": ("100644", b"\0")}
    found = changed_lines(repo, before, write_tree(repo, files))

    assert found["f"] == [range(17, 24), range(27, 33)]
    assert found[os.fsdecode(b'n"w\xff x')] == [range(1, 3)]
    assert "b" not in found


def test_a_repository_cannot_change_how_its_patch_is_told(repo: Repo) -> None:
    config = repo.common_dir / "config"
    kept = config.read_bytes()
    config.write_bytes(
        kept + b"[diff]\n\tnoprefix = true\n\texternal = false\n\tcontext = 0\n\tsuppressBlankEmpty = true\n"
    )
    try:
        before = write_tree(repo, {b"f": ("100644", b"a\n\nb\n")})
        after = write_tree(repo, {b"f": ("100644", b"a\n\nc\n")})
        [hunk] = view_difference(repo, before, after).files[0].hunks
        assert [(line.k, line.t) for line in hunk.lines] == [(" ", "a"), (" ", ""), ("-", "b"), ("+", "c")]
    finally:
        config.write_bytes(kept)
