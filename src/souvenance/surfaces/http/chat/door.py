"""The chat door: a proxy in front of any OpenAI-compatible endpoint that gives its models memory.

The gate judges the cap first. Then what memory has for the last message is added to that message, and
the request goes on. When the answer is over, the turn is written. The client waits for the verdict as long
as it takes, for what is recalled a moment at most, and for the writing not at all. If nothing can be
recalled, the chat goes on without.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

import msgspec
from msgspec import Raw, Struct
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Match
from starlette.routing import Route as WebRoute
from starlette.types import Receive, Scope, Send

from souvenance import errors as e
from souvenance.decoders import decodable
from souvenance.domain.names import ALL
from souvenance.domain.upstream import PASS_WITHOUT_MEMORY, ChatSettings, Upstream
from souvenance.gate import messages as m
from souvenance.gate.gate import Gate
from souvenance.gate.operations import CHAT
from souvenance.gate.tokens import whoami_answer
from souvenance.surfaces.http import openapi as api
from souvenance.surfaces.http.chat import identity
from souvenance.surfaces.http.chat.conversation import (
    ChatConversation,
    MemoryWarnings,
    OpenTurns,
    RecalledForTurn,
    TurnQueue,
)
from souvenance.surfaces.http.chat.identity import Admitted, ChatTokens, ClaimedIdentity
from souvenance.surfaces.http.chat.request_rewriting import COMPLETIONS, RESPONSES, RequestDialect, Talk
from souvenance.surfaces.http.chat.upstreams import (
    KINDS,
    HeardAnswer,
    Relay,
    Upstreams,
    passed_on,
    refusal,
    whole,
)
from souvenance.surfaces.http.request_bodies import body_of
from souvenance.surfaces.http.request_threads import (
    HEADERS,
    LOCAL,
    Endpoint,
    RequestThreads,
    credentials_of,
    json_answer,
)
from souvenance.surfaces.http.routes import REFUSALS, ROUTES

if TYPE_CHECKING:
    import httpx


class _ModelList(Struct):
    data: list[dict[str, Raw]]


def listed(
    settings: ChatSettings, upstream: Upstream, content: bytes
) -> Iterator[tuple[str, dict[str, Raw]]]:
    """Those models of an endpoint's list that are asked for there, each with the name that leads to it."""
    found = decodable(content, _ModelList)
    for model in () if found is None else found.data:
        if (name := decodable(bytes(model.get("id", b"null")), str)) is None:
            continue
        known = upstream.prefix + name if upstream.strip else name
        if settings.serving(known) == upstream:
            yield known, {**model, "id": Raw(msgspec.json.encode(known))}


PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/models", "/v1/models/{model}")

_STREAM = "text/event-stream"
_MEMORY, _RECALLED = "x-souvenance-memory", "x-souvenance-recalled"
_IDS = "x-souvenance-recalled-ids"
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


_VERSION = "/v1/"
_METHODS = frozenset({"DELETE", "GET", "PATCH", "POST", "PUT"})
_OF_MEMORY = frozenset(route.path.split("/")[2] for route in ROUTES)
"""The second step of the paths of our own API."""


class UnknownPath(BaseRoute):
    """What no route of ours takes below /v1/: `answer`, unless only the method is wrong. It comes last."""

    def __init__(self, routes: Sequence[WebRoute], answer: Endpoint) -> None:
        self._routes, self.endpoint = routes, answer
        self.path = f"{_VERSION}{{other}}"

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope["path"] if scope["type"] == "http" else ""
        theirs = path.startswith(_VERSION) and path.split("/")[2] not in _OF_MEMORY
        return (Match.FULL if theirs else Match.NONE), {"endpoint": self.endpoint}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = [route for route in self._routes if route.matches(scope)[0] is Match.PARTIAL]
        allowed = {one for route in known for one in route.methods or ()} if known else _METHODS
        if known or scope["method"] not in allowed:
            answer = refusal(e.MethodNotAllowed("this path has no such method"))
            answer.headers["allow"] = ", ".join(sorted(allowed))
        else:
            answer = await self.endpoint(Request(scope, receive, send))
        await answer(scope, receive, send)


