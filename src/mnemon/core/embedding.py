"""Embedding: give a room's lines their places in the embedder's space, outside any request."""

from __future__ import annotations

from collections.abc import Iterator

from mnemon.core.desk import Tools
from mnemon.core.vault import RoomKeys
from mnemon.domain.audit import Event
from mnemon.domain.line import SealedLine
from mnemon.domain.names import Room
from mnemon.domain.seal import NONCE_BYTES
from mnemon.domain.vector import pack, seal_vector
from mnemon.errors import MnemonError, Tampered
from mnemon.ports.book import Book, Transaction
from mnemon.ports.embedder import Embedder

ACTOR = "mnemon"
"""In whose name work is done that no request asked for."""

_AT_ONCE = 64


def embed_some(book: Book, tools: Tools) -> bool:
    """Give some lines of a room that is behind their places; whether there was one.

    Raises: Unavailable if the book is out of reach.
    """
    meaning = tools.meaning
    embedder, room = meaning.embedder, meaning.next_room()
    if embedder is None or room is None or not meaning.behind:
        return False
    lines, texts = _waiting(book, tools, room, embedder.space)
    if not lines:
        meaning.done(room)
        return True
    try:
        vectors = embedder.passages(texts)
    except MnemonError as error:
        meaning.failed(error)
        return False
    meaning.trouble = ""
    _keep(book, tools, room, embedder, dict(zip((line.id for line in lines), vectors, strict=True)))
    return True


def _waiting(book: Book, tools: Tools, room: Room, space: str) -> tuple[list[SealedLine], list[str]]:
    """The next lines without a place, and what they say; those that do not open are passed over."""
    with book.read(room.workspace) as tx:
        keys = tools.vault.left(tx, room)
        if keys is None:
            return [], []
        for ids in _batches(tx, tools, room, space):
            lines = tx.lines.get_all(room, ids)
            opened = [(line, text) for line in lines if (text := _text(line, keys)) is not None]
            if opened:
                return [line for line, _ in opened], [text for _, text in opened]
    return [], []


def _batches(tx: Transaction, tools: Tools, room: Room, space: str) -> Iterator[list[str]]:
    """The lines whose places were lost, and then those that never had one, some at a time."""
    if lost := tools.meaning.take_lost(room, _AT_ONCE):
        yield lost
    beyond = 0
    while lacking := tx.terms.lacking(room, space, _AT_ONCE, beyond):
        yield lacking
        beyond += len(lacking)


def _text(line: SealedLine, keys: RoomKeys) -> str | None:
    try:
        return f"{line.room.owner}: {keys.open(line)}"
    except Tampered:
        return None


def _keep(book: Book, tools: Tools, room: Room, embedder: Embedder, vectors: dict[str, bytes]) -> None:
    with book.write(room.workspace, lasting=False) as tx:
        keys = tools.vault.left(tx, room)
        if keys is None:
            return
        if tx.terms.comparing is not None:
            kept = {line_id: pack(vector) for line_id, vector in vectors.items()}
        else:
            kept = _sealed(tools, keys, embedder.space, vectors)
        tx.terms.lie(room, embedder.space, list(kept.items()))
        at, replaced = tools.meaning.replaced(room, kept)
        if replaced:
            tx.audit.append(room.workspace, _replacement(at, room, replaced))
    tools.index.touch(room, vectors=True)


def _replacement(at: int, room: Room, line_ids: list[str]) -> Event:
    """What the log says of vectors that did not open, in the transaction that replaces them."""
    return Event(
        at=at,
        actor=ACTOR,
        cap=ACTOR,
        operation="index.vector_replaced",
        outcome=Tampered.code,
        namespaces=(room.namespace,),
        lines=line_ids,
        detail=f"owner={room.owner}",
    )


def _sealed(tools: Tools, keys: RoomKeys, space: str, vectors: dict[str, bytes]) -> dict[str, bytes]:
    key, epoch = keys.seals[keys.epoch], keys.epoch
    return {
        line_id: seal_vector(
            vector, keys.room, line_id, space, key=key, epoch=epoch, nonce=tools.entropy.take(NONCE_BYTES)
        )
        for line_id, vector in vectors.items()
    }
