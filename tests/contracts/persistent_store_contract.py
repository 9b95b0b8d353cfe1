"""The contract of a store that outlives its process, as tests: what `StoreContract` asks, and more.

class TestMyStore(FilesStoreContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Callable[[], Store]:
        return lambda: MyStore(tmp_path)

    @pytest.fixture
    def stored_bytes(self, tmp_path: Path) -> Callable[[], bytes]:
        return lambda: b"".join(path.read_bytes() for path in tmp_path.iterdir())

Both are about the same files, other ones for each test. A store in a database's server, whose files are not
its own, passes `PersistentStoreContract`, which asks for `open_store` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

import pytest

from contracts.jobs_contract import NOW, UNTIL, add, expect_each_once, job, work_off
from contracts.store_contract import StoreContract
from contracts.store_scenes import (
    COMPARTMENT,
    ELSEWHERE,
    IDS,
    SPACE,
    THREADS,
    TRAVEL,
    WORKSPACE,
    GiveUp,
    append,
    changes_since,
    contents,
    event,
    expect_all_written,
    fill,
    log,
    numbered,
    sealed_line,
    vectors_since,
    write_and_log,
)
from contracts.threads import in_many_threads
from souvenance.domain import audit
from souvenance.domain.change_feed import Saying
from souvenance.domain.directory import MEMBER, PEER, Entry, Membership, Task
from souvenance.errors import StorageUnavailable
from souvenance.ports.directory import Batch
from souvenance.ports.store import Store, Transaction, WrappedKey

_MARKED = (
    *("sealed", "metadata", "about", "likeness", "tokens", "said", "vector", "left", "wrapped"),
    *("entry", "membership", "digest", "payload", "peer"),
)
"""What is marked in the store that is looked for when all of it was deleted."""


def _leave_marks(tx: Transaction, line_id: str, marked: Mapping[str, bytes], n: int) -> None:
    """A line with a mark wherever there is room for one, more of them the higher its number."""
    tx.lines.append(
        sealed_line(
            line_id,
            sealed=marked["sealed"] * (n * 20 + 1),
            metadata=marked["metadata"].decode(),
            about=marked["about"].decode(),
            likeness=marked["likeness"],
        )
    )
    said = Saying(marked["said"].decode(), n, n)
    tx.terms.add(COMPARTMENT, line_id, marked["tokens"] * (n + 1), b"\x01" * n, said)
    tx.terms.lie(COMPARTMENT, SPACE, [(line_id, marked["vector"] * (n * 9 + 1))])
    tx.terms.lie(COMPARTMENT, "old", [(line_id, marked["left"])])


class PersistentStoreContract(StoreContract):
    """What a store promises whose content outlives the process. Override `open_store`."""

    @pytest.fixture
    def open_store(self) -> Callable[[], Store]:
        """Opens the store of this test, the same one each time, as another process would."""
        raise NotImplementedError("override the fixture 'open_store'")

    @pytest.fixture
    def store(self, open_store: Callable[[], Store]) -> Iterator[Store]:
        store = open_store()
        yield store
        store.close()

    @pytest.fixture
    def second(self, store: Store, open_store: Callable[[], Store]) -> Iterator[Store]:
        """The same book, opened once more."""
        second = open_store()
        yield second
        second.close()

    def test_a_finished_write_is_there_when_the_store_is_opened_again(
        self, store: Store, open_store: Callable[[], Store]
    ) -> None:
        with store.write() as tx:
            fill(tx)
        before = contents(store)
        store.close()
        again = open_store()
        try:
            assert contents(again) == before
            assert before[COMPARTMENT] != ([], [])
        finally:
            again.close()

    def test_a_finished_write_that_need_not_last_outlives_the_store_all_the_same(
        self, store: Store, open_store: Callable[[], Store]
    ) -> None:
        for n, lasting in enumerate((True, False, False, True, False)):
            with store.write(lasting=lasting) as tx:
                tx.audit.append(WORKSPACE, event(str(n)))
        with suppress(GiveUp), store.write(lasting=False) as tx:
            tx.audit.append(WORKSPACE, event("never"))
            raise GiveUp
        store.close()
        again = open_store()
        try:
            assert [row.event.detail for row in log(again)] == list("01234")
        finally:
            again.close()

    def test_a_write_that_raised_is_not_there_when_the_store_is_opened_again(
        self, store: Store, open_store: Callable[[], Store]
    ) -> None:
        before = contents(store)
        with suppress(GiveUp), store.write() as tx:
            fill(tx)
            raise GiveUp
        store.close()
        again = open_store()
        try:
            assert contents(again) == before
        finally:
            again.close()

    def test_what_was_given_or_burned_once_stays_so_when_the_store_is_opened_again(
        self, store: Store, open_store: Callable[[], Store]
    ) -> None:
        with store.write() as tx:
            tx.caps.burn(WORKSPACE, "proof", 0, 9)
            given = tx.keys.next_epoch(WORKSPACE)
        store.close()
        again = open_store()
        try:
            with again.write() as tx:
                assert not tx.caps.burn(WORKSPACE, "proof", 1, 9)
                assert tx.keys.next_epoch(WORKSPACE) > given
        finally:
            again.close()

    def test_a_finished_write_is_seen_by_a_store_that_was_open_before_it(
        self, store: Store, second: Store
    ) -> None:
        empty = contents(second)
        with store.write() as tx:
            fill(tx)
        assert contents(second) == contents(store) != empty

    def test_two_open_stores_write_one_log(self, store: Store, second: Store) -> None:
        for n in range(6):
            with (store, second)[n % 2].write() as tx:
                tx.audit.append(WORKSPACE, event(str(n)))
        assert [row.event.detail for row in log(store)] == list("012345")
        assert audit.verify(WORKSPACE, log(second)).size == 6

    def test_a_removal_by_another_open_store_is_told(self, store: Store, second: Store) -> None:
        with store.write() as tx:
            tx.terms.add(COMPARTMENT, IDS[0], b"tokens", b"\x01")
        followed = changes_since(store, 0)[-1].seq
        with second.write() as tx:
            tx.terms.remove(COMPARTMENT, (IDS[0],))
        assert [(change.id, change.tokens) for change in changes_since(store, followed)] == [(IDS[0], None)]

    def test_a_vector_given_by_another_open_store_is_told(self, store: Store, second: Store) -> None:
        with store.write() as tx:
            for line_id in IDS[:3]:
                tx.terms.add(COMPARTMENT, line_id, b"tokens", b"\x01")
            tx.terms.lie(COMPARTMENT, SPACE, [(IDS[0], b"vector")])
        followed = vectors_since(store, 0)[-1].seq
        with second.write() as tx:
            tx.terms.remove(COMPARTMENT, (IDS[0],))
        with store.write() as tx:
            tx.terms.lie(COMPARTMENT, SPACE, [(IDS[1], b"first")])
        with second.write() as tx:
            tx.terms.lie(COMPARTMENT, SPACE, [(IDS[2], b"second")])
        assert [vector[1:] for vector in vectors_since(store, followed)] == [
            (IDS[1], b"first"),
            (IDS[2], b"second"),
        ]

    def test_two_open_stores_take_turns_without_missing_anything(self, store: Store, second: Store) -> None:
        for n in range(12):
            writing = (store, second)[n % 2]
            with writing.write() as tx:
                fill(tx, (COMPARTMENT, *ELSEWHERE)[n % 4])
                if n % 5 == 4:
                    tx.keys.delete_compartment(COMPARTMENT)
                    tx.terms.delete_compartment(COMPARTMENT)
            with suppress(GiveUp), (second, store)[n % 3 % 2].write() as tx:
                fill(tx, COMPARTMENT)
                raise GiveUp
            assert contents(store) == contents(second)
        for workspace in (WORKSPACE, "other"):
            audit.verify(workspace, log(store, workspace))

    def test_a_scrub_hides_nothing_that_another_open_store_wrote(self, store: Store, second: Store) -> None:
        with store.write() as tx:
            fill(tx)
        contents(store)
        with second.write() as tx:
            tx.keys.delete_compartment(COMPARTMENT)
            fill(tx, TRAVEL)
        assert store.scrub()
        assert contents(store) == contents(second)

    def test_a_scrub_brings_nothing_back_of_a_write_that_raised(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx)
        assert store.scrub()
        before = contents(store)
        with suppress(GiveUp), store.write() as tx:
            fill(tx, TRAVEL)
            tx.keys.of(*TRAVEL[:2])
            tx.marks(WORKSPACE)
            raise GiveUp
        assert store.scrub()
        assert contents(store) == before

    def test_many_threads_on_two_open_stores_lose_nothing(self, store: Store, second: Store) -> None:
        in_many_threads([store, second] * (THREADS // 2), write_and_log)
        expect_all_written(second)

    def test_two_open_stores_never_claim_the_same_and_leave_nothing(
        self, store: Store, second: Store
    ) -> None:
        add(store, *(job(n, (None, "s", "t", "u")[n % 4]) for n in range(60)))
        done: list[list[Task]] = [[] for _ in range(4)]

        def work(one: Store, thread: int) -> None:
            done[thread] = work_off(one, f"worker {thread}")

        in_many_threads([store, second] * 2, work)
        expect_each_once(done, 60)

    def test_numbers_of_work_are_not_given_again_when_the_store_is_opened_again(
        self, store: Store, open_store: Callable[[], Store]
    ) -> None:
        add(store, job(0))
        with store.write() as tx:
            (first,) = tx.work.claim("h", now=NOW, until=UNTIL, most=1)
            assert tx.work.finish(first)
        store.close()
        again = open_store()
        try:
            add(again, job(1))
            with again.write() as tx:
                (second,) = tx.work.claim("h", now=NOW, until=UNTIL, most=1)
                assert not tx.work.finish(first)
                assert second.seq > first.seq
        finally:
            again.close()

    def test_what_a_store_knows_by_heart_is_not_held_against_another_one(
        self, store: Store, second: Store
    ) -> None:
        ann = Entry(WORKSPACE, PEER, "ann", IDS[0], 1)
        for n in range(1, 7):
            with (store, second)[n // 2 % 2].write() as tx:
                assert tx.lines.last_turn(WORKSPACE, "s") == n - 1
                assert tx.directory.entry(WORKSPACE, PEER, "ann") == (None if n % 2 else ann)
                tx.lines.append(sealed_line(IDS[n], session="s", turn=n))
                if n % 2:
                    assert tx.directory.add(ann)
                else:
                    assert tx.directory.remove(WORKSPACE, PEER, "ann")

    def test_a_scrub_settles_what_is_owed_for_every_open_store(self, store: Store, second: Store) -> None:
        append(store, sealed_line())
        with store.write() as tx:
            tx.lines.delete(COMPARTMENT, (IDS[0],))
            tx.owe_scrub()
        assert second.scrub_pending()
        assert second.scrub()
        assert not store.scrub_pending()

    def test_a_closed_store_can_not_be_written(self, store: Store) -> None:
        store.close()
        with pytest.raises(StorageUnavailable), store.write():
            pass


class FilesStoreContract(PersistentStoreContract):
    """What a store promises whose files are its own. Override `open_store` and `stored_bytes`."""

    @pytest.fixture
    def stored_bytes(self) -> Callable[[], bytes]:
        """Gives every byte that the store of this test keeps in files."""
        raise NotImplementedError("override the fixture 'stored_bytes'")

    def test_after_a_scrub_no_byte_of_a_deleted_row_is_left(
        self, store: Store, stored_bytes: Callable[[], bytes]
    ) -> None:
        marked = {name: f"<{name} 7f3a9c>".encode() for name in _MARKED}
        with store.write() as tx:
            for n in range(40):
                _leave_marks(tx, numbered(n, 0), marked, n)
            tx.keys.add(WrappedKey(COMPARTMENT, "seal", 1, marked["wrapped"]))
            tx.lines.append(sealed_line(compartment=TRAVEL, sealed=b"<kept 7f3a9c>"))
            tx.directory.add(Entry(WORKSPACE, PEER, "ann", IDS[0], 1, metadata=marked["entry"].decode()))
            tx.directory.add_membership(Membership(WORKSPACE, MEMBER, "s", marked["membership"].decode(), 1))
            tx.directory.keep_batch(Batch(WORKSPACE, "s", marked["digest"], 1, 1, 1), 0)
            for _ in range(2):
                asked = job(payload=marked["payload"].decode(), peer=marked["peer"].decode())
                tx.work.add(asked, NOW)
            (task,) = tx.work.claim("h", now=NOW, until=UNTIL, most=1)
            assert tx.work.finish(task)
        before = stored_bytes()
        assert all(mark in before for mark in (*marked.values(), b"<kept 7f3a9c>"))
        with store.write() as tx:
            for n in range(0, 40, 2):
                tx.terms.remove(COMPARTMENT, (numbered(n, 0),))
                tx.lines.delete(COMPARTMENT, (numbered(n, 0),))
            while tx.terms.leave("old", 7):
                continue
            tx.lines.delete_compartment(COMPARTMENT)
            tx.terms.delete_compartment(COMPARTMENT)
            tx.keys.delete_compartment(COMPARTMENT)
            tx.directory.remove_workspace(WORKSPACE)
            tx.work.drop(WORKSPACE)
            tx.owe_scrub()
        assert store.scrub()
        after = stored_bytes()
        assert not [name for name, mark in marked.items() if mark in after]
        assert b"<kept 7f3a9c>" in after

    def test_after_a_scrub_nothing_is_left_of_one_line_of_many(
        self, store: Store, stored_bytes: Callable[[], bytes]
    ) -> None:
        with store.write() as tx:
            for n in range(700):
                tx.terms.add(
                    COMPARTMENT, numbered(n, 0), b"<%d 7f3a9c>" % n, b"\x01", Saying(f"<in {n} 7f3a9c>")
                )
        assert stored_bytes().count(b"<100 7f3a9c>") >= 1
        with store.write() as tx:
            tx.terms.remove(COMPARTMENT, (numbered(100, 0),))
            tx.owe_scrub()
        assert store.scrub()
        after = stored_bytes()
        assert b"<99 7f3a9c>" in after
        assert b"<in 99 7f3a9c>" in after
        assert b"<100 7f3a9c>" not in after
        assert b"<in 100 7f3a9c>" not in after

    def test_a_scrub_that_another_open_store_prevents_stays_pending(
        self, store: Store, second: Store, stored_bytes: Callable[[], bytes]
    ) -> None:
        append(store, sealed_line(sealed=b"<gone 7f3a9c>"))
        with second.read() as tx:
            assert tx.lines.count(COMPARTMENT) == 1
            with store.write() as writing:
                writing.lines.delete(COMPARTMENT, (IDS[0],))
                writing.owe_scrub()
            done = store.scrub()
            assert done is not store.scrub_pending()
            assert not done or b"<gone 7f3a9c>" not in stored_bytes()
        assert second.scrub()
        assert not store.scrub_pending()
        assert b"<gone 7f3a9c>" not in stored_bytes()
