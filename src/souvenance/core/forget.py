"""Forget: rows, index, keys and caches of a line, a namespace or an owner.

Readers find nothing from the commit on. A compartment's keys are destroyed with it, so that copies of its
lines elsewhere stay shut; the scrub that follows takes the bytes out of the store's files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from souvenance.core.conversation.compartments import Changes
from souvenance.core.conversation.erase import erase_lines, erase_resting
from souvenance.core.request_context import RequestContext
from souvenance.domain import receipt, ulid
from souvenance.domain.directory import MEMBER
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment
from souvenance.errors import Tampered
from souvenance.ports.store import EVERYTHING, TurnSpan

_NEWEST = 3


class ForgottenLines(Struct, frozen=True):
    lines: int
    keys: int
    namespaces: tuple[str, ...]
    with_them: frozenset[tuple[Compartment, str]] = frozenset()
    """Lines of others that rested on these alone, and went too."""
    epoch: int = 0
    """The newest epoch of the keys that went."""
    verified: tuple[str, ...] = ()
    """What was checked before the deletion was committed."""


class Forgettable(Struct, frozen=True):
    """What would go."""

    lines: int
    keys: int
    namespaces: tuple[str, ...]
    newest: list[SealedLine]


def forgettable(ctx: RequestContext, line_id: str | None) -> Forgettable:
    """What would go with this line, or with everything in scope. Raises: InvalidInput, NotFound."""
    if line_id is not None:
        found = [line for line, _ in ctx.find_all(ulid.check(line_id))]
        return Forgettable(len(found), 0, _namespaces(line.compartment for line in found), found[:_NEWEST])
    scope, compartments = ctx.scope, _compartments(ctx)
    namespaces = _namespaces(compartments)
    span = TurnSpan(scope.workspace, scope.owner, namespaces, history=True, limit=_NEWEST)
    return Forgettable(
        lines=sum(ctx.tx.lines.count(compartment) for compartment in compartments),
        keys=len(ctx.tx.keys.of(scope.workspace, scope.owner, namespaces)),
        namespaces=namespaces,
        newest=ctx.tx.lines.walk(span),
    )


def forget_line(ctx: RequestContext, line_id: str) -> ForgottenLines:
    """Raises: InvalidInput, NotFound, SchemaUnknown."""
    lines = [line for line, _ in ctx.find_all(ulid.check(line_id))]
    changes = Changes()
    erase_lines(ctx, lines, changes)
    compartments = [line.compartment for line in lines]
    _check_gone(ctx, compartments, (line_id,))
    return ForgottenLines(
        lines=len(lines),
        keys=0,
        namespaces=_namespaces(compartments),
        with_them=frozenset(changes.gone - {(compartment, line_id) for compartment in compartments}),
        verified=(receipt.SCHEMA, receipt.LINES, receipt.INDEX),
    )


def forget_compartments(ctx: RequestContext) -> ForgottenLines:
    """Everything in scope. Nothing there is not an error: it says nothing about what was.

    Raises: SchemaUnknown.
    """
    scope, compartments = ctx.scope, _compartments(ctx)
    namespaces = _namespaces(compartments)
    said = ctx.tx.lines.ids(
        TurnSpan(scope.workspace, scope.owner, namespaces, history=True, limit=EVERYTHING),
    )
    epochs = [key.epoch for key in ctx.tx.keys.of(scope.workspace, scope.owner, namespaces)]
    changes = Changes()
    if compartments:
        ties = ctx.tx.directory.memberships(scope.workspace, MEMBER, held=scope.owner)
        erase_resting(ctx, said, dict.fromkeys(tie.holder for tie in ties), changes)
    lines = keys = 0
    for compartment in compartments:
        lines += ctx.tx.lines.delete_compartment(compartment)
        ctx.tx.terms.delete_compartment(compartment)
        keys += ctx.tx.keys.delete_compartment(compartment)
    if compartments:
        ctx.tx.touch(scope.workspace, compartments=True)
    ctx.tx.owe_scrub()
    _check_gone(ctx, compartments)
    return ForgottenLines(
        lines=lines,
        keys=keys,
        namespaces=namespaces,
        with_them=frozenset(changes.gone),
        epoch=max(epochs, default=0),
        verified=(receipt.SCHEMA, receipt.LINES, receipt.INDEX, receipt.KEYS),
    )


def _compartments(ctx: RequestContext) -> list[Compartment]:
    """The compartments in scope that have keys or lines."""
    scope = ctx.scope
    keyed = {
        key.compartment.namespace for key in ctx.tx.keys.of(scope.workspace, scope.owner, scope.namespaces)
    }
    filled = ctx.tx.lines.namespaces(scope.workspace, scope.owner)
    return [ctx.compartment(name) for name in sorted(keyed.union(filter(scope.opens, filled)))]


def _namespaces(compartments: Iterable[Compartment]) -> tuple[str, ...]:
    return tuple(compartment.namespace for compartment in compartments)


def _check_gone(
    ctx: RequestContext, compartments: Iterable[Compartment], line_ids: Collection[str] | None = None
) -> None:
    """Look whether anything is left of these lines, or of the whole compartments. Raises: Tampered."""
    tx = ctx.tx
    for compartment in compartments:
        if line_ids is None:
            keys = tx.keys.of(compartment.workspace, compartment.owner, (compartment.namespace,))
            left = tx.lines.count(compartment) + len(keys)
        else:
            left = len(tx.lines.get_all(compartment, line_ids))
        if left or tx.terms.indexed(compartment, line_ids):
            raise Tampered(
                "the store still has what was just deleted",
                hint="Nothing was deleted. Run 'souvenance doctor'.",
            )
