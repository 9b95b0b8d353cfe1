"""Honcho's v3 routes, those that its newer clients call, and ours for deleting, renaming and looking."""

from __future__ import annotations

from typing import Any

from souvenance import errors as e
from souvenance.gate.conversation import (
    chat,
    conclusions,
    context,
    messages,
    peers,
    queue,
    sessions,
    workspaces,
)
from souvenance.gate.conversation.resource import Done, Note, PagedRequest
from souvenance.gate.operation import Operation
from souvenance.surfaces.http.routes import Route, status_of

_WORKSPACE = "/v3/workspaces/{workspace_id}"

HONCHO_STATUS: dict[type[e.SouvenanceError], int] = {
    e.HostRefused: 403,
    e.Denied: 401,
    e.InvalidInput: 422,
    e.LineTooLong: 422,
    e.BodyTooLarge: 413,
    e.FileTooLarge: 413,
    e.RateLimited: 429,
    e.ServerBusy: 503,
    e.HeadersTooLarge: 431,
    e.BodyTimeout: 408,
    e.LimitExceeded: 400,
    e.Unsupported: 422,
}
"""Where it says nothing, the statuses of the other doors hold."""


def refused_as(kind: type[e.SouvenanceError]) -> int:
    return next((HONCHO_STATUS[base] for base in kind.__mro__ if base in HONCHO_STATUS), 0) or status_of(kind)


ADMINS = frozenset({"/v3/workspaces/list", "/v3/keys"})
"""The routes whose refusals say that they are for admins."""


def _route(method: str, path: str, operation: Operation, summary: str, **more: Any) -> Route:
    """A route of Honcho's API; `more` are other fields of `Route`. A path without a leading slash is one in a
    workspace."""
    if not path.startswith("/"):
        path = f"{_WORKSPACE}/{path}".rstrip("/")
    if operation.answer is Done:
        more["status"] = 204
    if operation.answer is Note and method == "DELETE":
        more["status"] = 202
    if issubclass(operation.request, PagedRequest):
        more["query"] = PagedRequest.__struct_fields__
    return Route(method, path, operation, summary, refused_as=refused_as, **more)


_OPENS: Any = {"status": 201, "existing": 200}

