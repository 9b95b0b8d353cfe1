"""The table of operations on conversations: the right each needs, who may, and its work."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from souvenance.domain.directory import PEER, SCOPE, SESSION, WORKSPACE
from souvenance.domain.names import ALL
from souvenance.domain.policy import Need, Reach
from souvenance.gate.conversation import chat, directory, knowledge, messages, tokens
from souvenance.gate.conversation import requests as q
from souvenance.gate.conversation import responses as a
from souvenance.gate.conversation.rights import Rights
from souvenance.gate.messages import Answer, Request
from souvenance.gate.operation import Operation

EVERY: list[Operation] = []


def _operation(
    name: str,
    op: str,
    request: type[Request],
    answer: type[Answer],
    work: Callable[..., Any],
    admit: Callable[[Rights, Any], None],
    *,
    writes: bool = False,
    reach: Callable[[Any], Reach] = lambda request: Reach(
        workspace=request.workspace_id, some_compartment=True
    ),
    **more: Any,
) -> Operation:
    made = Operation(
        name, Need(op), request, answer, work, reach, writes=writes, within=True, admit=admit, **more
    )
    EVERY.append(made)
    return made


def _opens_workspace(rights: Rights, request: q.OpenWorkspace) -> None:
    """Any cap of a workspace may look it up; only one of all of it may make it."""
    if not rights.known(WORKSPACE, request.id):
        rights.workspace()
        rights.puts()


def _opens_peer(rights: Rights, request: q.OpenPeer) -> None:
    rights.peer(request.id)
    if request.changes or not rights.known(PEER, request.id):
        rights.puts()


def _opens_session(rights: Rights, request: q.OpenSession) -> None:
    if request.scopes:
        rights.workspace()
    if request.changes or not rights.known(SESSION, request.id):
        rights.writes(request.id, request.peers or ())
        rights.puts()
        rights.lies(request.id, request.namespace)
    else:
        rights.reads(request.id)
        rights.lies(request.id, request.namespace)


def _opens_scope(rights: Rights, request: q.OpenScope) -> None:
    rights.workspace()
    if request.changes or not rights.known(SCOPE, request.id):
        rights.puts()


def _whole(rights: Rights, request: Any) -> None:
    rights.workspace()


def _renames(rights: Rights, request: q.RenamePeer) -> None:
    rights.workspace()
    rights.puts()


def _of_peer(rights: Rights, request: Any) -> None:
    rights.peer(request.peer_id)


def _reads_session(rights: Rights, request: Any) -> None:
    rights.reads(request.session_id)


def _sums_up(rights: Rights, request: q.Summaries) -> None:
    if not request.if_any:
        rights.reads(request.session_id)


def _reads_member(rights: Rights, request: q.OfMember) -> None:
    """A cap of peers may look at their own settings only."""
    rights.reads(request.session_id)
    if not rights.opens(request.session_id):
        rights.peer(request.peer_id)


def _looks(rights: Rights, request: q.Represent | q.PeerContext | q.AskPeer) -> None:
    rights.looks(request.peer_id, request.target or request.peer_id)


def _asks_peer(rights: Rights, request: q.AskPeer) -> None:
    _looks(rights, request)
    if request.session_id is not None:
        rights.reads(request.session_id)


def _hears(rights: Rights, request: q.SearchPeer) -> None:
    rights.looks(request.peer_id, request.peer_id)


def _reads_card(rights: Rights, request: q.ReadCard | q.WriteCard) -> None:
    rights.holds(request.peer_id, request.target or request.peer_id)


def _writes_card(rights: Rights, request: q.WriteCard) -> None:
    _reads_card(rights, request)
    rights.lies(None, request.namespace)


def _states(rights: Rights, request: q.AddConclusions) -> None:
    for one in request.conclusions:
        rights.holds(one.observer_id, one.observed_id)
    sessions = {one.session_id for one in request.conclusions}
    for session in sessions:
        if session is not None:
            rights.reads(session)
    if None in sessions or request.namespace is not None:
        rights.lies(None, request.namespace)


def _writes_session(rights: Rights, request: Any) -> None:
    rights.writes(request.session_id)


def _sets_members(rights: Rights, request: q.SetMembers) -> None:
    rights.makes(request.session_id, request.peers, request.namespace)


def _says(rights: Rights, request: q.AddMessages) -> None:
    authors = {one.peer_id for one in request.messages}
    rights.makes(request.session_id, authors.union(request.members or ()), request.namespace)


def _operator(rights: Rights, request: Any) -> None:
    rights.operator()


def _queue(rights: Rights, request: q.QueueStatus) -> None:
    if request.session_id is None:
        rights.workspace()
    else:
        rights.reads(request.session_id)


OPEN_WORKSPACE = _operation(
    "workspaces.open",
    "list",
    q.OpenWorkspace,
    a.Workspace,
    directory.open_workspace,
    _opens_workspace,
    writes=True,
    reach=lambda request: Reach(workspace=request.id, some_compartment=True),
    peek=directory.find_workspace,
)
LIST_WORKSPACES = _operation(
    "workspaces.list",
    "list",
    q.ListWorkspaces,
    a.WorkspacePage,
    directory.list_workspaces,
    _operator,
    reach=lambda request: Reach(some_compartment=True),
)
CHANGE_WORKSPACE = _operation(
    "workspaces.change",
    "put",
    q.ChangeWorkspace,
    a.Workspace,
    directory.change_workspace,
    _whole,
    writes=True,
)
DELETE_WORKSPACE = _operation(
    "workspaces.delete",
    "forget",
    q.OfWorkspace,
    a.Note,
    directory.delete_workspace,
    _whole,
    writes=True,
)
OPEN_PEER = _operation(
    "peers.open",
    "list",
    q.OpenPeer,
    a.Peer,
    directory.open_peer,
    _opens_peer,
    writes=True,
    peek=directory.find_peer,
)
CHANGE_PEER = _operation(
    "peers.change", "put", q.ChangePeer, a.Peer, directory.change_peer, _of_peer, writes=True
)
LIST_PEERS = _operation("peers.list", "list", q.ListPeers, a.PeerPage, directory.list_peers, _whole)
DELETE_PEER = _operation(
    "peers.delete", "forget", q.DeletePeer, a.Note, directory.delete_peer, _whole, writes=True, rings=True
)
RENAME_PEER = _operation(
    "peers.rename",
    "forget",
    q.RenamePeer,
    a.Renamed,
    directory.rename_peer,
    _renames,
    writes=True,
    rings=True,
    reach=lambda request: Reach(workspace=request.workspace_id, namespaces=(ALL,), whole_compartments=True),
)
SESSIONS_OF_PEER = _operation(
    "peers.sessions", "list", q.SessionsOfPeer, a.SessionPage, directory.sessions_of_peer, _of_peer
)
ASK_PEER = _operation("peers.chat", "get", q.AskPeer, a.ChatAnswer, chat.ask_peer, _asks_peer, waits=True)
ASK_WORKSPACE = _operation(
    "workspaces.chat", "get", q.AskWorkspace, a.ChatAnswer, chat.ask_workspace, _whole, waits=True
)
REPRESENT = _operation(
    "peers.representation", "get", q.Represent, a.Representation, knowledge.represent, _looks
)
PEER_CONTEXT = _operation(
    "peers.context",
    "get",
    q.PeerContext,
    a.PeerContextAnswer,
    knowledge.peer_context,
    _looks,
    question=attrgetter("search_query"),
)
READ_CARD = _operation("peers.card", "get", q.ReadCard, a.PeerCard, knowledge.read_card, _reads_card)
WRITE_CARD = _operation(
    "peers.set_card", "put", q.WriteCard, a.PeerCard, knowledge.write_card, _writes_card, writes=True
)
SEARCH_WORKSPACE = _operation(
    "workspaces.search", "get", q.SearchWorkspace, a.Messages, messages.search_workspace, _whole
)
SEARCH_PEER = _operation(
    "peers.search",
    "get",
    q.SearchPeer,
    a.Messages,
    messages.search_peer,
    _hears,
    question=attrgetter("query"),
)
SEARCH_SESSION = _operation(
    "sessions.search", "get", q.SearchSession, a.Messages, messages.search_session, _reads_session
)
OPEN_SESSION = _operation(
    "sessions.open",
    "list",
    q.OpenSession,
    a.Session,
    directory.open_session,
    _opens_session,
    writes=True,
    peek=directory.find_session,
)
CHANGE_SESSION = _operation(
    "sessions.change",
    "put",
    q.ChangeSession,
    a.Session,
    directory.change_session,
    lambda rights, request: rights.makes(request.session_id),
    writes=True,
)
LIST_SESSIONS = _operation(
    "sessions.list", "list", q.ListSessions, a.SessionPage, directory.list_sessions, _whole
)
DELETE_SESSION = _operation(
    "sessions.delete",
    "forget",
    q.OfSession,
    a.Note,
    directory.delete_session,
    _writes_session,
    writes=True,
    rings=True,
)
CLONE_SESSION = _operation(
    "sessions.clone", "put", q.CloneSession, a.Session, directory.clone_session, _whole, writes=True
)
ADD_MEMBERS = _operation(
    "sessions.add_peers",
    "put",
    q.SetMembers,
    a.Session,
    directory.add_members,
    _sets_members,
    writes=True,
)
SET_MEMBERS = _operation(
    "sessions.set_peers",
    "put",
    q.SetMembers,
    a.Session,
    directory.set_members,
    _sets_members,
    writes=True,
)
REMOVE_MEMBERS = _operation(
    "sessions.remove_peers",
    "put",
    q.RemoveMembers,
    a.Session,
    directory.remove_members,
    lambda rights, request: rights.writes(request.session_id, request.peers),
    writes=True,
)
LIST_MEMBERS = _operation(
    "sessions.peers", "list", q.ListMembers, a.PeerPage, directory.list_members, _reads_session
)
READ_MEMBER = _operation(
    "sessions.peer_config", "list", q.OfMember, a.MemberSettings, directory.read_member, _reads_member
)
CONFIGURE_MEMBER = _operation(
    "sessions.set_peer_config",
    "put",
    q.ConfigureMember,
    a.Done,
    directory.configure_member,
    lambda rights, request: rights.writes(request.session_id, (request.peer_id,)),
    writes=True,
)
CONTEXT = _operation(
    "sessions.context", "get", q.SessionContext, a.SessionContextAnswer, messages.context, _reads_session
)
SUMMARIES = _operation(
    "sessions.summaries", "get", q.Summaries, a.SessionSummaries, messages.summaries, _sums_up
)
ADD_MESSAGES = _operation(
    "messages.add",
    "put",
    q.AddMessages,
    a.Messages,
    messages.add,
    _says,
    writes=True,
    rings=True,
    texts=messages.texts_added,
)
ADD_FILE = _operation(
    "messages.upload",
    "put",
    q.AddFile,
    a.Messages,
    messages.add_file,
    lambda rights, request: rights.makes(request.session_id, (request.peer_id,), request.namespace),
    writes=True,
    rings=True,
    prepare=messages.read_file,
    texts=messages.texts_in_file,
)
LIST_MESSAGES = _operation(
    "messages.list", "get", q.ListMessages, a.MessagePage, messages.list_, _reads_session
)
READ_MESSAGE = _operation("messages.read", "get", q.OfMessage, a.Message, messages.read_one, _reads_session)
CHANGE_MESSAGE = _operation(
    "messages.change", "put", q.ChangeMessage, a.Message, messages.change, _writes_session, writes=True
)
DELETE_MESSAGE = _operation(
    "messages.delete",
    "forget",
    q.DeleteMessage,
    a.Done,
    messages.delete,
    _writes_session,
    writes=True,
    rings=True,
)
ADD_CONCLUSIONS = _operation(
    "conclusions.add",
    "put",
    q.AddConclusions,
    a.Conclusions,
    knowledge.add_conclusions,
    _states,
    writes=True,
)
LIST_CONCLUSIONS = _operation(
    "conclusions.list",
    "get",
    q.ListConclusions,
    a.ConclusionPage,
    knowledge.list_conclusions,
    lambda rights, request: rights.peer(),
)
QUERY_CONCLUSIONS = _operation(
    "conclusions.query",
    "get",
    q.QueryConclusions,
    a.Conclusions,
    knowledge.query_conclusions,
    lambda rights, request: rights.peer(),
)
READ_CONCLUSION = _operation(
    "conclusions.read",
    "get",
    q.OfConclusion,
    a.ConclusionAnswer,
    knowledge.read_conclusion,
    lambda rights, request: rights.peer(),
)
DELETE_CONCLUSION = _operation(
    "conclusions.delete",
    "forget",
    q.OfConclusion,
    a.Done,
    knowledge.delete_conclusion,
    lambda rights, request: rights.peer(),
    writes=True,
    rings=True,
)
OPEN_SCOPE = _operation(
    "scopes.open",
    "list",
    q.OpenScope,
    a.ScopeAnswer,
    directory.open_scope,
    _opens_scope,
    writes=True,
    peek=directory.find_scope,
)
LIST_SCOPES = _operation("scopes.list", "list", q.Paged, a.ScopePage, directory.list_scopes, _whole)
READ_SCOPE = _operation("scopes.read", "list", q.OfScope, a.ScopeAnswer, directory.read_scope, _whole)
DELETE_SCOPE = _operation(
    "scopes.delete", "put", q.OfScope, a.Done, directory.delete_scope, _whole, writes=True
)
ADD_TO_SCOPE = _operation(
    "scopes.add_sessions", "put", q.AddToScope, a.Done, directory.add_to_scope, _whole, writes=True
)
REMOVE_FROM_SCOPE = _operation(
    "scopes.remove_session",
    "put",
    q.RemoveFromScope,
    a.Done,
    directory.remove_from_scope,
    _whole,
    writes=True,
)
SESSIONS_OF_SCOPE = _operation(
    "scopes.sessions", "list", q.SessionsOfScope, a.SessionPage, directory.sessions_of_scope, _whole
)
SCOPE_STATUS = _operation("scopes.status", "list", q.OfScope, a.ScopeStatus, directory.scope_status, _whole)
QUEUE_STATUS = _operation(
    "queue.status",
    "list",
    q.QueueStatus,
    a.Queue,
    knowledge.hurried_queue,
    _queue,
    writes=True,
    rings=True,
    peek=knowledge.settled_queue,
)
SCHEDULE_DREAM = _operation(
    "dreams.schedule",
    "put",
    q.ScheduleDream,
    a.Done,
    knowledge.schedule_dream,
    _whole,
    writes=True,
    rings=True,
)
NEW_KEY = _operation(
    "keys.new",
    "grant",
    q.NewKey,
    a.MintedKey,
    tokens.new_key,
    lambda rights, request: None,
    reach=lambda request: Reach(workspace=request.workspace_id),
)
ADD_WEBHOOK = _operation(
    "webhooks.add", "put", q.AddWebhook, a.Webhook, tokens.add_webhook, _whole, writes=True
)
LIST_WEBHOOKS = _operation("webhooks.list", "list", q.Paged, a.WebhookPage, tokens.list_webhooks, _whole)
DELETE_WEBHOOK = _operation(
    "webhooks.delete", "put", q.OfWebhook, a.Done, tokens.delete_webhook, _whole, writes=True
)
TRY_WEBHOOKS = _operation(
    "webhooks.test", "put", q.OfWorkspace, a.Note, tokens.try_webhooks, _whole, writes=True, rings=True
)
