"""Every method and path that a server answers, told by the parts it is made of."""

from __future__ import annotations

import re
from pathlib import Path

from souvenance.commands import DataTransfers
from souvenance.config import settings_from
from souvenance.installation import open_installation
from souvenance.surfaces.http.app import docs_routes, health_routes, own_routes
from souvenance.surfaces.http.honcho.door import honcho_routes
from souvenance.surfaces.http.request_threads import RequestThreads
from souvenance.surfaces.http.server import doors_of

ANY_METHOD = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""What is asked of a route that takes whatever comes."""


class _Files:
    """What a server gives the page about data."""

    transfers = DataTransfers()


def every_path(home: Path) -> list[tuple[str, str]]:
    """Methods and paths, with `x` for every part of a path that is chosen."""
    known = {"SOUVENANCE_CHAT_BASE_URL": "http://127.0.0.1:9/v1", "SOUVENANCE_EMBEDDER": "none"}
    installation = open_installation(settings_from(known, str(home)))
    try:
        gate, threads = installation.gate, RequestThreads(installation.gate)
        doors = doors_of(installation, installation.settings, _Files())
        routes = [
            *health_routes(gate, threads, None),
            *docs_routes(),
            *own_routes(gate, threads),
            *honcho_routes(gate, threads),
            *(route for door in doors for route in door.routes(gate, threads)),
        ]
        return sorted(
            {
                (method, re.sub(r"\{[^}]+\}", "x", route.path))
                for route in routes
                for method in getattr(route, "methods", None) or ANY_METHOD
                if method != "HEAD"
            }
        )
    finally:
        installation.close()
