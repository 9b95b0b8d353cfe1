"""Where no path of the chat door leads: said in the shape that OpenAI's clients read."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from souvenance.errors import MethodNotAllowed, NotFound
from souvenance.surfaces.http.chat.refusals import refusal
from souvenance.surfaces.http.routes import ROUTES

_VERSION = "/v1/"
_MEMORY_S = frozenset(route.path.split("/")[2] for route in ROUTES)
"""What comes behind that in the memory's own paths."""


class Nowhere(BaseRoute):
    """Takes what no route takes below /v1/, but for what is the memory's own; so it comes last."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes = routes

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope["path"] if scope["type"] == "http" else ""
        theirs = path.startswith(_VERSION) and path.split("/")[2] not in _MEMORY_S
        return (Match.FULL if theirs else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        known = [route for route in self._routes if route.matches(scope)[0] is Match.PARTIAL]
        if known:
            answer = refusal(MethodNotAllowed("this path has no such method"))
            answer.headers["allow"] = ", ".join(
                sorted({one for route in known for one in route.methods or ()})
            )
        else:
            answer = refusal(NotFound("there is no such path", hint="See /openapi.json."))
        await answer(scope, receive, send)
