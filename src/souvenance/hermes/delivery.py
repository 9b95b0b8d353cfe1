"""The provider's writes: what waits in the queue, how it is sent to memory, the thread that does so, and what
the user took back of it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.gated_memory import GatedMemory, members_of
from souvenance.agents.narrow_tokens import CallableGate, NarrowTokens, Purpose
from souvenance.agents.recalled import AI, USER
from souvenance.agents.redaction import redact
from souvenance.agents.transcript import clean
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
    SouvenanceError,
    Unsupported,
    UnsupportedType,
)
from souvenance.gate.conversation.messages import (
    ADD_FILE,
    ADD_MESSAGES,
    DELETE_MESSAGE,
    LIST_MESSAGES,
    MessageHabits,
    MessagePage,
    Messages,
    NewMessage,
)
from souvenance.gate.operation import Operation
from souvenance.hermes.host import context_thread
from souvenance.ports.write_queue import QueuedWrite, WriteQueue, WriteRefused

_MARK = "souvenance_write"
"""The field of a message's metadata with the id of the queued write that brought it."""

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
    scope: ConversationScope
    said: list[QueuedMessage]


class QueuedStatement(Struct, frozen=True, tag="statement"):
    """A fact of a peer, in place of what was stated before, if anything."""

    scope: ConversationScope
    peer: str
    text: str | None
    instead_of: str | None = None
    """A part of the text that no longer holds."""


class QueuedPage(Struct, frozen=True, tag="page"):
    """A file of the host's own memory."""

    scope: ConversationScope
    peer: str
    name: str
    text: str


class Undo(Struct, frozen=True, tag="undo"):
    """What an earlier write brought was taken back."""

    scope: ConversationScope
    write_id: str


Content = QueuedTurn | QueuedStatement | QueuedPage | Undo


def lane_of(scope: ConversationScope) -> str:
    """What must be written in order: what is said in one session."""
    return msgspec.json.encode((scope.workspace, scope.session)).decode()


