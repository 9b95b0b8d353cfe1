"""The first page: people, how memory is, and searching it."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from souvenance.gate import inspection
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.messages import (
    SEARCH_PEER,
    SEARCH_WORKSPACE,
    SearchPeer,
    SearchWorkspace,
)
from souvenance.surfaces.http.inspector.places import workspace_of, workspaces_of
from souvenance.surfaces.http.inspector.visit import Visit

_FOUND = 20
_PEOPLE = 40


async def home(visit: Visit) -> Response:
    workspace = workspace_of(visit)
    query = visit.query.get("q", "").strip()
    page = visit.number("page")
    asked = inspection.People(workspace_id=workspace, page=page, size=_PEOPLE)
    if query:
        found = await _found(visit, workspace, query)
        return visit.page("found.html", workspace=workspace, query=query, found=found)
    people, health, workspaces = await asyncio.gather(
        visit.ask(inspection.PEOPLE, asked, of_all=True),
        visit.ask(inspection.HEALTH, inspection.Asked(workspace_id=workspace)),
        workspaces_of(visit),
    )
    return visit.page(
        "home.html",
        workspace=workspace,
        workspaces=workspaces,
        people=people,
        number=page,
        size=_PEOPLE,
        health=health,
        query="",
    )


async def _found(visit: Visit, workspace: str, query: str) -> dict[str, Any]:
    own = SearchPeer(workspace_id=workspace, peer_id=visit.who.sub, query=query, limit=_FOUND)
    everyones = SearchWorkspace(workspace_id=workspace, query=query, limit=_FOUND)
    notes, messages = await asyncio.gather(
        visit.ask(o.GET, m.Get(query=query, k=_FOUND), workspace),
        visit.ask(SEARCH_WORKSPACE, everyones) if visit.is_whole else visit.ask(SEARCH_PEER, own),
    )
    return {
        "notes": [one for one in notes.lines if one.matched] if notes else [],
        "messages": messages.messages if messages else [],
    }


ENDPOINTS = {"GET /": home, "GET /inspect/": home}
