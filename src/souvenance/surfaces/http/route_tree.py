"""Routes found by the segments of a path in one walk, however many there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

_ROUTE = "souvenance.route"


class _Segment:
    """One segment: what may follow it, by name or as a parameter, and the routes that end here by method."""

    def __init__(self) -> None:
        self.named: dict[str, _Segment] = {}
        self.parameter: _Segment | None = None
        self.ending: dict[str, tuple[Route, tuple[str, ...]]] = {}


class RouteTree(BaseRoute):
    """Behaves as its routes would one after the other, a name before a parameter."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._root = _Segment()
        for route in routes:
            self._add(route)

    def _add(self, route: Route) -> None:
        node, names = self._root, []
        for segment in route.path.split("/")[1:]:
            if segment.startswith("{"):
                names.append(segment.strip("{}"))
                node.parameter = node.parameter or _Segment()
                node = node.parameter
            else:
                node = node.named.setdefault(segment, _Segment())
        for method in route.methods or ():
            node.ending[method] = (route, tuple(names))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        segments = scope["path"].split("/")[1:]
        allowed: set[str] = set()
        for node, values in _walk(self._root, segments, 0, ()):
            found = node.ending.get(scope["method"])
            if found is not None:
                route, names = found
                params = dict(zip(names, values, strict=True))
                return Match.FULL, {"endpoint": route.endpoint, "path_params": params, _ROUTE: route}
            allowed.update(node.ending)
        return (Match.PARTIAL, {_ROUTE: sorted(allowed)}) if allowed else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        route: Any = scope[_ROUTE]
        if not isinstance(route, Route):
            raise HTTPException(405, headers={"Allow": ", ".join(route)})
        await route.app(scope, receive, send)


def _walk(
    node: _Segment, segments: list[str], at: int, values: tuple[str, ...]
) -> Iterator[tuple[_Segment, tuple[str, ...]]]:
    """Where the path may lead, the names before the parameters, with the parameters' values."""
    if at == len(segments):
        yield node, values
        return
    segment = segments[at]
    if segment in node.named:
        yield from _walk(node.named[segment], segments, at + 1, values)
    if node.parameter is not None and segment:
        yield from _walk(node.parameter, segments, at + 1, (*values, segment))
