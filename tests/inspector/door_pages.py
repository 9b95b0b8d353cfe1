"""The inspector's own routes, with what stands for their parameters: whatever is added is checked, too."""

from __future__ import annotations

from typing import Any

from starlette.routing import Route

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


def is_page(answer: Any) -> bool:
    """Whether it is a whole page: no file, no stream and no part of one."""
    return answer.headers["content-type"].startswith("text/html") and "<!doctype html>" in answer.text.lower()
