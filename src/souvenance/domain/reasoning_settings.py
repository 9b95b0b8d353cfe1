"""The habits of a workspace, a session, a message and a peer: what is reasoned about, how often, by whom.

The nearest word wins: message before session before workspace before the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from souvenance.decoders import settled
from souvenance.errors import InvalidInput

SHORT_SUMMARY_EVERY = 20
LONG_SUMMARY_EVERY = 60
MOST_OBSERVERS = 10
"""How many peers of one session may observe the others."""

_Words = Annotated[str, Meta(max_length=16_000)]


class Reasoning(Struct, frozen=True, forbid_unknown_fields=True):
    enabled: bool | None = None
    custom_instructions: _Words | None = None


class CardHabit(Struct, frozen=True, forbid_unknown_fields=True):
    use: bool | None = None
    create: bool | None = None
    custom_instructions: _Words | None = None


class SummaryHabit(Struct, frozen=True, forbid_unknown_fields=True):
    enabled: bool | None = None
    messages_per_short_summary: Annotated[int, Meta(ge=10, le=1_000_000)] | None = None
    messages_per_long_summary: Annotated[int, Meta(ge=20, le=1_000_000)] | None = None
    custom_instructions: _Words | None = None


class DialecticHabit(Struct, frozen=True, forbid_unknown_fields=True):
    custom_instructions: _Words | None = None


class Habits(Struct, frozen=True, omit_defaults=True):
    """What a workspace or a session is configured to do. Keys beside these are kept and mean nothing here."""

    custom_instructions: _Words | None = None
    reasoning: Reasoning | None = None
    peer_card: CardHabit | None = None
    summary: SummaryHabit | None = None
    dream: Reasoning | None = None
    dialectic: DialecticHabit | None = None


class PeerHabits(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Whether a peer may be observed at all."""

    observe_me: bool | None = None


class MemberReasoning(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Whether a peer may be observed in one session, and whether it observes the others there."""

    observe_me: bool | None = None
    observe_others: bool | None = None


def habits_of(configuration: Mapping[str, Any]) -> Habits:
    """Raises: InvalidInput."""
    try:
        habits = msgspec.convert(configuration, settled(Habits))
    except msgspec.ValidationError as error:
        raise InvalidInput(f"configuration: {error}") from None
    rhythm(habits, Habits())
    return habits


def reasons(message: bool | None, session: Habits, workspace: Habits) -> bool:
    return bool(_nearest("reasoning", "enabled", session, workspace, message, otherwise=True))


def wishes(message: str | None, session: Habits, workspace: Habits) -> str:
    """What is worth noting, in the words of the person who configured it; empty by default."""
    return str(_nearest("reasoning", "custom_instructions", session, workspace, message, otherwise=""))


def dreams(session: Habits, workspace: Habits) -> bool:
    return bool(_nearest("dream", "enabled", session, workspace, otherwise=True))


def makes_cards(session: Habits, workspace: Habits) -> bool:
    return bool(_nearest("peer_card", "create", session, workspace, otherwise=True))


def uses_cards(session: Habits, workspace: Habits) -> bool:
    return bool(_nearest("peer_card", "use", session, workspace, otherwise=True))


def _nearest(
    part: str, name: str, session: Habits, workspace: Habits, message: Any = None, *, otherwise: Any
) -> Any:
    """What the message, else the session, else the workspace says."""
    said = (message, *(getattr(getattr(habits, part), name, None) for habits in (session, workspace)))
    return next((one for one in said if one is not None), otherwise)


def rhythm(session: Habits, workspace: Habits) -> tuple[int, int] | None:
    """After how many messages a short and a long summary are made; None if none are. Raises: InvalidInput if
    the short one would not be the more frequent."""
    near, far = session.summary or SummaryHabit(), workspace.summary or SummaryHabit()
    enabled = far.enabled if near.enabled is None else near.enabled
    short = near.messages_per_short_summary or far.messages_per_short_summary or SHORT_SUMMARY_EVERY
    long = near.messages_per_long_summary or far.messages_per_long_summary or LONG_SUMMARY_EVERY
    if short >= long:
        raise InvalidInput("messages_per_short_summary must be smaller than messages_per_long_summary")
    return None if enabled is False else (short, long)


def observed(member: MemberReasoning, peer: PeerHabits) -> bool:
    return next((one for one in (member.observe_me, peer.observe_me) if one is not None), True)
