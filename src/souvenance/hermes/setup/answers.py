"""What an answer means, whether it was typed to the wizard or given as an option.

Raises, all of it: InvalidInput.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from souvenance.agents.conversation_scope import Flags, Observation
from souvenance.errors import InvalidInput
from souvenance.hermes.setting_types import Wrong
from souvenance.hermes.settings_table import find

_T = TypeVar("_T")

NOTHING = "-"
"""What is typed to mean nothing, where an empty answer means the default."""

PRESETS = {
    "directional": Observation(),
    "unified": Observation(user=Flags(observe_others=False), ai=Flags(observe_me=False)),
}
"""What the modes of observation mean."""


def taken(name: str, value: Any) -> Any:
    """What the setting of that name takes the value for."""
    key = find(name)
    if key is None:
        raise InvalidInput(f"{name} is not a setting", hint="")

    def tell(part: str, what: str, hint: str) -> None:
        raise InvalidInput(" ".join(filter(None, (name, part, what))), hint=hint)

    try:
        return key.kind.read(value, tell)
    except Wrong as wrong:
        raise InvalidInput(f"{name} {wrong.what}", hint=wrong.hint) from None


def alias(text: str, owner: str) -> tuple[str, str]:
    """ID=PEER, or ID alone for one of the owner's own."""
    runtime_id, equals, named = (part.strip() for part in text.rpartition("="))
    if not equals:
        runtime_id, named = named, owner
    if not runtime_id or not named:
        raise InvalidInput(f"{text!r} is neither an id nor, like 7654321=ann, an id and a peer", hint="")
    return runtime_id, taken("peerName", named)


def aliases(text: str, owner: str) -> dict[str, str]:
    """Several of them, separated by commas."""
    parts = [] if text == NOTHING else [part.strip() for part in text.split(",")]
    return dict(alias(part, owner) for part in parts if part)


def prefix(text: str) -> str:
    return "" if text == NOTHING else taken("runtimePeerPrefix", text)


def one_of(meanings: Mapping[str, _T]) -> Callable[[str], _T]:
    """One of the meanings, by what stands for it."""

    def read(text: str) -> _T:
        if text.lower() not in meanings:
            raise InvalidInput(f"{text!r} is none of {', '.join(meanings)}", hint="")
        return meanings[text.lower()]

    return read


def yes_or_no(text: str) -> bool:
    return one_of({"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False})(text)


def reads(text: str) -> tuple[str, ...]:
    """Namespaces to read."""
    parts = [] if text == NOTHING else [part.strip() for part in text.split(",")]
    return tuple(taken("namespaces", [part for part in parts if part]).read)


def writes(text: str) -> str | None:
    """The namespace to write to."""
    return None if text == NOTHING else taken("namespaces", text).write
