"""The embedder: where in a space of meaning a text lies.

Contract, which `contracts.embedder_contract` checks on every implementation:

- A vector has `dimensions` components and length 1. The same text gives the same vector, up to rounding.
- `space` names the model, its version and whatever else the vectors depend on: vectors of two spaces
  are never compared, and a store of one is computed anew for another.
- A text longer than the model reads is read from its beginning; an empty one has a vector too.
- It is called from any thread; for passages with at most `MOST_AT_ONCE` texts. A question may be asked within
  a reading transaction, so an embedder that is far away gives up soon.
- What is heavy is loaded by the first vector that is asked for; `space` and `description` load nothing.
- One that can't work for now (an endpoint out of reach) raises `Unavailable`, and is asked again later.
- One that will not work until somebody mends it raises `Misconfigured`, and `Tampered` if the weights
  are not those that were named: it gives no vector then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

MOST_AT_ONCE = 256


class Embedder(Protocol):
    @property
    def space(self) -> str: ...

    @property
    def dimensions(self) -> int:
        """Raises: Misconfigured, Tampered."""

    description: str
    """One line for people."""

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of texts to be found: little-endian 32-bit floats.

        Raises: Unavailable, Misconfigured, Tampered.
        """

    def question(self, text: str) -> bytes:
        """The vector of what is looked for. Raises: Unavailable, Misconfigured, Tampered."""

    def close(self) -> None:
        """Let go of what it holds; it is not asked after that."""
