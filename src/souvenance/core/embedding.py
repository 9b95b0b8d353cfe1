"""Gives a compartment's lines their vectors, outside any request.

A line that was just written has none yet. So that the next question finds it all the same, its vector is made
as it is written; where many lines come at once, the question makes those of the newest few itself, within
bounds. These are kept in memory only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from souvenance.core.embedding_space import as_embedded
from souvenance.core.request_context import RequestContext, Services, Trace, own_event
from souvenance.core.vault import CompartmentKeys
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment
from souvenance.domain.seal import pack
from souvenance.errors import SouvenanceError, Tampered
from souvenance.ports.embedder import Embedder
from souvenance.ports.index import Fresh
from souvenance.ports.store import Store, Transaction

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
    except SouvenanceError as error:
        meaning.failed(error)
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
