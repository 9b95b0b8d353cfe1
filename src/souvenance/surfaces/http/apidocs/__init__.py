"""The API page for people: `/docs` shows in a browser what `/openapi.json` tells programs.

Its page, stylesheet and script are in this package. Nothing is fetched from anywhere else.
"""

from __future__ import annotations

from importlib import resources

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from souvenance.surfaces.http.request_threads import Endpoint

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "cache-control": "no-cache",
    "content-security-policy": _POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_FILES = {
    "/docs": ("page.html", "text/html"),
    "/docs/page.css": ("page.css", "text/css"),
    "/docs/page.js": ("page.js", "text/javascript"),
}


def docs_routes() -> list[Route]:
    return [Route(path, _shows(name, media)) for path, (name, media) in _FILES.items()]


def _shows(name: str, media: str) -> Endpoint:
    content = resources.files(__package__).joinpath(name).read_bytes()

    async def answer(request: Request) -> Response:
        return Response(content, 200, _HEADERS, media)

    return answer
