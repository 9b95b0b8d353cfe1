"""The page of a session: what was said, what was concluded from it, and forgetting it."""

from __future__ import annotations

import asyncio
from functools import partial

from starlette.responses import Response

from souvenance.gate import inspect_forget, inspect_lines
from souvenance.gate.conversation.context import SUMMARIES, Summaries
from souvenance.gate.conversation.messages import LIST_MESSAGES, ListMessages
from souvenance.gate.inspect_forget import FORGET_FROM, FORGET_MESSAGE
from souvenance.gate.operation import Operation
from souvenance.surfaces.http.inspector.places import forget, move, workspace_of
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
        concluded=concluded,
    )


async def _forget(operation: Operation, what: str, visit: Visit) -> Response:
    """A message, or also what comes after it."""
    workspace, name = workspace_of(visit), visit.path["session"]
    asked = operation.request(workspace_id=workspace, session_id=name, message_id=visit.path["id"])
    return await forget(visit, operation, asked, what, url(workspace, "sessions", name))


async def forget_session(visit: Visit) -> Response:
    workspace, name = workspace_of(visit), visit.path["session"]
    asked = inspect_forget.ForgetSession(workspace_id=workspace, session_id=name)
    keep, after = url(workspace, "sessions", name), url(w=workspace)
    return await forget(visit, inspect_forget.FORGET_SESSION, asked, "this session", keep, after)


async def move_session(visit: Visit) -> Response:
    workspace, name = workspace_of(visit), visit.path["session"]
    asked = partial(inspect_forget.MoveSession, workspace_id=workspace, session_id=name)
    return await move(visit, inspect_forget.MOVE_SESSION, asked, url(workspace, "sessions", name), name)


_SESSION = "/inspect/{workspace}/sessions/{session}"
ENDPOINTS = {
    f"GET {_SESSION}": session,
    f"POST {_SESSION}/forget": forget_session,
    f"POST {_SESSION}/move": move_session,
    f"POST {_SESSION}/messages/{{id}}/forget": partial(_forget, FORGET_MESSAGE, "this message"),
    f"POST {_SESSION}/messages/{{id}}/forget-from": partial(_forget, FORGET_FROM, "from here on"),
}
