"""The page of a session: what was said, what was concluded from it, and forgetting it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from starlette.responses import Response

from souvenance.domain.names import namespace as valid_namespace
from souvenance.gate import inspect_forget, inspect_lines
from souvenance.gate.conversation.context import SUMMARIES, Summaries
from souvenance.gate.conversation.messages import LIST_MESSAGES, ListMessages
from souvenance.surfaces.http.inspector.places import forget, workspace_of
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
    ids = [one.id for one in messages.items]
    asked = inspect_lines.AskConcluded(workspace_id=workspace, session_id=name, messages=ids)
    concluded = await visit.ask(inspect_lines.CONCLUDED, asked)
    return visit.page(
        "session.html",
        workspace=workspace,
        session=name,
        messages=messages,
        summaries=summaries,
        namespace=concluded and concluded.namespace,
        beside=_beside(concluded.conclusions if concluded else []),
    )


def _beside(conclusions: Iterable[Any]) -> dict[str, list[Any]]:
    """What was concluded from each of the messages, by its id."""
    beside: dict[str, list[Any]] = {}
    for one in conclusions:
        for source in one.source_ids or ():
            beside.setdefault(source, []).append(one)
    return beside


async def forget_message(visit: Visit) -> Response:
    asked, page = _message_of(visit)
    return await forget(
        visit, inspect_forget.FORGET_MESSAGE, inspect_forget.ForgetMessage(**asked), "this message", page
    )


async def forget_from(visit: Visit) -> Response:
    asked, page = _message_of(visit)
    return await forget(
        visit, inspect_forget.FORGET_FROM, inspect_forget.ForgetFrom(**asked), "from here on", page
    )


def _message_of(visit: Visit) -> tuple[dict[str, Any], str]:
    """Which message it is about, and the page of its session."""
    workspace, name = workspace_of(visit), visit.path["session"]
    asked = {"workspace_id": workspace, "session_id": name, "message_id": visit.path["id"]}
    return asked, url(workspace, "sessions", name)


async def forget_session(visit: Visit) -> Response:
    workspace, name = workspace_of(visit), visit.path["session"]
    asked = inspect_forget.ForgetSession(workspace_id=workspace, session_id=name)
    keep, after = url(workspace, "sessions", name), url(w=workspace)
    return await forget(visit, inspect_forget.FORGET_SESSION, asked, "this session", keep, after)


async def move_session(visit: Visit) -> Response:
    """Shows what moves and what goes; with the form's consent, moves it."""
    fields = await visit.form()
    workspace, name = workspace_of(visit), visit.path["session"]
    target, sure = valid_namespace(fields.get("namespace", "").strip()), fields.get("sure") == "yes"
    asked = inspect_forget.MoveSession(
        workspace_id=workspace, session_id=name, namespace=target, dry_run=not sure
    )
    answer, page = await visit.call(inspect_forget.MOVE_SESSION, asked), url(workspace, "sessions", name)
    if sure:
        return visit.page("forgotten.html", answer=answer, moved_to=target, back=page)
    return visit.page("move_session.html", moves=answer, to=target, session=name, keep=page)


_SESSION = "/inspect/{workspace}/sessions/{session}"
ENDPOINTS = {
    f"GET {_SESSION}": session,
    f"POST {_SESSION}/forget": forget_session,
    f"POST {_SESSION}/move": move_session,
    f"POST {_SESSION}/messages/{{id}}/forget": forget_message,
    f"POST {_SESSION}/messages/{{id}}/forget-from": forget_from,
}
