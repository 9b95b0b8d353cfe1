"""The reasoner: what follows from what was said.

Contract, which `mnemon.testing.reasoner_contract` checks on every implementation:

- Nothing is concluded that no given turn supports: every fact names the turns it follows from, and
  a summary and an answer say nothing beyond what they were given.
- The same input gives the same output where `deterministic` is true.
- Nothing to say is an empty list or an empty text, never an error. A reasoner that can't work for
  now (a model that is out of reach) raises `Unavailable`, and is asked again later.
- It is called outside any transaction, from any thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from mnemon.domain.standing import Entry as Entry


class Turn(Struct, frozen=True):
    """One message of a conversation. `said_at` is in milliseconds, as clocks on the wall showed it."""

    id: str
    peer: str
    text: str
    said_at: int


class Fact(Struct, frozen=True):
    """A statement about the peer that was asked about, and the turns it follows from."""

    text: str
    sources: tuple[str, ...]
    trait: str | None = None
    """What a card would say of it, e.g. 'Name: Ann'; None for what belongs on no card."""
    together: bool = False
    """Whether it follows from all of these turns together, and from none of them alone."""


class Statement(Struct, frozen=True):
    """Something that an answer may be made of: a conclusion, or a message of `peer`."""

    id: str
    text: str
    said_at: int
    peer: str | None = None
    carried: bool = False
    """Whether it is no one's own word: of a document, a tool, somebody else's mail."""
    outdated_by: str | None = None
    """If it was so before and something that was said later holds now: the id of that."""


class Told(Struct, frozen=True):
    """An answer, and the ids of the statements it rests on."""

    text: str
    cited: tuple[str, ...]
    by: str = ""
    """The reasoner that gave it, if not the one that was asked."""
    searched: tuple[str, ...] = ()
    """What memory was searched for while the question was thought about."""
    lacking: str = ""
    """The code of what kept a model from answering, or from answering well; nothing if nothing did."""


class Effort(Struct, frozen=True):
    """How hard a model thinks about a question."""

    searches: int = 0
    """How often a model may search memory again while it thinks."""
    passes: int = 1
    """How often a model goes through the answer: all passes after the first check the one before."""
    tokens: int = 500
    """How long a model's answer may be."""


class Reasoner(Protocol):
    @property
    def name(self) -> str:
        """What answers say they were made by."""
        ...

    @property
    def deterministic(self) -> bool: ...

    @property
    def structured(self) -> bool:
        """Whether an answer can be asked for in the shape of a JSON schema."""
        ...

    def derive(
        self, turns: Sequence[Turn], about: str, before: Sequence[Turn] = (), wishes: str = ""
    ) -> list[Fact]:
        """What the turns tell about that peer, in their order; `before` is what was said earlier, as context.

        Turns of other peers may be among them, and facts may name any of these turns as their sources.
        `wishes` say what is worth noting; a reasoner may heed them or not, and never says more for them
        than the turns do.
        """
        ...

        ...
