import asyncio
from pathlib import Path

import pytest

from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.store.group import LARGEST_GROUP, GroupWriter
from paddock.store.protocol import LogUnusable, Query
from paddock.store.sqlite import SqliteStore
from tests.store.drafts import ANA, add, break_halfway, refuse


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "log.db", create=True)


def test_writers_of_one_turn_of_the_loop_share_a_transaction(store: SqliteStore) -> None:
    statements: list[str] = []

    def note(_: object, sql: str, __: object) -> bool:
        statements.append(sql)
        return True

    async def run() -> None:
        writer = GroupWriter(store)
        await asyncio.gather(*(writer.append(add(), ANA) for _ in range(8)))

    store._db.exec_trace = note
    asyncio.run(run())
    assert statements.count("COMMIT") == 1
    assert len(store.board().tasks) == 8
    store.close()


def test_each_writer_gets_its_own_records_or_its_own_refusal(store: SqliteStore) -> None:
    async def run() -> list[list[Record] | BaseException]:
        writer = GroupWriter(store)
        decisions = (add("first"), refuse("not you"), break_halfway, add("last"))
        return await asyncio.gather(*(writer.append(each, ANA) for each in decisions), return_exceptions=True)

    first, refused, broken, last = asyncio.run(run())
    assert isinstance(first, list)
    assert isinstance(last, list)
    assert (first[0].task, last[0].task) == ("t1", "t2")
    assert isinstance(refused, PaddockError)
    assert refused.message == "not you"
    assert isinstance(broken, PaddockError)
    assert store.head() == 3
    store.close()


def test_a_group_larger_than_the_limit_is_written_in_several(store: SqliteStore) -> None:
    async def run() -> int:
        writer = GroupWriter(store)
        results = await asyncio.gather(*(writer.append(add(), ANA) for _ in range(LARGEST_GROUP * 2 + 5)))
        return len({record.task for result in results for record in result})

    assert asyncio.run(run()) == LARGEST_GROUP * 2 + 5
    assert store.verify().bad is None
    store.close()


def test_a_writer_that_was_cancelled_does_not_hurt_the_others(store: SqliteStore) -> None:
    async def run() -> None:
        writer = GroupWriter(store)
        doomed = asyncio.create_task(writer.append(add(), ANA))
        other = asyncio.create_task(writer.append(add(), ANA))
        await asyncio.sleep(0)
        doomed.cancel()
        assert len(await other) == 1
        with pytest.raises(asyncio.CancelledError):
            await doomed

    asyncio.run(run())
    store.close()


def test_what_keeps_a_group_from_being_written_reaches_all_of_it(store: SqliteStore) -> None:
    async def run() -> list[list[Record] | BaseException]:
        writer = GroupWriter(store)
        store._db.execute("PRAGMA query_only=1").fetchall()
        return await asyncio.gather(*(writer.append(add(), ANA) for _ in range(3)), return_exceptions=True)

    assert [type(result) for result in asyncio.run(run())] == [LogUnusable] * 3
    store._db.execute("PRAGMA query_only=0").fetchall()
    assert [record.seq for record in store.records(Query())] == [1]
    assert store.append(add(), ANA)
    store.close()