class ChatDoor:
    """A `Door`. `cap` is the door's own: with it the assistant speaks to those whose caps can't let it.

    `key` makes a key of what the settings say: the key itself, or where it is.
    """

    _gate: Gate
    _threads: RequestThreads

    def __init__(
        self, settings: ChatSettings, *, cap: str | None = None, key: Callable[[str], str] = str
    ) -> None:
        self._settings = settings
        self._tokens = ChatTokens(cap)
        self._upstreams = Upstreams(settings, key)
        self._warnings = MemoryWarnings()
        self._writes = TurnQueue(self._warnings)
        self._open_turns = OpenTurns()

    def routes(self, gate: Gate, threads: RequestThreads) -> Sequence[BaseRoute]:
        self._gate, self._threads = gate, threads
        routes = [
            WebRoute(PATHS[0], _refusing(self._asks(COMPLETIONS)), methods=["POST"]),
            WebRoute(PATHS[1], _refusing(self._asks(RESPONSES)), methods=["POST"]),
            WebRoute(PATHS[2], _refusing(self._models), methods=["GET"]),
            WebRoute(PATHS[3].replace("}", ":path}"), _refusing(self._model), methods=["GET"]),
        ]
        return [*routes, UnknownPath(routes, _refusing(self._others))]

    def described(self) -> api.Paths:
        return _DESCRIBED

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Raises: Misconfigured."""
        async with self._upstreams.open():
            yield
            await self._writes.flush(_FLUSH_SECONDS)

    def _asks(self, dialect: RequestDialect) -> Endpoint:
        async def answer(request: Request) -> Response:
            sent = await body_of(request, self._gate, self._gate.limits.batch_bytes)
            caller = await self._admitted(request, sent.content)
            claim = identity.claimed(request.headers, caller)
            body = sent.read()
            talk = await _aside(body, lambda: Talk(dialect, body))
            return await self._answer(request, caller, claim, talk)

        return answer

    async def _admitted(self, request: Request, body: bytes = b"") -> Admitted:
        """Raises: Unauthenticated, Denied, RateLimited, Unavailable."""
        credentials = credentials_of(request, body)
        token, local = credentials.token or "", _is_local(request)
        try:
            grant: m.WhoAmIAnswer = await self._threads.call(self._gate, CHAT, credentials, m.Nothing)
            return Admitted(token, grant, local)
        except e.Unavailable as error:
            self._warnings.add("the store is out of reach", error)
            grants = self._settings.when_store_is_down == PASS_WITHOUT_MEMORY
            late = partial(self._gate.judge_late, CHAT, credentials, m.Nothing(), error, grants=grants)
            granted = await self._threads.judge(self._gate, credentials, late)
            return Admitted(token, whoami_answer(granted), local, store_down=True)

    async def _answer(
        self, request: Request, caller: Admitted, claim: ClaimedIdentity, talk: Talk
    ) -> Response:
        settings = self._settings
        field = identity.checked(talk.user or "", "user") if settings.user_field else None
        speaker = identity.person(caller, claim.user, field)
        upstream = settings.serving(talk.model)
        if upstream is None:
            raise _unserved()
        conversation = self._conversation(caller, claim, speaker)
        recalled = RecalledForTurn()
        if conversation is not None and conversation.reads:
            recalled = await self._recalled(conversation, talk, continuing=claim.transcript is not None)
        body = await _aside(
            talk.body,
            lambda: talk.onward(upstream.named(talk.model), recalled.background),
        )
        answer = await self._upstreams.ask(upstream, talk.dialect.path, request, body)
        said = {
            **HEADERS,
            **claim.echoed,
            _MEMORY: _what_memory_did(caller, conversation, recalled),
            _RECALLED: str(recalled.count),
            **({_IDS: ",".join(recalled.ids)} if recalled.ids else {}),
        }
        return await self._passed_on(answer, said, talk, conversation)

    def _conversation(
        self, caller: Admitted, claim: ClaimedIdentity, speaker: str | None
    ) -> ChatConversation | None:
        """The conversation whose memory is read and written, if any is."""
        if caller.store_down:
            return None
        if speaker is None:
            self._warnings.nobody_named(self._gate.recognised(caller.token))
            return None
        scope = identity.scope_of(self._settings, caller.grant, claim, speaker)
        conversation = ChatConversation(self._gate, self._tokens, caller, scope, self._settings)
        if not (conversation.reads and conversation.writes):
            cap = self._gate.recognised(caller.token)
            self._warnings.lacking(cap, caller.grant, self._settings.namespace)
        return conversation

    async def _recalled(
        self, conversation: ChatConversation, talk: Talk, *, continuing: bool
    ) -> RecalledForTurn:
        """What memory gives in time to the user's last message, also where a tool was heard since."""
        try:
            async with asyncio.timeout(self._settings.wait_ms / 1000):
                await self._writes.settle(conversation.key)
                return await self._threads.do(
                    self._gate,
                    conversation.caller.credentials,
                    lambda: conversation.recall(talk.asked, talk.shown, continuing=continuing and talk.alone),
                )
        except Exception as error:  # noqa: BLE001 - whatever memory suffers from, the chat goes on
            self._warnings.add("nothing was recalled", error)
            return RecalledForTurn(failed=True)

    async def _passed_on(
        self, answer: httpx.Response, said: dict[str, str], talk: Talk, conversation: ChatConversation | None
    ) -> Response:
        """The endpoint's answer as it is; what went well is remembered."""
        kind = answer.headers.get("content-type", "")
        headers = {**passed_on(answer.headers), **said}
        heard = HeardAnswer(streamed=kind.startswith(_STREAM))
        if answer.is_success and (talk.streams or kind.startswith(_STREAM)):
            return Relay(answer, headers, heard, lambda well: self._keep(conversation, talk, heard, well))
        content = await whole(answer)
        heard.feed(content)
        heard.close()
        self._keep(conversation, talk, heard, answer.is_success and heard.complete)
        return Response(content, answer.status_code, headers)

    def _keep(
        self, conversation: ChatConversation | None, talk: Talk, heard: HeardAnswer, well: bool
    ) -> None:
        """Have a turn written that came to an answer; one that waits for a tool is not over."""
        if not well or conversation is None or not conversation.writes:
            return
        turn = self._open_turns.joined(conversation.key, talk, heard)
        if heard.calls:
            self._open_turns.put(conversation.key, talk, heard, turn)
            return
        if not heard.text.strip():
            return
        now = datetime.now(UTC)

        async def write() -> None:
            await self._threads.do(
                self._gate,
                conversation.caller.credentials,
                lambda: conversation.keep(turn.asked, turn.answered, now),
                writes=True,
            )

        self._writes.add(conversation.key, write)

    async def _models(self, request: Request) -> Response:
        await self._admitted(request)
        upstreams = self._settings.upstreams
        if len(upstreams) == 1 and not upstreams[0].prefix:
            return _unchanged(await self._list(upstreams[0], request))

        async def ask(upstream: Upstream) -> httpx.Response | None:
            try:
                answer = await self._list(upstream, request)
            except e.UpstreamUnreachable:
                return None
            return answer if answer.is_success else None

        answers = await asyncio.gather(*map(ask, upstreams))
        if not any(answers):
            raise e.UpstreamUnreachable("no model endpoint listed its models")
        found = [
            model
            for upstream, answer in zip(upstreams, answers, strict=True)
            for _, model in (() if answer is None else listed(self._settings, upstream, answer.content))
        ]
        return json_answer(200, {"object": "list", "data": found})

    async def _model(self, request: Request) -> Response:
        """One of the models, by the name that leads to it."""
        await self._admitted(request)
        asked = request.path_params["model"]
        upstream = self._settings.serving(asked)
        if upstream is None:
            raise _unserved()
        answer = await self._list(upstream, request)
        if not answer.is_success:
            return _unchanged(answer)
        found = dict(listed(self._settings, upstream, answer.content)).get(asked)
        if found is None:
            raise _unserved()
        return json_answer(200, found)

    async def _others(self, request: Request) -> Response:
        """What the endpoint answers to a request that we know nothing of. No memory is read or written.

        What an endpoint keeps (files, batches, tuned models) is of its one key, so of everybody behind this
        door: a token of some of them may only ask a model.
        """
        sent = await body_of(request, self._gate, self._gate.limits.batch_bytes)
        caller = await self._admitted(request, sent.content)
        path, everybody = _path_of(request), caller.grant.wid == ALL and ALL in caller.grant.peers
        if not everybody and not (request.method == "POST" and self._settings.opens(path)):
            raise e.CapScopeMismatch(
                "what the endpoint keeps is everybody's, and the cap does not reach everybody",
                hint="Use a cap for workspace '*' with peers '*', or list the path in SOUVENANCE_CHAT_PATHS.",
            )
        body, model = sent.read(), ""
        talk = None
        if body and "json" in request.headers.get("content-type", ""):
            talk = await _aside(body, lambda: Talk(COMPLETIONS, body))
            model = talk.model
        upstream = self._settings.serving(model)
        if upstream is None:
            raise _unserved()
        if talk is not None:
            body = talk.onward(upstream.named(model), "")
        answer = await self._upstreams.ask(upstream, path, request, body or None)
        headers = {**passed_on(answer.headers), **HEADERS, _MEMORY: "not-used"}
        return StreamingResponse(_pieces(answer), answer.status_code, headers)

    async def _list(self, upstream: Upstream, request: Request) -> httpx.Response:
        """All that the endpoint answers if it is asked for its models. Raises: UpstreamUnreachable."""
        answer = await self._upstreams.ask(upstream, "/models", request)
        await whole(answer)
        return answer


