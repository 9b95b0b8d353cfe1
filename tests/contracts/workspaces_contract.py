"""What a store promises of transactions that name their workspace: a part of `StoreContract`."""

from __future__ import annotations

from contracts.store_scenes import (
    COMPARTMENT,
    ELSEWHERE,
    THREADS,
    WORKSPACE,
    contents,
    event,
    fill,
    log,
    numbered,
    sealed_line,
)
from contracts.threads import in_many_threads
from souvenance.domain import audit
from souvenance.domain.capability import Revocation
from souvenance.domain.names import ALL
from souvenance.ports.store import Store

_WRITES = 8


class WorkspacesContract:
    def test_whoever_names_a_workspace_does_all_that_belongs_to_it(self, store: Store) -> None:
        for compartment in (COMPARTMENT, ELSEWHERE[0]):
            with store.write(compartment.workspace) as tx:
                fill(tx, compartment)
        assert contents(store)[COMPARTMENT] != ([], [])
        for compartment in (COMPARTMENT, ELSEWHERE[0]):
            with store.read(compartment.workspace) as tx, store.read() as everything:
                assert tx.lines.count(compartment) == everything.lines.count(compartment) > 0
                assert tx.keys.of(*compartment[:2]) == everything.keys.of(*compartment[:2])
                assert tx.marks(compartment.workspace) == everything.marks(compartment.workspace)
                assert list(tx.terms.since(compartment, 0)) == list(everything.terms.since(compartment, 0))
        assert store.scrub_pending()

    def test_what_belongs_to_all_is_seen_from_every_workspace(self, store: Store) -> None:
        with store.write() as tx:
            tx.caps.revoke(Revocation(ALL, "jti", "cap", 1))
            tx.touch(ALL, caps=True)
        for workspace in (WORKSPACE, "other"):
            with store.read(workspace) as tx:
                assert [one.value for one in tx.caps.revocations(workspace)] == ["cap"]
                assert tx.marks(workspace).caps == 1

    def test_writers_of_many_workspaces_lose_nothing_and_break_no_log(self, store: Store) -> None:
        def write(one: Store, thread: int) -> None:
            compartment = COMPARTMENT._replace(workspace=f"w{thread % 4}")
            for n in range(_WRITES):
                with one.write(ALL if n == _WRITES // 2 else compartment.workspace, lasting=n % 2 == 0) as tx:
                    assert tx.lines.append(sealed_line(numbered(thread, n), compartment))
                    tx.terms.add(compartment, numbered(thread, n), b"tokens", b"\x01")
                    tx.audit.append(compartment.workspace, event(numbered(thread, n)))
                    tx.owe_scrub()

        in_many_threads([store] * THREADS, write)
        for number in range(4):
            compartment = COMPARTMENT._replace(workspace=f"w{number}")
            rows = log(store, compartment.workspace)
            assert audit.verify(compartment.workspace, rows).size == _WRITES * THREADS // 4
            with store.read(compartment.workspace) as tx:
                assert tx.lines.count(compartment) == len(rows)
                assert [change.seq for change in tx.terms.since(compartment, 0)] == list(
                    range(1, len(rows) + 1)
                )
