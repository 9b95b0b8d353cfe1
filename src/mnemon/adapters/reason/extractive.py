"""The reasoner that needs no model: it selects, dates and cites, and never invents.

Each of its arts is loaded when it is first asked for: to recall takes none.
"""

from __future__ import annotations

from collections.abc import Sequence

from mnemon.ports.reasoner import Fact, Turn


class Extractive:
    """Conclusions in the words of what was said, by rules for English and a few forms of other languages.

    It prefers silence to a guess: what it can't read for certain gives no fact. It keeps no state.
    """

    name = "extractive"
    deterministic = True
    structured = False

    def derive(
        self, turns: Sequence[Turn], about: str, before: Sequence[Turn] = (), wishes: str = ""
    ) -> list[Fact]:
        """Rules read no wishes: what they note is the same with any."""
        from mnemon.adapters.reason import statements

        return statements.derive(turns, about, before)

