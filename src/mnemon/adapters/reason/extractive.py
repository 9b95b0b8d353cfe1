"""The reasoner that needs no model: it selects, dates and cites, and never invents.

Each of its arts is loaded when it is first asked for: to recall takes none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mnemon.ports.reasoner import Effort, Fact, Statement, Told, Turn, nothing_more


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

    def summarise(
        self, earlier: str | None, turns: Sequence[Turn], most_tokens: int, count: Callable[[str], int]
    ) -> str:
        from mnemon.adapters.reason import summary

        return summary.summarise(earlier, turns, most_tokens, count)

    def answer(
        self,
        question: str,
        statements: Sequence[Statement],
        about: str | None,
        effort: Effort = Effort(),  # noqa: B008 - it can't be changed
        search: Callable[[str], Sequence[Statement]] = nothing_more,
        at: int | None = None,
    ) -> Told:
        from mnemon.adapters.reason import pursuit

        return pursuit.pursued(question, statements, pursuit.Pursuit(about, effort, search, at))
