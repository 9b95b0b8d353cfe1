"""The provider's writes, as they wait in the queue and as they are sent to memory."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.gated_memory import CallableGate, GatedMemory, members_of
from souvenance.agents.narrow_tokens import NarrowTokens
from souvenance.decoders import settled
from souvenance.domain.reasoning_settings import Reasoning
from souvenance.errors import (
    BodyTooLarge,
    CapScopeMismatch,
    Conflict,
    Denied,
    InvalidInput,
    LineTooLong,
    MethodNotAllowed,
    NotFound,
    Unsupported,
    UnsupportedType,
)
from souvenance.gate.conversation.messages import (
    ADD_FILE,
    ADD_MESSAGES,
    DELETE_MESSAGE,
    LIST_MESSAGES,
    AddFile,
    AddMessages,
    DeleteMessage,
    ListMessages,
    MessageHabits,
    MessagePage,
    Messages,
    NewMessage,
)
from souvenance.ports.write_queue import Letter, WriteRefused

_MARK = "souvenance_letter"
"""Under which a message's metadata names the letter that brought it."""

_MOST_PREPARED = 1000
_MOST_NOTED = 1000

_HOPELESS = (
    InvalidInput,
    LineTooLong,
    BodyTooLarge,
    Conflict,
    UnsupportedType,
    Unsupported,
    MethodNotAllowed,
)
"""What no second try changes."""


class QueuedMessage(Struct, frozen=True):
    peer: str
    text: str
    at: int


class QueuedTurn(Struct, frozen=True, tag="turn"):
    """What was said in one turn."""

    seat: ConversationScope
    said: list[QueuedMessage]


class QueuedStatement(Struct, frozen=True, tag="statement"):
    """A fact of a peer, in place of what was stated before, if anything."""

    seat: ConversationScope
    peer: str
    text: str | None
    instead_of: str | None = None
    """A part of the text that no longer holds."""


class QueuedPage(Struct, frozen=True, tag="page"):
    """A file of the host's own memory."""

    seat: ConversationScope
    peer: str
    name: str
    text: str


class Undo(Struct, frozen=True, tag="undo"):
    """What an earlier letter brought was taken back."""

    seat: ConversationScope
    letter: str


Content = QueuedTurn | QueuedStatement | QueuedPage | Undo


def lane_of(seat: ConversationScope) -> str:
    """What must be written in order: what is said in one session."""
    return msgspec.json.encode((seat.workspace, seat.session)).decode()


def body_of(content: Content) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(content)
    return found


