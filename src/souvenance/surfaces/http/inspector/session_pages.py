"""The page of a session: what was said, what was concluded from it, and forgetting it."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from souvenance.gate import inspect_forget, inspect_lines
from souvenance.gate.conversation.context import SUMMARIES, Summaries
from souvenance.gate.conversation.messages import LIST_MESSAGES, READ_MESSAGE, ListMessages, OfMessage
from souvenance.gate.conversation.sessions import OfSession
from souvenance.surfaces.http.inspector.places import forgotten, workspace_of
from souvenance.surfaces.http.inspector.visit import Visit, url

_SHOWN = 50


async def session(visit: Visit) -> Response:
    workspace, name = workspace_of(visit), visit.path["session"]
    page = visit.number("page")
    said = ListMessages(workspace_id=workspace, session_id=name, page=page, size=_SHOWN)
    summed_up = Summaries(workspace_id=workspace, session_id=name, if_any=True)
    messages, summaries = await asyncio.gather(
        visit.call(LIST_MESSAGES, said), visit.ask(SUMMARIES, summed_up)
    )
    return visit.page(
        "session.html",
        workspace=workspace,
        session=name,
        messages=messages,
        summaries=summaries,
        beside=await _concluded(visit, workspace, name, [one.id for one in messages.items]),
    )


async def _concluded(visit: Visit, workspace: str, session: str, messages: list[str]) -> dict[str, list[Any]]:
    """What was concluded from each of the messages, by its id."""
    asked = inspect_lines.AskConcluded(workspace_id=workspace, session_id=session, messages=messages)
    answer = await visit.ask(inspect_lines.CONCLUDED, asked)
    beside: dict[str, list[Any]] = {}
    for one in answer.conclusions if answer else []:
        for source in one.source_ids or ():
            beside.setdefault(source, []).append(one)
    return beside


async def forget_message(visit: Visit) -> Response:
    """Shows what goes; with the form's consent, deletes it."""
    fields = await visit.form()
    workspace, name, line = workspace_of(visit), visit.path["session"], visit.path["id"]
    asked = OfMessage(workspace_id=workspace, session_id=name, message_id=line)
    if fields.get("sure") != "yes":
        found = await visit.call(READ_MESSAGE, asked)
        beside = await _concluded(visit, workspace, name, [line])
        return visit.page(
            "forget_message.html", workspace=workspace, session=name, message=found, beside=beside
        )
    return await forgotten(visit, inspect_forget.FORGET_MESSAGE, asked, url(workspace, "sessions", name))


async def forget_from(visit: Visit) -> Response:
    """Shows how much goes from this message on; with the form's consent, deletes it."""
    fields = await visit.form()
    workspace, name, line = workspace_of(visit), visit.path["session"], visit.path["id"]
    sure = fields.get("sure") == "yes"
    asked = inspect_forget.ForgetFrom(
        workspace_id=workspace, session_id=name, message_id=line, dry_run=not sure
    )
    if sure:
        return await forgotten(visit, inspect_forget.FORGET_FROM, asked, url(workspace, "sessions", name))
    gone = await visit.call(inspect_forget.FORGET_FROM, asked)
    return visit.page("forget_from.html", workspace=workspace, session=name, line=line, gone=gone)


async def forget_session(visit: Visit) -> Response:
    """Shows what goes; with the form's consent, deletes it."""
    fields = await visit.form()
    workspace, name = workspace_of(visit), visit.path["session"]
    if fields.get("sure") != "yes":
        newest = ListMessages(workspace_id=workspace, session_id=name, size=3, reverse=True)
        messages = await visit.call(LIST_MESSAGES, newest)
        return visit.page("forget_session.html", workspace=workspace, session=name, messages=messages)
    whole = OfSession(workspace_id=workspace, session_id=name)
    return await forgotten(visit, inspect_forget.FORGET_SESSION, whole, url(w=workspace))


_SESSION = "/inspect/{workspace}/sessions/{session}"
ENDPOINTS = {
    f"GET {_SESSION}": session,
    f"POST {_SESSION}/forget": forget_session,
    f"POST {_SESSION}/messages/{{id}}/forget": forget_message,
    f"POST {_SESSION}/messages/{{id}}/forget-from": forget_from,
}
