"""Rebuilds the search index a little at a time, while everything else goes on.

Each step is small and leaves a note of how far it came, so that nothing is lost if
the process ends, and this process or another continues from there.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from souvenance.core.embedding_space import Meaning
from souvenance.core.remember import ANALYSIS, tokens_of
from souvenance.core.request_context import Services
from souvenance.core.vault import CompartmentKeys
from souvenance.domain.line import SealedLine
from souvenance.domain.names import ALL, Compartment
from souvenance.errors import IntegrityError
from souvenance.ports.clock import Zone
from souvenance.ports.index import Debt, Renewed
from souvenance.ports.store import Store, Transaction

_AT_ONCE = 200
_DROPPED_AT_ONCE = 1000


class Left(Struct, frozen=True):
    """What is left to do."""

    lines: int
    """Lines to index again."""
    vectors: int
    """Lines that have no vector of the embedder's."""
    old: int
    """Vectors that are no longer used: of other embedders, or all if none are kept."""


def notice(store: Store) -> None:
    """Note that all is to be reindexed if the analysis is of another version. Raises: Unavailable."""
    with store.read() as tx:
        if tx.renewal.analysis() == ANALYSIS:
            return
    with store.write() as tx:
        _catch_up(tx)


def _catch_up(tx: Transaction) -> None:
    if tx.renewal.analysis() != ANALYSIS:
        tx.renewal.owe(every_compartment(tx))
        tx.renewal.analyse_by(ANALYSIS)


def every_compartment(tx: Transaction, workspace: str | None = None) -> list[Compartment]:
    """Every compartment, or those of that workspace, in order."""
    return sorted(
        {key.compartment for key in tx.keys.every() if workspace in (None, key.compartment.workspace)}
    )


def begin(tx: Transaction, services: Services, workspace: str | None) -> None:
    """Note that every compartment, or each of the workspace, is to be reindexed, unless that is under way."""
    within = () if workspace is None else (workspace,)
    compartments = every_compartment(tx, workspace)
    _catch_up(tx)
    if tx.renewal.next(*within) is None:
        tx.renewal.owe(compartments)
    services.meaning.touch(compartments)


def renew_some(store: Store, services: Services) -> bool:
    """Reindex some lines; whether there was a compartment to do so in. Raises: Unavailable."""
    with store.read() as tx:
        debt = tx.renewal.next()
        if debt is None:
            return False
        entries = tx.renewal.lines(debt, _AT_ONCE)
        keys = services.vault.left(tx, debt.compartment)
        lines = (
            [] if keys is None else tx.lines.get_all(debt.compartment, [line_id for _, line_id in entries])
        )
    made = [] if keys is None else _made(entries, lines, keys, services.zone)
    with store.write(debt.compartment.workspace, lasting=False) as tx:
        tx.renewal.renew(debt.compartment, made)
        if len(entries) == _AT_ONCE:
            tx.renewal.reach(Debt(debt.compartment, entries[-1][0]))
        else:
            tx.renewal.settle(debt.compartment)
            tx.touch(debt.compartment.workspace, compartments=True)
    return True


def _made(
    entries: Collection[tuple[int, str]], lines: Collection[SealedLine], keys: CompartmentKeys, zone: Zone
) -> list[Renewed]:
    """The new search terms of the lines that can be decrypted."""
    found = {line.id: line for line in lines}
    made = []
    for seq, line_id in entries:
        line = found.get(line_id)
        if line is not None:
            try:
                made.append(Renewed(seq, line_id, *tokens_of(line, keys.open(line), keys, zone)))
            except IntegrityError:
                continue
    return made


def drop_some(tx: Transaction, space: str) -> None:
    """Drop some vectors of another space than this; without one, some of any, which must leave no byte."""
    old = next((name for name in tx.terms.spaces() if name != space), None)
    if old is not None:
        tx.terms.leave(old, _DROPPED_AT_ONCE)
        if not space:
            tx.owe_scrub()
        tx.touch(ALL, compartments=True)


def left(tx: Transaction, meaning: Meaning, workspace: str | None) -> Left:
    """What is left to do, everywhere or in that workspace; without an embedder, at most to drop vectors."""
    within = () if workspace is None else (workspace,)
    lines, space = tx.renewal.owed(*within), meaning.space
    if not space and meaning.keeps:
        return Left(lines, 0, 0)
    old = 0 if within else sum(count for name, count in tx.terms.spaces().items() if name != space)
    return Left(lines, tx.renewal.lacking(space, *within) if space else 0, old)
