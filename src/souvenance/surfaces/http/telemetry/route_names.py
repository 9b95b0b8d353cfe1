"""The door and the operation of a request, in words that hold nobody's name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from starlette.routing import BaseRoute

from souvenance.surfaces.http.routes import Route


class RouteName(NamedTuple):
    door: str
    operation: str


NOWHERE = RouteName("none", "none")
"""Where no door is, or where the guard let nobody in."""
UPKEEP = "upkeep"
"""The door of whoever looks after the server."""

Places = dict[Any, RouteName]
"""By what answers there."""


def places_of(door: str, routes: Iterable[BaseRoute], table: Iterable[Route] = ()) -> Places:
    """The places of a door: by the operations in its table, or else by their paths as routes spell them."""
    named = {(route.method, route.path): route.operation.name for route in table}
    found: Places = {}
    for route in routes:
        path: str = getattr(route, "path", "")
        methods: Iterable[str] = getattr(route, "methods", None) or ("",)
        known = (named.get((method, path.rstrip("/"))) for method in methods)
        if (endpoint := getattr(route, "endpoint", None)) is not None:
            found[endpoint] = RouteName(door, next(filter(None, known), path))
    return found
