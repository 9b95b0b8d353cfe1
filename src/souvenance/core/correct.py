"""Correct: a line is never changed; a new line takes its place."""

from __future__ import annotations

from souvenance.core.conversation.erase import owe_card
from souvenance.core.remember import Draft, remember
from souvenance.core.request_context import RequestContext
from souvenance.domain import ulid
from souvenance.domain.line import TOMBSTONE, GivenFields, Line, SealedLine, shared_fields
from souvenance.domain.names import DEFAULT_KIND
from souvenance.errors import Conflict


def correct(ctx: RequestContext, target_id: str, text: str | None, new_id: str | None) -> tuple[Line, bool]:
    """The line that replaces the target, and whether it had done so already.

    With a text it says what is true instead; without, it only marks the target as no longer true.

    Raises: InvalidInput, NotFound, Conflict if another line replaced the target already.
    """
    target, _ = ctx.find(ulid.check(target_id))
    draft = Draft(
        namespace=target.compartment.namespace,
        kind=_kind(target, text),
        text=text or "",
        id=new_id,
        about=None if text is None else target.about,
        supersedes=target.id,
        **shared_fields(GivenFields, target),
    )
    if target.invalidated_by is not None and target.invalidated_by != new_id:
        raise Conflict(
            f"the line was already replaced by {target.invalidated_by}", hint="Correct that line instead."
        )
    line, duplicate = remember(ctx, draft)
    if not duplicate:
        ctx.tx.lines.invalidate(target.compartment, target.id, line.id)
        ctx.tx.terms.remove(target.compartment, (target.id,))
        if target.about is not None:
            owe_card(ctx, target.compartment, target.about)
    return line, duplicate


def _kind(target: SealedLine, text: str | None) -> str:
    if text is None:
        return TOMBSTONE
    return DEFAULT_KIND if target.kind == TOMBSTONE else target.kind
