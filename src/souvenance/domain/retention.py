"""Retention: which lines are over, by their own time or by a rule of their workspace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from souvenance.domain import ulid
from souvenance.domain.line import CONCLUSIONS, STATEMENT
from souvenance.domain.names import Kind, Name, Namespace

DAY_MS = 86_400_000
Days = Annotated[int, Meta(ge=1, le=36_500)]
FORGET: Final = "forget"
SUMMARISE: Final = "summarise"
FADE: Final = "fade"
Then = Literal["forget", "summarise", "fade"]


class Aged(Struct, frozen=True):
    """The lines of a namespace and of some kinds, or of any, that were put before the first id of a moment;
    perhaps only those that were said in sessions."""

    before: str
    namespace: str | None = None
    kinds: Collection[str] | None = None
    said: bool = False


class Hidden(Struct, frozen=True):
    """What nobody is shown: lines whose time is over now, and those of a workspace that rules let go."""

    now: int
    workspace: str = ""
    aged: Sequence[Aged] = ()


class RetentionRule(Struct, frozen=True):
    """What becomes of lines of a namespace and kind, or of any, that are older than so many days.

    `forget` removes them. `summarise` removes messages once a summary by a model covers them. `fade` removes
    nothing: every so many days of age halve how well a line ranks.
    """

    name: Name
    then: Then
    days: Days
    namespace: Namespace | None = None
    """Without it, the rule holds in every namespace."""
    kind: Kind | None = None
    """Without it, the rule holds for lines of every kind."""

    def covers(self, namespace: str, kind: str) -> bool:
        return self.namespace in (None, namespace) and (self._kinds is None or kind in self._kinds)

    @property
    def _kinds(self) -> Collection[str] | None:
        """Statements are conclusions, too."""
        if self.kind == CONCLUSIONS["explicit"]:
            return self.kind, STATEMENT
        return None if self.kind is None else (self.kind,)

    def aged(self, now: int) -> Aged:
        before = ulid.floor(max(0, now - self.days * DAY_MS))
        return Aged(before, self.namespace, self._kinds, self.then == SUMMARISE)
