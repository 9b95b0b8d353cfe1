"""The memory of one conversation: what is recalled for a turn, and what is kept of it once it is answered."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import lru_cache, partial

from msgspec import Struct

from souvenance.agents import injection
from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.gated_memory import GatedMemory, members_of
from souvenance.agents.redaction import redact
from souvenance.agents.transcript import CONTINUED, chunks, clean
from souvenance.domain.line import MESSAGE
from souvenance.domain.names import mint_command
from souvenance.domain.trust import is_carried
from souvenance.domain.upstream import ChatSettings
from souvenance.errors import CapScopeMismatch, NotFound, SouvenanceError
from souvenance.gate.conversation.context import CONTEXT, SessionContext, SessionContextAnswer
from souvenance.gate.conversation.messages import ADD_MESSAGES, MOST_MESSAGE_CHARS, AddMessages, NewMessage
from souvenance.gate.gate import Gate
from souvenance.gate.messages import WhoAmIAnswer
from souvenance.surfaces.http.chat.identity import Admitted, ChatTokens
from souvenance.surfaces.http.chat.request_rewriting import Talk
from souvenance.surfaces.http.chat.upstreams import HeardAnswer

SessionKey = tuple[str, str]
"""A workspace and a session of it."""

_MOST_MESSAGES = 100
_MOST_SAID = 200_000


class RecalledForTurn(Struct, frozen=True):
    background: str = ""
    count: int = 0
    """How many memories are in it, apart from what was said in the conversation so far."""
    ids: tuple[str, ...] = ()
    """Of the messages among them that were searched for: a few."""
    failed: bool = False
    """Whether there may be more that memory could not give."""


class ChatConversation:
    def __init__(
        self,
        gate: Gate,
        tokens: ChatTokens,
        caller: Admitted,
        scope: ConversationScope,
        settings: ChatSettings,
    ) -> None:
        self.scope = scope
        self.caller = caller
        self._gate = gate
        self._tokens = partial(tokens.of, caller, scope)
        self._settings = settings

    @property
    def key(self) -> SessionKey:
        """Turns with the same key are written in order."""
        return self.scope.workspace, self.scope.session

    @property
    def reads(self) -> bool:
        return bool(self.scope.namespaces.read)

    @property
    def writes(self) -> bool:
        return self.scope.namespaces.write is not None

    def recall(self, message: str, shown: str, *, continuing: bool) -> RecalledForTurn:
        """What bears on the message and is not shown; and the conversation so far, if it is to go on.

        Raises: SouvenanceError.
        """
        said = self._transcript() if continuing else []
        if not message:
            return RecalledForTurn(injection.continued("", said))
        shown = "\0".join((shown, *(text for _, text in said)))
        memory = GatedMemory(self._gate, self.scope, self._tokens, capped=True, together=self._gate.call_all)
        tokens = self._settings.context_tokens
        known = memory.known(message, shown=shown, room=injection.passage_room(tokens))
        now = datetime.now().astimezone()
        found = injection.sections(known, message, now, tokens=tokens)
        background = injection.written(found, now)
        ids = tuple(one.id for _, remarks in found for one in remarks if one.id)
        return RecalledForTurn(injection.continued(background, said), injection.count(background), ids)

    def _transcript(self) -> list[tuple[str, str]]:
        scope = self.scope
        asked = SessionContext(
            workspace_id=scope.workspace,
            session_id=scope.session,
            tokens=self._settings.transcript_tokens,
            summary=False,
        )
        try:
            found: SessionContextAnswer = self._gate.call(CONTEXT, self._tokens("read"), asked)
        except (NotFound, CapScopeMismatch):
            return []
        said: list[tuple[str, str]] = []
        for message in found.messages:
            if message.peer_id not in (scope.user, scope.ai) or is_carried(
                message.kind or MESSAGE, message.metadata
            ):
                continue  # Nobody but these two speaks in a conversation that goes on.
            role = "assistant" if message.peer_id == scope.ai else "user"
            if said and said[-1][0] == role and message.content.startswith(CONTINUED):
                said[-1] = (role, said[-1][1] + message.content.removeprefix(CONTINUED))
            else:
                said.append((role, message.content))
        return said

    def keep(self, asked: str, answered: str, at: datetime) -> None:
        """Write the turn. Raises: SouvenanceError."""
        scope = self.scope
        said = [*_pieces(scope.user, asked), *_pieces(scope.ai, clean(answered))]
        if not said:
            return
        request = AddMessages(
            workspace_id=scope.workspace,
            session_id=scope.session,
            messages=[NewMessage(content=text, peer_id=peer, created_at=at) for peer, text in said],
            namespace=scope.written,
            members=members_of(scope),
        )
        self._gate.call(ADD_MESSAGES, self._tokens("speak"), request)


def _pieces(peer: str, text: str) -> list[tuple[str, str]]:
    found = chunks(redact(text[:_MOST_SAID]), MOST_MESSAGE_CHARS)
    return [(peer, piece) for piece in found if piece.strip()][: _MOST_MESSAGES // 2]


_MOST_WARNINGS = 1_000
_log = logging.getLogger("souvenance.chat")


class MemoryWarnings:
    """What memory could not do, said once for each reason, without a word of what was said."""

    def __init__(self) -> None:
        self._warn_once = lru_cache(_MOST_WARNINGS)(partial(_log.warning, "chat: %s"))

    def add(self, what: str, error: BaseException) -> None:
        reason = error.code if isinstance(error, SouvenanceError) else type(error).__name__
        self._warn_once(f"{what}: {reason} (this is said once)")

    def nobody_named(self, cap: str) -> None:
        """A cap that speaks for many was used, and nobody was named."""
        self._warn_once(
            f"cap {cap} speaks for many, and a request names nobody: no memory is read or written."
            " Send X-Hermes-User-Id or the field user (this is said once for each cap)"
        )

    def lacking(self, cap: str, grant: WhoAmIAnswer, namespace: str) -> None:
        """A cap was used that does not let memory be both read and written."""
        missing = [op for op in ("get", "put") if op not in grant.ops]
        line = mint_command(
            sub=[grant.sub],
            peers=grant.peers,
            via=grant.via,
            sessions=grant.sessions or (),
            wid=[grant.wid],
            ops=[*grant.ops, *missing],
            namespaces=grant.namespaces_allowed or [namespace],
        )
        wrong = f"does not grant {' and '.join(map(repr, missing))}" if missing else "opens no namespace"
        self._warn_once(f"cap {cap} {wrong}. For memory that is read and written, mint: {line} (said once)")


class TurnQueue:
    def __init__(self, warnings: MemoryWarnings) -> None:
        self._warnings = warnings
        self._last: dict[SessionKey, asyncio.Task[None]] = {}

    def add(self, session: SessionKey, write: Callable[[], Awaitable[None]]) -> None:
        """Write it in the background, after what came before it in its session."""
        self._last[session] = asyncio.create_task(self._write(session, self._last.get(session), write))

    async def _write(
        self, session: SessionKey, before: asyncio.Task[None] | None, write: Callable[[], Awaitable[None]]
    ) -> None:
        try:
            if before is not None:
                await asyncio.wait({before})
            await write()
        except Exception as error:  # noqa: BLE001 - whatever memory suffers from, nobody waits for this
            self._warnings.add("a turn was not kept", error)
        finally:
            if self._last.get(session) is asyncio.current_task():
                del self._last[session]

    async def settle(self, session: SessionKey) -> None:
        """Wait until what was said in the session so far is written."""
        if (last := self._last.get(session)) is not None:
            await asyncio.wait({last})

    async def flush(self, seconds: float) -> None:
        """Wait up to that long for all that is under way."""
        if self._last:
            await asyncio.wait(set(self._last.values()), timeout=seconds)


_MOST = 256


class OpenTurn(Struct, frozen=True):
    asked: str = ""
    answered: str = ""


class OpenTurns:
    """By the conversation in memory, and by what the endpoint is told to go on from."""

    def __init__(self) -> None:
        self._turns: OrderedDict[tuple[SessionKey, str], OpenTurn] = OrderedDict()

    def joined(self, session: SessionKey, talk: Talk, heard: HeardAnswer) -> OpenTurn:
        """The turn as far as it has come, with what was said before the tool was called."""
        begun = self._turns.pop((session, talk.follows), OpenTurn())
        answered = talk.answered(heard.text)
        if talk.asked:
            return OpenTurn(talk.asked, answered)
        return OpenTurn(begun.asked, "\n\n".join(filter(None, (begun.answered, answered))))

    def put(self, session: SessionKey, talk: Talk, heard: HeardAnswer, turn: OpenTurn) -> None:
        """Keep the turn for when the tool was heard."""
        for name in filter(None, (heard.id, talk.conversation)):
            self._turns[session, name] = turn
        while len(self._turns) > _MOST:
            self._turns.popitem(last=False)
