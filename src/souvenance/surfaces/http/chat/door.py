"""The chat door: a proxy in front of any OpenAI-compatible endpoint that gives its models memory.

Before a request goes on, the gate judges its cap, and what memory has for its last message is put into that
message; when the answer is over, the turn is written. The client waits for the verdict as long as it takes,
for what is recalled a moment at most, and for its writing not at all. What can't be recalled, the chat goes
on without.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Raw, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as WebRoute

from souvenance.agents import injection
from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.gated_memory import GatedMemory, members_of
from souvenance.agents.redaction import redact
from souvenance.agents.transcript import CONTINUED, chunks, clean
from souvenance.decoders import UNREADABLE, settled
from souvenance.domain.line import MESSAGE
from souvenance.domain.provenance import is_carried
from souvenance.domain.upstream import PASS_WITHOUT_MEMORY, ChatSettings, Upstream
from souvenance.errors import (
    CapScopeMismatch,
    Denied,
    NotFound,
    SouvenanceError,
    Unauthenticated,
    Unavailable,
    UpstreamUnreachable,
)
from souvenance.gate import messages as m
from souvenance.gate.conversation import operations as o
from souvenance.gate.conversation import requests as q
from souvenance.gate.conversation import responses as a
from souvenance.gate.gate import Gate
from souvenance.gate.operations import CHAT
from souvenance.gate.tokens import told
from souvenance.surfaces.http.chat import description
from souvenance.surfaces.http.chat.answer_reader import ModelAnswer
from souvenance.surfaces.http.chat.identity import (
    ClaimedIdentity,
    checked,
    claimed,
    names_itself,
    person,
    seat_of,
)
from souvenance.surfaces.http.chat.narrow_tokens import Admitted, ChatTokens
from souvenance.surfaces.http.chat.open_tool_calls import Unfinished
from souvenance.surfaces.http.chat.refusals import refusal
from souvenance.surfaces.http.chat.relay import Relay
from souvenance.surfaces.http.chat.request_rewriting import COMPLETIONS, RESPONSES, RequestDialect, Talk
from souvenance.surfaces.http.chat.unknown_paths import Nowhere
from souvenance.surfaces.http.chat.upstreams import Upstreams, passed_on, whole
from souvenance.surfaces.http.chat.write_queue import Complaints, Keeping
from souvenance.surfaces.http.openapi_parts import Paths
from souvenance.surfaces.http.request_bodies import Body, body_of
from souvenance.surfaces.http.request_threads import (
    HEADERS,
    LOCAL,
    Endpoint,
    RequestThreads,
    credentials_of,
    json_answer,
)

if TYPE_CHECKING:
    import httpx


class _List(Struct):
    data: list[dict[str, Raw]]


def listed(settings: ChatSettings, upstream: Upstream, told: bytes) -> Iterator[tuple[str, dict[str, Raw]]]:
    """Those models of an endpoint's list that are asked for there, each with the name that leads to it."""
    try:
        found = msgspec.json.decode(told, type=settled(_List)).data
    except UNREADABLE:
        return
    for model in found:
        try:
            name = msgspec.json.decode(model.get("id", b"null"), type=str)
        except UNREADABLE:
            continue
        known = upstream.prefix + name if upstream.strip else name
        if settings.serving(known) == upstream:
            yield known, {**model, "id": Raw(msgspec.json.encode(known))}


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


class ChatConversation:
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
        tokens = self._settings.context_tokens
        known = memory.known(message, shown=shown, room=injection.passage_room(tokens))
        background = injection.base(known, message, datetime.now().astimezone(), tokens=tokens)
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


