"""The model: a language model that reads what was said, which costs something and may be out of reach.

Contract:

- Each call is for one workspace, on whose account it spends. A call that would break a budget is not made.
- What can't be done for now raises `ModelUnavailable`, and is asked again later or done without a model:
  `ModelBudgetSpent` if the budget is spent, `ModelUnusable` if the model replies with what can't be used.
- Everything it says is checked against the lines that it names; what does not rest on them is left out.
- It sees what it is given and what an inquiry's own `search` finds, and nothing else.
- It is called outside any transaction, from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from souvenance.domain.current_facts import CardEntry
from souvenance.domain.model_budget import Allowance, Spent
from souvenance.ports.observer import Observer

DERIVE = "derive"
SUMMARISE = "summarise"
ANSWER = "answer"
TASKS = (DERIVE, SUMMARISE, ANSWER)


class Turn(Struct, frozen=True):
    """One message of a conversation. `said_at` is in milliseconds, as clocks on the wall showed it."""

    id: str
    peer: str
    text: str
    said_at: int


class SourceStatement(Struct, frozen=True):
    """Something that an answer may be made of: a conclusion, or a message of `peer`."""

    id: str
    text: str
    said_at: int
    peer: str | None = None
    carried: bool = False
    """Whether it is no one's own word: of a document, a tool, somebody else's mail."""
    outdated_by: str | None = None
    """If it was so before and something that was said later holds now: the id of that."""


class ModelAnswer(Struct, frozen=True):
    """An answer, and the ids of the statements it rests on."""

    text: str
    cited: tuple[str, ...]
    by: str = ""
    """Who gave it, if not the model that was asked."""
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


class Pace(Struct, frozen=True):
    """When a stretch of a session is finished, so that it is read in one call."""

    quiet_ms: int = 60_000
    """How long nobody must have spoken."""
    tokens: int = 4096
    """How much may have been said by then; more is read at once."""


class KnownFacts(Struct, frozen=True):
    """A conclusion that stands. One that was noted by hand can't be replaced or retired."""

    id: str
    text: str
    at: int
    by_hand: bool = False


class ModelPerson(Struct, frozen=True):
    name: str
    card: Sequence[str] = ()
    known: Sequence[KnownFacts] = ()
    """The most useful first."""


class ModelReading(Struct, frozen=True):
    """A finished stretch of a session, with what may help to understand it."""

    people: Sequence[ModelPerson]
    lines: Sequence[Turn]
    before: Sequence[Turn] = ()
    """What was said right before."""
    fresh: frozenset[str] = frozenset()
    """The lines from which something may be concluded about their speakers."""
    carried: frozenset[str] = frozenset()
    """The lines that are not their speaker's own words: of a document, a tool, somebody else's mail."""
    wishes: Mapping[str, str] = {}
    """What is worth noting, by line."""


Kind = Literal["keep", "replace", "retire", "add"]


class Revision(Struct, frozen=True):
    """One change to what is known about a person, with the messages of that person that it follows from."""

    kind: Kind
    about: str
    sources: tuple[str, ...]
    text: str = ""
    card: str | None = None
    """What a card would say of it: 'Home: Lisbon'."""
    known: str | None = None
    """The conclusion that is kept, replaced or retired."""
    together: bool = False
    """Whether it follows from all of these messages together, and from none of them alone."""
    needs_known: bool = False
    """Whether it says something that only the conclusion says that it replaces."""


class ModelQuestion(Struct, frozen=True):
    """A question with everything that may be used to answer it."""

    question: str
    statements: Sequence[SourceStatement]
    about: str | None
    asked_at: int
    card: Sequence[CardEntry] = ()
    """What the card of the peer says."""
    effort: Effort = Effort()
    search: Callable[[str], Sequence[SourceStatement]] = lambda words: ()
    """More statements that the asker may see, best first. Raises: SouvenanceError."""
    shape: Mapping[str, Any] | None = None
    """The JSON schema that the answer must follow; None for words."""
    streamed: bool = False
    """Whether the words are told as they come; if not, an answer that rests on nothing is not given."""


AnswerPieces = Generator[str, None, ModelAnswer]
"""An answer as it is made: its pieces, and in the end the whole."""


class ModelState(Struct, frozen=True):
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
    price: str = ""
    """What a million tokens cost, as it was set."""
    rests: bool = False
    """Whether the workspace can't have the model asked now, whatever others had it asked."""


class Model(Protocol):
    name: str
    """What answers say they were made by."""
    tasks: Mapping[str, str]
    """The name of the model for each task that it does."""
    pace: Pace

    def revise(self, workspace: str, reading: ModelReading) -> list[Revision]:
        """What a stretch changes in what is known about the people in it. Raises: ModelUnavailable."""

    def summarise(
        self,
        workspace: str,
        earlier: str | None,
        turns: Sequence[Turn],
        most_tokens: int,
        count: Callable[[str], int],
    ) -> str:
        """The earlier summary and the turns after it, in at most so many tokens. Raises: ModelUnavailable."""

    def tell(self, workspace: str, inquiry: ModelQuestion) -> AnswerPieces:
        """Raises: ModelUnavailable before the first piece; whatever the inquiry's search raises.

        A model that breaks off after that ends its answer with words that say so.
        """

    def standing(self, workspace: str) -> ModelState: ...

    def observe(self, observer: Observer) -> None:
        """Have every call of a model watched from now on."""

    def stop(self) -> None:
        """Break off what is being asked, and ask nothing more."""
