"""What a store promises of sign-ins: a part of `StoreContract`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from msgspec.structs import replace

from contracts.threads import in_many_threads
from souvenance.domain.sign_ins import CODE, DEVICE, REFRESH, SPENT_KEPT_MS, UNUSED_MS, Client, SignIn, Slip
from souvenance.ports.store import SignIns, Store

NOW = 10 * SPENT_KEPT_MS
LATER = NOW + UNUSED_MS

CLIENT = Client(
    id="client",
    name="A program",
    redirects=("http://127.0.0.1/callback", "https://app.example/b?c=d"),
    grants=("authorization_code",),
    auth="client_secret_post",
    secret=b"\x00hash\xff",
    created_at=NOW,
)
SIGNIN = SignIn(
    id="01JD7Y8Q2W0000000000000000",
    client="client",
    workspace="acme",
    peer="ann",
    access="write",
    jti="01JD7Y8Q2W0000000000000001",
    sealed=b"\x01sealed\xff",
    created_at=NOW,
    until=NOW + 2 * SPENT_KEPT_MS,
)
OTHER = replace(SIGNIN, id="01JD7Y8Q2W0000000000000002", jti="01JD7Y8Q2W0000000000000003", access="read")
SLIP = Slip(kind=CODE, hash=b"\x00hash", client="client", signin=SIGNIN.id, until=LATER, content=b"\xff{}")


def write(store: Store, *steps: Callable[[SignIns], None]) -> None:
    with store.write() as tx:
        for step in steps:
            step(tx.signins)


class SignInsContract:
    def test_a_client_is_found_as_it_was_added(self, store: Store) -> None:
        public = Client(id="public", name="ä", redirects=())
        write(store, lambda s: s.add_client(CLIENT), lambda s: s.add_client(public))
        with store.read() as tx:
            assert tx.signins.client("client") == CLIENT
            assert tx.signins.client("public") == public
            assert tx.signins.client("other") is None

    def test_the_first_use_of_a_client_is_noted_and_strangers_are_counted(self, store: Store) -> None:
        write(store, lambda s: s.add_client(CLIENT), lambda s: s.add_client(replace(CLIENT, id="two")))
        with store.read() as tx:
            assert tx.signins.strangers() == 2
        for now in (5, 6):
            write(store, lambda s, now=now: s.use_client("client", now))  # type: ignore[misc]
        write(store, lambda s: s.use_client("nobody", 5))
        with store.read() as tx:
            assert tx.signins.client("client") == replace(CLIENT, used_at=5)
            assert tx.signins.strangers() == 1

    def test_a_sign_in_is_found_by_its_id_and_by_its_cap(self, store: Store) -> None:
        write(store, lambda s: s.add(OTHER), lambda s: s.add(SIGNIN))
        with store.read() as tx:
            assert tx.signins.get(SIGNIN.id) == tx.signins.of_cap(SIGNIN.jti) == SIGNIN
            assert tx.signins.every() == [SIGNIN, OTHER]
            assert tx.signins.get("none") is None
            assert tx.signins.of_cap(SIGNIN.id) is None

    def test_a_sign_in_can_be_used_and_sealed_anew(self, store: Store) -> None:
        write(store, lambda s: s.add(SIGNIN), lambda s: s.add(OTHER))
        for now in (5, 6):
            write(store, lambda s, now=now: s.use(SIGNIN.id, now))  # type: ignore[misc]
        write(store, lambda s: s.reseal(SIGNIN.id, b"fresh"), lambda s: s.reseal("none", b"fresh"))
        with store.read() as tx:
            assert tx.signins.every() == [replace(SIGNIN, used_at=6, sealed=b"fresh"), OTHER]

    def test_a_sign_in_that_ends_takes_its_slips_along_and_no_others(self, store: Store) -> None:
        others = replace(SLIP, hash=b"other", signin=OTHER.id)
        loose = replace(SLIP, hash=b"loose", signin=None)
        write(store, lambda s: s.add(SIGNIN), lambda s: s.add(OTHER))
        for slip in (SLIP, replace(SLIP, kind=REFRESH), others, loose):
            write(store, lambda s, slip=slip: s.keep(slip))  # type: ignore[misc]
        write(store, lambda s: s.end(SIGNIN.id), lambda s: s.end("none"))
        with store.read() as tx:
            assert tx.signins.every() == [OTHER]
            assert tx.signins.slip(CODE, SLIP.hash) is tx.signins.slip(REFRESH, SLIP.hash) is None
            assert tx.signins.slip(CODE, b"other") == others
            assert tx.signins.slip(CODE, b"loose") == loose

    def test_a_slip_is_one_of_its_kind_and_hash_and_can_be_replaced(self, store: Store) -> None:
        device = replace(SLIP, kind=DEVICE, signin=None, client="", content=b"")
        write(store, lambda s: s.keep(SLIP), lambda s: s.keep(device))
        with store.read() as tx:
            assert tx.signins.slip(CODE, SLIP.hash) == SLIP
            assert tx.signins.slip(DEVICE, SLIP.hash) == device
            assert tx.signins.slip(CODE, b"\x00HASH") is None
            assert (tx.signins.count(CODE), tx.signins.count(REFRESH)) == (1, 0)
            assert (tx.signins.slips(CODE), tx.signins.slips(REFRESH)) == ([SLIP], [])
        allowed = replace(device, signin=SIGNIN.id, content=b"read", until=LATER + 1)
        write(store, lambda s: s.keep(allowed))
        with store.read() as tx:
            assert tx.signins.slip(DEVICE, SLIP.hash) == allowed
            assert tx.signins.count(DEVICE) == 1

    def test_a_slip_is_spent_once(self, store: Store) -> None:
        write(store, lambda s: s.keep(SLIP), lambda s: s.keep(replace(SLIP, kind=REFRESH)))
        with store.write() as tx:
            assert tx.signins.spend(CODE, SLIP.hash, 7)
            assert not tx.signins.spend(CODE, SLIP.hash, 8)
            assert not tx.signins.spend(CODE, b"other", 7)
        with store.read() as tx:
            assert tx.signins.slip(CODE, SLIP.hash) == replace(SLIP, spent_at=7)
            assert tx.signins.slip(REFRESH, SLIP.hash) == replace(SLIP, kind=REFRESH)

    def test_of_many_threads_one_spends_a_slip(self, store: Store) -> None:
        write(store, lambda s: s.keep(SLIP))
        won: list[int] = []

        def spend(mine: Store, turn: int) -> None:
            with mine.write() as tx:
                if tx.signins.spend(CODE, SLIP.hash, turn):
                    won.append(turn)

        in_many_threads([store] * 4, spend)
        assert len(won) == 1
        with store.read() as tx:
            assert tx.signins.slip(CODE, SLIP.hash) == replace(SLIP, spent_at=won[0])

    def test_slips_are_dropped_one_by_one_and_by_kind(self, store: Store) -> None:
        for kind, hashed in product((CODE, REFRESH), (b"a", b"b")):
            write(store, lambda s, k=kind, h=hashed: s.keep(replace(SLIP, kind=k, hash=h)))  # type: ignore[misc]
        write(
            store, lambda s: s.drop(CODE, b"a"), lambda s: s.drop_all(REFRESH), lambda s: s.drop(CODE, b"c")
        )
        with store.read() as tx:
            assert tx.signins.slip(CODE, b"a") is None
            assert tx.signins.slip(CODE, b"b") is not None
            assert tx.signins.count(REFRESH) == 0

    def test_a_sweep_takes_slips_that_are_over_and_keeps_the_memory_of_those_spent_of_late(
        self, store: Store
    ) -> None:
        alive: dict[bytes, dict[str, Any]] = {
            b"under way": {},
            b"loose": {"signin": None},
            b"spent": {"spent_at": NOW - 1, "until": NOW - 1},
        }
        over: dict[bytes, dict[str, Any]] = {
            b"late": {"until": NOW},
            b"loose and late": {"signin": None, "until": NOW},
            b"loose, spent and late": {"signin": None, "until": NOW, "spent_at": NOW - 1},
            b"spent long ago": {"spent_at": NOW - SPENT_KEPT_MS},
        }
        write(store, lambda s: s.add(replace(SIGNIN, used_at=NOW)))
        for hashed, changed in (alive | over).items():
            slip = replace(SLIP, hash=hashed, **changed)
            write(store, lambda s, slip=slip: s.keep(slip))  # type: ignore[misc]
        write(store, lambda s: s.sweep(NOW))
        with store.read() as tx:
            assert {one for one in alive | over if tx.signins.slip(CODE, one) is not None} == set(alive)

    def test_a_sweep_takes_sign_ins_that_are_over_or_were_never_fetched(self, store: Store) -> None:
        used = replace(OTHER, used_at=NOW)
        write(store, lambda s: s.add(SIGNIN), lambda s: s.add(used), lambda s: s.keep(SLIP))
        write(store, lambda s: s.sweep(LATER - 1))
        with store.read() as tx:
            assert tx.signins.every() == [SIGNIN, used]
        write(store, lambda s: s.sweep(LATER))
        with store.read() as tx:
            assert tx.signins.every() == [used]
            assert tx.signins.count(CODE) == 0
        write(store, lambda s: s.sweep(used.until))
        with store.read() as tx:
            assert tx.signins.every() == []

    def test_a_sweep_takes_clients_that_nobody_let_in_for_a_day(self, store: Store) -> None:
        used = replace(CLIENT, id="used", used_at=NOW)
        write(store, lambda s: s.add_client(CLIENT), lambda s: s.add_client(used))
        write(store, lambda s: s.sweep(LATER - 1))
        with store.read() as tx:
            assert tx.signins.strangers() == 1
        write(store, lambda s: s.sweep(LATER))
        with store.read() as tx:
            assert tx.signins.client("client") is None
            assert tx.signins.client("used") == used

    def test_a_write_that_fails_spends_nothing(self, store: Store) -> None:
        write(store, lambda s: s.add(SIGNIN), lambda s: s.keep(SLIP))
        try:
            with store.write() as tx:
                tx.signins.spend(CODE, SLIP.hash, 7)
                tx.signins.end(SIGNIN.id)
                raise KeyError
        except KeyError:
            pass
        with store.read() as tx:
            assert tx.signins.slip(CODE, SLIP.hash) == SLIP
            assert tx.signins.get(SIGNIN.id) == SIGNIN
