"""Honcho's v3 routes, those that its newer clients call, and ours for deleting and renaming."""

from __future__ import annotations

from souvenance import errors as e
from souvenance.gate.conversation import operations as o
from souvenance.gate.operation import Operation
from souvenance.surfaces.http.honcho.statuses import refused_as
from souvenance.surfaces.http.route import Route

_W = "/v3/workspaces/{workspace_id}"
_P = f"{_W}/peers/{{peer_id}}"
_S = f"{_W}/sessions/{{session_id}}"
_C = f"{_W}/scopes/{{scope_id}}"
_PAGE = ("page", "size", "reverse")
_REACH = (e.CapScopeMismatch, e.NamespaceDenied)
_OPENED = (e.Tampered, e.WrongKey)

ADMINS = frozenset({"/v3/workspaces/list", "/v3/keys"})
"""The routes whose refusals say that they are for admins."""


def _route(
    method: str,
    path: str,
    operation: Operation,
    summary: str,
    *may_fail: type[e.SouvenanceError],
    status: int = 200,
    query: tuple[str, ...] = (),
    whole: str | None = None,
    form: bool = False,
    existing: int | None = None,
) -> Route:
    return Route(
        method,
        path,
        operation,
        summary,
        (*_REACH, *_OPENED, *may_fail),
        status,
        query,
        whole,
        form,
        existing,
        refused_as,
    )


_LIMITED = (e.LimitExceeded, e.LineTooLong)
_THOUGHT = (e.Unsupported, e.ModelUnavailable, e.ModelUnusable, e.ModelBudgetSpent)