class Admission:
    def __init__(
        self, gate: Gate, hands: RequestThreads, settings: ChatSettings, complaints: Complaints
    ) -> None:
        self._gate = gate
        self._hands = hands
        self._passes_on = settings.when_store_is_down == PASS_WITHOUT_MEMORY
        self._complaints = complaints

    async def admit(self, request: Request, body: bytes) -> Admitted:
        """Raises: Unauthenticated, Denied, RateLimited, Unavailable."""
        credentials = credentials_of(request, body)
        token = credentials.token or ""
        try:
            grant: m.WhoAmIAnswer = await self._hands.call(self._gate, CHAT, credentials, m.WhoAmI)
            return Admitted(token, grant)
        except Unavailable as error:
            self._complaints.add("the store is out of reach", error)
            late = partial(
                self._gate.judge_late, CHAT, credentials, m.WhoAmI(), error, grants=self._passes_on
            )
            granted = await self._hands.judge(self._gate, credentials, late)
            return Admitted(token, told(granted), store_down=True)


PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/models", "/v1/models/{model}")

_STREAM = "text/event-stream"
_MEMORY = "x-souvenance-memory"
_BY_RIGHTS = {
    (True, True): "read-write",
    (True, False): "read-only",
    (False, True): "write-only",
    (False, False): "no-rights",
}
"""What memory did, by whether the cap lets it be read and written."""
_FLUSH_SECONDS = 5.0
_MOST_AT_ONCE = 256 * 1024
"""Bytes of a body that the event loop itself may look through."""

_T = TypeVar("_T")


class ChatDoor:
    """A `Door`. `cap` is the door's own: with it the assistant speaks to those whose caps can't let it.

    `key` makes a key of what the settings say: the key itself, or where it is.
    """

    def __init__(
        self, settings: ChatSettings, *, cap: str | None = None, key: Callable[[str], str] = str
    ) -> None:
        self._settings = settings
        self._passes = ChatTokens(cap)
        self._upstreams = Upstreams(settings, key)
        self._complaints = Complaints()
        self._keeping = Keeping(self._complaints)

    def routes(self, gate: Gate, hands: RequestThreads) -> Sequence[BaseRoute]:
        ctx = _ChatHandler(
            self._settings, gate, hands, self._passes, self._upstreams, self._keeping, self._complaints
        )
        routes = [
            WebRoute(PATHS[0], ctx.asks(COMPLETIONS), methods=["POST"]),
            WebRoute(PATHS[1], ctx.asks(RESPONSES), methods=["POST"]),
            WebRoute(PATHS[2], ctx.models, methods=["GET"]),
            WebRoute(PATHS[3].replace("}", ":path}"), ctx.model, methods=["GET"]),
        ]
        return [*routes, Nowhere(routes)]

    def described(self) -> Paths:
        return description.PATHS

    def open(self) -> AbstractAsyncContextManager[None]:
        """Raises: Misconfigured."""
        return self._open()

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[None]:
        async with self._upstreams.open():
            yield
            await self._keeping.flush(_FLUSH_SECONDS)


