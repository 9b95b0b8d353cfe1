"""Honcho's v3 routes, those that its newer clients call, and ours for deleting, renaming and looking."""

from __future__ import annotations

from functools import partial
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
from souvenance.surfaces.http.routes import STATUS, Route, status_of

HONCHO_STATUS = STATUS | {
    e.HostRefused: 403,
    e.Denied: 401,
    e.InvalidInput: 422,
    e.LineTooLong: 422,
    e.BodyTooLarge: 413,
    e.FileTooLarge: 413,
    e.LimitExceeded: 400,
    e.Unsupported: 422,
}


def refused_as(kind: type[e.SouvenanceError]) -> int:
    return status_of(kind, HONCHO_STATUS)


ADMINS = frozenset({"/v3/workspaces/list", "/v3/keys"})
"""The routes whose refusals say that they are for admins."""


def _route(base: str, method: str, path: str, operation: Operation, summary: str, **more: Any) -> Route:
    """A route of Honcho's API, below `base`; `more` are other fields of `Route`."""
    if operation.answer is Done:
        more["status"] = 204
    if operation.answer is Note and method == "DELETE":
        more["status"] = 202
    if issubclass(operation.request, PagedRequest):
        more["query"] = PagedRequest.__struct_fields__
    return Route(method, f"{base}/{path}".rstrip("/"), operation, summary, refused_as=refused_as, **more)


_WORKSPACE = "/v3/workspaces/{workspace_id}"
_v3 = partial(_route, "/v3")
_workspace = partial(_route, _WORKSPACE)
_peer = partial(_route, f"{_WORKSPACE}/peers/{{peer_id}}")
_session = partial(_route, f"{_WORKSPACE}/sessions/{{session_id}}")
_messages = partial(_route, f"{_WORKSPACE}/sessions/{{session_id}}/messages")
_scope = partial(_route, f"{_WORKSPACE}/scopes/{{scope_id}}")
_conclusions = partial(_route, f"{_WORKSPACE}/conclusions")
_OPENS: Any = {"status": 201, "existing": 200}
_MEMBERS: Any = {"query": ("namespace",), "whole": "peers"}

