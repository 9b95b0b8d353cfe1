"""A reasoner on a stand-in for a model: its clock, its purse and its complaints are in the test's hands."""

from __future__ import annotations

from gate.world import TOKENS, FakeClock
from mnemon.adapters.model.endpoint import Endpoint
from mnemon.adapters.model.purse import Purse
from mnemon.adapters.model.reasoner import ModelReasoner
from mnemon.adapters.reason.extractive import Extractive
from mnemon.domain.spending import Allowance
from mnemon.ports.model import TASKS, Effort, Inquiry
from mnemon.ports.reasoner import Statement, Turn
from model.stand_in import NAME

NOON = 1_794_744_000_000
"""2026-11-15T12:00:00Z, a Sunday."""
DAY = 86_400_000


class Thinker:
    """The model as a reasoner, engaged for the workspace 'w'."""

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
    ):
        self.clock = clock or FakeClock(NOON)
        self.complaints = []
        self.spend = folder / "model.spend"
        self.purse = Purse(
            self.spend, whole=whole or Allowance(), each=each or Allowance(), now=self.clock.now
        )
        self.endpoint = Endpoint(endpoint.url, NAME, key=key, timeout=timeout, now=self.clock.now)
        self.model = ModelReasoner(
            dict.fromkeys(tasks, self.endpoint),
            self.purse,
            Extractive(),
            count=TOKENS.count,
            window=window,
            report=self.complaints.append,
        )
        self.engaged = self.model.engaged("w")

    def derived(self, *said, about="ann", before=(), wishes=""):
        """The texts of the facts of turns, each a text of ann's or a pair of peer and text."""
        return [fact.text for fact in self.facts(*said, about=about, before=before, wishes=wishes)]

    def facts(self, *said, about="ann", before=(), wishes=""):
        return self.engaged.derive(turns(*said), about, turns(*before, start=100), wishes)

    def summary(self, *said, earlier=None, most=200):
        return self.engaged.summarise(earlier, turns(*said), most, TOKENS.count)

    def told(self, question, *known, **more):
        """The pieces of an answer, and the whole of it."""
        return whole(self.engaged.tell(inquiry(question, *known, **more)))


def turns(*said, start=1):
    pairs = [("ann", one) if isinstance(one, str) else one for one in said]
    return [Turn(f"id{start + at}", who, text, NOON + at) for at, (who, text) in enumerate(pairs)]


def inquiry(question, *known, about="ann", effort=None, **more):
    statements = [
        one if isinstance(one, Statement) else Statement(f"known{at}", one, NOON)
        for at, one in enumerate(known, 1)
    ]
    return Inquiry(question, statements, about, NOON, effort=effort or Effort(), **more)


def whole(telling):
    pieces = []
    while True:
        try:
            pieces.append(next(telling))
        except StopIteration as end:
            return pieces, end.value


def fact(text, *sources, card=None):
    return {"text": text, "sources": list(sources), "card": card}


def facts(*found):
    return {"facts": list(found)}