class _ChatHandler:
    """Where requests are answered."""

    def __init__(
        self,
        settings: ChatSettings,
        gate: Gate,
        hands: RequestThreads,
        passes: ChatTokens,
        upstreams: Upstreams,
        keeping: Keeping,
        complaints: Complaints,
    ) -> None:
        self._settings = settings
        self._patience = settings.wait_ms / 1000
        self._gate = gate
        self._hands = hands
        self._admission = Admission(gate, hands, settings, complaints)
        self._passes = passes
        self._upstreams = upstreams
        self._keeping = keeping
        self._complaints = complaints
        self._unfinished = Unfinished()

    def asks(self, dialect: RequestDialect) -> Endpoint:
        async def answer(request: Request) -> Response:
            try:
                sent = await self._body(request)
                caller = await self._admitted(request, sent.content)
                claim = _claim(request)
                body = sent.read()
                talk = await _aside(body, lambda: Talk(dialect, body))
                return await self._answer(request, caller, claim, talk)
            except SouvenanceError as error:
                return refusal(error)

        return answer

    async def _body(self, request: Request) -> Body:
        """Raises: Unauthenticated, Denied."""
        try:
            return await body_of(request, self._gate, self._gate.limits.batch_bytes)
        except Unauthenticated as error:
            if names_itself(request.headers):
                raise _unproved(error) from error
            raise

    async def _admitted(self, request: Request, body: bytes = b"") -> Admitted:
        """Raises: Unauthenticated, Denied, RateLimited; what a request says of itself needs a good cap."""
        try:
            return await self._admission.admit(request, body)
        except Unauthenticated as error:
            if names_itself(request.headers):
                raise _unproved(error) from error
            raise

    async def _answer(
        self, request: Request, caller: Admitted, claim: ClaimedIdentity, talk: Talk
    ) -> Response:
        settings = self._settings
        field = self._field(request, talk) if settings.user_field else None
        speaker = person(caller.grant, claim.user, field, local=_is_local(request))
        upstream = settings.serving(talk.model)
        if upstream is None:
            raise _unserved()
        sitting = self._sitting(caller, claim, speaker)
        recalled = RecalledForTurn()
        if sitting is not None and sitting.reads:
            recalled = await self._recalled(sitting, talk, continuing=claim.transcript is not None)
        body = await _aside(
            talk.body,
            lambda: talk.onward(upstream.named(talk.model), recalled.background, recalled.before),
        )
        answer = await self._upstreams.ask(upstream, "POST", talk.dialect.path, request.headers, body)
        told = {**HEADERS, **claim.echoed, _MEMORY: _told(caller, sitting, recalled)}
        return await self._passed_on(answer, told, talk, sitting)

    def _sitting(
        self, caller: Admitted, claim: ClaimedIdentity, speaker: str | None
    ) -> ChatConversation | None:
        """The conversation whose memory is read and written, if any is."""
        if caller.store_down:
            return None
        if speaker is None:
            self._complaints.nobody_named(caller.grant.jti)
            return None
        seat = seat_of(self._settings, caller.grant, claim, speaker)
        return ChatConversation(self._gate, self._passes, caller, seat, self._settings)

    def _field(self, request: Request, talk: Talk) -> str | None:
        """Whom OpenAI's own field names. Raises: InvalidInput, Denied."""
        named = talk.user
        found = None if named is None else checked(named, "user")
        if found is not None and _is_local(request):
            raise _nobody()
        return found

    async def _recalled(self, sitting: ChatConversation, talk: Talk, *, continuing: bool) -> RecalledForTurn:
        """What memory gives in time to the user's last message, also where a tool was heard since."""
        try:
            async with asyncio.timeout(self._patience):
                await self._keeping.settle(sitting.lane)
                return await self._hands.look(
                    self._gate,
                    sitting.caller.credentials,
                    lambda: sitting.recall(talk.asked, talk.shown, continuing=continuing and talk.alone),
                )
        except Exception as error:  # noqa: BLE001 - whatever memory suffers from, the chat goes on
            self._complaints.add("nothing was recalled", error)
            return RecalledForTurn(failed=True)

    async def _passed_on(
        self, answer: httpx.Response, told: dict[str, str], talk: Talk, sitting: ChatConversation | None
    ) -> Response:
        """The endpoint's answer as it is; what went well is remembered."""
        kind = answer.headers.get("content-type", "")
        headers = {**passed_on(answer.headers), **told}
        heard = ModelAnswer(streamed=kind.startswith(_STREAM))
        if answer.is_success and (talk.streams or kind.startswith(_STREAM)):
            return Relay(answer, headers, heard, lambda well: self._keep(sitting, talk, heard, well))
        content = await whole(answer)
        heard.feed(content)
        heard.close()
        self._keep(sitting, talk, heard, answer.is_success and heard.complete)
        return Response(content, answer.status_code, headers)

    def _keep(self, sitting: ChatConversation | None, talk: Talk, heard: ModelAnswer, well: bool) -> None:
        """Have a turn written that came to an answer; one that waits for a tool is not over."""
        if not well or sitting is None or not sitting.writes:
            return
        turn = self._unfinished.joined(sitting.lane, talk, heard)
        if heard.calls:
            self._unfinished.put(sitting.lane, talk, heard, turn)
            return
        if not heard.text.strip():
            return
        now = datetime.now(UTC)

        async def write() -> None:
            await self._hands.keep(
                self._gate, sitting.caller.credentials, lambda: sitting.keep(turn.asked, turn.answered, now)
            )

        self._keeping.add(sitting.lane, write)

    async def models(self, request: Request) -> Response:
        try:
            await self._admitted(request)
            upstreams = self._settings.upstreams
            if len(upstreams) == 1 and not upstreams[0].prefix:
                answer = await self._upstreams.ask(upstreams[0], "GET", "/models", request.headers)
                content = await whole(answer)
                return Response(content, answer.status_code, {**passed_on(answer.headers), **HEADERS})
            return await self._every_model(request, upstreams)
        except SouvenanceError as error:
            return refusal(error)

    async def model(self, request: Request) -> Response:
        """One of the models, by the name that leads to it."""
        try:
            await self._admitted(request)
            asked = request.path_params["model"]
            upstream = self._settings.serving(asked)
            if upstream is None:
                raise _unserved()
            answer = await self._upstreams.ask(upstream, "GET", "/models", request.headers)
            content = await whole(answer)
            if not answer.is_success:
                return Response(content, answer.status_code, {**passed_on(answer.headers), **HEADERS})
            found = dict(listed(self._settings, upstream, content)).get(asked)
            if found is None:
                raise _unserved()
            return json_answer(200, found)
        except SouvenanceError as error:
            return refusal(error)

    async def _every_model(self, request: Request, upstreams: Sequence[Upstream]) -> Response:
        async def ask(upstream: Upstream) -> bytes | None:
            try:
                answer = await self._upstreams.ask(upstream, "GET", "/models", request.headers)
                content = await whole(answer)
            except UpstreamUnreachable:
                return None
            return content if answer.is_success else None

        told = await asyncio.gather(*map(ask, upstreams))
        if all(one is None for one in told):
            raise UpstreamUnreachable("no model endpoint told of its models")
        found = [
            model
            for upstream, one in zip(upstreams, told, strict=True)
            for _, model in (() if one is None else listed(self._settings, upstream, one))
        ]
        return json_answer(200, {"object": "list", "data": found})