def _path_of(request: Request) -> str:
    """The path below /v1, as it was written. Raises: NotFound for one that leads out of there."""
    path: str = request.scope["raw_path"].decode("latin-1")
    if not path.startswith(_VERSION) or {".", ".."} & set(unquote(path).replace("\\", "/").split("/")):
        raise e.NotFound("there is no such path", hint="See /openapi.json.")
    return path[len(_VERSION) - 1 :]


async def _pieces(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in answer.aiter_bytes():
            yield piece
    finally:
        await answer.aclose()


def _unchanged(answer: httpx.Response) -> Response:
    return Response(answer.content, answer.status_code, {**passed_on(answer.headers), **HEADERS})


def _what_memory_did(
    caller: Admitted, conversation: ChatConversation | None, recalled: RecalledForTurn
) -> str:
    if conversation is None:
        return "store-down" if caller.store_down else "no-person-named"
    return "out-of-reach" if recalled.failed else _BY_RIGHTS[conversation.reads, conversation.writes]


def _unserved() -> e.NotFound:
    return e.NotFound("no endpoint serves that model", hint="See GET /v1/models.")


def _is_local(request: Request) -> bool:
    """Whether it was let in for where it comes from, and shows no cap."""
    token = request.headers.get("authorization", "").partition(" ")[2].strip()
    return request.scope.get("souvenance.trusted") is not None and token == LOCAL


def _refusing(answer: Endpoint) -> Endpoint:
    """Refuses in OpenAI's shape. What a request says of who speaks is taken only with a good cap."""

    async def endpoint(request: Request) -> Response:
        try:
            return await answer(request)
        except e.Unauthenticated as error:
            if not identity.names_itself(request.headers):
                return refusal(error)
            detail = f"who speaks, and where, is taken only beside a good cap: {error.detail}"
            return refusal(e.Denied(detail, hint=error.hint))
        except e.SouvenanceError as error:
            return refusal(error)

    return endpoint


async def _aside(body: bytes, work: Callable[[], _T]) -> _T:
    """What comes of the work; on a large body it is done where it holds nobody up."""
    return await asyncio.to_thread(work) if len(body) > _MOST_AT_ONCE else work()


_IDENTITY = [
    {
        "name": name,
        "in": "header",
        "description": description,
        "schema": {"type": "string", "minLength": 1, "maxLength": identity.MOST},
    }
    for name, description in (
        ("X-Hermes-User-Id", "Who speaks."),
        ("X-Hermes-Session-Key", "The conversation it belongs to."),
        ("X-Hermes-Session-Id", "The transcript that it continues."),
    )
]
_ANY: api.Schema = {"type": "object"}
_FLAG: api.Schema = {"type": "boolean"}


def _shape(codes: list[str]) -> api.Schema:
    kind, code = api.one_of(*KINDS), api.one_of(*codes)
    said = {"message": api.TEXT, "type": kind, "param": {"type": "null"}, "code": code}
    return api.an_object({"error": api.an_object(said)})


_REFUSED = api.refusals((*REFUSALS, e.Denied, e.UpstreamUnreachable), _shape)
_PASSED_ON = {"default": api.answer("What the model endpoint answered, as it was", {}, _STREAM)}


def _turn(name: str, summary: str, asked: api.Schema, answered: api.Schema) -> dict[str, object]:
    body = {api.JSON: {"schema": asked}}
    responses = {"200": api.answer("The model's answer", answered, _STREAM), **_REFUSED, **_PASSED_ON}
    return {"post": api.described(name, summary, responses, body=body, parameters=_IDENTITY)}


def _models(name: str, summary: str, answered: api.Schema, *parameters: api.Schema) -> dict[str, object]:
    responses = {"200": api.answer(summary, answered), **_REFUSED, **_PASSED_ON}
    return {"get": api.described(name, summary, responses, parameters=parameters)}


_DESCRIBED: api.Paths = {
    PATHS[0]: _turn(
        "chat.completions",
        "A chat with a model that remembers",
        api.an_object({"model": api.TEXT, "messages": api.a_list(_ANY)}, stream=_FLAG),
        api.an_object({"choices": api.a_list(_ANY)}),
    ),
    PATHS[1]: _turn(
        "chat.responses",
        "A response of a model that remembers",
        api.an_object({"model": api.TEXT, "input": {"type": ["string", "array"]}}, stream=_FLAG),
        api.an_object({"output": api.a_list(_ANY)}),
    ),
    PATHS[2]: _models(
        "chat.models", "The models there are", api.an_object({"data": api.a_list(_ANY)}, object=api.TEXT)
    ),
    PATHS[3]: _models(
        "chat.model",
        "One of the models",
        api.an_object({"id": api.TEXT}, object=api.TEXT, created=api.NUMBER, owned_by=api.TEXT),
        {"name": "model", "in": "path", "required": True, "schema": api.TEXT},
    ),
}
"""What OpenAPI says: OpenAI's own objects, of which the door reads a little and passes on all."""
