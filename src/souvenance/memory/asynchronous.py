"""`souvenance.open_async`: the same memory for asyncio. Each call runs in a thread; none blocks the loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from souvenance.memory import sync

_P = ParamSpec("_P")
_R = TypeVar("_R")
_S = TypeVar("_S")
_S_co = TypeVar("_S_co", covariant=True)
_Methods_co = TypeVar("_Methods_co", bound=sync.LineMethods, covariant=True)
_END: Any = object()


class _Async(Generic[_S_co]):
    def __init__(self, blocking: _S_co) -> None:
        self._blocking = blocking


def _awaited(
    method: Callable[Concatenate[_S, _P], _R],
) -> Callable[Concatenate[_Async[_S], _P], Coroutine[Any, Any, _R]]:
    @wraps(method)
    async def call(self: _Async[_S], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return await asyncio.to_thread(method, self._blocking, *args, **kwargs)

    return call


def _iterated(
    method: Callable[Concatenate[_S, _P], Iterator[_R]],
) -> Callable[Concatenate[_Async[_S], _P], AsyncIterator[_R]]:
    @wraps(method)
    async def iterate(self: _Async[_S], /, *args: _P.args, **kwargs: _P.kwargs) -> AsyncIterator[_R]:
        found = method(self._blocking, *args, **kwargs)
        while (one := await asyncio.to_thread(next, found, _END)) is not _END:
            yield one

    return iterate


def _opened(
    opens: Callable[_P, sync.Memory],
) -> Callable[_P, AbstractAsyncContextManager[AsyncMemory]]:
    @wraps(opens)
    @asynccontextmanager
    async def opened(*args: _P.args, **kwargs: _P.kwargs) -> AsyncIterator[AsyncMemory]:
        async with AsyncMemory(await asyncio.to_thread(opens, *args, **kwargs)) as memory:
            yield memory

    return opened


open_async = _opened(sync.open)


class AsyncLineMethods(_Async[_Methods_co]):
    """What `AsyncMemory` and `AsyncPeer` do with the lines of one owner."""

    put = _awaited(sync.LineMethods.put)
    get = _awaited(sync.LineMethods.get)
    line = _awaited(sync.LineMethods.line)
    list = _iterated(sync.LineMethods.list)
    namespaces = _awaited(sync.LineMethods.namespaces)
    snapshot = _awaited(sync.LineMethods.snapshot)
    correct = _awaited(sync.LineMethods.correct)
    forget = _awaited(sync.LineMethods.forget)


class AsyncMemory(AsyncLineMethods[sync.Memory]):
    """`Memory` for asyncio."""

    close = _awaited(sync.Memory.close)
    peers = _iterated(sync.Memory.peers)
    sessions = _iterated(sync.Memory.sessions)
    mint = _awaited(sync.Memory.mint)
    wait = _awaited(sync.Memory.wait)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await self.close(finish=kind is None)

    def peer(self, name: str) -> AsyncPeer:
        """As `Memory.peer`."""
        return AsyncPeer(self._blocking.peer(name))

    def session(self, name: str, *, namespace: str | None = None) -> AsyncSession:
        """As `Memory.session`."""
        return AsyncSession(self._blocking.session(name, namespace=namespace))


class AsyncPeer(AsyncLineMethods[sync.Peer]):
    """`Peer` for asyncio."""

    search = _awaited(sync.Peer.search)
    context = _awaited(sync.Peer.context)
    chat = _awaited(sync.Peer.chat)
    card = _awaited(sync.Peer.card)
    set_card = _awaited(sync.Peer.set_card)
    conclusions = _awaited(sync.Peer.conclusions)
    conclude = _awaited(sync.Peer.conclude)

    def session(self, name: str, *, namespace: str | None = None) -> AsyncSession:
        """As `Peer.session`."""
        return AsyncSession(self._blocking.session(name, namespace=namespace))


class AsyncSession(_Async[sync.Session]):
    """`Session` for asyncio."""

    add = _awaited(sync.Session.add)
    add_all = _awaited(sync.Session.add_all)
    messages = _iterated(sync.Session.messages)
    search = _awaited(sync.Session.search)
    context = _awaited(sync.Session.context)
    chat = _awaited(sync.Session.chat)
    forget = _awaited(sync.Session.forget)
    delete = _awaited(sync.Session.delete)
