"""Which turn does what: when the first layer is looked up anew, and when memory is asked.

The host counts the turns of a conversation from 1. The count may jump, begin in the middle, go back
or come twice, so nothing here depends on having seen a turn before.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from souvenance.agents.transcript import is_trivial
from souvenance.hermes.configuration import Configuration

_MOST_WIDENED = 8
"""However often memory had no answer, it is asked again after so many times the cadence."""
_STALE_AFTER = 2


class TurnPlan(Struct, frozen=True):
    """What a turn takes."""

    base: bool = False
    """The first layer is part of it."""
    refresh: bool = False
    """The first layer is looked up anew; otherwise the last one is used."""
    ask: bool = False
    """Memory is asked for a supplement."""


class RecallPace(Struct, frozen=True):
    """When each layer was last had. A conversation begins with a new one, also after it was rewound."""

    refreshed: int | None = None
    asked: int | None = None
    unanswered: int = 0
    """How often in a row memory had no answer."""

    def turn(self, number: int, message: str, configuration: Configuration) -> TurnPlan:
        """What this turn takes; nothing if memory is only for tools.

        A mere nod takes nothing either, but for a conversation that begins with one: that has its base.
        """
        nod = is_trivial(message)
        over = number > 1 and (nod or configuration.injection_frequency == "first-turn")
        if configuration.recall_mode == "tools" or not message.strip() or over:
            return TurnPlan()
        again = number == self.refreshed
        refresh = again or _due(self.refreshed, number, configuration.context_cadence)
        cadence = max(1, configuration.dialectic_cadence)
        wait = min(cadence + self.unanswered, cadence * _MOST_WIDENED)
        return TurnPlan(True, refresh, not nod and _due(self.asked, number, wait))

    def with_base(self, number: int) -> RecallPace:
        """Once the first layer was looked up in a turn. What failed is not told, so that it is due again."""
        return replace(self, refreshed=number)

    def with_answer(self, number: int, *, found: bool) -> RecallPace:
        """Once memory has been asked in a turn. What went wrong is not told either."""
        return replace(self, asked=number, unanswered=0 if found else self.unanswered + 1)


def fresh(asked: int, number: int, configuration: Configuration) -> bool:
    """Whether an answer to the turn `asked` still bears on this one."""
    return 0 <= number - asked <= _STALE_AFTER * max(1, configuration.dialectic_cadence)


def _due(last: int | None, number: int, cadence: int) -> bool:
    """A count that went back is that of another conversation."""
    return last is None or number < last or number - last >= cadence
