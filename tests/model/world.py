"""The model on a stand-in for an endpoint, with its clock, purse and complaints in the test's hands."""

from __future__ import annotations

from gate.world import TOKENS, FakeClock
from model.stand_in import NAME
from souvenance.adapters.model.calls import ModelBudget
from souvenance.adapters.model.endpoint import Endpoint
from souvenance.adapters.model.reasoner import ModelReasoner
from souvenance.domain.model_budget import Allowance
from souvenance.ports.model import (
    TASKS,
    Effort,
    KnownFacts,
    ModelPerson,
    ModelQuestion,
    ModelReading,
    SourceStatement,
    Turn,
)

NOON = 1_794_744_000_000
"""2026-11-15T12:00:00Z, a Sunday."""
DAY = 86_400_000


class Thinker:
    """The model, asked for the workspace 'w'."""

    def __init__(
        self,
        endpoint,
        folder,
        *,
        tasks=TASKS,
        whole=None,
        each=None,
        window=8192,
        timeout=20.0,
        clock=None,
        key="a key",
        quiet_seconds=0,
        embed=None,
    ):
        self.clock = clock or FakeClock(NOON)
        self.complaints = []
        self.spend = folder / "model.spend"
        self.budget = ModelBudget(
            self.spend, whole=whole or Allowance(), each=each or Allowance(), now=self.clock.now
        )
        self.endpoint = Endpoint(endpoint.url, NAME, key=key, timeout=timeout, now=self.clock.now)
        self.model = ModelReasoner(
            dict.fromkeys(tasks, self.endpoint),
            self.budget,
            count=TOKENS.count,
            window=window,
            report=self.complaints.append,
            quiet_seconds=quiet_seconds,
            embed=embed,
        )
        self.workspace = "w"

    def noted(self, *said, **more):
        """What is added or replaced after turns, each a text of ann's or a pair of peer and text."""
        return [one.text for one in self.revisions(*said, **more) if one.text]

    def revisions(self, *said, about="ann", before=(), wishes="", known=(), card=()):
        lines = turns(*said)
        kept = [KnownFacts(f"known{at}", text, NOON - DAY) for at, text in enumerate(known, 1)]
        fresh = frozenset(line.id for line in lines if line.peer == about)
        reading = ModelReading(
            [ModelPerson(about, card, kept)],
            lines,
            turns(*before, start=100),
            fresh,
            wishes=dict.fromkeys(fresh, wishes),
        )
        return self.model.revise(self.workspace, reading)

    def summary(self, *said, earlier=None, most=200):
        return self.model.summarise(self.workspace, earlier, turns(*said), most, TOKENS.count)

    def told(self, question, *known, **more):
        """The pieces of an answer, and the whole of it."""
        return whole(self.model.tell(self.workspace, inquiry(question, *known, **more)))


def turns(*said, start=1):
    pairs = [("ann", one) if isinstance(one, str) else one for one in said]
    return [Turn(f"id{start + at}", who, text, NOON + at) for at, (who, text) in enumerate(pairs)]


def inquiry(question, *known, about="ann", effort=None, **more):
    statements = [
        one if isinstance(one, SourceStatement) else SourceStatement(f"known{at}", one, NOON)
        for at, one in enumerate(known, 1)
    ]
    return ModelQuestion(question, statements, about, NOON, effort=effort or Effort(), **more)


def whole(telling):
    pieces = []
    while True:
        try:
            pieces.append(next(telling))
        except StopIteration as end:
            return pieces, end.value


def fact(text, *sources, **more):
    return {"text": text, "sources": list(sources), **more}


def facts(*added, **more):
    """What a model replies that adds these; `replace`, `retire` and `keep` as they are."""
    return {"add": list(added), **more}
