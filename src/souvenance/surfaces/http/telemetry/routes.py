"""The routes of whoever looks after a server: whether it is up, whether it is ready, and what it counts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as WebRoute

from souvenance.errors import HostRefused, StorageUnavailable, Unavailable
from souvenance.gate.gate import Gate
from souvenance.gate.health import METRICS, AskVitals
from souvenance.surfaces.http.host_check import check_host, from_here
from souvenance.surfaces.http.request_threads import HEADERS, RequestThreads, credentials_of, json_answer
from souvenance.surfaces.http.telemetry.observer import TelemetryObserver
from souvenance.surfaces.http.telemetry.store_health import StoreHealth
from souvenance.version import __version__

if TYPE_CHECKING:
    from souvenance.surfaces.http.telemetry.metrics import Metrics


def seen_routes(gate: Gate, hands: RequestThreads, sight: TelemetryObserver | None) -> list[WebRoute]:
    """Whether there are metrics to be seen depends on the sight."""
    ctx = _Desk(gate, hands)
    found = [WebRoute("/health", ctx.health), WebRoute("/ready", ctx.ready)]
    if sight is not None and sight.metrics is not None:
        found.append(WebRoute("/metrics", ctx.tells(sight.metrics)))
    return found


class _Desk:
    def __init__(self, gate: Gate, hands: RequestThreads) -> None:
        self._gate = gate
        self._hands = hands
        self._pulse = StoreHealth(gate.probe)

    async def health(self, request: Request) -> Response:
        """That it runs, and how. It answers 200 as long as it does: to start it anew would mend no store."""
        trouble = await self._pulse.feel()
        told = {
            "status": "ok" if trouble is None else "degraded",
            "version": __version__,
            "store": "ok" if trouble is None else trouble.code,
        }
        return json_answer(200, {**told, **self._gate.thinking()})

    async def ready(self, request: Request) -> Response:
        """Raises: SouvenanceError if requests can't be answered for now."""
        trouble = await self._pulse.feel()
        if trouble is not None:
            kind = type(trouble) if isinstance(trouble, Unavailable) else StorageUnavailable
            raise kind(trouble.detail, hint=trouble.hint)
        return json_answer(200, {"status": "ready"})

    def tells(self, metrics: Metrics) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            """Raises: SouvenanceError."""
            if not _is_near(request):
                await self._hands.call(self._gate, METRICS, credentials_of(request, b""), AskVitals)
            vitals = await self._pulse.ask(self._gate.vitals)
            told = metrics.told(vitals, store=await self._pulse.feel() is None)
            return Response(told, 200, {**HEADERS, "content-type": metrics.content_type})

        return answer


def _is_near(request: Request) -> bool:
    """Whether a program on this machine asks, by a name that only this machine has, and no proxy."""
    try:
        check_host(request.headers.get("host"), None)
    except HostRefused:
        return False
    return from_here(request.scope, request.headers)
