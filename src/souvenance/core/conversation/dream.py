"""Merges exact duplicates, and makes a card anew from the current conclusions.

Nothing is read but conclusions, so what was deleted stays so, and nobody comes to know what was said where
they were not. A second dream changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from souvenance.core.conversation.cards import Card
from souvenance.core.conversation.compartments import Changes, Opener, compartment_of
from souvenance.core.conversation.conclusions import EXPLICIT, KINDS
from souvenance.core.request_context import RequestContext
from souvenance.domain.current_facts import Correction, Stand, corrected, merged
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment
from souvenance.domain.trust import Trust, of_conclusion, of_statement
from souvenance.language.statements import plain_statements
from souvenance.ports.store import ViewQuery


def dream(ctx: RequestContext, observer: str, observed: str, namespace: str) -> Changes:
    """At a request context that opens that namespace alone. Raises: Tampered."""
    changes = Changes()
    compartment = compartment_of(ctx, observer, namespace)
    span = ViewQuery(ctx.scope.workspace, KINDS, observer, observed, namespaces=(namespace,))
    gone = _merge(ctx, compartment, ctx.tx.lines.views(span), changes)
    card = Card(ctx, observer, observed, namespace)
    card.remake(_standing(ctx, compartment, merged(card.stands, gone)), changes)
    return changes


def _duplicates(lines: Iterable[SealedLine]) -> Iterator[list[SealedLine]]:
    """The conclusions of one session that say the same, oldest first."""
    alike: dict[tuple[str, bytes], list[SealedLine]] = defaultdict(list)
    for line in sorted(lines, key=lambda line: line.id):
        if line.likeness is not None:
            alike[line.kind, line.likeness].append(line)
    return (same for same in alike.values() if len(same) > 1)


def _merge(
    ctx: RequestContext, compartment: Compartment, lines: Iterable[SealedLine], changes: Changes
) -> dict[str, str]:
    """The conclusions that went, each with the one that says the same now."""
    now: dict[str, str] = {}
    for kept, *others in _duplicates(lines):
        ids = [line.id for line in others]
        cited = ctx.tx.lines.cited(ctx.scope.workspace, ids)
        ctx.tx.lines.reinforce(compartment, kept.id, sum(line.times for line in others))
        ctx.tx.lines.cite(
            compartment, kept.id, sorted({source for one in ids for source in cited.get(one, ())})
        )
        ctx.tx.terms.remove(compartment, ids)
        ctx.tx.lines.delete(compartment, ids)
        changes.lose(compartment, ids)
        now.update(dict.fromkeys(ids, kept.id))
    return now


def _standing(ctx: RequestContext, compartment: Compartment, stands: Sequence[Stand]) -> Iterator[Stand]:
    """The facts whose conclusions are there still, or as somebody corrected them. Raises: Tampered."""
    opener = Opener(ctx)
    found = {line.id: line for line in ctx.tx.lines.get_all(compartment, {stand.source for stand in stands})}
    for stand in stands:
        line = found.get(stand.source)
        if line is None or line.invalidated_by is None:
            yield from (stand,) if line is not None else ()
        elif (correction := _correction(ctx, compartment, opener, line)) is not None:
            yield corrected(stand, correction)


def _correction(
    ctx: RequestContext, compartment: Compartment, opener: Opener, line: SealedLine
) -> Correction | None:
    """What the newest correction of the conclusion says, if it says something."""
    newest: SealedLine | None = line
    while newest is not None and newest.invalidated_by is not None:
        newest = next(iter(ctx.tx.lines.get_all(compartment, (newest.invalidated_by,))), None)
    if newest is None or newest.kind not in EXPLICIT or of_conclusion(newest.kind) != Trust.SAID:
        return None
    after = opener.text(newest)
    if of_statement(after) != Trust.SAID:
        return None
    lines = [fact for one in plain_statements(after) for fact in one.lines]
    return Correction(newest.id, opener.text(line), after, lines)
