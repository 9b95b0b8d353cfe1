"""The gate behind a URL may be a server of Honcho's own: its schemas, its statuses, its refusals."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from running import running
from souvenance import errors as e
from souvenance.gate import messages as m
from souvenance.gate import operations as own
from souvenance.gate.conversation.chat import ASK_PEER, ChatAnswer
from souvenance.gate.conversation.conclusions import ADD_CONCLUSIONS
from souvenance.gate.conversation.context import (
    CONTEXT,
    PEER_CONTEXT,
    PeerContextAnswer,
    SessionContext,
    SessionContextAnswer,
    Summary,
)
from souvenance.gate.conversation.messages import (
    ADD_FILE,
    ADD_MESSAGES,
    LIST_MESSAGES,
    SEARCH_PEER,
    SEARCH_SESSION,
    AddFile,
    AddMessages,
    ListMessages,
    Messages,
    NewMessage,
)
from souvenance.gate.conversation.peers import LIST_PEERS, OPEN_PEER, PeerAnswer
from souvenance.gate.conversation.queue import QUEUE_STATUS
from souvenance.gate.conversation.resource import Note, Opened
from souvenance.gate.conversation.sessions import DELETE_SESSION, LIST_SESSIONS, READ_MEMBER, MemberSettings
from souvenance.gate.conversation.workspaces import OPEN_WORKSPACE, TRY_WEBHOOKS
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.client import RemoteGate
from surfaces.afar import NAMES, asked, raised
from surfaces.declared import OPERATIONS

W = "/v3/workspaces/{workspace_id}"
P = f"{W}/peers/{{peer_id}}"
S = f"{W}/sessions/{{session_id}}"
C = f"{W}/scopes/{{scope_id}}"
KEY = "a.honcho.key"
AT = datetime(2026, 8, 20, 10, 11, 12, 345678, tzinfo=UTC)
NEWER = {"added_in": "a later version"}
"""A field that nobody here has heard of."""

WORKSPACE = {"id": "home", "metadata": {}, "configuration": {}, "created_at": AT.isoformat(), **NEWER}
PEER = {
    "id": "ann",
    "workspace_id": "home",
    "created_at": "2026-08-20T10:11:12.345678Z",
    "metadata": None,
    **NEWER,
}
SESSION = {
    "id": "walk",
    "is_active": True,
    "workspace_id": "home",
    "metadata": {"mood": None},
    "configuration": {"summary": {"enabled": True}},
    "created_at": "2026-08-20T10:11:12.345678",
    **NEWER,
}
SCOPE = {"id": "trips", "created_at": "2026-08-20 10:11:12.345678+00:00"}
MESSAGE = {
    "id": NAMES["message_id"],
    "content": "I live in Lisbon.",
    "peer_id": "ann",
    "session_id": "walk",
    "metadata": {},
    "created_at": "2026-08-20T12:11:12.345678+02:00",
    "workspace_id": "home",
    "token_count": 6,
    **NEWER,
}
CONCLUSION = {
    "id": NAMES["conclusion_id"],
    "content": "ann lives in Lisbon",
    "observer_id": "ann",
    "observed_id": "ann",
    "created_at": "2026-08-20T10:11:12.345678Z",
}
SUMMARY = {
    "content": "They met.",
    "message_id": NAMES["message_id"],
    "summary_type": "honcho_chat_summary_short",
    "created_at": "2026-08-20T10:11:12Z",
    "token_count": 3,
}
COUNTS = {
    "total_work_units": 3,
    "completed_work_units": 1,
    "in_progress_work_units": 1,
    "pending_work_units": 1,
}
WEBHOOK = {"id": NAMES["endpoint_id"], "workspace_id": None, "url": "https://receiver.example/other"}
EVIDENCE = {
    "conclusions": [
        {key: CONCLUSION[key] for key in ("id", "content", "created_at")} | {"level": "explicit"}
    ],
    "messages": [{key: MESSAGE[key] for key in ("id", "session_id", "peer_id", "created_at")}],
    "tool_calls": [{"tool_name": "search_memory", "tool_input": {"query": "Lisbon"}}],
    "reasoning_trace_id": "t-1",
}


def page(item):
    return {"items": [item], "total": 1, "page": 1, "size": 50, "pages": 1}


class Offer(NamedTuple):
    """A route of the facts: what it is asked, and what it answers."""

    method: str
    path: str
    status: int
    answer: Any = None
    body: frozenset[str] | None = None
    query: frozenset[str] = frozenset()


def names(told):
    return frozenset(told.split())


PAGED = names("page size reverse")
FOUND = names("query filters limit")
VIEW = names("search_query search_top_k search_max_distance include_most_frequent max_conclusions")
CHAT = names("query stream session_id reasoning_level scope filters response_format include_evidence target")
OFFERS = {
    "workspaces.open": Offer("POST", "/v3/workspaces", 200, WORKSPACE, names("id metadata configuration")),
    "workspaces.list": Offer("POST", "/v3/workspaces/list", 200, page(WORKSPACE), names("filters"), PAGED),
    "workspaces.change": Offer("PUT", W, 200, WORKSPACE, names("metadata configuration")),
    "workspaces.delete": Offer("DELETE", W, 202, {"message": "Workspace deletion accepted"}),
    "workspaces.search": Offer("POST", f"{W}/search", 200, [MESSAGE], FOUND | {"scope"}),
    "workspaces.chat": Offer("POST", f"{W}/chat", 200, {"content": "ann"}, CHAT - {"target"}),
    "queue.status": Offer(
        "GET",
        f"{W}/queue/status",
        200,
        {**COUNTS, "sessions": {"n1": COUNTS}},
        query=names("observer_id sender_id session_id"),
    ),
    "dreams.schedule": Offer(
        "POST", f"{W}/schedule_dream", 204, None, names("observer observed dream_type session_id rebuild")
    ),
    "peers.list": Offer("POST", f"{W}/peers/list", 200, page(PEER), names("filters kind"), PAGED),
    "peers.open": Offer("POST", f"{W}/peers", 201, PEER, names("id metadata configuration")),
    "peers.change": Offer("PUT", P, 200, PEER, names("metadata configuration")),
    "peers.sessions": Offer("POST", f"{P}/sessions", 200, page(SESSION), names("filters"), PAGED),
    "peers.chat": Offer(
        "POST", f"{P}/chat", 200, {"content": "In Lisbon.", "evidence": EVIDENCE, **NEWER}, CHAT
    ),
    "peers.representation": Offer(
        "POST",
        f"{P}/representation",
        200,
        {"representation": ""},
        VIEW | names("session_id filters scope target"),
    ),
    "peers.card": Offer("GET", f"{P}/card", 200, {"peer_card": None}, query=names("target")),
    "peers.set_card": Offer(
        "PUT", f"{P}/card", 200, {"peer_card": ["Name: Ann"]}, names("peer_card"), names("target")
    ),
    "peers.context": Offer(
        "GET", f"{P}/context", 200, {"peer_id": "ann", "target_id": "ann"}, query=VIEW | {"target"}
    ),
    "peers.search": Offer("POST", f"{P}/search", 200, [], FOUND),
    "sessions.list": Offer("POST", f"{W}/sessions/list", 200, page(SESSION), names("filters"), PAGED),
    "sessions.open": Offer(
        "POST", f"{W}/sessions", 201, SESSION, names("id metadata peers configuration scopes")
    ),
    "sessions.change": Offer("PUT", S, 200, SESSION, names("metadata configuration")),
    "sessions.delete": Offer("DELETE", S, 202, {"message": "Session deleted successfully"}),
    "sessions.clone": Offer("POST", f"{S}/clone", 201, SESSION, query=names("message_id")),
    "sessions.add_peers": Offer("POST", f"{S}/peers", 200, SESSION, names("carl")),
    "sessions.set_peers": Offer("PUT", f"{S}/peers", 200, SESSION, names("ann")),
    "sessions.remove_peers": Offer("DELETE", f"{S}/peers", 200, SESSION, names("bot")),
    "sessions.peers": Offer("GET", f"{S}/peers", 200, page(PEER), query=names("page size")),
    "sessions.peer_config": Offer("GET", f"{S}/peers/{{peer_id}}/config", 200, {"observe_me": True}),
    "sessions.set_peer_config": Offer(
        "PUT", f"{S}/peers/{{peer_id}}/config", 204, None, names("observe_me observe_others")
    ),
    "sessions.context": Offer(
        "GET",
        f"{S}/context",
        200,
        {"id": "walk", "messages": [MESSAGE], "summary": SUMMARY},
        query=VIEW | names("tokens summary peer_target peer_perspective scope sessions limit_to_session"),
    ),
    "sessions.summaries": Offer("GET", f"{S}/summaries", 200, {"id": "walk", "short_summary": SUMMARY}),
    "sessions.search": Offer("POST", f"{S}/search", 200, [MESSAGE], FOUND),
    "scopes.open": Offer("POST", f"{W}/scopes", 201, SCOPE, names("id metadata")),
    "scopes.list": Offer("POST", f"{W}/scopes/list", 200, page(SCOPE), frozenset(), PAGED),
    "scopes.read": Offer("GET", C, 200, SCOPE),
    "scopes.add_sessions": Offer("POST", f"{C}/sessions", 204, None, names("session_ids")),
    "scopes.remove_session": Offer("DELETE", f"{C}/sessions/{{session_id}}", 204),
    "scopes.sessions": Offer("POST", f"{C}/sessions/list", 200, page(SESSION), frozenset(), PAGED),
    "scopes.status": Offer(
        "GET",
        f"{C}/status",
        200,
        {"backfill_status": {"walk": {"state": "done", "updated_at": "2026-08-20T10:11:12.345678"}}},
    ),
    "messages.add": Offer("POST", f"{S}/messages", 201, [MESSAGE], names("messages")),
    "messages.upload": Offer("POST", f"{S}/messages/upload", 201, [MESSAGE]),
    "messages.list": Offer("POST", f"{S}/messages/list", 200, page(MESSAGE), names("filters"), PAGED),
    "messages.read": Offer("GET", f"{S}/messages/{{message_id}}", 200, MESSAGE),
    "messages.change": Offer("PUT", f"{S}/messages/{{message_id}}", 200, MESSAGE, names("metadata")),
    "conclusions.add": Offer("POST", f"{W}/conclusions", 201, [CONCLUSION], names("conclusions")),
    "conclusions.list": Offer(
        "POST", f"{W}/conclusions/list", 200, page(CONCLUSION), names("filters"), PAGED
    ),
    "conclusions.query": Offer(
        "POST", f"{W}/conclusions/query", 200, [CONCLUSION], names("query top_k distance filters")
    ),
    "conclusions.delete": Offer("DELETE", f"{W}/conclusions/{{conclusion_id}}", 204),
    "keys.new": Offer(
        "POST",
        "/v3/keys",
        200,
        {"key": "a.new.key"},
        query=names("workspace_id peer_id session_id expires_at"),
    ),
    "webhooks.add": Offer(
        "POST", f"{W}/webhooks", 201, {**WEBHOOK, "created_at": "2026-08-20T10:11:12.345678Z"}, names("url")
    ),
    "webhooks.list": Offer(
        "GET",
        f"{W}/webhooks",
        200,
        page({**WEBHOOK, "created_at": "2026-08-20T10:11:12.345678Z"}),
        query=names("page size"),
    ),
    "webhooks.delete": Offer("DELETE", f"{W}/webhooks/{{endpoint_id}}", 204),
    "webhooks.test": Offer("GET", f"{W}/webhooks/test", 200),
}
MISSING = {
    "conclusions.read": e.Unsupported,
    "peers.delete": e.Unsupported,
    "peers.rename": e.NotFound,
    "scopes.delete": e.Unsupported,
    "sessions.read": e.Unsupported,
    "messages.delete": e.Unsupported,
}
"""What its version has no method for, though the path is there; or not even the path."""


class Honcho:
    """A server that answers as the facts say, keeps what it was asked, and refuses what it does not know."""

    def __init__(self):
        self.asked = []
        self.refusal = None
        routes = [Route(offer.path, self._endpoint(offer), methods=[offer.method]) for offer in ORDERED]
        self.app = Starlette(routes=routes, exception_handlers={404: unrouted, 405: unrouted})

    def _endpoint(self, offer):
        async def answer(request: Request) -> Response:
            body = await request.body()
            self.asked.append((request, body))
            if self.refusal is not None:
                status, content, headers = self.refusal
                return Response(content, status, headers)
            if request.headers.get("authorization") != f"Bearer {KEY}":
                return JSONResponse({"detail": "Invalid JWT"}, 401)
            if fault := unknown(offer, request, body):
                return JSONResponse({"detail": [fault]}, 422)
            if offer.status == 204:
                return Response(status_code=204)
            return JSONResponse(offer.answer, offer.status)

        return answer


ORDERED = sorted(OFFERS.values(), key=lambda offer: "{" in offer.path.rsplit("/", 1)[1])
"""A name before a placeholder, as its routers have them."""


async def unrouted(request: Request, raised: Any) -> Response:
    return JSONResponse({"detail": raised.detail}, raised.status_code, raised.headers)


def unknown(offer, request, body):
    """The first field that the route does not know."""
    sent = msgspec.json.decode(body) if body and offer.path[-7:] != "/upload" else {}
    for where, given, known in (
        ("query", request.query_params, offer.query),
        ("body", sent, offer.body or frozenset()),
    ):
        for name in given:
            if name not in known:
                return {"type": "extra_forbidden", "loc": [where, name], "msg": "Unknown field", "input": 1}
    return None


@pytest.fixture(scope="module")
def served():
    honcho = Honcho()
    with running(honcho.app) as url:
        yield honcho, url


@pytest.fixture
def honcho(served):
    served[0].asked.clear()
    yield served[0]
    served[0].refusal = None


@pytest.fixture(scope="module")
def gate(served):
    gate = RemoteGate(served[1])
    yield gate
    gate.close()


@pytest.fixture
def ask(honcho, gate):
    def asks(operation, request=None, key=KEY, **more):
        request = asked(operation, NAMES) if request is None else request
        return gate.call(operation, Credentials(key), request, **more)

    return asks


def test_every_operation_is_offered_or_known_to_be_missing():
    assert set(OFFERS) | set(MISSING) == {operation.name for operation in OPERATIONS}


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.name in OFFERS], ids=lambda one: one.name
)
def test_every_answer_of_the_facts_is_read_as_the_gates_own(ask, honcho, operation):
    answer = ask(operation)
    told = answer.what if isinstance(answer, Opened) else answer
    assert type(told) is operation.answer
    moments = [value for value in values(answer) if isinstance(value, datetime)]
    assert set(moments) <= {AT}
    assert all(moment.tzinfo is UTC for moment in moments)
    request, _ = honcho.asked[-1]
    assert request.headers["user-agent"].startswith("souvenance/")


def values(answer):
    match answer:
        case msgspec.Struct():
            yield from values([getattr(answer, name) for name in answer.__struct_fields__])
        case dict():
            yield from values(list(answer.values()))
        case list():
            for one in answer:
                yield from values(one)
        case _:
            yield answer


@pytest.mark.parametrize("name", MISSING)
def test_what_it_does_not_offer_is_refused_by_name(ask, name):
    operation = next(one for one in OPERATIONS if one.name == name)
    with pytest.raises(MISSING[name]):
        ask(operation)


def test_what_the_facts_leave_out_has_the_value_that_silence_means(ask):
    peer = ask(OPEN_PEER)
    assert peer == Opened(PeerAnswer("ann", AT, {}, {}, "home", uid=""), created=True)
    assert not ask(OPEN_WORKSPACE).created
    stated = ask(ADD_CONCLUSIONS).conclusions[0]
    assert (stated.level, stated.session_id, stated.source_ids, stated.times_derived) == (
        "explicit",
        None,
        None,
        1,
    )
    assert ask(CONTEXT) == SessionContextAnswer(
        "walk", ask(SEARCH_SESSION).messages, Summary(**SUMMARY), None, None
    )
    assert ask(READ_MEMBER) == MemberSettings(True, None)
    assert ask(PEER_CONTEXT) == PeerContextAnswer("ann", "ann", None, None)
    assert ask(SEARCH_PEER) == Messages([])
    assert ask(LIST_SESSIONS).items[0].metadata == {"mood": None}
    assert ask(TRY_WEBHOOKS) == Note("")
    assert ask(DELETE_SESSION) == Note("Session deleted successfully")
    assert ask(QUEUE_STATUS).sessions["n1"].session_id is None
    assert ask(ASK_PEER).evidence.conclusions[0].source_ids == []


def test_fields_of_ours_are_sent_only_if_they_were_asked_for(ask, honcho):
    said = [NewMessage(peer_id="ann", content="I like tea.")]
    ask(ADD_MESSAGES, AddMessages(workspace_id="home", session_id="walk", messages=said))
    request, body = honcho.asked[-1]
    assert msgspec.json.decode(body) == {"messages": [{"peer_id": "ann", "content": "I like tea."}]}
    assert "idempotency-key" not in request.headers
    keyed = AddMessages(workspace_id="home", session_id="walk", messages=said, idempotency_key="7")
    ask(ADD_MESSAGES, keyed)
    request, again = honcho.asked[-1]
    assert request.headers["idempotency-key"] == "7"
    assert again == body
    ours = AddMessages(workspace_id="home", session_id="walk", messages=said, namespace="travel")
    with pytest.raises(e.InvalidInput, match=r"body\.namespace: Unknown field"):
        ask(ADD_MESSAGES, ours)


def test_a_list_without_conditions_is_asked_for_without_any(ask, honcho):
    ask(LIST_MESSAGES, ListMessages(workspace_id="home", session_id="walk"))
    request, body = honcho.asked[-1]
    assert (request.url.query, body) == ("", b"{}")
    ask(LIST_MESSAGES, ListMessages(workspace_id="home", session_id="walk", page=2, reverse=True))
    request, body = honcho.asked[-1]
    assert (request.url.query, body) == ("page=2&reverse=true", b"{}")


def test_several_sessions_stand_one_by_one_in_the_query(ask, honcho):
    request = SessionContext(
        workspace_id="home", session_id="walk", sessions=["walk", "a&b"], summary=False, peer_target="ann"
    )
    ask(CONTEXT, request)
    assert honcho.asked[-1][0].query_params.multi_items() == [
        ("summary", "false"),
        ("peer_target", "ann"),
        ("sessions", "walk"),
        ("sessions", "a&b"),
    ]


def test_a_file_is_sent_as_the_form_that_its_clients_send(ask, honcho):
    request = AddFile(
        workspace_id="home",
        session_id="walk",
        peer_id="ann",
        file=b"I moved.",
        filename="notes.md",
        metadata={"a": 1},
        created_at=AT.replace(tzinfo=None),
    )
    ask(ADD_FILE, request)
    sent, body = honcho.asked[-1]
    boundary = sent.headers["content-type"].removeprefix("multipart/form-data; boundary=")
    parts = [part.strip(b"\r\n") for part in body.split(f"--{boundary}".encode())[1:-1]]
    assert parts == [
        b'Content-Disposition: form-data; name="peer_id"\r\n\r\nann',
        b'Content-Disposition: form-data; name="metadata"\r\n\r\n{"a":1}',
        b'Content-Disposition: form-data; name="created_at"\r\n\r\n2026-08-20T10:11:12.345678Z',
        b'Content-Disposition: form-data; name="file"; filename="notes.md"\r\n'
        b"Content-Type: text/markdown\r\n\r\nI moved.",
    ]


def test_an_empty_answer_means_that_nothing_is_known(honcho, ask):
    for content in (b'{"content": ""}', b'{"content": null}', b"{}"):
        honcho.refusal = (200, content, {})
        assert ask(ASK_PEER) == ChatAnswer(None)


REFUSALS = {
    400: e.InvalidInput,
    401: e.CapSigInvalid,
    402: e.Denied,
    403: e.CapScopeMismatch,
    404: e.NotFound,
    405: e.Unsupported,
    408: e.Unavailable,
    409: e.Conflict,
    413: e.BodyTooLarge,
    415: e.UnsupportedType,
    418: e.InvalidInput,
    422: e.InvalidInput,
    429: e.RateLimited,
    500: e.Unavailable,
    501: e.Unsupported,
    502: e.Unavailable,
    503: e.Unavailable,
    504: e.Unavailable,
}


@pytest.mark.parametrize("status", REFUSALS)
def test_a_refusal_without_our_codes_is_told_by_its_status(honcho, ask, status):
    honcho.refusal = (status, b'{"detail": "No."}', {})
    with pytest.raises(e.SouvenanceError) as refused:
        ask(LIST_PEERS)
    assert type(refused.value) is REFUSALS[status]
    assert refused.value.detail == "No."
    assert refused.value.retryable == (status in (408, 429, 500, 502, 503, 504))


def test_a_refusal_of_a_file_or_of_no_key_is_told_as_such(honcho, ask):
    honcho.refusal = (413, b'{"detail": "File too large"}', {})
    with pytest.raises(e.FileTooLarge):
        ask(ADD_FILE)
    honcho.refusal = (401, b'{"detail": "No access token provided"}', {})
    with pytest.raises(e.CapMissing):
        ask(LIST_PEERS, key=None)


@pytest.mark.parametrize(
    ("told", "detail"),
    [
        (b'{"message": "Later."}', "Later."),
        (b'{"error": "Later."}', "Later."),
        (b'{"detail": "", "message": "Later."}', "Later."),
        (b'{"detail": [{"loc": ["body", "messages", 0], "msg": "too long"}]}', "body.messages.0: too long"),
        (b'{"detail": [{"msg": "a"}, "b", {"loc": 5}]}', "a; b; "),
        (b'{"detail": "%s"}' % (b"x" * 5000), "x" * 2000),
    ],
)
def test_the_words_of_a_refusal_are_found_where_its_clients_find_them(honcho, ask, told, detail):
    honcho.refusal = (422, told, {})
    with pytest.raises(e.InvalidInput) as refused:
        ask(LIST_PEERS)
    assert refused.value.detail == detail


@pytest.mark.parametrize(
    ("told", "least", "most"),
    [
        ("7", 7, 7),
        ("0", 0, 0),
        ("99999999999", 86_400, 86_400),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 1, 1),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 86_400, 86_400),
        ("soon", 1, 1),
        ("", 1, 1),
    ],
)
@pytest.mark.parametrize("content", [b'{"detail": "Slow down."}', b"<html>"])
def test_how_long_to_wait_is_told_in_either_form(honcho, ask, told, least, most, content):
    honcho.refusal = (429, content, {"retry-after": told})
    with pytest.raises(e.RateLimited) as refused:
        ask(LIST_PEERS)
    assert least <= refused.value.retry_after <= most


@pytest.mark.parametrize("status", [200, 201, 401, 404, 422, 500])
@pytest.mark.parametrize("content", [b"<html>hello</html>", b"[]", b'{"items": 5}', b"\xff", b'"text"', b""])
def test_what_is_not_of_honchos_kind_is_a_server_that_is_not_there(honcho, ask, status, content):
    honcho.refusal = (status, content, {})
    with pytest.raises(e.ServerUnreachable):
        ask(LIST_PEERS)


def test_the_memorys_own_operations_are_not_there(honcho, gate):
    assert type(raised(gate, own.GET, Credentials(KEY), m.Get("Lisbon"))) is e.NotFound


def test_it_keeps_no_cookies(honcho, ask):
    cookie = {"set-cookie": "who=ann; Path=/"}
    honcho.refusal = (200, msgspec.json.encode(page(PEER)), cookie)
    ask(LIST_PEERS)
    ask(LIST_PEERS)
    assert "cookie" not in honcho.asked[-1][0].headers