class QueueDelivery:
    def __init__(self, gate: CallableGate, tokens: NarrowTokens, *, reads_agent: bool = True) -> None:
        """Without `reads_agent` nothing is concluded from what the agent says."""
        self._gate = gate
        self._tokens = tokens
        self._reads_agent = reads_agent
        self._prepared: set[str] = set()
        self._ids: dict[str, list[str]] = {}
        """The messages of the latest writes, by the id of the write."""

    def __call__(self, queued: QueuedWrite) -> None:
        """Raises: Refused for what will never be taken; SouvenanceError for what may be another time.

        A turn that is denied waits for a change of mind; anything else would only hold it up.
        """
        try:
            content = msgspec.convert(queued.body, type=settled(Content))
        except msgspec.ValidationError as error:
            raise WriteRefused(str(error)) from None
        try:
            match content:
                case QueuedTurn():
                    self._say(queued, content)
                case QueuedStatement():
                    self._state(content)
                case QueuedPage():
                    self._add_page(queued, content)
                case Undo():
                    self._undo(content)
        except _HOPELESS as error:
            raise WriteRefused(f"{error.code}: {error.detail}") from error
        except Denied as error:
            if isinstance(content, QueuedTurn):
                raise
            raise WriteRefused(f"{error.code}: {error.detail}") from error

    def _say(self, queued: QueuedWrite, turn: QueuedTurn) -> None:
        scope, members = turn.scope, members_of(turn.scope)
        said = [one for one in turn.said if one.peer in members]
        if not said or (queued.attempts and self._brought(scope, queued.id)):
            return
        self._prepare(scope)
        brought: Messages = self._ask(
            scope,
            "speak",
            ADD_MESSAGES,
            messages=[
                NewMessage(
                    content=one.text,
                    peer_id=one.peer,
                    created_at=datetime.fromtimestamp(one.at / 1000, UTC),
                    metadata={_MARK: queued.id},
                    configuration=self._habits(scope, one.peer),
                )
                for one in said
            ],
            namespace=scope.written,
            members=members if self._tokens.capped else None,
            idempotency_key=queued.id if self._tokens.capped else None,
        )
        self._ids[queued.id] = [message.id for message in brought.messages]
        if len(self._ids) > _MOST_NOTED:
            del self._ids[next(iter(self._ids))]

    def _habits(self, scope: ConversationScope, peer: str) -> MessageHabits | None:
        left_out = peer == scope.ai and not self._reads_agent
        return MessageHabits(reasoning=Reasoning(enabled=False)) if left_out else None

    def _prepare(self, scope: ConversationScope) -> None:
        """Where the first message can't bring its session's settings along, make the session first."""
        key = lane_of(scope)
        if self._tokens.capped or key in self._prepared:
            return
        self._memory(scope).begin()
        if len(self._prepared) >= _MOST_PREPARED:
            self._prepared.clear()
        self._prepared.add(key)

    def _brought(self, scope: ConversationScope, write_id: str) -> list[str]:
        if not scope.namespaces.read:
            return []
        wanted = {"metadata": {_MARK: write_id}}
        try:
            page: MessagePage = self._ask(scope, "read", LIST_MESSAGES, filters=wanted, size=100)
        except (NotFound, CapScopeMismatch):
            return []
        return [message.id for message in page.items]

    def _state(self, statement: QueuedStatement) -> None:
        memory = self._memory(statement.scope)
        if statement.text and not any(
            note.content == statement.text for note in memory.stated(statement.peer, statement.text)
        ):
            memory.conclude(statement.peer, statement.text)
        if statement.instead_of and not statement.scope.reads_back:
            raise WriteRefused(
                "what was replaced stays: it is in a namespace that is written to and not read"
            )
        if statement.instead_of:
            for note in memory.stated(statement.peer, statement.instead_of):
                if statement.instead_of in note.content and note.content != statement.text:
                    memory.retract(note.id)

    def _add_page(self, queued: QueuedWrite, page: QueuedPage) -> None:
        scope = page.scope
        if scope.named(page.peer) not in members_of(scope):
            raise WriteRefused("the token does not speak for the agent")
        if queued.attempts and self._brought(scope, queued.id):
            return
        self._memory(scope).begin()
        self._ask(
            scope,
            "speak",
            ADD_FILE,
            peer_id=scope.named(page.peer),
            file=page.text.encode(),
            filename=page.name,
            media_type="text/plain",
            metadata={_MARK: queued.id, "file": page.name},
            configuration=self._habits(scope, scope.named(page.peer)),
            namespace=scope.written,
        )

    def _undo(self, undo: Undo) -> None:
        scope, noted = undo.scope, self._ids.get(undo.write_id)
        if noted is None and not scope.reads_back:
            raise WriteRefused("what was undone stays: it is in a namespace that is written to and not read")
        for message_id in noted or self._brought(scope, undo.write_id):
            with suppress(NotFound):
                self._ask(scope, "undo", DELETE_MESSAGE, message_id=message_id, with_empty_session=True)
        self._ids.pop(undo.write_id, None)

    def _ask(self, scope: ConversationScope, purpose: Purpose, operation: Operation, **fields: Any) -> Any:
        """What the gate answers about the session. Raises: SouvenanceError."""
        asked = operation.request(workspace_id=scope.workspace, session_id=scope.session, **fields)
        return self._gate.call(operation, self._tokens.of(scope)(purpose), asked)

    def _memory(self, scope: ConversationScope) -> GatedMemory:
        return GatedMemory(self._gate, scope, self._tokens.of(scope), capped=self._tokens.capped)


_MOST_BYTES = 200_000
_FILES = (("memories/MEMORY.md", AI), ("memories/USER.md", USER), ("SOUL.md", AI))


def pages(home: Path, scope: ConversationScope) -> list[QueuedPage]:
    """What the host has written down of its owner and of itself."""
    found = []
    for name, peer in _FILES:
        try:
            with open(home / name, "rb") as file:
                text = file.read(_MOST_BYTES).decode(errors="ignore").strip()
        except OSError:
            continue
        if text and text != _template(name):
            found.append(QueuedPage(scope, peer, Path(name).name, redact(text)))
    return found


def _template(name: str) -> str | None:
    """What the host itself puts into a file before its owner has written a word."""
    if name != "SOUL.md":
        return None
    try:
        from hermes_cli.default_soul import DEFAULT_SOUL_MD  # type: ignore[import-not-found]
    except ImportError:
        return None
    return str(DEFAULT_SOUL_MD).strip()


def statement(
    scope: ConversationScope, action: str, target: str, content: str, metadata: Mapping[str, Any] | None
) -> QueuedStatement | None:
    """What a change to the host's own memory means for ours; None if nothing.

    What the agent notes for itself is for all whom it serves: from one of many, it is not taken.
    """
    peer = USER if target == "user" else AI
    if peer == AI and not scope.personal:
        return None
    text = redact(content.strip()) or None
    known = metadata or {}  # The older of the two is only what the host looked for in the entry.
    gone = redact(clean(str(known.get("previous_content") or known.get("old_text") or "")).strip()) or None
    if action in ("add", "replace") and text:
        return QueuedStatement(scope, peer, text, instead_of=gone if action == "replace" else None)
    if action == "remove" and (gone or text):
        return QueuedStatement(scope, peer, None, instead_of=gone or text)
    return None


