"""A memory as programs open it: in a folder or on a server, blocking or with asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from inspect import isawaitable
from pathlib import Path
from typing import Any

import souvenance
import stores
from souvenance.memory.asynchronous import AsyncMemory, AsyncPeer, AsyncSession

Open = Callable[..., Any]


def in_folder(home: Path, **more: Any) -> dict[str, Any]:
    """What opens a folder. Search is by words alone: no answer depends on whether a vector is there."""
    variables = {"SOUVENANCE_EMBEDDER": "none", **stores.settings_of(home)}
    given = {name.removeprefix("SOUVENANCE_").lower(): value for name, value in variables.items()}
    return {"home": home, **given, **more}


class Blocking:
    """An async object that is used as the blocking one is: each call runs to its end in a loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, wrapped: Any) -> None:
        self._loop = loop
        self._wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._wrapped, name)
        return self._call(found) if callable(found) else found

    def _call(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            told = method(*args, **kwargs)
            if isawaitable(told):
                return self._loop.run_until_complete(told)
            if isinstance(told, AsyncIterator):
                return self._items(told)
            assert isinstance(told, AsyncMemory | AsyncPeer | AsyncSession)
            return Blocking(self._loop, told)

        return call

    def _items(self, items: AsyncIterator[Any]) -> Iterator[Any]:
        async def gathered() -> list[Any]:
            return [one async for one in items]

        return iter(self._loop.run_until_complete(gathered()))


@contextmanager
def with_asyncio(*args: Any, **kwargs: Any) -> Iterator[Blocking]:
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        opened = souvenance.open_async(*args, **kwargs)
        memory = loop.run_until_complete(opened.__aenter__())
        try:
            yield Blocking(loop, memory)
        finally:
            loop.run_until_complete(opened.__aexit__(None, None, None))


OPENS: dict[str, Open] = {"sync": souvenance.open, "async": with_asyncio}
