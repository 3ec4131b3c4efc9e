"""Nothing can be changed in, taken from or moved about in a chain of records unnoticed."""

from functools import lru_cache

from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.store.codec import GENESIS, Row, body_of, chain, decode_row
from paddock.store.verification import verify_rows

LENGTH = 8


@lru_cache(maxsize=1)
def rows() -> tuple[Row, ...]:
    tip, made = GENESIS, []
    for seq in range(1, LENGTH + 1):
        body = body_of(ev.TaskAdded(f"task {seq}", "do it"))
        head = (seq, 1_800_000_000_000_000 + seq, "ana@host", seq % 3, "task.added", f"t{seq}", None, body)
        tip = chain(tip, head)
        made.append((*head, tip))
    return tuple(made)


positions = st.integers(0, LENGTH - 1)


def test_an_untouched_chain_holds() -> None:
    assert verify_rows(rows()).bad is None
    assert verify_rows(()).records == 0


@settings(deadline=None)
@given(positions, st.integers(0, 8), st.integers(0, 10_000), st.integers(1, 255))
def test_any_flipped_byte_is_found_where_it_is(position: int, column: int, offset: int, mask: int) -> None:
    row = list(rows()[position])
    value = row[column]
    if isinstance(value, int):
        row[column] = value ^ (mask << (offset % 3 * 8))
    elif isinstance(value, str):
        at = offset % len(value)
        row[column] = value[:at] + chr(ord(value[at]) ^ mask) + value[at + 1 :]
    elif isinstance(value, bytes):
        at = offset % len(value)
        row[column] = value[:at] + bytes([value[at] ^ mask]) + value[at + 1 :]
    else:
        row[column] = chr(mask)
    bad = verify_rows((*rows()[:position], tuple(row), *rows()[position + 1 :])).bad  # type: ignore[arg-type]
    assert bad is not None
    assert bad.seq == position + 1


@given(positions, st.integers(1, LENGTH))
def test_dropped_records_are_found(position: int, count: int) -> None:
    left = (*rows()[:position], *rows()[position + count :])
    bad = verify_rows(left).bad
    if position + count < LENGTH:
        assert bad is not None
        assert bad.seq == position + 1
    else:
        assert bad is None, "an end that is cut off shows in the number of records, and in snapshot and mirror"
        assert verify_rows(left).records < LENGTH


@given(st.permutations(range(LENGTH)))
def test_swapped_records_are_found(order: list[int]) -> None:
    bad = verify_rows([rows()[index] for index in order]).bad
    if order == sorted(order):
        assert bad is None
    else:
        assert bad is not None
        first_wrong = next(index for index, found in enumerate(order) if index != found)
        assert bad.seq == first_wrong + 1


@given(positions, positions)
def test_renumbering_swapped_records_does_not_hide_it(one: int, other: int) -> None:
    if one == other:
        return
    swapped = list(rows())
    swapped[one], swapped[other] = swapped[other], swapped[one]
    renumbered: list[Row] = [(index, *row[1:]) for index, row in enumerate(swapped, 1)]
    assert verify_rows(renumbered).bad is not None


texts = st.text(st.characters(codec="utf-8"), max_size=6)


@given(texts, texts, texts, texts)
def test_moving_text_from_one_field_to_the_next_changes_the_hash(actor: str, kind: str, task: str, body: str) -> None:
    """Separators inside the values must not let two records share their bytes."""
    whole = (1, 1, actor, 0, kind, task, None, body.encode())
    for other in (
        (1, 1, actor + kind, 0, "", task, None, body.encode()),
        (1, 1, actor, 0, kind + task, "", None, body.encode()),
        (1, 1, actor, 0, kind, None, task, body.encode()),
        (1, 1, actor, 0, kind, task + body, None, b""),
        (1, 1, actor, 0, kind, task, "", body.encode()),
    ):
        assert other == whole or chain(GENESIS, other) != chain(GENESIS, whole)


def test_rows_decode_to_records_with_seconds_and_typed_events() -> None:
    record = decode_row(rows()[0])
    assert (record.at, record.event) == (1_800_000_000.000001, ev.TaskAdded("task 1", "do it"))
