"""The contract of `souvenance.ports.object_store` as tests; a part of the store's.

class TestMyReplication(ReplicationContract):
    @pytest.fixture
    def book(self) -> Store:
        return MyStore()
"""

from __future__ import annotations

from contracts.store_scenes import COMPARTMENT, ELSEWHERE, IDS, sealed_line
from souvenance.ports.object_store import KEY, LINE, REPLACED, ChangeNote
from souvenance.ports.store import Store, WrappedKey

NOTED = [ChangeNote(COMPARTMENT, LINE, line_id, "noted") for line_id in IDS[:3]]


def _note(store: Store, *replication: ChangeNote) -> None:
    with store.write() as tx:
        tx.replication.note(replication)


def _claimed(store: Store, stamp: str = "mine", now: int = 1000, most: int = 100) -> list[ChangeNote]:
    with store.write() as tx:
        return list(tx.replication.claim(stamp, now=now, until=now + 100, most=most))


class ReplicationContract:
    def test_what_was_noted_is_claimed_by_one_until_its_time_is_over(self, store: Store) -> None:
        _note(store, *reversed(NOTED))
        mine = _claimed(store, most=2)
        assert mine == [one._replace(stamp="mine", tries=1) for one in NOTED[:2]]
        assert _claimed(store, "yours") == [NOTED[2]._replace(stamp="yours", tries=1)]
        assert _claimed(store, "theirs", now=1099) == []
        with store.read() as tx:
            assert [tx.replication.due(now) for now in (1099, 1100)] == [False, True]
        assert [one.tries for one in _claimed(store, "theirs", now=1100)] == [2, 2, 2]

    def test_what_was_carried_is_not_claimed_again(self, store: Store) -> None:
        _note(store, *NOTED)
        with store.write() as tx:
            for one in tx.replication.claim("mine", now=1, until=2, most=2):
                tx.replication.done(one)
        assert [one.name for one in _claimed(store)] == [NOTED[2].name]

    def test_what_was_noted_anew_meanwhile_stays_and_is_due_at_once(self, store: Store) -> None:
        _note(store, NOTED[0])
        [mine] = _claimed(store)
        _note(store, NOTED[0]._replace(stamp="changed again"))
        with store.write() as tx:
            tx.replication.done(mine)
        assert len(_claimed(store)) == 1

    def test_what_another_took_away_meanwhile_is_looked_at_once_more(self, store: Store) -> None:
        """Whoever was slow may have put something that is outdated by now."""
        _note(store, NOTED[0])
        [mine] = _claimed(store)
        [yours] = _claimed(store, "yours", now=5000)
        with store.write() as tx:
            tx.replication.done(yours)
        with store.read() as tx:
            assert tx.replication.waiting() == 0
        with store.write() as tx:
            tx.replication.done(mine)
        assert len(_claimed(store)) == 1

    def test_what_is_postponed_waits_until_then(self, store: Store) -> None:
        _note(store, NOTED[0])
        [mine] = _claimed(store)
        with store.write() as tx:
            tx.replication.postpone(mine, 9000)
            tx.replication.postpone(mine._replace(stamp="not mine"), 1)
        assert _claimed(store, now=8999) == []
        assert len(_claimed(store, now=9000)) == 1

    def test_those_that_wait_are_counted_by_workspace_and_owner(self, store: Store) -> None:
        _note(store, *NOTED, *(ChangeNote(compartment, LINE, IDS[0], "x") for compartment in ELSEWHERE))
        with store.read() as tx:
            assert tx.replication.waiting() == len(NOTED) + len(ELSEWHERE)
            assert tx.replication.waiting("other") == 1
            assert tx.replication.waiting(COMPARTMENT.workspace, "bob") == 1
            assert tx.replication.waiting(COMPARTMENT.workspace, COMPARTMENT.owner) == len(NOTED) + 1

    def test_everything_in_the_store_can_be_noted(self, store: Store) -> None:
        with store.write() as tx:
            tx.lines.append(sealed_line(IDS[0]))
            tx.lines.append(sealed_line(IDS[1]))
            tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[1])
            tx.keys.add(WrappedKey(COMPARTMENT, "seal", 12, b"wrapped"))
            tx.replication.note_everything("all")
        assert [(one.what, one.name) for one in _claimed(store)] == [
            (KEY, "seal-12"),
            (LINE, IDS[0]),
            (LINE, IDS[1]),
            (REPLACED, IDS[0]),
        ]

    def test_a_store_is_mirrored_from_when_it_was_begun(self, store: Store) -> None:
        with store.read() as tx:
            assert not tx.replication.mirrored()
        with store.write() as tx:
            tx.replication.begin()
        with store.read() as tx:
            assert tx.replication.mirrored()
