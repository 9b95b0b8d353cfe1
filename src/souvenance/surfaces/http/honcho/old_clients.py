"""What clients of an older version can't read: they refuse a configuration with keys that they don't know."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from souvenance.gate.conversation import responses as a

_NEWER = "custom_instructions"
_UNKNOWN_IN = ("peer_card", "summary", "dream")


def for_old_clients(answer: Any) -> Any:
    """The answer without the newer keys of configurations; they stay stored."""
    match answer:
        case a.Opened():
            return replace(answer, what=for_old_clients(answer.what))
        case a.ResponsePage():
            return replace(answer, items=[for_old_clients(item) for item in answer.items])
        case a.Workspace() | a.Session():
            return replace(answer, configuration=_older(answer.configuration))
        case _:
            return answer


def _older(configuration: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {key: one for key, one in part.items() if key != _NEWER}
        if name in _UNKNOWN_IN and isinstance(part, dict)
        else part
        for name, part in configuration.items()
    }
