"""What is answered behind a URL, as the gate would have answered it.

A server of Honcho's API leaves out what only Souvenance knows, adds what nobody here does, and writes times
in several ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin

import msgspec
from msgspec import Struct

from souvenance.decoders import settled
from souvenance.gate.conversation import responses as a
from souvenance.surfaces.http.route import Route

LEFT_OUT: dict[type, dict[str, Any]] = {
    a.Workspace: {"uid": "", "metadata": {}, "configuration": {}},
    a.Peer: {"uid": "", "metadata": {}, "configuration": {}},
    a.Session: {"uid": "", "metadata": {}, "configuration": {}},
    a.ScopeAnswer: {"metadata": {}},
    a.Message: {"metadata": {}},
    a.ConclusionAnswer: {"session_id": None, "level": "explicit", "source_ids": None, "times_derived": 1},
    a.PeerCard: {"peer_card": None},
    a.PeerContextAnswer: {"representation": None, "peer_card": None},
    a.SessionContextAnswer: {"summary": None, "peer_representation": None, "peer_card": None},
    a.SessionSummaries: {"short_summary": None, "long_summary": None},
    a.MemberSettings: {"observe_me": None, "observe_others": None},
    a.ChatAnswer: {"content": None},
    a.Evidence: {"conclusions": [], "messages": [], "tool_calls": []},
    a.ReadConclusion: {"session_id": None, "observer_id": "", "observed_id": "", "source_ids": []},
    a.ToolCall: {"tool_input": {}},
    a.Queue: {"sessions": None},
    a.SessionQueue: {"session_id": None},
    a.ScopeStatus: {"backfill_status": {}},
    a.Backfill: {"docs_copied": 0},
    a.Webhook: {"workspace_id": None},
    a.Note: {"message": ""},
}
"""What a server of Honcho's API need not say, and what its silence means."""

REPEATED = "x-souvenance-repeated"
"""The header that says how many of the conclusions were there already."""

_CONVERSATIONS = "/v3/"
_Mending = Callable[[Any], Any]


def read(route: Route, status: int, headers: Mapping[str, str], content: bytes) -> Any:
    """The answer that the gate there gave.

    Raises: `UNREADABLE` for what is not one.
    """
    kind = route.operation.answer
    if not route.path.startswith(_CONVERSATIONS):
        return msgspec.json.decode(content, type=settled(kind))
    if kind is a.Done:
        return a.Done()
    found = msgspec.json.decode(content) if content.strip() else None
    if kind is a.Messages:
        repeated = headers.get("idempotency-replayed") == "true"
        return a.Messages(_converted(found, list[a.Message]), repeated=repeated)
    if kind is a.Conclusions:
        return a.Conclusions(_converted(found, list[a.ConclusionAnswer]), int(headers.get(REPEATED, "0")))
    if kind is a.Note and not isinstance(found, dict):
        return a.Note("")
    if kind is a.ChatAnswer and isinstance(found, dict):
        found["content"] = found.get("content") or None
    answer = _converted(found, kind)
    return answer if route.existing is None else a.Opened(answer, created=status == route.status)


def _converted(found: Any, kind: Any) -> Any:
    mend = _needed_repairer(kind)
    return msgspec.convert(found if mend is None else mend(found), settled(kind))


@cache
def _needed_repairer(kind: Any) -> _Mending | None:
    """What fills in what was left out and makes every time one of UTC; None if there is nothing to mend."""
    if kind is datetime:
        return _moment
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _mending_fields(kind)
    parts = [part for part in get_args(kind) if part is not NoneType]
    mend = _needed_repairer(parts[-1]) if parts else None
    if mend is None:
        return None
    match get_origin(kind):
        case origin if origin is list:
            return lambda found: [mend(one) for one in found] if isinstance(found, list) else found
        case origin if origin is dict:
            return lambda found: (
                {key: mend(one) for key, one in found.items()} if isinstance(found, dict) else found
            )
        case _:
            return lambda found: None if found is None else mend(found)


def _mending_fields(kind: type[Struct]) -> _Mending:
    left_out = LEFT_OUT.get(kind, {})
    parts = {
        field.name: mend for field in msgspec.structs.fields(kind) if (mend := _needed_repairer(field.type))
    }

    def mended(found: Any) -> Any:
        if not isinstance(found, dict):
            return found
        whole = {**left_out, **{name: one for name, one in found.items() if one is not None}}
        for name in parts.keys() & whole.keys():
            whole[name] = parts[name](whole[name])
        return whole

    return mended


def _moment(told: Any) -> Any:
    """Raises: ValueError."""
    if not isinstance(told, str):
        return told
    moment = datetime.fromisoformat(told)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