HONCHO_ROUTES = (
    _route(
        "POST",
        "/v3/workspaces",
        o.OPEN_WORKSPACE,
        "Get or make a workspace",
        *_LIMITED,
        status=201,
        existing=200,
    ),
    _route("POST", "/v3/workspaces/list", o.LIST_WORKSPACES, "List workspaces", query=_PAGE),
    _route("PUT", _W, o.CHANGE_WORKSPACE, "Change a workspace", *_LIMITED),
    _route("DELETE", _W, o.DELETE_WORKSPACE, "Delete a workspace", e.NotFound, e.Conflict, status=202),
    _route("POST", f"{_W}/search", o.SEARCH_WORKSPACE, "Search a workspace's messages", e.NotFound),
    _route("POST", f"{_W}/chat", o.ASK_WORKSPACE, "Ask about a workspace", e.NotFound, *_THOUGHT),
    _route("GET", f"{_W}/queue/status", o.QUEUE_STATUS, "How far the work behind the messages is"),
    _route(
        "POST",
        f"{_W}/schedule_dream",
        o.SCHEDULE_DREAM,
        "Think again about a peer",
        e.NotFound,
        e.Disabled,
        status=204,
    ),
    _route("POST", f"{_W}/peers/list", o.LIST_PEERS, "List peers", query=_PAGE),
    _route("POST", f"{_W}/peers", o.OPEN_PEER, "Get or make a peer", *_LIMITED, status=201, existing=200),
    _route("PUT", _P, o.CHANGE_PEER, "Change a peer", *_LIMITED),
    _route(
        "DELETE",
        _P,
        o.DELETE_PEER,
        "Delete a peer, with or without its messages",
        e.NotFound,
        status=202,
        query=("keep_messages",),
    ),
    _route(
        "POST",
        f"{_P}/rename",
        o.RENAME_PEER,
        "Take some of what is a peer's along to another name",
        e.Conflict,
    ),
    _route("POST", f"{_P}/sessions", o.SESSIONS_OF_PEER, "List a peer's sessions", query=_PAGE),
    _route("POST", f"{_P}/chat", o.ASK_PEER, "Ask what a peer knows", e.NotFound, *_THOUGHT),
    _route("POST", f"{_P}/representation", o.REPRESENT, "What a peer knows of another", e.NotFound),
    _route("GET", f"{_P}/card", o.READ_CARD, "Read a card"),
    _route("PUT", f"{_P}/card", o.WRITE_CARD, "Write a card", query=("target", "namespace")),
    _route("GET", f"{_P}/context", o.PEER_CONTEXT, "What a peer knows of another, with the card"),
    _route("POST", f"{_P}/search", o.SEARCH_PEER, "Search a peer's messages"),
    _route("POST", f"{_W}/sessions/list", o.LIST_SESSIONS, "List sessions", query=_PAGE),
    _route(
        "POST",
        f"{_W}/sessions",
        o.OPEN_SESSION,
        "Get or make a session",
        e.NotFound,
        e.Conflict,
        *_LIMITED,
        status=201,
        existing=200,
    ),
    _route("PUT", _S, o.CHANGE_SESSION, "Change a session", *_LIMITED),
    _route("DELETE", _S, o.DELETE_SESSION, "Delete a session and what came of it", e.NotFound, status=202),
    _route(
        "POST",
        f"{_S}/clone",
        o.CLONE_SESSION,
        "Copy a session",
        e.NotFound,
        status=201,
        query=("message_id",),
    ),
    _route(
        "POST",
        f"{_S}/peers",
        o.ADD_MEMBERS,
        "Let peers into a session",
        e.Conflict,
        query=("namespace",),
        whole="peers",
    ),
    _route(
        "PUT",
        f"{_S}/peers",
        o.SET_MEMBERS,
        "Set a session's peers",
        e.Conflict,
        query=("namespace",),
        whole="peers",
    ),
    _route("DELETE", f"{_S}/peers", o.REMOVE_MEMBERS, "Take peers out", e.NotFound, whole="peers"),
    _route("GET", f"{_S}/peers", o.LIST_MEMBERS, "List a session's peers", e.NotFound),
    _route("GET", f"{_S}/peers/{{peer_id}}/config", o.READ_MEMBER, "Read a member's settings", e.NotFound),
    _route(
        "PUT",
        f"{_S}/peers/{{peer_id}}/config",
        o.CONFIGURE_MEMBER,
        "Change a member's settings",
        e.NotFound,
        status=204,
    ),
    _route("GET", f"{_S}/context", o.CONTEXT, "What an agent needs for its next turn", e.NotFound),
    _route("GET", f"{_S}/summaries", o.SUMMARIES, "A session's summaries", e.NotFound),
    _route("POST", f"{_S}/search", o.SEARCH_SESSION, "Search a session's messages", e.NotFound),
    _route(
        "POST",
        f"{_W}/scopes",
        o.OPEN_SCOPE,
        "Get or make a scope",
        e.Conflict,
        *_LIMITED,
        status=201,
        existing=200,
    ),
    _route("POST", f"{_W}/scopes/list", o.LIST_SCOPES, "List scopes", query=_PAGE),
    _route("GET", _C, o.READ_SCOPE, "Read a scope", e.NotFound),
    _route("DELETE", _C, o.DELETE_SCOPE, "Delete a scope", e.NotFound, status=204),
    _route("POST", f"{_C}/sessions", o.ADD_TO_SCOPE, "Add sessions to a scope", e.NotFound, status=204),
    _route(
        "DELETE",
        f"{_C}/sessions/{{session_id}}",
        o.REMOVE_FROM_SCOPE,
        "Take a session out of a scope",
        e.NotFound,
        status=204,
    ),
    _route(
        "POST", f"{_C}/sessions/list", o.SESSIONS_OF_SCOPE, "List a scope's sessions", e.NotFound, query=_PAGE
    ),
    _route("GET", f"{_C}/status", o.SCOPE_STATUS, "Whether a scope is complete", e.NotFound),
    _route("POST", f"{_S}/messages", o.ADD_MESSAGES, "Add messages", e.Conflict, *_LIMITED, status=201),
    _route(
        "POST",
        f"{_S}/messages/upload",
        o.ADD_FILE,
        "Add a file's text as messages",
        e.Conflict,
        e.FileTooLarge,
        e.UnsupportedType,
        *_LIMITED,
        status=201,
        form=True,
    ),
    _route("POST", f"{_S}/messages/list", o.LIST_MESSAGES, "List messages", e.NotFound, query=_PAGE),
    _route("GET", f"{_S}/messages/{{message_id}}", o.READ_MESSAGE, "Read a message", e.NotFound),
    _route(
        "PUT",
        f"{_S}/messages/{{message_id}}",
        o.CHANGE_MESSAGE,
        "Change a message's metadata",
        e.NotFound,
        *_LIMITED,
    ),
    _route(
        "DELETE",
        f"{_S}/messages/{{message_id}}",
        o.DELETE_MESSAGE,
        "Delete a message and what rests on it alone",
        e.NotFound,
        status=204,
        query=("with_empty_session",),
    ),
    _route(
        "POST",
        f"{_W}/conclusions",
        o.ADD_CONCLUSIONS,
        "State conclusions",
        e.NotFound,
        e.Conflict,
        status=201,
    ),
    _route("POST", f"{_W}/conclusions/list", o.LIST_CONCLUSIONS, "List conclusions", query=_PAGE),
    _route("POST", f"{_W}/conclusions/query", o.QUERY_CONCLUSIONS, "Search conclusions"),
    _route("GET", f"{_W}/conclusions/{{conclusion_id}}", o.READ_CONCLUSION, "Read a conclusion", e.NotFound),
    _route(
        "DELETE",
        f"{_W}/conclusions/{{conclusion_id}}",
        o.DELETE_CONCLUSION,
        "Delete a conclusion",
        e.NotFound,
        status=204,
    ),
    _route(
        "POST",
        "/v3/keys",
        o.NEW_KEY,
        "Mint a key",
        query=("workspace_id", "peer_id", "session_id", "expires_at"),
    ),
    _route(
        "POST", f"{_W}/webhooks", o.ADD_WEBHOOK, "Register a webhook", e.Conflict, status=201, existing=200
    ),
    _route("GET", f"{_W}/webhooks", o.LIST_WEBHOOKS, "List webhooks"),
    _route(
        "DELETE",
        f"{_W}/webhooks/{{endpoint_id}}",
        o.DELETE_WEBHOOK,
        "Remove a webhook",
        e.NotFound,
        status=204,
    ),
    _route("GET", f"{_W}/webhooks/test", o.TRY_WEBHOOKS, "Send every webhook a test event"),
)
