"""One way to call the SDK, whichever of its two flavours a scenario runs in.

A scenario is written once: `await peer.chat(...)`, `[one async for one in page]`. In the synchronous flavour
a face calls the object itself, in the other one its `.aio` view. It adds nothing to the call and takes
nothing away, and it notes which members were used.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from typing import Any

import honcho.aio

import honcho

OLD_NAMES = {"ConclusionScope": "ConclusionsView", "ConclusionScopeAio": "ConclusionsViewAio"}
"""What the oldest SDK calls some classes, and what the newest calls them."""


def known_as(cls: type) -> str:
    return OLD_NAMES.get(cls.__name__, cls.__name__)


def _own(name: str) -> type | None:
    return getattr(honcho, name, None) or getattr(honcho.aio, name, None)


TWINS: dict[type, type] = {
    one: twin
    for first, second in (
        ("Honcho", "HonchoAio"),
        ("Peer", "PeerAio"),
        ("Session", "SessionAio"),
        ("Scope", "ScopeAio"),
        ("ConclusionScope", "ConclusionScopeAio"),
        ("ConclusionsView", "ConclusionsViewAio"),
        ("WorkspaceConclusions", "WorkspaceConclusionsAio"),
        ("SyncPage", "AsyncPage"),
        ("DialecticStreamResponse", "AsyncDialecticStreamResponse"),
    )
    if (one := _own(first)) is not None and (twin := _own(second)) is not None
}
FACED = {*TWINS, *TWINS.values(), honcho.SessionContext}


class Face:
    """An object of the SDK, as a scenario meets it."""

    def __init__(self, thing: Any, flavour: str, used: set[str]) -> None:
        self.thing = thing
        self._flavour = flavour
        self._used = used

    def __getattr__(self, name: str) -> Any:
        owner = self._owner(name)
        self._used.add(f"{known_as(type(owner))}.{name}")
        value = getattr(owner, name)
        if not callable(value):
            return self._faced(value)
        asynchronous = inspect.iscoroutinefunction(getattr(TWINS.get(type(owner), type(owner)), name, None))
        return self._awaited(value) if asynchronous else self._called(value)

    def __repr__(self) -> str:
        return f"{type(self.thing).__name__} {getattr(self.thing, '__dict__', '')}"

    def __len__(self) -> int:
        return len(self.thing)

    def __getitem__(self, index: int) -> Any:
        return self._faced(self.thing[index])

    async def __aiter__(self) -> AsyncIterator[Any]:
        if hasattr(self.thing, "__aiter__"):
            async for one in self.thing:
                yield self._faced(one)
        else:
            for one in self.thing:
                yield self._faced(one)

    def _owner(self, name: str) -> Any:
        if self._flavour == "aio" and hasattr(type(self.thing), "aio"):
            view = self.thing.aio
            if hasattr(type(view), name):
                self._used.add(f"{known_as(type(self.thing))}.aio")
                return view
        return self.thing

    def _called(self, value: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **named: self._faced(value(*_bare(args), **_bare(named)))

    def _awaited(self, value: Callable[..., Any]) -> Callable[..., Any]:
        async def call(*args: Any, **named: Any) -> Any:
            result = value(*_bare(args), **_bare(named))
            return self._faced(await result if inspect.isawaitable(result) else result)

        return call

    def _faced(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._faced(one) for one in value]
        return Face(value, self._flavour, self._used) if type(value) in FACED else value


def _bare(value: Any) -> Any:
    if isinstance(value, Face):
        return value.thing
    if isinstance(value, dict):
        return {name: _bare(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_bare(one) for one in value)
    return value
