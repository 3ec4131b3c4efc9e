"""Output of turns on nodes, copied in parts: the copy is the same however it was cut, and however often begun again."""

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from paddock.fleet.nodes.messages import Chunk, FileAt, ReadWish
from paddock.fleet.nodes.turn_files import PART_BYTES, keep_chunk, read_turns, sizes_of

OWNER = "t1.1"
NAMES = ("turn-1.out", "turn-1.err", "turn-1.exit", "turn-2.out", "turn-2.step")
STEPS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.binary(min_size=1, max_size=40), st.integers(1, 90), st.booleans()),
    max_size=12,
)


class Copy:
    """What the daemon keeps of an owner, as it asks a node for it."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source, self.folder = source, folder
        self.have: dict[str, int] = {}

    def begin_again(self) -> None:
        self.have = {one.name: one.offset for one in sizes_of(OWNER, self.folder)}

    def ask(self, most: int) -> bool:
        """Whether there is more."""
        have = tuple(FileAt(OWNER, name, at) for name, at in self.have.items())
        answer = read_turns(lambda _owner: self.source, ReadWish((OWNER,), have, most))
        for chunk in answer.chunks:
            keep_chunk(self.folder, chunk)
            self.have[chunk.name] = len(chunk.content) if chunk.whole else chunk.offset + len(chunk.content)
        return answer.more

    def catch_up(self) -> None:
        while self.ask(1 << 20):
            pass


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


@given(STEPS)
def test_a_copy_that_is_cut_anywhere_and_begun_again_anywhere_is_the_same_in_the_end(
    steps: list[tuple[str, bytes, int, bool]],
) -> None:
    with TemporaryDirectory() as place:
        source, folder = Path(place, "source"), Path(place, "copy")
        source.mkdir()
        copy = Copy(source, folder)
        for name, content, most, again in steps:
            with (source / name).open("ab") as file:
                file.write(content)
            copy.ask(most)
            if again:
                copy.begin_again()
        copy.catch_up()
        assert contents(folder) == contents(source)


def test_a_large_output_comes_in_bounded_parts(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "turn-1.out").write_bytes(b"x" * (3 * PART_BYTES + 5))
    answer = read_turns(lambda _owner: source, ReadWish((OWNER,), (), PART_BYTES))
    assert answer.more
    assert [len(chunk.content) for chunk in answer.chunks] == [PART_BYTES]
    copy = Copy(source, tmp_path / "copy")
    copy.catch_up()
    assert contents(tmp_path / "copy") == contents(source)


def test_a_node_cannot_write_outside_of_the_folder_of_a_turn(tmp_path: Path) -> None:
    outside = tmp_path / "outside.out"
    outside.write_text("mine")
    folder = tmp_path / "copy"
    folder.mkdir()
    (folder / "turn-1.out").symlink_to(outside)
    for name in ("../outside.out", "turn-1.pid", "prompt", "turn-1.sh"):
        keep_chunk(folder, Chunk(OWNER, name, 0, b"theirs"))
    with suppress(OSError):
        keep_chunk(folder, Chunk(OWNER, "turn-1.out", 0, b"theirs"))
    assert outside.read_text() == "mine"
    assert sorted(path.name for path in folder.iterdir()) == ["turn-1.out"]


def test_what_is_no_file_of_a_turn_or_a_link_stays_on_its_node(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    secret = tmp_path / "secret"
    secret.write_text("password")
    (source / "turn-1.out").symlink_to(secret)
    (source / "worker.secret").write_text("token")
    answer = read_turns(lambda _owner: source, ReadWish((OWNER,), (), PART_BYTES))
    assert answer.chunks == ()


def test_an_owner_of_whom_nothing_is_there_is_named(tmp_path: Path) -> None:
    assert read_turns(lambda _owner: tmp_path / "none", ReadWish((OWNER,), (), 10)).gone == (OWNER,)