def _told(caller: Admitted, sitting: ChatConversation | None, recalled: RecalledForTurn) -> str:
    """What the answer says of memory."""
    if sitting is None:
        return "store-down" if caller.store_down else "no-person-named"
    return "out-of-reach" if recalled.failed else _BY_RIGHTS[sitting.reads, sitting.writes]


def _unserved() -> NotFound:
    return NotFound("no endpoint serves that model", hint="See GET /v1/models.")


def _claim(request: Request) -> ClaimedIdentity:
    """Raises: InvalidInput, Denied."""
    if _is_local(request) and names_itself(request.headers):
        raise _nobody()
    return claimed(request.headers)


def _is_local(request: Request) -> bool:
    """Whether it was let in for where it comes from, and shows no cap."""
    token = request.headers.get("authorization", "").partition(" ")[2].strip()
    return request.scope.get("souvenance.trusted") is not None and token == LOCAL


def _nobody() -> Denied:
    return Denied(
        "who speaks, and where, is taken from nobody who shows no cap",
        hint="Send a cap in place of 'local', or leave out user and X-Hermes headers.",
    )


def _unproved(error: Unauthenticated) -> Denied:
    return Denied(f"who speaks, and where, is taken only beside a good cap: {error.detail}", hint=error.hint)


async def _aside(body: bytes, work: Callable[[], _T]) -> _T:
    """What comes of the work; on a large body it is done where it holds nobody up."""
    return await asyncio.to_thread(work) if len(body) > _MOST_AT_ONCE else work()
