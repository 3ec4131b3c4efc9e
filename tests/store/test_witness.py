"""The witness file: whatever is torn or flipped in it, it tells what was once true, or nothing."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core.given import Given
from paddock.store.codec import HASH_BYTES
from paddock.store.witness import FILE_BYTES, Witness, WitnessFile, pack_half, read_witness, unpack, witness_path

NUMBERS = st.integers(0, 2**63)
WITNESSES = st.builds(
    Witness,
    identity=st.text("0123456789abcdef", max_size=16),
    seq=NUMBERS,
    tip=st.binary(min_size=HASH_BYTES, max_size=HASH_BYTES),
    at=NUMBERS,
    given=st.builds(Given, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
)


@given(WITNESSES, WITNESSES)
def test_the_newer_half_counts_wherever_it_is(one: Witness, other: Witness) -> None:
    newer = other if other.seq >= one.seq else one
    assert unpack(pack_half(one) + pack_half(other))[0] == newer


@given(WITNESSES, WITNESSES, st.integers(0, FILE_BYTES - 1), st.integers(1, 255))
def test_a_flipped_byte_never_makes_another_witness(one: Witness, other: Witness, offset: int, mask: int) -> None:
    content = bytearray(pack_half(one) + pack_half(other))
    content[offset] ^= mask
    assert unpack(bytes(content))[0] in (one, other)


@given(WITNESSES, WITNESSES, st.integers(0, FILE_BYTES // 2))
def test_a_half_that_is_written_in_part_leaves_the_one_before(before: Witness, after: Witness, written: int) -> None:
    whole = pack_half(before) * 2
    torn = pack_half(after)[:written] + whole[written:]
    assert unpack(torn)[0] in (before, after)


@given(st.binary(max_size=2 * FILE_BYTES))
def test_anything_else_is_no_witness(content: bytes) -> None:
    assert unpack(content)[0] is None


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["note", "replace", "sync", "reopen", "remove"]), max_size=20))
def test_whoever_notes_and_syncs_can_be_read(tmp_path_factory: object, steps: list[str]) -> None:
    folder: Path = tmp_path_factory.mktemp("witness")  # type: ignore[attr-defined]
    log = folder / "paddock" / "log.db"
    file, noted = WitnessFile(log), None
    for seq, step in enumerate(steps, 1):
        match step:
            case "note" | "replace":
                noted = Witness("5e0c1f7a", seq, bytes(HASH_BYTES), seq, Given(tasks=seq))
                getattr(file, step)(noted)
            case "sync":
                file.sync()
            case "reopen":
                file.sync()
                file.close()
                file = WitnessFile(log)
            case _:
                witness_path(log).unlink(missing_ok=True)
                file.sync()
                if not witness_path(log).exists():  # one that was just opened has nothing to put back
                    noted = None
        assert read_witness(log) == noted
    file.close()