_IDLE_SECONDS = 10.0
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_STOP_SECONDS = 1.0

_log = logging.getLogger("souvenance.hermes")


class DeliveryThread:
    """One thread at most, which goes when there is nothing to deliver for a while."""

    def __init__(self, write_queue: WriteQueue, carry: Callable[[QueuedWrite], None]) -> None:
        self._write_queue = write_queue
        self._carry = carry
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._rung = False
        self._at_work = False
        self._failing = False
        self._rounds = 0
        self._stopped = False

    def ring(self) -> None:
        """Say that there may be something to deliver."""
        with self._changed:
            self._rung = True
            if self._thread is None and not self._stopped:
                self._thread = context_thread(self._run, "souvenance-delivery")
                self._thread.start()
            self._changed.notify_all()

    def flush(self, seconds: float) -> bool:
        """Wait up to that long for everything to be delivered, or a try to fail; whether all is."""
        deadline = time.monotonic() + seconds
        self.ring()
        with self._changed:
            start = self._rounds
        while self._write_queue.standing().waiting:
            with self._changed:
                left = deadline - time.monotonic()
                # The round under way may have begun before the last write was put; the next one has not.
                if left <= 0 or self._rounds > start + 1:
                    return False
                self._changed.wait(left)
        return True

    def catch_up(self, seconds: float) -> None:
        """Wait up to that long for what is being delivered, unless the last try failed."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._failing or self._stopped or not (self._rung or self._at_work), seconds
            )

    def dismiss(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Deliver no more; wait a moment for what is being delivered."""
        self.dismiss()
        thread = self._thread
        if thread is not None:
            thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            with self._changed:
                self._rung, self._at_work = False, True
            done = self._round()
            pause = _FIRST_PAUSE if done else min(pause * 2, _LONGEST_PAUSE)
            with self._changed:
                self._at_work, self._failing = False, not done
                self._rounds += 1
                self._changed.notify_all()
                patience = _IDLE_SECONDS if done else pause
                called = self._changed.wait_for(lambda: self._rung or self._stopped, patience)
                if self._stopped or (done and not called):
                    self._thread = None
                    return

    def _round(self) -> bool:
        try:
            return self._write_queue.deliver(self._carry)
        except SouvenanceError as error:
            _log.warning("souvenance: what is to be written waits: %s: %s", error.code, error.detail)
            return False
        except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again
            _log.warning("souvenance: what is to be written waits: %s: %s", type(error).__name__, error)
            return False


_MOST_HEARD = 500
_MARK_BYTES = 8


class HeardMessages(Struct, frozen=True):
    """What is kept of a conversation: not what was said, but marks to know it again by."""

    salt: bytes
    said: list[str] = []
    """The mark of each message of the user, oldest first; of a very long conversation, of the latest."""
    places: dict[str, int] = {}
    """Which of them each write brought, by the id of the write."""
    ahead: dict[str, str] = {}
    """The mark of a message that a write brought before the host gave its turn, by the id of the write."""
    at: int = 0
    """When the latest was written, in milliseconds."""


