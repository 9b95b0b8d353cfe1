"""The inspector's own routes, with what stands for their parameters: whatever is added is checked, too."""

from __future__ import annotations

from typing import Any

import httpx
from starlette.routing import Route

from processes import PATIENCE_SECONDS
from souvenance.surfaces.http.inspector.door import InspectorDoor

QUERIES = {
    "/inspect/recall": "?w={workspace}&peer={peer}&q=where+do+I+live%3F",
    "/inspect/audit": "?w={workspace}",
    "/": "?w={workspace}",
}
"""What a page needs to show what it is for."""


def routes(method: str) -> list[str]:
    """The paths of the door, static files aside, as it declares them."""
    door: Any = InspectorDoor(None)  # type: ignore[arg-type]
    return [
        route.path
        for route in door.routes(None, None)
        if isinstance(route, Route) and method in (route.methods or ()) and "/static/" not in route.path
    ]


def filled(path: str, samples: dict[str, str]) -> str:
    """The path with a value for each parameter: `id` by what comes before it, the others by their names.

    Raises: KeyError for one that `samples` does not have; say there what stands for it.
    """
    parts = path.split("/")
    for place, part in enumerate(parts):
        if part.startswith("{"):
            name = part.strip("{}").partition(":")[0]
            parts[place] = samples[f"{parts[place - 1]}/{name}" if name == "id" else name]
    return "/".join(parts) + QUERIES.get(path, "").format(**samples)


def page_at(url: str, cookies: dict[str, str] | None = None) -> int | None:
    """The status of the page that is there; None for a file, a stream or a part of a page."""
    with httpx.stream("GET", url, cookies=cookies, trust_env=False, timeout=PATIENCE_SECONDS) as answer:
        if not answer.headers.get("content-type", "").startswith("text/html"):
            return None
        whole = answer.read().lower().lstrip().startswith(b"<!doctype html>")
        return answer.status_code if whole else None