class QueueDelivery:
    """Takes letters to memory."""

    def __init__(self, gate: CallableGate, passes: NarrowTokens, *, reads_agent: bool = True) -> None:
        """Without `reads_agent` nothing is concluded from what the agent says."""
        self._gate = gate
        self._passes = passes
        self._reads_agent = reads_agent
        self._prepared: set[str] = set()
        self._ids: dict[str, list[str]] = {}
        """The messages that the latest letters brought."""

    def __call__(self, letter: Letter) -> None:
        """Raises: Refused for what will never be taken; SouvenanceError for what may be another time.

        A turn that is denied waits for a change of mind; anything else would only hold it up.
        """
        try:
            content = msgspec.convert(letter.body, type=settled(Content))
        except msgspec.ValidationError as error:
            raise WriteRefused(str(error)) from None
        try:
            self._carry(letter, content)
        except _HOPELESS as error:
            raise WriteRefused(f"{error.code}: {error.detail}") from error
        except Denied as error:
            if isinstance(content, QueuedTurn):
                raise
            raise WriteRefused(f"{error.code}: {error.detail}") from error

    def _carry(self, letter: Letter, content: Content) -> None:
        match content:
            case QueuedTurn():
                self._say(letter, content)
            case QueuedStatement():
                self._state(content)
            case QueuedPage():
                self._add_page(letter, content)
            case Undo():
                self._undo(content)

    def _say(self, letter: Letter, turn: QueuedTurn) -> None:
        seat, members = turn.seat, members_of(turn.seat)
        said = [one for one in turn.said if one.peer in members]
        if not said or (letter.attempts and self._brought(seat, letter.id)):
            return
        self._prepare(seat)
        asked = AddMessages(
            workspace_id=seat.workspace,
            session_id=seat.session,
            messages=[
                NewMessage(
                    content=one.text,
                    peer_id=one.peer,
                    created_at=datetime.fromtimestamp(one.at / 1000, UTC),
                    metadata={_MARK: letter.id},
                    configuration=self._habits(seat, one.peer),
                )
                for one in said
            ],
            namespace=seat.written,
            members=members if self._passes.capped else None,
            idempotency_key=letter.id if self._passes.capped else None,
        )
        brought: Messages = self._gate.call(ADD_MESSAGES, self._passes.of(seat)("speak"), asked)
        self._ids[letter.id] = [message.id for message in brought.messages]
        if len(self._ids) > _MOST_NOTED:
            del self._ids[next(iter(self._ids))]

    def _habits(self, seat: ConversationScope, peer: str) -> MessageHabits | None:
        left_out = peer == seat.ai and not self._reads_agent
        return MessageHabits(reasoning=Reasoning(enabled=False)) if left_out else None

    def _prepare(self, seat: ConversationScope) -> None:
        """Where the first message can't bring its session's settings along, make the session first."""
        key = lane_of(seat)
        if self._passes.capped or key in self._prepared:
            return
        self._memory(seat).begin()
        if len(self._prepared) >= _MOST_PREPARED:
            self._prepared.clear()
        self._prepared.add(key)

    def _brought(self, seat: ConversationScope, letter_id: str) -> list[str]:
        """The messages that this letter brought already."""
        if not seat.namespaces.read:
            return []
        asked = ListMessages(
            workspace_id=seat.workspace,
            session_id=seat.session,
            filters={"metadata": {_MARK: letter_id}},
            size=100,
        )
        try:
            page: MessagePage = self._gate.call(LIST_MESSAGES, self._passes.of(seat)("read"), asked)
        except (NotFound, CapScopeMismatch):
            return []
        return [message.id for message in page.items]

    def _state(self, statement: QueuedStatement) -> None:
        memory = self._memory(statement.seat)
        if statement.text and not any(
            note.text == statement.text for note in memory.stated(statement.peer, statement.text)
        ):
            memory.conclude(statement.peer, statement.text)
        if statement.instead_of and not statement.seat.reads_back:
            raise WriteRefused(
                "what was replaced stays: it is in a namespace that is written to and not read"
            )
        if statement.instead_of:
            for note in memory.stated(statement.peer, statement.instead_of):
                if statement.instead_of in note.text and note.text != statement.text:
                    memory.retract(note.id)

    def _add_page(self, letter: Letter, page: QueuedPage) -> None:
        seat = page.seat
        if seat.named(page.peer) not in members_of(seat):
            raise WriteRefused("the token does not speak for the agent")
        if letter.attempts and self._brought(seat, letter.id):
            return
        self._memory(seat).begin()
        asked = AddFile(
            workspace_id=seat.workspace,
            session_id=seat.session,
            peer_id=seat.named(page.peer),
            file=page.text.encode(),
            filename=page.name,
            media_type="text/plain",
            metadata={_MARK: letter.id, "file": page.name},
            configuration=self._habits(seat, seat.named(page.peer)),
            namespace=seat.written,
        )
        self._gate.call(ADD_FILE, self._passes.of(seat)("speak"), asked)

    def _undo(self, undo: Undo) -> None:
        seat, noted = undo.seat, self._ids.get(undo.letter)
        if noted is None and not seat.reads_back:
            raise WriteRefused("what was undone stays: it is in a namespace that is written to and not read")
        for message_id in noted or self._brought(seat, undo.letter):
            asked = DeleteMessage(
                workspace_id=seat.workspace,
                session_id=seat.session,
                message_id=message_id,
                with_empty_session=True,
            )
            with suppress(NotFound):
                self._gate.call(DELETE_MESSAGE, self._passes.of(seat)("undo"), asked)
        self._ids.pop(undo.letter, None)

    def _memory(self, seat: ConversationScope) -> GatedMemory:
        return GatedMemory(self._gate, seat, self._passes.of(seat), capped=self._passes.capped)
