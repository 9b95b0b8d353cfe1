"""The model: a reasoner with a language model behind it, which costs something and may be out of reach.

Contract, beside that of `mnemon.ports.reasoner`:

- It is engaged for one workspace, on whose account it spends. What would break a budget is not asked.
- A budget that is spent is no error: what can be done without a model is done so, and told.
- Work (`derive`, `summarise`) that can't be done for now raises `ModelUnavailable`, and is asked again
  later; `ModelUnusable` if the model answers with what can't be used.
- A question that the model can't answer raises `ModelUnavailable` before anything is told. An answer that
  breaks off later says so in its text and in `Told.lacking`.
- It sees what it is given and what the inquiry's own `search` finds, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from mnemon.domain.spending import Allowance, Spent
from mnemon.ports.observer import Observer
from mnemon.ports.reasoner import Effort, Entry, Reasoner, Statement, Told, Turn

DERIVE = "derive"
SUMMARISE = "summarise"
ANSWER = "answer"
TASKS = (DERIVE, SUMMARISE, ANSWER)


class Inquiry(Struct, frozen=True):
    """A question with everything that may be used to answer it."""

    question: str
    statements: Sequence[Statement]
    about: str | None
    asked_at: int
    card: Sequence[Entry] = ()
    """What the card of the peer says."""
    effort: Effort = Effort()
    search: Callable[[str], Sequence[Statement]] = lambda words: ()
    """More statements that the asker may see, best first. Raises: MnemonError."""
    shape: Mapping[str, Any] | None = None
    """The JSON schema that the answer must follow; None for words."""
    streamed: bool = False
    """Whether the words are told as they come; if not, an answer that rests on nothing is not given."""


Telling = Generator[str, None, Told]
"""An answer as it is made: its pieces, and in the end the whole."""


class Dialectic(Reasoner, Protocol):
    """The model, engaged for one workspace."""

    def summarise(
        self, earlier: str | None, turns: Sequence[Turn], most_tokens: int, count: Callable[[str], int]
    ) -> str:
        """The earlier summary and the turns after it, in at most so many tokens; empty if it has none.

        Raises: ModelUnavailable.
        """
        ...

    def tell(self, inquiry: Inquiry) -> Telling:
        """Raises: ModelUnavailable before the first piece; whatever the inquiry's search raises."""
        ...


class Standing(Struct, frozen=True):
    """How it stands with the model: who does what, what was spent, and what is wrong."""

    reasoner: str
    tasks: Mapping[str, str]
    """The name of the model for each task; what is not named is done without one."""
    spent: Spent
    allowance: Allowance
    spent_here: Spent
    """What was spent on the account of the workspace."""
    allowance_here: Allowance
    trouble: str = ""
    """Why the model is not asked for now, or why what it said last was of no use; nothing if all is well."""


class Model(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def tasks(self) -> Mapping[str, str]:
        """The name of the model for each task that it does."""
        ...

    def engaged(self, workspace: str) -> Dialectic: ...

    def standing(self, workspace: str) -> Standing: ...

    def observe(self, observer: Observer) -> None:
        """Have every call of a model watched from now on."""
        ...

    def stop(self) -> None:
        """Break off what is being asked, and ask nothing more."""
        ...