HONCHO_ROUTES = (
    _v3("POST", "workspaces", workspaces.OPEN_WORKSPACE, "Get or make a workspace", **_OPENS),
    _v3("POST", "workspaces/list", workspaces.LIST_WORKSPACES, "List workspaces"),
    _workspace("PUT", "", workspaces.CHANGE_WORKSPACE, "Change a workspace"),
    _workspace("DELETE", "", workspaces.DELETE_WORKSPACE, "Delete a workspace"),
    _workspace("POST", "search", messages.SEARCH_WORKSPACE, "Search a workspace's messages"),
    _workspace("POST", "chat", chat.ASK_WORKSPACE, "Ask about a workspace"),
    _workspace("GET", "queue/status", queue.QUEUE_STATUS, "How far the work behind the messages is"),
    _workspace("POST", "schedule_dream", queue.SCHEDULE_DREAM, "Think again about a peer"),
    _workspace("POST", "peers/list", peers.LIST_PEERS, "List peers"),
    _workspace("POST", "peers", peers.OPEN_PEER, "Get or make a peer", **_OPENS),
    _peer("PUT", "", peers.CHANGE_PEER, "Change a peer"),
    _peer("DELETE", "", peers.DELETE_PEER, "Delete a peer, with or without its messages"),
    _peer("POST", "rename", peers.RENAME_PEER, "Take some of what is a peer's along to another name"),
    _peer("POST", "sessions", sessions.SESSIONS_OF_PEER, "List a peer's sessions"),
    _peer("POST", "chat", chat.ASK_PEER, "Ask what a peer knows"),
    _peer("POST", "representation", context.REPRESENT, "What a peer knows of another"),
    _peer("GET", "card", context.READ_CARD, "Read a card"),
    _peer("PUT", "card", context.WRITE_CARD, "Write a card", query=("target", "namespace")),
    _peer("GET", "context", context.PEER_CONTEXT, "What a peer knows of another, with the card"),
    _peer("POST", "search", messages.SEARCH_PEER, "Search a peer's messages"),
    _workspace("POST", "sessions/list", sessions.LIST_SESSIONS, "List sessions"),
    _workspace("POST", "sessions", sessions.OPEN_SESSION, "Get or make a session", **_OPENS),
    _session("GET", "", sessions.READ_SESSION, "Read a session"),
    _session("PUT", "", sessions.CHANGE_SESSION, "Change a session"),
    _session("DELETE", "", sessions.DELETE_SESSION, "Delete a session and what came of it"),
    _session("POST", "clone", sessions.CLONE_SESSION, "Copy a session", status=201, query=("message_id",)),
    _session("POST", "peers", sessions.ADD_MEMBERS, "Let peers into a session", **_MEMBERS),
    _session("PUT", "peers", sessions.SET_MEMBERS, "Set a session's peers", **_MEMBERS),
    _session("DELETE", "peers", sessions.REMOVE_MEMBERS, "Take peers out", whole="peers"),
    _session("GET", "peers", sessions.LIST_MEMBERS, "List a session's peers"),
    _session("GET", "peers/{peer_id}/config", sessions.READ_MEMBER, "Read a member's settings"),
    _session("PUT", "peers/{peer_id}/config", sessions.CONFIGURE_MEMBER, "Change a member's settings"),
    _session("GET", "context", context.CONTEXT, "What an agent needs for its next turn"),
    _session("GET", "summaries", context.SUMMARIES, "A session's summaries"),
    _session("POST", "search", messages.SEARCH_SESSION, "Search a session's messages"),
    _workspace("POST", "scopes", sessions.OPEN_SCOPE, "Get or make a scope", **_OPENS),
    _workspace("POST", "scopes/list", sessions.LIST_SCOPES, "List scopes"),
    _scope("GET", "", sessions.READ_SCOPE, "Read a scope"),
    _scope("DELETE", "", sessions.DELETE_SCOPE, "Delete a scope"),
    _scope("POST", "sessions", sessions.ADD_TO_SCOPE, "Add sessions to a scope"),
    _scope("DELETE", "sessions/{session_id}", sessions.REMOVE_FROM_SCOPE, "Take a session out of a scope"),
    _scope("POST", "sessions/list", sessions.SESSIONS_OF_SCOPE, "List a scope's sessions"),
    _scope("GET", "status", sessions.SCOPE_STATUS, "Whether a scope is complete"),
    _messages("POST", "", messages.ADD_MESSAGES, "Add messages", status=201),
    _messages("POST", "upload", messages.ADD_FILE, "Add a file's text as messages", status=201, form=True),
    _messages("POST", "list", messages.LIST_MESSAGES, "List messages"),
    _messages("GET", "{message_id}", messages.READ_MESSAGE, "Read a message"),
    _messages("PUT", "{message_id}", messages.CHANGE_MESSAGE, "Change a message's metadata"),
    _messages(
        "DELETE", "{message_id}", messages.DELETE_MESSAGE, "Delete a message and what rests on it alone"
    ),
    _conclusions("POST", "", conclusions.ADD_CONCLUSIONS, "State conclusions", status=201),
    _conclusions("POST", "list", conclusions.LIST_CONCLUSIONS, "List conclusions"),
    _conclusions("POST", "query", conclusions.QUERY_CONCLUSIONS, "Search conclusions"),
    _conclusions("GET", "{conclusion_id}", conclusions.READ_CONCLUSION, "Read a conclusion"),
    _conclusions("DELETE", "{conclusion_id}", conclusions.DELETE_CONCLUSION, "Delete a conclusion"),
    _v3(
        "POST",
        "keys",
        workspaces.NEW_KEY,
        "Mint a key",
        query=("workspace_id", "peer_id", "session_id", "expires_at"),
    ),
    _workspace("POST", "webhooks", workspaces.ADD_WEBHOOK, "Register a webhook", **_OPENS),
    _workspace("GET", "webhooks", workspaces.LIST_WEBHOOKS, "List webhooks"),
    _workspace("DELETE", "webhooks/{endpoint_id}", workspaces.DELETE_WEBHOOK, "Remove a webhook"),
    _workspace("GET", "webhooks/test", workspaces.TRY_WEBHOOKS, "Send every webhook a test event"),
)