HONCHO_ROUTES = (
    _route("POST", "/v3/workspaces", workspaces.OPEN_WORKSPACE, "Get or make a workspace", **_OPENS),
    _route("POST", "/v3/workspaces/list", workspaces.LIST_WORKSPACES, "List workspaces"),
    _route("PUT", "", workspaces.CHANGE_WORKSPACE, "Change a workspace"),
    _route("DELETE", "", workspaces.DELETE_WORKSPACE, "Delete a workspace"),
    _route("POST", "search", messages.SEARCH_WORKSPACE, "Search a workspace's messages"),
    _route("POST", "chat", chat.ASK_WORKSPACE, "Ask about a workspace"),
    _route("GET", "queue/status", queue.QUEUE_STATUS, "How far the work behind the messages is"),
    _route("POST", "schedule_dream", queue.SCHEDULE_DREAM, "Think again about a peer"),
    _route("POST", "peers/list", peers.LIST_PEERS, "List peers"),
    _route("POST", "peers", peers.OPEN_PEER, "Get or make a peer", **_OPENS),
    _route("PUT", "peers/{peer_id}", peers.CHANGE_PEER, "Change a peer"),
    _route("DELETE", "peers/{peer_id}", peers.DELETE_PEER, "Delete a peer, with or without its messages"),
    _route(
        "POST",
        "peers/{peer_id}/rename",
        peers.RENAME_PEER,
        "Take some of what is a peer's along to another name",
    ),
    _route("POST", "peers/{peer_id}/sessions", sessions.SESSIONS_OF_PEER, "List a peer's sessions"),
    _route("POST", "peers/{peer_id}/chat", chat.ASK_PEER, "Ask what a peer knows"),
    _route("POST", "peers/{peer_id}/representation", context.REPRESENT, "What a peer knows of another"),
    _route("GET", "peers/{peer_id}/card", context.READ_CARD, "Read a card"),
    _route("PUT", "peers/{peer_id}/card", context.WRITE_CARD, "Write a card", query=("target", "namespace")),
    _route(
        "GET", "peers/{peer_id}/context", context.PEER_CONTEXT, "What a peer knows of another, with the card"
    ),
    _route("POST", "peers/{peer_id}/search", messages.SEARCH_PEER, "Search a peer's messages"),
    _route("POST", "sessions/list", sessions.LIST_SESSIONS, "List sessions"),
    _route("POST", "sessions", sessions.OPEN_SESSION, "Get or make a session", **_OPENS),
    _route("GET", "sessions/{session_id}", sessions.READ_SESSION, "Read a session"),
    _route("PUT", "sessions/{session_id}", sessions.CHANGE_SESSION, "Change a session"),
    _route(
        "DELETE", "sessions/{session_id}", sessions.DELETE_SESSION, "Delete a session and what came of it"
    ),
    _route(
        "POST",
        "sessions/{session_id}/clone",
        sessions.CLONE_SESSION,
        "Copy a session",
        status=201,
        query=("message_id",),
    ),
    _route(
        "POST",
        "sessions/{session_id}/peers",
        sessions.ADD_MEMBERS,
        "Let peers into a session",
        query=("namespace",),
        whole="peers",
    ),
    _route(
        "PUT",
        "sessions/{session_id}/peers",
        sessions.SET_MEMBERS,
        "Set a session's peers",
        query=("namespace",),
        whole="peers",
    ),
    _route("DELETE", "sessions/{session_id}/peers", sessions.REMOVE_MEMBERS, "Take peers out", whole="peers"),
    _route("GET", "sessions/{session_id}/peers", sessions.LIST_MEMBERS, "List a session's peers"),
    _route(
        "GET",
        "sessions/{session_id}/peers/{peer_id}/config",
        sessions.READ_MEMBER,
        "Read a member's settings",
    ),
    _route(
        "PUT",
        "sessions/{session_id}/peers/{peer_id}/config",
        sessions.CONFIGURE_MEMBER,
        "Change a member's settings",
    ),
    _route("GET", "sessions/{session_id}/context", context.CONTEXT, "What an agent needs for its next turn"),
    _route("GET", "sessions/{session_id}/summaries", context.SUMMARIES, "A session's summaries"),
    _route("POST", "sessions/{session_id}/search", messages.SEARCH_SESSION, "Search a session's messages"),
    _route("POST", "scopes", sessions.OPEN_SCOPE, "Get or make a scope", **_OPENS),
    _route("POST", "scopes/list", sessions.LIST_SCOPES, "List scopes"),
    _route("GET", "scopes/{scope_id}", sessions.READ_SCOPE, "Read a scope"),
    _route("DELETE", "scopes/{scope_id}", sessions.DELETE_SCOPE, "Delete a scope"),
    _route("POST", "scopes/{scope_id}/sessions", sessions.ADD_TO_SCOPE, "Add sessions to a scope"),
    _route(
        "DELETE",
        "scopes/{scope_id}/sessions/{session_id}",
        sessions.REMOVE_FROM_SCOPE,
        "Take a session out of a scope",
    ),
    _route("POST", "scopes/{scope_id}/sessions/list", sessions.SESSIONS_OF_SCOPE, "List a scope's sessions"),
    _route("GET", "scopes/{scope_id}/status", sessions.SCOPE_STATUS, "Whether a scope is complete"),
    _route("POST", "sessions/{session_id}/messages", messages.ADD_MESSAGES, "Add messages", status=201),
    _route(
        "POST",
        "sessions/{session_id}/messages/upload",
        messages.ADD_FILE,
        "Add a file's text as messages",
        status=201,
        form=True,
    ),
    _route("POST", "sessions/{session_id}/messages/list", messages.LIST_MESSAGES, "List messages"),
    _route("GET", "sessions/{session_id}/messages/{message_id}", messages.READ_MESSAGE, "Read a message"),
    _route(
        "PUT",
        "sessions/{session_id}/messages/{message_id}",
        messages.CHANGE_MESSAGE,
        "Change a message's metadata",
    ),
    _route(
        "DELETE",
        "sessions/{session_id}/messages/{message_id}",
        messages.DELETE_MESSAGE,
        "Delete a message and what rests on it alone",
    ),
    _route("POST", "conclusions", conclusions.ADD_CONCLUSIONS, "State conclusions", status=201),
    _route("POST", "conclusions/list", conclusions.LIST_CONCLUSIONS, "List conclusions"),
    _route("POST", "conclusions/query", conclusions.QUERY_CONCLUSIONS, "Search conclusions"),
    _route("GET", "conclusions/{conclusion_id}", conclusions.READ_CONCLUSION, "Read a conclusion"),
    _route("DELETE", "conclusions/{conclusion_id}", conclusions.DELETE_CONCLUSION, "Delete a conclusion"),
    _route(
        "POST",
        "/v3/keys",
        workspaces.NEW_KEY,
        "Mint a key",
        query=("workspace_id", "peer_id", "session_id", "expires_at"),
    ),
    _route("POST", "webhooks", workspaces.ADD_WEBHOOK, "Register a webhook", **_OPENS),
    _route("GET", "webhooks", workspaces.LIST_WEBHOOKS, "List webhooks"),
    _route("DELETE", "webhooks/{endpoint_id}", workspaces.DELETE_WEBHOOK, "Remove a webhook"),
    _route("GET", "webhooks/test", workspaces.TRY_WEBHOOKS, "Send every webhook a test event"),
)
