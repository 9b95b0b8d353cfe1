"""What may be asked about conversations. Fields that are not known are ignored: newer clients send some."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta

from souvenance.domain.names import Namespace
from souvenance.domain.reasoning_settings import MemberReasoning, PeerHabits, Reasoning
from souvenance.domain.ulid import LineId
from souvenance.gate.messages import Request

MOST_MESSAGE_CHARS = 25_000
MOST_CONCLUSION_CHARS = 65_535

NewName = Annotated[str, Meta(min_length=1, max_length=512, pattern=r"^[a-zA-Z0-9_-]+$(?!\n)")]
"""The name of something that may be made by it."""
NewScopeName = Annotated[
    str, Meta(min_length=1, max_length=506, pattern=r"^(?!scope\.)[a-zA-Z0-9_-]+$(?!\n)")
]
AnyName = Annotated[str, Meta(min_length=1, max_length=512)]
"""A name to look up."""
PeerName = Annotated[str, Meta(min_length=1, max_length=512, pattern=r"^(?!scope\.)")]
"""The name of a peer to look up. Names that begin as those of scopes do are no peers'."""
Text = Annotated[str, Meta(max_length=MOST_MESSAGE_CHARS)]
Query = Annotated[str, Meta(max_length=10_000)]
Question = Annotated[str, Meta(min_length=1, max_length=10_000)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
UpTo100 = Annotated[int, Meta(ge=1, le=100)]
Scopes = AnyName | Annotated[list[AnyName], Meta(min_length=1, max_length=100)]
Sessions = Annotated[list[AnyName], Meta(max_length=1000)]
Level = Literal["minimal", "low", "medium", "high", "max"]
Bag = dict[str, Any]


class Ask(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    """Base of what is asked about one workspace."""

    workspace_id: AnyName


class Paged(Ask, frozen=True, kw_only=True):
    page: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1
    size: UpTo100 = 50
    reverse: bool = False

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.size


class OpenWorkspace(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    id: NewName
    metadata: Bag | None = None
    configuration: Bag | None = None


class ListWorkspaces(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    filters: Bag | None = None
    page: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1
    size: UpTo100 = 50
    reverse: bool = False

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.size


class ChangeWorkspace(Ask, frozen=True, kw_only=True):
    workspace_id: NewName
    metadata: Bag | None = None
    configuration: Bag | None = None


class OfWorkspace(Ask, frozen=True, kw_only=True):
    pass


class OpenPeer(Ask, frozen=True, kw_only=True):
    workspace_id: NewName
    id: NewName
    metadata: Bag | None = None
    configuration: PeerHabits | None = None

    @property
    def changes(self) -> bool:
        """Whether it asks for more than to find or make the peer."""
        return self.metadata is not None or self.configuration is not None


class ChangePeer(Ask, frozen=True, kw_only=True):
    workspace_id: NewName
    peer_id: NewName
    metadata: Bag | None = None
    configuration: PeerHabits | None = None


class ListPeers(Paged, frozen=True, kw_only=True):
    filters: Bag | None = None
    kind: Literal["scope", "all"] | None = None


class OfPeer(Ask, frozen=True, kw_only=True):
    peer_id: PeerName


class DeletePeer(OfPeer, frozen=True, kw_only=True):
    keep_messages: bool = False


class RenamePeer(OfPeer, frozen=True, kw_only=True):
    name: NewName
    after: LineId | None = None
    """Where the part before ended, as it was answered."""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 250
    """How many lines are taken along at once, but for the last part."""


class SessionsOfPeer(Paged, frozen=True, kw_only=True):
    peer_id: PeerName
    filters: Bag | None = None


class AskPeer(OfPeer, frozen=True, kw_only=True):
    query: Question
    session_id: AnyName | None = None
    filters: Bag | None = None
    scope: Scopes | None = None
    target: PeerName | None = None
    stream: bool = False
    reasoning_level: Level = "low"
    response_format: Bag | None = None
    include_evidence: bool = False


class AskWorkspace(Ask, frozen=True, kw_only=True):
    query: Question
    session_id: AnyName | None = None
    filters: Bag | None = None
    scope: Scopes | None = None
    stream: bool = False
    reasoning_level: Level = "low"
    response_format: Bag | None = None
    include_evidence: bool = False


class Represent(OfPeer, frozen=True, kw_only=True):
    session_id: AnyName | None = None
    filters: Bag | None = None
    scope: Scopes | None = None
    target: PeerName | None = None
    search_query: Query | None = None
    search_top_k: UpTo100 | None = None
    search_max_distance: Share | None = None
    include_most_frequent: bool | None = None
    max_conclusions: UpTo100 | None = 25


class ReadCard(OfPeer, frozen=True, kw_only=True):
    target: PeerName | None = None


class WriteCard(Ask, frozen=True, kw_only=True):
    workspace_id: NewName
    peer_id: NewName
    target: NewName | None = None
    namespace: Namespace | None = None
    peer_card: Annotated[list[Annotated[str, Meta(max_length=10_000)]], Meta(max_length=200)]


class PeerContext(OfPeer, frozen=True, kw_only=True):
    target: PeerName | None = None
    search_query: Query | None = None
    search_top_k: UpTo100 | None = None
    search_max_distance: Share | None = None
    include_most_frequent: bool = True
    max_conclusions: UpTo100 | None = None
    floor: bool = False
    """Whether nobody asked to see it: then only messages that answer the query well are quoted for it."""


class Search(Ask, frozen=True, kw_only=True):
    query: Query
    filters: Bag | None = None
    limit: UpTo100 = 10
    at: datetime | None = None
    """When the question is asked, if not now: "last week" is the week before that."""
    floor: bool = False
    """Only what is relevant enough to be shown unasked, which may be nothing."""
    explain: bool = False
    """Whether each message says why it came."""


class SearchWorkspace(Search, frozen=True, kw_only=True):
    scope: AnyName | None = None


class SearchPeer(Search, frozen=True, kw_only=True):
    peer_id: PeerName


class SearchSession(Search, frozen=True, kw_only=True):
    session_id: AnyName


Members = Annotated[dict[NewName, MemberReasoning], Meta(max_length=1000)]


class OpenSession(Ask, frozen=True, kw_only=True):
    workspace_id: NewName
    id: NewName
    metadata: Bag | None = None
    configuration: Bag | None = None
    peers: Members | None = None
    scopes: Annotated[list[NewScopeName], Meta(max_length=100)] | None = None
    namespace: Namespace | None = None
    """Where the session is made; without it, in the common namespace."""

    @property
    def changes(self) -> bool:
        """Whether it asks for more than to find or make the session."""
        return self.metadata is not None or self.configuration is not None or bool(self.peers or self.scopes)


class ChangeSession(Ask, frozen=True, kw_only=True):
    workspace_id: NewName
    session_id: NewName
    metadata: Bag | None = None
    configuration: Bag | None = None


class ListSessions(Paged, frozen=True, kw_only=True):
    filters: Bag | None = None


class OfSession(Ask, frozen=True, kw_only=True):
    session_id: AnyName


class Summaries(OfSession, frozen=True, kw_only=True):
    if_any: bool = False
    """Whether a session that is not there, or not for this cap, has none, rather than being refused."""
    between: Annotated[list[AnyName], Meta(max_length=100)] | None = None
    """Those whose conversation it has to be: where anybody else took part, there is no summary."""


class CloneSession(OfSession, frozen=True, kw_only=True):
    message_id: AnyName | None = None


class SetMembers(Ask, frozen=True, kw_only=True):
    workspace_id: NewName
    session_id: NewName
    peers: Members
    namespace: Namespace | None = None


class RemoveMembers(OfSession, frozen=True, kw_only=True):
    peers: Annotated[list[PeerName], Meta(max_length=1000)]


class ListMembers(Paged, frozen=True, kw_only=True):
    session_id: AnyName


class OfMember(OfSession, frozen=True, kw_only=True):
    peer_id: PeerName


class ConfigureMember(OfMember, frozen=True, kw_only=True):
    observe_me: bool | None = None
    observe_others: bool | None = None


class SessionContext(OfSession, frozen=True, kw_only=True):
    tokens: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    search_query: Query | None = None
    summary: bool = True
    peer_target: PeerName | None = None
    peer_perspective: PeerName | None = None
    scope: AnyName | None = None
    sessions: Sessions | None = None
    limit_to_session: bool = False
    search_top_k: UpTo100 | None = None
    search_max_distance: Share | None = None
    include_most_frequent: bool = False
    max_conclusions: UpTo100 | None = None


class MessageHabits(Request, frozen=True, forbid_unknown_fields=False):
    reasoning: Reasoning | None = None


class NewMessage(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    content: Text
    peer_id: NewName
    metadata: Bag | None = None
    configuration: MessageHabits | None = None
    created_at: datetime | None = None


class AddMessages(Ask, frozen=True, kw_only=True):
    workspace_id: NewName
    session_id: NewName
    messages: Annotated[list[NewMessage], Meta(min_length=1, max_length=100)]
    idempotency_key: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    namespace: Namespace | None = None
    members: Members | None = None
    """Who is let in beside those who speak; the habits hold for whoever was never in the session."""


class AddFile(Ask, frozen=True, kw_only=True):
    """A file whose text becomes messages."""

    workspace_id: NewName
    session_id: NewName
    peer_id: NewName
    file: bytes
    parts: tuple[str, ...] = ()
    """The file's text, once it is read, in pieces of a message's size."""
    filename: str | None = None
    media_type: str = ""
    metadata: Bag | None = None
    configuration: MessageHabits | None = None
    created_at: datetime | None = None
    namespace: Namespace | None = None


class ListMessages(Paged, frozen=True, kw_only=True):
    session_id: AnyName
    filters: Bag | None = None


class OfMessage(OfSession, frozen=True, kw_only=True):
    message_id: AnyName


class DeleteMessage(OfMessage, frozen=True, kw_only=True):
    with_empty_session: bool = False
    """Delete the session too, if it then holds nothing."""


class ChangeMessage(OfMessage, frozen=True, kw_only=True):
    metadata: Bag | None = None


class NewConclusion(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    content: Annotated[str, Meta(min_length=1, max_length=MOST_CONCLUSION_CHARS)]
    observer_id: PeerName
    observed_id: PeerName
    session_id: AnyName | None = None
    source_ids: Annotated[list[AnyName], Meta(max_length=20)] | None = None
    """What it follows from: messages and other conclusions of its namespace, which the cap may read."""
    created_at: datetime | None = None
    """When it was known, if not now."""
    metadata: Bag | None = None
    quoted: bool = False
    """Whether it is the word of somebody else than the observed, as what another memory held."""
    key: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    """What it is known again by: with the same key, it is not added again."""


class AddConclusions(Ask, frozen=True, kw_only=True):
    conclusions: Annotated[list[NewConclusion], Meta(min_length=1, max_length=100)]
    namespace: Namespace | None = None
    """Where those lie that name no session; without it, in the common namespace."""


class ListConclusions(Paged, frozen=True, kw_only=True):
    filters: Bag | None = None


class QueryConclusions(Ask, frozen=True, kw_only=True):
    query: Query
    top_k: UpTo100 = 10
    distance: Share | None = None
    filters: Bag | None = None


class OfConclusion(Ask, frozen=True, kw_only=True):
    conclusion_id: AnyName


class OpenScope(Ask, frozen=True, kw_only=True):
    workspace_id: NewName
    id: NewScopeName
    metadata: Bag | None = None

    @property
    def changes(self) -> bool:
        """Whether it asks for more than to find or make the scope."""
        return self.metadata is not None


class OfScope(Ask, frozen=True, kw_only=True):
    scope_id: AnyName


class AddToScope(OfScope, frozen=True, kw_only=True):
    session_ids: Annotated[list[AnyName], Meta(min_length=1, max_length=100)]


class RemoveFromScope(OfScope, frozen=True, kw_only=True):
    session_id: AnyName


class SessionsOfScope(Paged, frozen=True, kw_only=True):
    scope_id: AnyName


class QueueStatus(Ask, frozen=True, kw_only=True):
    observer_id: PeerName | None = None
    sender_id: PeerName | None = None
    session_id: AnyName | None = None


class ScheduleDream(Ask, frozen=True, kw_only=True):
    observer: PeerName
    observed: PeerName | None = None
    dream_type: Literal["omni", "card_refresh"]
    session_id: AnyName | None = None
    rebuild: bool = False


class NewKey(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    workspace_id: NewName | None = None
    peer_id: NewName | None = None
    session_id: NewName | None = None
    expires_at: datetime | None = None


class AddWebhook(Ask, frozen=True, kw_only=True):
    workspace_id: NewName
    url: Annotated[str, Meta(min_length=1, max_length=2048)]


class OfWebhook(Ask, frozen=True, kw_only=True):
    endpoint_id: AnyName
