"""From what the core knows to what is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from souvenance.core.conversation import context as core
from souvenance.core.conversation.chat import Gathered
from souvenance.core.conversation.compartments import Changes
from souvenance.core.conversation.conclusions import View
from souvenance.core.conversation.ingest import StoredMessage
from souvenance.core.conversation.messages import said_at
from souvenance.core.conversation.search import Found
from souvenance.core.conversation.webhooks import url_of
from souvenance.domain.audit import Row
from souvenance.domain.content import check_characters, decode_metadata, encode_metadata
from souvenance.domain.directory import Entry
from souvenance.domain.line import MESSAGE
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import InvalidInput
from souvenance.gate.conversation import responses as a
from souvenance.gate.memory import explanation
from souvenance.gate.messages import Answer, Explanation
from souvenance.gate.operation import AuthorisedRequest, Outcome

MOST_METADATA_KEYS = 100
MOST_METADATA_LEVELS = 5

_Page = TypeVar("_Page", bound=a.ResponsePage)


def bag(given: Mapping[str, Any] | None, field: str = "metadata") -> str | None:
    """Metadata as it is kept; None if none is given.

    Raises: InvalidInput, LimitExceeded.
    """
    if given is None:
        return None
    if len(given) > MOST_METADATA_KEYS:
        raise InvalidInput(f"{field} has more than {MOST_METADATA_KEYS} keys")
    if _levels(given) > MOST_METADATA_LEVELS:
        raise InvalidInput(f"{field} is nested deeper than {MOST_METADATA_LEVELS} levels")
    for key in given:
        check_characters(key, field)
    return encode_metadata(given)


def _levels(value: object, most: int = MOST_METADATA_LEVELS + 1) -> int:
    if most == 0 or not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max((_levels(one, most - 1) for one in inner), default=0)


def workspace(entry: Entry) -> a.Workspace:
    return a.Workspace(
        entry.name,
        entry.uid,
        _decoded(entry.metadata),
        _decoded(entry.configuration),
        to_datetime(entry.created_at),
    )


def peer(entry: Entry) -> a.Peer:
    return a.Peer(
        entry.name,
        entry.uid,
        entry.workspace,
        to_datetime(entry.created_at),
        _decoded(entry.metadata),
        _decoded(entry.configuration),
    )


def session(entry: Entry) -> a.Session:
    return a.Session(
        entry.name,
        entry.uid,
        True,
        entry.workspace,
        _decoded(entry.metadata),
        _decoded(entry.configuration),
        to_datetime(entry.created_at),
    )


def scope(entry: Entry) -> a.ScopeAnswer:
    return a.ScopeAnswer(entry.name, _decoded(entry.metadata), to_datetime(entry.created_at))


def webhook(entry: Entry) -> a.Webhook:
    return a.Webhook(entry.name, entry.workspace, url_of(entry), to_datetime(entry.created_at))


def found(one: Found) -> a.Message:
    return message(one.message, explanation(one.explanation))


def message(one: StoredMessage, why: Explanation | None = None) -> a.Message:
    line = one.line
    return a.Message(
        line.id,
        one.text,
        line.compartment.owner,
        line.session or "",
        _decoded(line.metadata),
        to_datetime(said_at(line)),
        line.compartment.workspace,
        line.tokens or 0,
        why,
        None if line.kind == MESSAGE else line.kind,
    )


def conclusion(view: View) -> a.ConclusionAnswer:
    line = view.line
    return a.ConclusionAnswer(
        line.id,
        view.text,
        line.compartment.owner,
        line.about or "",
        line.session,
        view.level,
        list(view.sources) or None,
        line.times,
        to_datetime(line.created_at),
    )


def summary(one: core.StoredSummary) -> a.Summary:
    kind = "long" if one.long else "short"
    made = msgspec.json.encode(to_datetime(one.created_at)).decode().strip('"')
    return a.Summary(one.text, one.message_id, f"honcho_chat_summary_{kind}", made, one.tokens)


def evidence(found: Gathered, question: str, searched: Sequence[str] = ()) -> a.Evidence:
    return a.Evidence(
        conclusions=[
            a.ReadConclusion(
                view.line.id,
                view.level,
                view.text,
                to_datetime(view.line.created_at),
                view.line.session,
                view.line.compartment.owner,
                view.line.about or "",
                list(view.sources),
            )
            for view in found.views
        ],
        messages=[
            a.ReadMessage(
                one.line.id,
                one.line.session or "",
                one.line.compartment.owner,
                to_datetime(said_at(one.line)),
            )
            for one in found.messages
        ],
        tool_calls=[
            a.ToolCall("search_memory", {"query": question}),
            a.ToolCall("search_messages", {"query": question}),
            *(a.ToolCall("search_memory", {"query": words}) for words in searched),
        ],
    )


def erased(case: AuthorisedRequest, changes: Changes, answer: Answer, **facts: object) -> Outcome:
    """The answer once the bytes are gone too."""

    def scrubbed(row: Row) -> Answer:
        case.scrub()
        return answer

    return Outcome(scrubbed, changes.trace(**facts))


def page(kind: type[_Page], items: list[Any], total: int, number: int, size: int) -> _Page:
    return kind(items, total, number, size, -(-total // size))


def _decoded(text: str) -> dict[str, Any]:
    return dict(decode_metadata(text))
