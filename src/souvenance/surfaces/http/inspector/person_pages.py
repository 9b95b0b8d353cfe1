"""The pages of people. The first page: who there is, how memory is, and searching it. And that of a person:
the card, conclusions, sessions, who knows something of them and who can read it."""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec.structs import replace
from starlette.responses import Response

from souvenance.domain.current_facts import label_of, one_at_a_time
from souvenance.gate import inspect_forget, inspect_lines, inspect_search, inspection
from souvenance.gate.conversation.conclusions import LIST_CONCLUSIONS, ListConclusions
from souvenance.surfaces.http.inspector.places import forget, readers_of, workspace_of, workspaces_of
from souvenance.surfaces.http.inspector.visit import Visit, redirect, url

_PEOPLE = 40
_SHOWN = 20


async def home(visit: Visit) -> Response:
    workspace = workspace_of(visit)
    query = visit.query.get("q", "").strip()
    page = visit.number("page")
    asked = inspection.People(workspace_id=workspace, page=page, size=_PEOPLE)
    if query:
        everything = inspect_search.SearchEverything(workspace_id=workspace, query=query)
        found = await visit.ask(inspect_search.SEARCH, everything)
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


async def person(visit: Visit) -> Response:
    workspace, peer = workspace_of(visit), visit.path["peer"]
    observer = visit.query.get("as") or peer
    page = visit.number("page")
    about = {"observed_id": peer, "observer_id": observer}
    concluded = ListConclusions(
        workspace_id=workspace, filters=about, page=visit.number("conclusions"), size=_SHOWN
    )
    facts, known, conclusions, readers = await asyncio.gather(
        visit.call(inspection.FACTS, inspection.Facts(workspace_id=workspace, peer=peer, observer=observer)),
        visit.ask(
            inspection.PERSON,
            inspection.AskPerson(workspace_id=workspace, peer=peer, page=page, size=_SHOWN),
        ),
        visit.ask(LIST_CONCLUSIONS, concluded),
        readers_of(visit, workspace, observer, peer),
    )
    known_as = [one.id for one in conclusions.items] if conclusions else []
    said = known_as and await visit.ask(
        inspect_lines.SAID, inspect_lines.AskSaid(workspace_id=workspace, conclusions=known_as)
    )
    return visit.page(
        "person.html",
        workspace=workspace,
        peer=peer,
        observer=observer,
        address=_page_of(workspace, peer, observer),
        facts=facts.facts,
        known=known,
        number=page,
        size=_SHOWN,
        conclusions=conclusions,
        said=said.said if said else {},
        **readers,
    )


async def change_card(visit: Visit) -> Response:
    """Add or pin one fact. Correct it or take it off, once what goes was shown: also where there is one value
    at a time, and another is added."""
    fields = await visit.form()
    workspace, peer = workspace_of(visit), visit.path["peer"]
    observer = fields.get("observer") or peer
    whose: dict[str, Any] = {"workspace_id": workspace, "peer": peer, "observer": observer}
    before, after = fields.get("before") or None, fields.get("after", "").strip() or None
    if before is None and after and one_at_a_time(label_of(after)):
        known = await visit.call(inspection.FACTS, inspection.Facts(**whose))
        before = next((one.text for one in known.facts if label_of(one.text) == label_of(after)), None)
    changed = inspection.AmendCard(**whose, before=before, after=after, others=fields.get("others") == "yes")
    page, sure = _page_of(workspace, peer, observer), fields.get("sure") == "yes"
    asks = changed.before not in (None, changed.after) and not sure
    answer = await visit.call(inspection.AMEND, replace(changed, dry_run=asks))
    if asks:
        return visit.page("correct_fact.html", peer=peer, changed=changed, cards=answer.cards, keep=page)
    return redirect(page)


def _page_of(workspace: str, peer: str, observer: str) -> str:
    return url(workspace, "people", peer, **({} if observer == peer else {"as": observer}))


async def forget_conclusion(visit: Visit) -> Response:
    workspace, peer = workspace_of(visit), visit.path["peer"]
    asked = inspect_forget.ForgetOneConclusion(workspace_id=workspace, conclusion_id=visit.path["id"])
    page = _page_of(workspace, peer, visit.query.get("as") or peer)
    return await forget(visit, inspect_forget.FORGET_CONCLUSION, asked, "this conclusion", page)


ENDPOINTS = {
    "GET /": home,
    "GET /inspect/": home,
    "GET /inspect/{workspace}/people/{peer}": person,
    "POST /inspect/{workspace}/people/{peer}/card": change_card,
    "POST /inspect/{workspace}/people/{peer}/conclusions/{id}/forget": forget_conclusion,
}
