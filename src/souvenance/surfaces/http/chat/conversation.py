"""A sitting: one caller in one conversation, what memory gives to a turn of it, and what is kept of that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from souvenance.agents import injection
from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.gated_memory import GatedMemory, members_of
from souvenance.agents.redaction import redact
from souvenance.agents.transcript import CONTINUED, chunks, clean
from souvenance.domain.line import MESSAGE
from souvenance.domain.provenance import is_carried
from souvenance.domain.upstream import ChatSettings
from souvenance.errors import CapScopeMismatch, NotFound
from souvenance.gate.conversation import operations as o
from souvenance.gate.conversation import requests as q
from souvenance.gate.conversation import responses as a
from souvenance.gate.gate import Gate
from souvenance.surfaces.http.chat.narrow_tokens import Admitted, ChatTokens

_MOST_MESSAGES = 100
_MOST_SAID = 200_000

Said = Sequence[tuple[str, str]]
"""Roles and texts, in order."""


class RecalledForTurn(Struct, frozen=True):
    """What memory has for a turn."""

    background: str = ""
    before: Said = ()
    """What was said in the conversation so far."""
    failed: bool = False
    """Whether there may be more that memory could not give."""


class Conversation:
    def __init__(
        self,
        gate: Gate,
        passes: ChatTokens,
        caller: Admitted,
        seat: ConversationScope,
        settings: ChatSettings,
    ) -> None:
        self.seat = seat
        self.caller = caller
        self._gate = gate
        self._passes = passes.of(caller, seat)
        self._settings = settings

    @property
    def lane(self) -> tuple[str, str]:
        """What must be written in order."""
        return self.seat.workspace, self.seat.session

    @property
    def reads(self) -> bool:
        return bool(self.seat.namespaces.read)

    @property
    def writes(self) -> bool:
        return self.seat.namespaces.write is not None

    def recall(self, message: str, shown: str, *, continuing: bool) -> RecalledForTurn:
        """What bears on the message and is not shown; and the conversation so far, if it is to go on.

        Raises: SouvenanceError.
        """
        before = self._transcript() if continuing else []
        if not message:
            return RecalledForTurn("", before)
        shown = "\0".join((shown, *(text for _, text in before)))
        memory = GatedMemory(self._gate, self.seat, self._passes, capped=True, together=self._gate.call_all)
        known = memory.known(message)
        passages = tuple(one for one in known.passages if one.text not in shown)
        known = replace(known, passages=passages)
        background = injection.base(
            known, message, datetime.now().astimezone(), tokens=self._settings.context_tokens
        )
        return RecalledForTurn(background, before)

    def _transcript(self) -> list[tuple[str, str]]:
        seat = self.seat
        asked = q.SessionContext(
            workspace_id=seat.workspace,
            session_id=seat.session,
            tokens=self._settings.transcript_tokens,
            summary=False,
        )
        try:
            found: a.SessionContextAnswer = self._gate.call(o.CONTEXT, self._passes("read"), asked)
        except (NotFound, CapScopeMismatch):
            return []
        told: list[tuple[str, str]] = []
        for message in found.messages:
            if message.peer_id not in (seat.user, seat.ai) or is_carried(
                message.kind or MESSAGE, message.metadata
            ):
                continue  # Nobody but these two speaks in a conversation that goes on.
            role = "assistant" if message.peer_id == seat.ai else "user"
            if told and told[-1][0] == role and message.content.startswith(CONTINUED):
                told[-1] = (role, told[-1][1] + message.content.removeprefix(CONTINUED))
            else:
                told.append((role, message.content))
        return told

    def keep(self, asked: str, answered: str, at: datetime) -> None:
        """Write the turn. Raises: SouvenanceError."""
        seat = self.seat
        said = [*_pieces(seat.user, asked), *_pieces(seat.ai, clean(answered))]
        if not said:
            return
        request = q.AddMessages(
            workspace_id=seat.workspace,
            session_id=seat.session,
            messages=[q.NewMessage(content=text, peer_id=peer, created_at=at) for peer, text in said],
            namespace=seat.written,
            members=members_of(seat),
        )
        self._gate.call(o.ADD_MESSAGES, self._passes("speak"), request)


def _pieces(peer: str, text: str) -> list[tuple[str, str]]:
    found = chunks(redact(text[:_MOST_SAID]), q.MOST_MESSAGE_CHARS)
    return [(peer, piece) for piece in found if piece.strip()][: _MOST_MESSAGES // 2]
