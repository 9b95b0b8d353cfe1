"""Explaining, as the gate answers it: why a line came."""

from __future__ import annotations

from souvenance.core.explanations import Reasons
from souvenance.gate import messages as m


def explanation(told: Reasons | None) -> m.Explanation | None:
    """Why a line came, as it is answered; None if nobody asked."""
    if told is None:
        return None
    signals = {
        name: m.Signal(one.value, one.weight, one.added, one.rank) for name, one in told.signals.items()
    }
    return m.Explanation(told.rank, told.by, signals, told.score, told.space)
