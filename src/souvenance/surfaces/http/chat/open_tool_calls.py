"""Turns that wait for a tool, where the endpoint keeps the conversation: what was asked is not told again."""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from souvenance.surfaces.http.chat.answer_reader import ModelAnswer
from souvenance.surfaces.http.chat.request_rewriting import Talk
from souvenance.surfaces.http.chat.write_queue import Lane

_MOST = 256


class OpenTurn(Struct, frozen=True):
    asked: str = ""
    answered: str = ""


class Unfinished:
    """By the conversation in memory, and by what the endpoint is told to go on from."""

    def __init__(self) -> None:
        self._turns: OrderedDict[tuple[Lane, str], OpenTurn] = OrderedDict()

    def joined(self, lane: Lane, talk: Talk, heard: ModelAnswer) -> OpenTurn:
        """The turn as far as it has come, with what was said before the tool was called."""
        begun = self._turns.pop((lane, talk.follows), OpenTurn())
        answered = talk.answered(heard.text)
        if talk.asked:
            return OpenTurn(talk.asked, answered)
        return OpenTurn(begun.asked, "\n\n".join(filter(None, (begun.answered, answered))))

    def put(self, lane: Lane, talk: Talk, heard: ModelAnswer, turn: OpenTurn) -> None:
        """Keep the turn for when the tool was heard."""
        for name in filter(None, (heard.id, talk.conversation)):
            self._turns[lane, name] = turn
        while len(self._turns) > _MOST:
            self._turns.popitem(last=False)
