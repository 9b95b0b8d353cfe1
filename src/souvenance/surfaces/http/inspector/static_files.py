"""The inspector's static files: our own, and those of others in `vendor`. Nothing comes from elsewhere."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from souvenance.surfaces.http.browser_pages import is_same_site
from souvenance.surfaces.http.request_threads import Endpoint

STATIC = "/inspect/static"
_MEDIA = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOLDER = Path(__file__).with_name("static")
_HEADERS = {
    "cache-control": "max-age=3600",
    "vary": "accept-encoding",
    "x-content-type-options": "nosniff",
}
_SMALL_BYTES = 1024
_QUICK = 5
"""How hard a page is compressed; a file is compressed once, as hard as can be."""


def static_routes() -> list[Route]:
    paths = sorted(path for path in _FOLDER.rglob("*") if path.suffix in _MEDIA)
    return [Route(f"{STATIC}/{path.relative_to(_FOLDER).as_posix()}", _shows(path)) for path in paths]


def _shows(path: Path) -> Endpoint:
    content, media = path.read_bytes(), _MEDIA[path.suffix]

    async def answer(request: Request) -> Response:
        if _takes_gzip(request):
            return Response(_packed(content), 200, {**_HEADERS, "content-encoding": "gzip"}, media)
        return Response(content, 200, _HEADERS, media)

    return answer


@cache
def _packed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _takes_gzip(request: Request) -> bool:
    return "gzip" in request.headers.get("accept-encoding", "")


def compressed(request: Request, answer: Response) -> Response:
    """The page, smaller if the browser takes that.

    A page that another site had asked for stays as it is: its length would tell that site something of a
    page that holds both its words and a secret.
    """
    asked_here = is_same_site(request.headers, unsaid="")
    media = answer.headers.get("content-type", "")
    body = getattr(answer, "body", b"")
    if asked_here and _takes_gzip(request) and media.startswith("text/html") and len(body) > _SMALL_BYTES:
        answer.body = gzip.compress(body, _QUICK)
        answer.headers["content-length"] = str(len(answer.body))
        answer.headers["content-encoding"] = "gzip"
    return answer