class Transcript:
    """Finds the writes that were taken back, by their ids.

    An undo cuts off the end of a conversation, while compression replaces what comes before: so what
    was said after the last message that is still there was undone.
    """

    def __init__(self, heard: HeardMessages) -> None:
        self.heard = heard
        self._undos = 0
        """Of how many the host has yet to tell what they left."""

    def rewind(self) -> None:
        """The latest message was taken back, and maybe others before it."""
        self._undos += 1

    def wrote(self, write_ids: Iterable[str], text: str, at: int = 0, answer: str = "") -> None:
        """The host gave a turn. The writes brought what of it was not ahead; what is ahead of that was of
        turns that were interrupted."""
        said, turn = [*self.heard.said, *self._marks((text,))], self._marks((text, answer))
        ahead = self.heard.ahead
        end = max((place for place, mark in enumerate(ahead.values(), 1) if mark in turn), default=len(ahead))
        spare = max(0, len(said) - _MOST_HEARD)
        places = self.heard.places | dict.fromkeys((*[*ahead][:end], *write_ids), len(said) - 1)
        still = {one: place - spare for one, place in places.items() if place >= spare}
        later = dict([*ahead.items()][end:])
        self.heard = replace(self.heard, said=said[spare:], places=still, ahead=later, at=at)

    def wrote_ahead(self, write_id: str, text: str) -> None:
        """The write brought a message of a turn that the host has yet to give."""
        self.heard = replace(self.heard, ahead={**self.heard.ahead, write_id: self._marks((text,))[0]})

    def is_ahead(self, text: str) -> bool:
        """Whether a message was written before the host gave its turn."""
        return self._marks((text,))[0] in self.heard.ahead.values()

    def not_given(self, said: Sequence[str], turn: int) -> int:
        """How many turns the host has yet to give before the one of that number, in which the last of these
        messages was said."""
        earlier = self._marks(said[:-1])
        if not self.heard.said:
            return len(earlier) if turn == len(said) else 0
        return next((ago for ago, mark in enumerate(reversed(earlier)) if mark == self.heard.said[-1]), 0)

    def goes_on(
        self, said: Sequence[str], undone: Callable[[], Iterable[str]] = tuple, following: str | None = None
    ) -> list[str]:
        """The writes that are gone, where the conversation goes on from these messages.

        `undone` gives the messages that were taken back at any time: an undo is then found even if the host
        does not report it. It is also found where `following` replaces the same message: that is a retry.
        """
        left = self._marks(said)
        retried = following is not None and self._missing(left) == self._marks((following,))
        noticed = not self._undos and (retried or self._were_undone(left, undone))
        return self._are_left(left, undone=noticed or self._undos > 0)

    def rests(self, said: Sequence[str], undone: Sequence[str]) -> list[str]:
        """The writes that are gone, where the conversation has not gone on since."""
        left = self._marks(said)
        return self._are_left(left, undone=True) if self._were_undone(left, lambda: undone) else []

    def is_over(self, said: Sequence[str] = ()) -> list[str]:
        """The writes that are gone, as far as is known at the end, when the host may list
        messages from before the undo, or of none: then it is the latest one.
        """
        if not self._undos:
            return []
        left = self._marks(said)
        if not left or left == self.heard.said:
            left = self.heard.said[: -self._undos]
        return self._are_left(left, undone=True)

    def _were_undone(self, left: list[str], undone: Callable[[], Iterable[str]]) -> bool:
        """Whether these are all that is left because the others were taken back."""
        missing = self._missing(left)
        return bool(missing) and set(missing) <= {*self._marks(undone())}

    def _missing(self, left: list[str]) -> list[str]:
        """What was said after these, if they are where the conversation began."""
        known = self.heard.said
        return known[len(left) :] if left == known[: len(left)] else []

    def _are_left(self, left: list[str], *, undone: bool) -> list[str]:
        known, places, self._undos = self.heard.said, self.heard.places, 0
        if left[: len(known)] == known:
            self.heard = self.heard if left == known else replace(self.heard, said=left)
            return []
        kept, last = _aligned(known, left, undone=undone)
        gone = [write_id for write_id, place in places.items() if place >= kept and undone]
        shift = last - kept
        still = {
            write_id: place + shift
            for write_id, place in places.items()
            if write_id not in gone
            and 0 <= place + shift < len(left)
            and (place >= kept or left[place + shift] == known[place])
        }
        self.heard = replace(self.heard, said=left, places=still)
        return gone

    def _marks(self, said: Iterable[str]) -> list[str]:
        return [
            blake2b(
                text.encode(errors="surrogatepass"), key=self.heard.salt, digest_size=_MARK_BYTES
            ).hexdigest()
            for text in said
        ]


def _aligned(known: list[str], left: list[str], *, undone: bool) -> tuple[int, int]:
    """How many of the known messages there are up to the last that is left, and how many that are left.

    That is where most of them in a row are the same; if there are two such places, then after an undo
    not at the end.
    """
    if left == known[: len(left)]:
        return len(left), len(left)
    last = len(left)
    while last and left[last - 1] not in known:
        last -= 1
    if not last:
        return (len(known) - 1, 0) if undone else (0, 0)
    ends = [end for end, mark in enumerate(known, 1) if mark == left[last - 1]]

    def rank(end: int) -> tuple[int, bool, int]:
        return _alike(known[:end], left[:last]), end < len(known) or not undone, end

    return max(ends, key=rank), last


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many are the same, from the end."""
    count = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        count += 1
    return count
