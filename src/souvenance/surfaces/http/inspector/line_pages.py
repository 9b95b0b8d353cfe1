"""The pages of notes and of a single line: where it comes from, who may see it, and what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from itertools import groupby

from starlette.responses import Response

from souvenance.domain.line import CONCLUSIONS, DIGESTS, DOCUMENT, MESSAGE, RELAYED, STATEMENT
from souvenance.domain.trust import KINDS
from souvenance.gate import inspect_forget, inspect_lines, inspection
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.http.inspector.audit_words import RowInWords, in_words
from souvenance.surfaces.http.inspector.places import (
    forget,
    home_of,
    move,
    readers_of,
    workspace_of,
    workspaces_of,
)
from souvenance.surfaces.http.inspector.visit import Visit, download, number, redirect, url

_SHOWN = 50
_MOST_CALLS = 10
_READ = "get"
_NO_NOTES = {MESSAGE, DOCUMENT, RELAYED, *DIGESTS, STATEMENT, *CONCLUSIONS.values(), *KINDS.values()}


async def notes(visit: Visit) -> Response:
    namespace, workspace = visit.query.get("namespace"), workspace_of(visit)
    found, own, workspaces = await asyncio.gather(
        _notes(visit, workspace, namespace),
        visit.ask(inspection.NAMESPACES, inspection.Asked(workspace_id=workspace)),
        workspaces_of(visit),
    )
    return visit.page(
        "notes.html",
        found=found,
        own=own,
        namespace=namespace,
        workspace=workspace,
        workspaces=workspaces,
    )


async def _notes(visit: Visit, workspace: str, namespace: str | None) -> m.ListAnswer:
    """The next notes: what a person said, and was concluded of it, may lie in the same namespaces."""
    lines: list[m.ListedLine] = []
    cursor = visit.query.get("after")
    for _ in range(_MOST_CALLS):
        asked = m.List(
            namespaces=(namespace,) if namespace else None,
            cursor=cursor,
            limit=_SHOWN,
            texts=visit.may(_READ),
        )
        page = await visit.call(o.LIST, asked, workspace)
        lines += [one for one in page.lines if one.kind not in _NO_NOTES]
        cursor = page.cursor
        if cursor is None or len(lines) >= _SHOWN // 2:
            break
    return m.ListAnswer(lines, cursor)


async def add_note(visit: Visit) -> Response:
    fields = await visit.form()
    workspace = fields.get("w") or workspace_of(visit)
    put = m.Put(text=fields.get("text", ""), namespace=fields.get("namespace", "").strip() or "personal")
    stored = await visit.call(o.PUT, put, workspace)
    return redirect(url(workspace, "lines", visit.who.sub, stored.id))


async def own_line(visit: Visit) -> Response:
    """The address of a note of one's own, which command lines and mails may carry."""
    return redirect(url(home_of(visit), "lines", visit.who.sub, visit.path["id"]))


async def line(visit: Visit) -> Response:
    workspace, owner = workspace_of(visit), visit.path["owner"]
    asked = inspect_lines.AskLine(workspace_id=workspace, owner=owner, id=visit.path["id"])
    found = await visit.call(inspect_lines.LINE, asked)
    before = number(visit.query.get("before", ""), 0) or None
    reading = inspect_lines.FindRows(workspace_id=workspace, line=found.id, before=before)
    rows, readers = await asyncio.gather(
        visit.ask(inspect_lines.ROWS_FOUND, reading),
        readers_of(visit, workspace, owner, found.about or owner, found.id),
    )
    return visit.page(
        "line.html",
        workspace=workspace,
        line=found,
        rows=rows and _alike(in_words(row) for row in rows.rows),
        older=rows.before if rows else 0,
        **readers,
    )


def _alike(rows: Iterable[RowInWords]) -> list[tuple[RowInWords, int]]:
    """The first of the rows that say the same of one minute, and how many they are."""
    same = groupby(rows, lambda row: (row.at.replace(second=0, microsecond=0), row.who, row.what))
    return [(next(some), 1 + sum(1 for _ in some)) for _, some in same]


async def correct_line(visit: Visit) -> Response:
    """An empty text takes the line back, once a page has shown it."""
    fields = await visit.form()
    workspace, owner, text = workspace_of(visit), visit.path["owner"], fields.get("text", "").strip()
    if not text and fields.get("sure") != "yes":
        asked = inspect_lines.AskLine(workspace_id=workspace, owner=owner, id=visit.path["id"])
        line = await visit.call(inspect_lines.LINE, asked)
        return visit.page("take_back.html", line=line, workspace=workspace)
    corrected = m.Invalidate(visit.path["id"], text or None, owner=owner)
    made = await visit.call(o.INVALIDATE, corrected, workspace)
    return redirect(url(workspace, "lines", owner, made.id if text else visit.path["id"]))


async def move_line(visit: Visit) -> Response:
    workspace, owner, line_id = workspace_of(visit), visit.path["owner"], visit.path["id"]
    asked = partial(inspect_forget.MoveLine, workspace_id=workspace, owner=owner, id=line_id)
    return await move(visit, inspect_forget.MOVE, asked, url(workspace, "lines", owner, line_id))


async def forget_line(visit: Visit) -> Response:
    """Afterwards the page that lists the owner's notes follows, or, where there is none, the people."""
    workspace, owner, line_id = workspace_of(visit), visit.path["owner"], visit.path["id"]
    asked, keep = m.Forget(id=line_id, owner=owner), url(workspace, "lines", owner, line_id)
    after = url(*(("notes",) if owner == visit.who.sub and visit.may("list") else ()), w=workspace)
    return await forget(visit, o.FORGET, asked, "this line", keep, after, workspace)


async def receipt(visit: Visit) -> Response:
    """The receipt that a page showed, as a file."""
    fields = await visit.form()
    return download(fields.get("receipt", "").encode(), "receipt.jws", "application/jose")


_LINE = "/inspect/{workspace}/lines/{owner}/{id}"
ENDPOINTS = {
    "GET /inspect/notes": notes,
    "POST /inspect/notes": add_note,
    "GET /inspect/lines/{id}": own_line,
    f"GET {_LINE}": line,
    f"POST {_LINE}/correct": correct_line,
    f"POST {_LINE}/move": move_line,
    f"POST {_LINE}/forget": forget_line,
    "POST /inspect/receipt": receipt,
}
