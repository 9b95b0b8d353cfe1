"""Remember: append one line, sealed and indexed, once."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from souvenance.core.request_context import RequestContext, Services, opened, said_at
from souvenance.core.vault import CompartmentKeys
from souvenance.domain import content
from souvenance.domain.change_feed import Saying
from souvenance.domain.line import (
    CARD,
    STATEMENT,
    SUMMARY,
    TOMBSTONE,
    LinePlace,
    OpenLine,
    SealedLine,
    check_line,
    maker,
    place_of,
)
from souvenance.domain.policy import Scope
from souvenance.errors import Conflict
from souvenance.language import terms as words
from souvenance.language import times
from souvenance.language.characters import small_words
from souvenance.language.signs import days, months, signs
from souvenance.language.terms.languages import TELLING
from souvenance.ports.clock import Zone
from souvenance.ports.store import Transaction

ANALYSIS = f"{words.VERSION}.4"
"""Of all that `tokens_of` makes of a line. The second number is that of its marks: it counts with each change
of those, so that every store makes its tokens anew."""

_NOT_INDEXED = (TOMBSTONE, CARD, SUMMARY)
"""Kinds that no question should find: they are empty, or repeat other lines."""


def remember(
    ctx: RequestContext, namespace: str, chosen_id: str | None, **fields: Any
) -> tuple[OpenLine, bool]:
    """The stored line, with these fields, and whether it was there already. Raises: InvalidInput,
    LimitExceeded, Conflict."""
    line = OpenLine(
        compartment=ctx.compartment(namespace),
        id=chosen_id or ctx.fresh_id(),
        created_at=ctx.now,
        cap=ctx.cap,
        **fields,
    )
    check_line(line, chosen_id=chosen_id is not None, now=ctx.now, limits=ctx.services.limits)
    metadata = content.encode_metadata(line.metadata)
    keys = ctx.services.vault.compartment(ctx.tx, line.compartment)
    if append(ctx, sealed(ctx, line, keys, metadata), line.text, keys):
        return line, False
    return _stored_before(ctx, line, keys), True


def append(ctx: RequestContext, line: SealedLine, text: str, keys: CompartmentKeys) -> bool:
    """Store the line and make it findable by its text; False, and no change, if its id is taken."""
    if not ctx.tx.lines.append(line):
        return False
    if line.kind not in _NOT_INDEXED:
        index(ctx, line, text, keys)
    return True


def index(ctx: RequestContext, line: LinePlace, text: str, keys: CompartmentKeys) -> None:
    at = said_at(line)
    analysis = ctx.known.get((Analysis, text, at)) or analysed(text, at, ctx.services.zone)
    tokens, counts = _tokens(line, analysis, ctx.known.get((words.blind, keys.blind, text)), keys)
    said = Saying(line.session, line.turn, at)
    ctx.tx.terms.add(line.compartment, line.id, tokens, counts, said)
    ctx.services.meaning.written(line.compartment, text)


def tokens_of(line: LinePlace, text: str, keys: CompartmentKeys, zone: Zone) -> tuple[bytes, bytes]:
    """The blinded tokens of the line's terms and marks, and how often each occurs; a mark does 0 times."""
    return _tokens(line, analysed(text, said_at(line), zone), None, keys)


class Analysis(Struct, frozen=True, gc=False):
    """The search terms of a text, and marks of its signs and of the times in it."""

    terms: Mapping[str, int]
    marks: Sequence[str]


def analysed(text: str, at: int, zone: Zone) -> Analysis:
    """Of a text that was said at that time (in milliseconds)."""
    met = small_words(text) if len(text) <= TELLING else None
    marks = [words.mark("sign", sign) for sign in signs(text, met)]
    if times.may_tell(text, met):
        offset = zone.offset(at)
        spoken_of = times.spans(text, at, offset, met)
        marks += [words.mark("day", day) for day in days(spoken_of, offset)]
        marks += [words.mark("month", month) for month in months(spoken_of, offset)]
    return Analysis(words.terms_of(text, met), marks)


class Upcoming(Struct, frozen=True):
    """A text that is about to be stored: when it was said, and where it goes, as far as that is known."""

    text: str
    at: int | None = None
    owner: str | None = None
    namespace: str | None = None


def keys_ahead(
    services: Services, tx: Transaction, scope: Scope, texts: Iterable[Upcoming]
) -> dict[tuple[str | None, str | None], CompartmentKeys]:
    """The keys of the compartments that the texts go to, as far as these are known."""
    found = {}
    for owner, namespace in {(one.owner, one.namespace) for one in texts}:
        namespaces = None if namespace is None else (namespace,)
        compartments = services.vault.compartments(tx, scope.workspace, owner or scope.owner, namespaces)
        if len(compartments) == 1:
            [found[owner, namespace]] = compartments.values()
    return found


def analysed_ahead(
    services: Services,
    texts: Iterable[Upcoming],
    keys: Mapping[tuple[str | None, str | None], CompartmentKeys],
    now: int,
) -> dict[Hashable, Any]:
    """Do the slow work on texts that will be stored, before the store is locked for writing."""
    known: dict[Hashable, Any] = {}
    for one in texts:
        at = now if one.at is None else one.at
        analysis = known[Analysis, one.text, at] = analysed(one.text, at, services.zone)
        if (compartment := keys.get((one.owner, one.namespace))) is not None:
            known[words.blind, compartment.blind, one.text] = words.blind(compartment.blind, analysis.terms)
    return known


def _tokens(
    line: LinePlace, analysis: Analysis, terms: array[int] | None, keys: CompartmentKeys
) -> tuple[bytes, bytes]:
    """`terms` are those of the analysis blinded, if that was done before."""
    marks = dict.fromkeys((*analysis.marks, *bounds_of(line)), 0)
    counts = bytes((*analysis.terms.values(), *marks.values()))
    if terms is None:
        return words.blind(keys.blind, (*analysis.terms, *marks)).tobytes(), counts
    return (terms + words.blind(keys.blind, marks)).tobytes(), counts


def bounds_of(line: LinePlace) -> list[str]:
    """Marks to narrow a search by: its session, the peer that it is about, and whether it was noted."""
    marks = []
    if line.session is not None:
        marks.append(words.mark("session", line.session))
    if line.about is not None:
        marks.append(words.mark("about", line.about))
        if line.kind != STATEMENT:
            marks.append(words.mark("noted", line.about))
    return marks


_sealed_line = maker(
    SealedLine, "metadata", "epoch", "sealed", "tokens", "likeness", *LinePlace.__struct_fields__
)


def sealed(
    ctx: RequestContext,
    line: OpenLine,
    keys: CompartmentKeys,
    metadata: str,
    *,
    tokens: int | None = None,
    likeness: bytes | None = None,
) -> SealedLine:
    text = ctx.services.vault.seal(line, keys)
    return _sealed_line(metadata, keys.epoch, text, tokens, likeness, *place_of(line))


def _stored_before(ctx: RequestContext, line: OpenLine, keys: CompartmentKeys) -> OpenLine:
    stored = ctx.tx.lines.get(line.compartment, line.id)
    if stored is not None and ctx.scope.sees(stored.session):
        first = opened(stored, keys)
        if line.says_the_same_as(first):
            return first
    raise Conflict("a line of that id exists and says something else")
