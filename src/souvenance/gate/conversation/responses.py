"""What is answered about conversations: exactly the fields that clients of these resources know."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from souvenance.gate.messages import Answer, Explanation


class Workspace(Answer, frozen=True):
    id: str
    uid: str
    metadata: dict[str, Any]
    configuration: dict[str, Any]
    created_at: datetime


class Peer(Answer, frozen=True):
    id: str
    uid: str
    workspace_id: str
    created_at: datetime
    metadata: dict[str, Any]
    configuration: dict[str, Any]


class Session(Answer, frozen=True):
    id: str
    uid: str
    is_active: bool
    workspace_id: str
    metadata: dict[str, Any]
    configuration: dict[str, Any]
    created_at: datetime


class ScopeAnswer(Answer, frozen=True):
    id: str
    metadata: dict[str, Any]
    created_at: datetime


class Message(Answer, frozen=True, omit_defaults=True):
    id: str
    content: str
    peer_id: str
    session_id: str
    metadata: dict[str, Any]
    created_at: datetime
    workspace_id: str
    token_count: int
    explanation: Explanation | None = None
    """Why a search found it, if that was asked for."""
    kind: str | None = None
    """'document' if it is part of a file: its peer carried it, and did not say it."""


class ConclusionAnswer(Answer, frozen=True):
    id: str
    content: str
    observer_id: str
    observed_id: str
    session_id: str | None
    level: str
    source_ids: list[str] | None
    times_derived: int
    created_at: datetime


class Opened(Answer, frozen=True):
    """Something found or made by name."""

    what: Workspace | Peer | Session | ScopeAnswer | Webhook
    created: bool


class ResponsePage(Answer, frozen=True):
    items: list[Any]
    total: int
    page: int
    size: int
    pages: int


class WorkspacePage(ResponsePage, frozen=True):
    items: list[Workspace]


class PeerPage(ResponsePage, frozen=True):
    items: list[Peer]


class SessionPage(ResponsePage, frozen=True):
    items: list[Session]


class ScopePage(ResponsePage, frozen=True):
    items: list[ScopeAnswer]


class MessagePage(ResponsePage, frozen=True):
    items: list[Message]


class ConclusionPage(ResponsePage, frozen=True):
    items: list[ConclusionAnswer]


class WebhookPage(ResponsePage, frozen=True):
    items: list[Webhook]


class Messages(Answer, frozen=True):
    messages: list[Message]
    repeated: bool = False
    """Whether these are what an earlier, identical request stored."""


class Conclusions(Answer, frozen=True):
    conclusions: list[ConclusionAnswer]
    repeated: int = 0
    """How many of them were there already, by their keys."""


class Representation(Answer, frozen=True):
    representation: str


class PeerCard(Answer, frozen=True):
    peer_card: list[str] | None


class PeerContextAnswer(Answer, frozen=True):
    peer_id: str
    target_id: str
    representation: str | None
    peer_card: list[str] | None


class Summary(Answer, frozen=True):
    content: str
    message_id: str
    summary_type: str
    created_at: str
    token_count: int


class SessionSummaries(Answer, frozen=True):
    id: str
    short_summary: Summary | None
    long_summary: Summary | None


class SessionContextAnswer(Answer, frozen=True):
    id: str
    messages: list[Message]
    summary: Summary | None
    peer_representation: str | None
    peer_card: list[str] | None


class MemberSettings(Answer, frozen=True):
    observe_me: bool | None
    observe_others: bool | None


class ReadConclusion(Answer, frozen=True):
    """A conclusion that an answer rests on."""

    id: str
    level: str
    content: str
    created_at: datetime
    session_id: str | None
    observer_id: str
    observed_id: str
    source_ids: list[str]


class ReadMessage(Answer, frozen=True):
    """A message that an answer rests on; its text is read by its id."""

    id: str
    session_id: str
    peer_id: str
    created_at: datetime


class ToolCall(Answer, frozen=True):
    tool_name: str
    tool_input: dict[str, Any]


class Evidence(Answer, frozen=True):
    conclusions: list[ReadConclusion]
    messages: list[ReadMessage]
    tool_calls: list[ToolCall]
    reasoning_trace_id: str | None = None


class ChatAnswer(Answer, frozen=True, omit_defaults=True):
    """An answer in words, null if nothing is known."""

    content: str | None
    evidence: Evidence | None = None
    reasoner: str | None = None
    """Who answered, where a model is configured."""
    lacking: str | None = None
    """The code of what kept the model from answering, or from answering well."""


class Telling(Answer, frozen=True):
    """An answer as a model gives it: its pieces as they come, then the whole. Each is waited for."""

    pieces: Iterator[str | ChatAnswer]


class QueueCounts(Answer, frozen=True):
    total_work_units: int
    completed_work_units: int
    in_progress_work_units: int
    pending_work_units: int


class SessionQueue(QueueCounts, frozen=True, kw_only=True):
    session_id: str | None


class Queue(QueueCounts, frozen=True, kw_only=True):
    sessions: dict[str, SessionQueue] | None


class Backfill(Answer, frozen=True):
    state: str
    updated_at: datetime
    docs_copied: int


class ScopeStatus(Answer, frozen=True):
    backfill_status: dict[str, Backfill]


class MintedKey(Answer, frozen=True):
    key: str


class Webhook(Answer, frozen=True):
    id: str
    workspace_id: str | None
    url: str
    created_at: datetime


class Renamed(Answer, frozen=True):
    lines: int
    """How many were taken along in this part."""
    after: str | None = None
    """Where the next part begins; null if all is done."""


class Note(Answer, frozen=True):
    message: str


class Done(Answer, frozen=True):
    """Nothing to tell."""
