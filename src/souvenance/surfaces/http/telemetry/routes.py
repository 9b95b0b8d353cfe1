"""The routes of an operator: whether the server is up, whether it is ready, and what it counts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as WebRoute

from souvenance.errors import HostRefused, SouvenanceError, StorageBusy, StorageUnavailable, Unavailable
from souvenance.gate.gate import Gate
from souvenance.gate.health import METRICS, AskHealth
from souvenance.surfaces.http.host_check import check_host, from_here
from souvenance.surfaces.http.request_threads import HEADERS, RequestThreads, credentials_of, json_answer
from souvenance.surfaces.http.telemetry.observer import TelemetryObserver
from souvenance.version import __version__

if TYPE_CHECKING:
    from souvenance.surfaces.http.telemetry.metrics import Metrics


_FRESH_SECONDS = 1.0
_PATIENCE_SECONDS = 2.0

_T = TypeVar("_T")


class StoreHealth:
    def __init__(self, probe: Callable[[], None], *, fresh: float = _FRESH_SECONDS) -> None:
        self._probe = probe
        self._fresh = fresh
        self._threads = ThreadPoolExecutor(1, "souvenance-store-health")
        self._under_way: Future[None] | None = None
        self._looked_at = float("-inf")
        self._trouble: SouvenanceError | None = None

    async def trouble(self) -> SouvenanceError | None:
        """What keeps the store from being reached; None if nothing does."""
        if time.monotonic() - self._looked_at < self._fresh:
            return self._trouble
        if self._under_way is None or self._under_way.done():
            self._under_way = self._threads.submit(self._look)
        if not await _ended(self._under_way):
            return StorageBusy("the store did not answer in time")
        return self._trouble

    async def ask(self, look: Callable[[], _T]) -> _T | None:
        """What is found by looking into the store; None if it can't be reached, or not in time."""
        if await self.trouble() is not None:
            return None
        asked = self._threads.submit(look)
        if not await _ended(asked) or asked.exception() is not None:
            return None
        return asked.result()

    def _look(self) -> None:
        found: SouvenanceError | None = None
        try:
            self._probe()
        except SouvenanceError as error:
            found = error
        except Exception:  # noqa: BLE001 - after any error the store is not there for requests
            found = StorageUnavailable("the store failed")
        self._trouble, self._looked_at = found, time.monotonic()


async def _ended(work: Future[_T]) -> bool:
    done, _ = await asyncio.wait({asyncio.wrap_future(work)}, timeout=_PATIENCE_SECONDS)
    return bool(done)


def health_routes(gate: Gate, threads: RequestThreads, observer: TelemetryObserver | None) -> list[WebRoute]:
    """Whether there are metrics to be seen depends on the observer."""
    handlers = _HealthRoutes(gate, threads)
    found = [WebRoute("/health", handlers.health), WebRoute("/ready", handlers.ready)]
    if observer is not None and observer.metrics is not None:
        found.append(WebRoute("/metrics", handlers.metrics(observer.metrics)))
    return found


class _HealthRoutes:
    def __init__(self, gate: Gate, threads: RequestThreads) -> None:
        self._gate = gate
        self._threads = threads
        self._store = StoreHealth(gate.probe)

    async def health(self, request: Request) -> Response:
        """That it runs, and how. It answers 200 as long as it does: to start it anew would mend no store."""
        trouble = await self._store.trouble()
        told = {
            "status": "ok" if trouble is None else "degraded",
            "version": __version__,
            "store": "ok" if trouble is None else trouble.code,
        }
        return json_answer(200, {**told, **self._gate.thinking()})

    async def ready(self, request: Request) -> Response:
        """Raises: SouvenanceError if requests can't be answered for now."""
        trouble = await self._store.trouble()
        if trouble is not None:
            kind = type(trouble) if isinstance(trouble, Unavailable) else StorageUnavailable
            raise kind(trouble.detail, hint=trouble.hint)
        return json_answer(200, {"status": "ready"})

    def metrics(self, metrics: Metrics) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            """Raises: SouvenanceError."""
            if not _is_local(request):
                await self._threads.call(self._gate, METRICS, credentials_of(request, b""), AskHealth)
            health = await self._store.ask(self._gate.health)
            told = metrics.told(health, store=await self._store.trouble() is None)
            return Response(told, 200, {**HEADERS, "content-type": metrics.content_type})

        return answer


def _is_local(request: Request) -> bool:
    """Whether a program on this machine asks, by a name that only this machine has, and no proxy."""
    try:
        check_host(request.headers.get("host"), None)
    except HostRefused:
        return False
    return from_here(request.scope, request.headers)
