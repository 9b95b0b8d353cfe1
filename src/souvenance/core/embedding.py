"""Gives a compartment's lines their vectors and, after a change, their search terms, outside any request.

A line that was just written has none yet. So that the next question finds it all the same, its vector is made
as it is written; where many lines come at once, the question makes those of the newest few itself, within
bounds. These are kept in memory only.

Reindexing goes in small steps, while everything else goes on. Each leaves a note of how far it came, so that
nothing is lost if the process ends, and this process or another goes on from there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct

from souvenance.core.embedding_space import Meaning, as_embedded
from souvenance.core.remember import ANALYSIS, tokens_of
from souvenance.core.request_context import RequestContext, Services, Trace, own_event
from souvenance.core.vault import CompartmentKeys
from souvenance.domain.line import SealedLine
from souvenance.domain.names import ALL, Compartment
from souvenance.domain.seal import pack
from souvenance.errors import IntegrityError, SouvenanceError, Tampered
from souvenance.ports.clock import Zone
from souvenance.ports.embedder import Embedder
from souvenance.ports.index import Debt, Fresh, Renewed
from souvenance.ports.store import Store, Transaction

_RENEWED_AT_ONCE = 200
_DROPPED_AT_ONCE = 1000


class Left(Struct, frozen=True):
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
        entries = tx.renewal.lines(debt, _RENEWED_AT_ONCE)
        keys = services.vault.left(tx, debt.compartment)
        lines = (
            [] if keys is None else tx.lines.get_all(debt.compartment, [line_id for _, line_id in entries])
        )
    made = [] if keys is None else _made(entries, lines, keys, services.zone)
    with store.write(debt.compartment.workspace, lasting=False) as tx:
        tx.renewal.renew(debt.compartment, made)
        if len(entries) == _RENEWED_AT_ONCE:
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


_AT_ONCE = 64
_NEWEST = 64
"""How many of a compartment's newest changes a question looks at for lines without a vector."""
_CHARACTERS = 6_000
"""Of how much text a question makes vectors: some 0.2 s with the packaged model, and once."""
_EACH, _LONGEST = 60, 1_000
"""What a line counts for beside its characters, and how many of these count: a model reads no further."""


def freshen(ctx: RequestContext, keys: CompartmentKeys, known: Collection[str]) -> Fresh:
    """Which of the compartment's newest lines have no vector yet, and vectors of those that are not known.
    Newest first, as far as the question's share of text goes."""
    compartment, meaning = keys.compartment, ctx.services.meaning
    lacking = ctx.once(
        (freshen, compartment), lambda: ctx.tx.terms.newest_lacking(compartment, meaning.space, _NEWEST)
    )
    wanted = [line_id for line_id in lacking if line_id not in known]
    lines = {line.id: line for line in ctx.tx.lines.get_all(compartment, wanted)} if wanted else {}
    texts: dict[str, str] = {}
    for line_id in wanted:
        text = _text(lines[line_id], keys) if line_id in lines else None
        if text is None:
            continue
        left = ctx.once(freshen, lambda: _CHARACTERS) - _EACH - min(len(text), _LONGEST)
        if left < 0:
            break
        ctx.known[freshen] = left
        texts[line_id] = text
    vectors = zip(texts, meaning.soon(list(texts.values())), strict=True)
    return Fresh(lacking, {line_id: pack(vector) for line_id, vector in vectors if vector is not None})


def embed_some(store: Store, services: Services) -> bool:
    """Make vectors for some lines of a compartment; whether there was one. Raises: Unavailable."""
    meaning = services.meaning
    embedder, compartment = meaning.embedder, meaning.next_compartment()
    if embedder is None or compartment is None or not meaning.behind:
        return False
    texts = _waiting(store, services, compartment, embedder.space)
    if not texts:
        meaning.done(compartment)
        return True
    try:
        vectors = meaning.passages(embedder, list(texts.values()))
    except SouvenanceError:
        return False
    meaning.trouble = ""
    _keep(store, services, compartment, embedder, dict(zip(texts, vectors, strict=True)))
    return True


def _waiting(store: Store, services: Services, compartment: Compartment, space: str) -> dict[str, str]:
    """What the next lines without a place say, by id; those that do not open are passed over."""
    with store.read(compartment.workspace) as tx:
        keys = services.vault.left(tx, compartment)
        if keys is None:
            return {}
        for ids in _batches(tx, services, compartment, space):
            lines = tx.lines.get_all(compartment, ids)
            opened = {line.id: text for line in lines if (text := _text(line, keys)) is not None}
            if opened:
                return opened
    return {}


def _batches(
    tx: Transaction, services: Services, compartment: Compartment, space: str
) -> Iterator[list[str]]:
    """The lines whose places were lost, and then those that never had one, some at a time."""
    if lost := services.meaning.take_lost(compartment, _AT_ONCE):
        yield lost
    beyond = 0
    while lacking := tx.terms.lacking(compartment, space, _AT_ONCE, beyond):
        yield lacking
        beyond += len(lacking)


def _text(line: SealedLine, keys: CompartmentKeys) -> str | None:
    try:
        return as_embedded(line.compartment.owner, keys.open(line))
    except Tampered:
        return None


def _keep(
    store: Store, services: Services, compartment: Compartment, embedder: Embedder, vectors: dict[str, bytes]
) -> None:
    with store.write(compartment.workspace, lasting=False) as tx:
        keys = services.vault.left(tx, compartment)
        if keys is None:
            return
        space, clear = embedder.space, tx.terms.comparing is not None
        kept = [
            (line_id, pack(vector) if clear else services.vault.seal_vector(vector, line_id, space, keys))
            for line_id, vector in vectors.items()
        ]
        tx.terms.lie(compartment, space, kept)
        at, replaced = services.meaning.replaced(compartment, vectors)
        if replaced:
            trace = Trace((compartment.namespace,), replaced, f"owner={compartment.owner}")
            event = own_event(at, "index.vector_replaced", trace, Tampered.code)
            tx.audit.append(compartment.workspace, event)
