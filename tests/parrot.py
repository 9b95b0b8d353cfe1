"""A reasoner behind its port that repeats what it hears, so that a test knows what must follow from what."""

from __future__ import annotations

from mnemon.errors import Unavailable
from mnemon.ports.reasoner import Fact, Told

OUTAGE = "the model is out of reach"


class Parrot:
    """Concludes each sentence once; silent while `down`."""

    name = "parrot"
    deterministic = True
    structured = False

    def __init__(self):
        self.down = False
        self.asked = 0
        self.on_derive = lambda: None
        self.on_summarise = lambda: None
        """Called while it thinks, that is outside any transaction."""

    def derive(self, turns, about, before=(), wishes=""):
        self._think()
        self.on_derive()
        return [
            Fact(sentence, (turn.id,), sentence if ": " in sentence else None)
            for turn in turns
            if turn.peer == about
            for sentence in dict.fromkeys(part.strip() for part in turn.text.split("."))
            if sentence
        ]

    def summarise(self, earlier, turns, most_tokens, count):
        self._think()
        self.on_summarise()
        told = [*([earlier] if earlier else []), *(f"{turn.peer}: {turn.text}" for turn in turns)]
        while told and count("\n".join(told)) > most_tokens:
            told.pop(0)
        return "\n".join(told)

    def answer(self, question, statements, about, effort=None, search=None, at=None):
        self._think()
        asked = set(question.lower().split())
        found = [one for one in statements if asked & set(one.text.lower().rstrip(".").split())]
        return Told(" / ".join(one.text for one in found), tuple(one.id for one in found))

    def _think(self):
        self.asked += 1
        if self.down:
            raise Unavailable(OUTAGE)
