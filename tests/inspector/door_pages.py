"""The inspector's own routes, with what stands for their parameters: whatever is added is checked, too."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
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
OF_A_WORKSPACE = "/inspect/{workspace}/lines/{owner}/{id}"
UNDER_WAY = "/inspect/data/imports/{id}"
"""The page of something that lasts moments, which a story of its own shows."""


def routes(method: str) -> list[str]:
    """The paths of the door, static files aside, as it declares them."""
    needed = [one for one in signature(InspectorDoor).parameters.values() if one.default is one.empty]
    door: Any = InspectorDoor(*(None for _ in needed))  # type: ignore[arg-type]
    return [
        route.path
        for route in door.routes(None, None)
        if isinstance(route, Route) and method in (route.methods or ()) and "/static/" not in route.path
    ]


def filled(path: str, samples: Mapping[str, str]) -> str:
    """The path with a value for each parameter, which `samples` has by name, `id` with what it is the id of.

    A value that holds for one path alone is there with that path before its name.

    Raises: KeyError for one that it does not have; say there what stands for it.
    """
    parts, kind = path.split("/"), ""
    for place, part in enumerate(parts):
        if part.startswith("{"):
            name = part.strip("{}").partition(":")[0]
            alone = f"{path} {name}"
            parts[place] = samples[alone if alone in samples else f"{kind}/{name}" if name == "id" else name]
        else:
            kind = part
    return "/".join(parts) + QUERIES.get(path, "").format_map(samples)


def page_at(url: str, cookies: dict[str, str] | None = None) -> int | None:
    """The status of the page that is there; None for a file, a stream or a part of a page."""
    with httpx.stream("GET", url, cookies=cookies, trust_env=False, timeout=PATIENCE_SECONDS) as answer:
        if not answer.headers.get("content-type", "").startswith("text/html"):
            return None
        whole = answer.read().lower().lstrip().startswith(b"<!doctype html>")
        return answer.status_code if whole else None


def samples_of(url: str, token: str, workspace: str, peer: str, session: str) -> dict[str, str]:
    """What stands for the parameters of paths: a note of the owner's, and what a peer said in a session."""
    signed = {"authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url, headers=signed, trust_env=False, timeout=PATIENCE_SECONDS) as client:
        notes = client.post("/v1/memory/list", json={}).json()["lines"]
        said = client.post(
            f"/v3/workspaces/{workspace}/sessions/{session}/messages/list",
            json={"filters": {"peer_id": peer}},
        ).json()["items"]
    return {
        "workspace": workspace,
        "peer": peer,
        "owner": peer,
        "session": session,
        "lines/id": notes[0]["id"],
        f"{OF_A_WORKSPACE} id": said[0]["id"],
        "imports/id": "none",
    }
