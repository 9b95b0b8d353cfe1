"""What a store promises of its directory: a part of `StoreContract`."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

import pytest
from msgspec.structs import replace

from contracts.store_scenes import IDS, TWINS, GiveUp
from souvenance.domain.directory import MEMBER, PEER, PICK, SESSION, WORKSPACE, Entry, Membership
from souvenance.ports.directory import Batch
from souvenance.ports.store import Store

HOME = "acme"
ANN = Entry(HOME, PEER, "ann", IDS[3], 1, '{"naïve":"日本"}', '{"a":[1,null]}', "travel")
MEMBERSHIP = Membership(HOME, MEMBER, "Tuesday", "ann", 4, 7, '{"a":1}')
BATCH = Batch(HOME, "Tuesday", bytes(range(32)), 5, 1, 3)


def enter(store: Store, *entries: Entry) -> None:
    with store.write() as tx:
        for entry in entries:
            assert tx.directory.add(entry)


class EntriesContract:
    def test_an_entry_is_read_back_as_it_was_made(self, store: Store) -> None:
        with store.write() as tx:
            assert tx.directory.entry(HOME, PEER, "ann") is None
            assert tx.directory.add(ANN)
            assert tx.directory.entry(HOME, PEER, "ann") == ANN
        with store.read() as tx:
            assert tx.directory.entry(HOME, PEER, "ann") == ANN
            assert tx.directory.entries(HOME, PEER) == [ANN]

    def test_entries_are_told_by_their_names_together(self, store: Store) -> None:
        named = [replace(ANN, name=f"peer {number:04}", uid=IDS[4]) for number in range(1100)]
        enter(
            store,
            ANN,
            replace(ANN, workspace="other", name="eve"),
            replace(ANN, kind=SESSION, name="kim"),
            *named,
        )
        with store.read() as tx:
            assert tx.directory.named(HOME, PEER, ()) == []
            assert tx.directory.named(HOME, PEER, {"nobody", "eve", "kim", "Ann"}) == []
            assert tx.directory.named(HOME, PEER, ["nobody", "peer 0007", "ann", "ann"]) == [ANN, named[7]]
            assert tx.directory.named(HOME, PEER, {one.name for one in named}) == named
            assert tx.directory.entry(HOME, PEER, "nobody") is None
        enter(store, replace(ANN, name="nobody"))
        with store.write() as tx:
            tx.directory.remove(HOME, PEER, "ann")
            assert tx.directory.named(HOME, PEER, {"nobody", "ann"}) == [replace(ANN, name="nobody")]

    def test_a_name_that_is_taken_is_not_entered_again(self, store: Store) -> None:
        enter(store, ANN)
        with store.write() as tx:
            assert not tx.directory.add(replace(ANN, uid=IDS[4], metadata="{}"))
            assert tx.directory.entry(HOME, PEER, "ann") == ANN
            assert tx.directory.add(replace(ANN, kind=SESSION))
            assert tx.directory.add(replace(ANN, workspace="other", metadata="{}"))
            assert tx.directory.entries(HOME, PEER) == [ANN]

    @pytest.mark.parametrize("twin", TWINS)
    def test_names_compare_byte_for_byte(self, store: Store, twin: str) -> None:
        enter(store, ANN)
        with store.write() as tx:
            assert tx.directory.entry(HOME, PEER, twin) is None
            assert not tx.directory.remove(HOME, PEER, twin)
            assert tx.directory.add(replace(ANN, name=twin))
            assert tx.directory.add(replace(ANN, workspace=twin))
            assert tx.directory.entry(HOME, PEER, twin) == replace(ANN, name=twin)
            assert tx.directory.entry(twin, PEER, "ann") == replace(ANN, workspace=twin)
            assert tx.directory.count(HOME, PEER) == 2

    def test_an_update_replaces_metadata_and_configuration_and_nothing_else(self, store: Store) -> None:
        others = [replace(ANN, name="bob"), replace(ANN, kind=SESSION), replace(ANN, workspace="other")]
        enter(store, ANN, *others)
        with store.write() as tx:
            assert tx.directory.entry(HOME, PEER, "ann") == ANN
            tx.directory.update(Entry(HOME, PEER, "ann", "another uid", 99, '{"new":1}', '{"newer":2}'))
            tx.directory.update(replace(ANN, name="nobody"))
            changed = replace(ANN, metadata='{"new":1}', configuration='{"newer":2}')
            assert tx.directory.entry(HOME, PEER, "ann") == changed
            assert tx.directory.entry(HOME, PEER, "nobody") is None
        with store.read() as tx:
            assert tx.directory.entries(HOME, PEER) == [changed, others[0]]
            assert tx.directory.entries(HOME, SESSION) == [others[1]]
            assert tx.directory.entries("other", PEER) == [others[2]]

    def test_a_removed_entry_is_gone_and_its_name_is_free(self, store: Store) -> None:
        enter(store, ANN, replace(ANN, kind=SESSION), replace(ANN, workspace="other"))
        with store.write() as tx:
            assert tx.directory.entry(HOME, PEER, "ann") == ANN
            assert tx.directory.remove(HOME, PEER, "ann")
            assert not tx.directory.remove(HOME, PEER, "ann")
            assert tx.directory.entry(HOME, PEER, "ann") is None
            assert tx.directory.count(HOME, SESSION) == tx.directory.count("other", PEER) == 1
            assert tx.directory.add(replace(ANN, uid=IDS[0]))
            assert tx.directory.entry(HOME, PEER, "ann") == replace(ANN, uid=IDS[0])

    def test_what_was_seen_in_a_write_that_raised_is_not_remembered(self, store: Store) -> None:
        enter(store, ANN)
        bob = replace(ANN, name="bob")
        with suppress(GiveUp), store.write() as tx:
            tx.directory.remove(HOME, PEER, "ann")
            tx.directory.add(bob)
            assert (tx.directory.entry(HOME, PEER, "ann"), tx.directory.entry(HOME, PEER, "bob")) == (
                None,
                bob,
            )
            raise GiveUp
        with store.write() as tx:
            assert (tx.directory.entry(HOME, PEER, "ann"), tx.directory.entry(HOME, PEER, "bob")) == (
                ANN,
                None,
            )

    @pytest.mark.parametrize("newest_first", [False, True])
    def test_entries_come_in_order_of_uid_and_in_pages(self, store: Store, newest_first: bool) -> None:
        names = ("b", "d", "a", "c", "A")
        made = [replace(ANN, name=name, uid=IDS[n]) for n, name in enumerate(names)]
        enter(store, *made[::-1], replace(ANN, kind=SESSION), replace(ANN, workspace="other"))
        expected = made[::-1] if newest_first else made
        with store.read() as tx:
            for offset, limit in product(range(7), [None, *range(7)]):
                page = tx.directory.entries(HOME, PEER, newest_first=newest_first, offset=offset, limit=limit)
                assert page == expected[offset : None if limit is None else offset + limit]
            assert tx.directory.count(HOME, PEER) == 5

    @pytest.mark.parametrize("newest_first", [False, True])
    def test_entries_of_some_namespaces_come_in_one_order_and_in_pages(
        self, store: Store, newest_first: bool
    ) -> None:
        spaces = ("travel", "work", "travel", "family", "work")
        made = [replace(ANN, name=str(n), uid=IDS[n], namespace=name) for n, name in enumerate(spaces)]
        enter(store, *made[::-1], replace(ANN, kind=SESSION), replace(ANN, workspace="other"))
        with store.read() as tx:
            for asked in (("travel",), ("work", "travel"), ("work", "work"), ("nowhere",), (), set(spaces)):
                there = [entry for entry in made if entry.namespace in asked]
                expected = there[::-1] if newest_first else there
                assert tx.directory.count(HOME, PEER, asked) == len(there)
                for offset, limit in product(range(4), [None, *range(4)]):
                    page = tx.directory.entries(
                        HOME, PEER, namespaces=asked, newest_first=newest_first, offset=offset, limit=limit
                    )
                    assert page == expected[offset : None if limit is None else offset + limit]

    def test_the_namespaces_of_entries_are_told_once_each(self, store: Store) -> None:
        spaces = ("work", "travel", "work")
        enter(store, *(replace(ANN, name=str(n), namespace=name) for n, name in enumerate(spaces)))
        enter(store, replace(ANN, kind=SESSION, namespace="family"), replace(ANN, workspace="other"))
        with store.write() as tx:
            assert tx.directory.namespaces(HOME, PEER) == ["travel", "work"]
            assert tx.directory.namespaces(HOME, SESSION) == ["family"]
            assert tx.directory.namespaces(HOME, WORKSPACE) == tx.directory.namespaces("nowhere", PEER) == []
            tx.directory.remove(HOME, PEER, "1")
            assert tx.directory.namespaces(HOME, PEER) == ["work"]
            tx.directory.add(replace(ANN, name="4", namespace="a"))
            assert tx.directory.namespaces(HOME, PEER) == ["a", "work"]
            tx.directory.remove_workspace(HOME)
            assert tx.directory.namespaces(HOME, PEER) == []

    def test_workspaces_are_told_together_and_alone(self, store: Store) -> None:
        names = ("b", "c", "a")
        made = [Entry(name, WORKSPACE, name, IDS[n], n) for n, name in enumerate(names)]
        enter(store, *made[::-1], ANN)
        with store.read() as tx:
            assert tx.directory.entries(None, WORKSPACE) == made
            assert tx.directory.entries(None, WORKSPACE, newest_first=True, offset=1, limit=1) == [made[1]]
            assert tx.directory.count(None, WORKSPACE) == 3
            assert tx.directory.entries("b", WORKSPACE) == made[:1]
            assert tx.directory.count("b", WORKSPACE) == 1
            assert tx.directory.entries(None, PEER) == [ANN]
            assert tx.directory.count(None, PEER) == 1


class TiesContract:
    def test_a_tie_is_read_back_as_it_was_made(self, store: Store) -> None:
        endless = replace(MEMBERSHIP, since=8, until=None)
        with store.write() as tx:
            tx.directory.add_membership(endless)
            tx.directory.add_membership(MEMBERSHIP)
        with store.read() as tx:
            assert tx.directory.memberships(HOME, MEMBER) == [MEMBERSHIP, endless]

    def test_a_tie_with_the_same_ends_kind_and_beginning_is_replaced(self, store: Store) -> None:
        others = [
            replace(MEMBERSHIP, since=5),
            replace(MEMBERSHIP, holder="Wednesday"),
            replace(MEMBERSHIP, held="bob"),
        ]
        apart = [replace(MEMBERSHIP, kind=PICK), replace(MEMBERSHIP, workspace="other")]
        with store.write() as tx:
            for membership in (MEMBERSHIP, *others, *apart):
                tx.directory.add_membership(membership)
            changed = replace(MEMBERSHIP, until=None, configuration="{}")
            tx.directory.add_membership(changed)
        with store.read() as tx:
            assert tx.directory.memberships(HOME, MEMBER) == [changed, others[2], others[1], others[0]]
            assert tx.directory.memberships(HOME, PICK) == apart[:1]
            assert tx.directory.memberships("other", MEMBER) == apart[1:]

    def test_the_sessions_that_peers_are_in_now_are_told_by_namespace(self, store: Store) -> None:
        def session(name: str, namespace: str = "travel", workspace: str = HOME) -> Entry:
            return Entry(workspace, SESSION, name, IDS[3], 1, "{}", "{}", namespace)

        enter(store, session("a"), session("b", "health"), session("left"), session("of bob"))
        enter(store, session("a", workspace="other"), replace(session("no session"), kind=PEER))
        memberships = [("a", "ann"), ("b", "ann"), ("of bob", "bob"), ("no session", "ann"), ("gone", "ann")]
        with store.write() as tx:
            for holder, held in memberships:
                tx.directory.add_membership(Membership(HOME, MEMBER, holder, held, 1, None, "{}"))
            tx.directory.add_membership(Membership(HOME, MEMBER, "left", "ann", 1, 5, "{}"))
            tx.directory.add_membership(Membership(HOME, MEMBER, "a", "ann", 9, None, "{}"))
            tx.directory.add_membership(Membership(HOME, PICK, "of bob", "ann", 1, None, "{}"))
        with store.read() as tx:
            assert tx.directory.sessions_with(HOME, {"ann"}) == ["a", "b"]
            assert tx.directory.sessions_with(HOME, {"ann", "bob"}) == ["a", "b", "of bob"]
            assert tx.directory.sessions_with(HOME, {"ann"}, {"health"}) == ["b"]
            assert tx.directory.sessions_with(HOME, {"ann"}, ()) == []
            assert tx.directory.sessions_with(HOME, ()) == []
            assert tx.directory.sessions_with("other", {"ann"}) == []
            newest = tx.directory.newest_sessions(HOME, "ann", None, 0, 9)
            assert sorted(entry.name for entry in newest) == ["a", "b"]
            assert newest == sorted(newest, key=lambda entry: entry.uid, reverse=True)
            assert tx.directory.newest_sessions(HOME, "ann", None, 1, 1) == newest[1:]
            assert [one.name for one in tx.directory.newest_sessions(HOME, "ann", {"health"}, 0, 9)] == ["b"]
            assert tx.directory.newest_sessions("other", "ann", None, 0, 9) == []

    def test_ties_are_asked_for_by_either_end_or_both(self, store: Store) -> None:
        made = [
            replace(MEMBERSHIP, since=since, holder=holder, held=held)
            for since, holder, held in product((1, 2), ("s", "S", "t"), ("ann", "bob"))
        ]
        made.sort(key=lambda membership: (membership.since, membership.holder, membership.held))
        with store.write() as tx:
            for membership in made[::-1]:
                tx.directory.add_membership(membership)
            for holder, held in product((None, "s", "u"), (None, "ann", "Ann")):
                assert tx.directory.memberships(HOME, MEMBER, holder=holder, held=held) == [
                    membership
                    for membership in made
                    if holder in (None, membership.holder) and held in (None, membership.held)
                ]

    def test_what_is_untied_is_as_if_it_had_never_been(self, store: Store) -> None:
        for holder, held in product((None, "s", "u"), (None, "ann", "Ann")):
            made = [
                replace(MEMBERSHIP, since=since, holder=one, held=other)
                for since, one, other in product((1, 2), ("s", "t"), ("ann", "bob"))
            ]
            apart = [
                replace(MEMBERSHIP, kind=PICK, holder="s"),
                replace(MEMBERSHIP, workspace="other", holder="s"),
            ]
            with store.write() as tx:
                for membership in (*made, *apart):
                    tx.directory.add_membership(membership)
                doomed = len(tx.directory.memberships(HOME, MEMBER, holder=holder, held=held))
                assert tx.directory.remove_memberships(HOME, MEMBER, holder=holder, held=held) == doomed
                assert tx.directory.memberships(HOME, MEMBER, holder=holder, held=held) == []
                assert len(tx.directory.memberships(HOME, MEMBER)) == len(made) - doomed
                assert tx.directory.memberships(HOME, PICK) == apart[:1]
                assert tx.directory.memberships("other", MEMBER) == apart[1:]

    @pytest.mark.parametrize("twin", TWINS)
    def test_ends_compare_byte_for_byte(self, store: Store, twin: str) -> None:
        plain = replace(MEMBERSHIP, holder="ann")
        with store.write() as tx:
            tx.directory.add_membership(plain)
            assert tx.directory.memberships(HOME, MEMBER, held=twin) == []
            assert tx.directory.memberships(HOME, MEMBER, holder=twin) == []
            assert tx.directory.remove_memberships(HOME, MEMBER, held=twin) == 0
            tx.directory.add_membership(replace(plain, held=twin))
            tx.directory.add_membership(replace(plain, holder=twin))
            assert tx.directory.memberships(HOME, MEMBER, held=twin) == [replace(plain, held=twin)]
            assert tx.directory.memberships(HOME, MEMBER, holder=twin) == [replace(plain, holder=twin)]
            assert tx.directory.memberships(HOME, MEMBER, holder="ann", held="ann") == [plain]


class BatchesContract:
    def test_a_batch_is_read_back_as_it_was_kept(self, store: Store) -> None:
        with store.write() as tx:
            assert tx.directory.batch(HOME, "Tuesday", BATCH.digest) is None
            tx.directory.keep_batch(BATCH, 0)
        with store.read() as tx:
            assert tx.directory.batch(HOME, "Tuesday", BATCH.digest) == BATCH
            assert tx.directory.batch(HOME, "Tuesday", BATCH.digest[:-1]) is None
            assert tx.directory.batch(HOME, "tuesday", BATCH.digest) is None
            assert tx.directory.batch("other", "Tuesday", BATCH.digest) is None

    def test_a_batch_takes_the_place_of_an_earlier_one_with_its_digest(self, store: Store) -> None:
        later = replace(BATCH, at=6, first=4, last=6)
        with store.write() as tx:
            tx.directory.keep_batch(BATCH, 0)
            tx.directory.keep_batch(later, 0)
            assert tx.directory.batch(HOME, "Tuesday", BATCH.digest) == later

    def test_with_a_batch_the_older_ones_of_its_session_go(self, store: Store) -> None:
        old = [replace(BATCH, digest=bytes([at]), at=at) for at in range(5)]
        apart = [replace(BATCH, session="Wednesday", at=0), replace(BATCH, workspace="other", at=0)]
        with store.write() as tx:
            for batch in (*old, *apart):
                tx.directory.keep_batch(batch, 0)
            tx.directory.keep_batch(BATCH, 3)
            found = [tx.directory.batch(HOME, "Tuesday", batch.digest) for batch in (*old, BATCH)]
            assert found == [None, None, None, old[3], old[4], BATCH]
            for batch in apart:
                assert tx.directory.batch(batch.workspace, batch.session, batch.digest) == batch

    def test_a_batch_is_kept_however_old_it_is(self, store: Store) -> None:
        with store.write() as tx:
            tx.directory.keep_batch(BATCH, 100)
            assert tx.directory.batch(HOME, "Tuesday", BATCH.digest) == BATCH

    def test_dropped_batches_are_those_of_one_session(self, store: Store) -> None:
        apart = [replace(BATCH, session="Wednesday"), replace(BATCH, workspace="other")]
        with store.write() as tx:
            for batch in (BATCH, replace(BATCH, digest=b""), *apart):
                tx.directory.keep_batch(batch, 0)
            tx.directory.drop_batches(HOME, "Tuesday")
            assert tx.directory.batch(HOME, "Tuesday", BATCH.digest) is None
            assert tx.directory.batch(HOME, "Tuesday", b"") is None
            for batch in apart:
                assert tx.directory.batch(batch.workspace, batch.session, batch.digest) == batch


class RegisterContract(EntriesContract, TiesContract, BatchesContract):
    def test_with_a_workspace_goes_all_it_had_and_nothing_of_another(self, store: Store) -> None:
        with store.write() as tx:
            for workspace in (HOME, "other"):
                tx.directory.add(replace(ANN, workspace=workspace))
                tx.directory.add(Entry(workspace, WORKSPACE, workspace, IDS[0], 1))
                tx.directory.add_membership(replace(MEMBERSHIP, workspace=workspace))
                tx.directory.keep_batch(replace(BATCH, workspace=workspace), 0)
            assert tx.directory.entry(HOME, PEER, "ann") == ANN
            tx.directory.remove_workspace(HOME)
            assert tx.directory.entry(HOME, PEER, "ann") is None
        with store.read() as tx:
            assert tx.directory.entries(HOME, PEER) == tx.directory.entries(HOME, WORKSPACE) == []
            assert tx.directory.memberships(HOME, MEMBER) == []
            assert tx.directory.batch(HOME, "Tuesday", BATCH.digest) is None
            assert tx.directory.entries(None, WORKSPACE) == [Entry("other", WORKSPACE, "other", IDS[0], 1)]
            assert tx.directory.entries("other", PEER) == [replace(ANN, workspace="other")]
            assert tx.directory.memberships("other", MEMBER) == [replace(MEMBERSHIP, workspace="other")]
            assert tx.directory.batch("other", "Tuesday", BATCH.digest) == replace(BATCH, workspace="other")
