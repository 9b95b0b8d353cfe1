"""The inspector's door: its paths, the browser's session, and the one-time link that begins one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from souvenance.errors import Denied, SouvenanceError, Unauthenticated
from souvenance.gate.browser_sessions import BrowserSessions
from souvenance.gate.gate import Gate
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.browser_pages import SessionCookie, is_same_site
from souvenance.surfaces.http.inspector import (
    access_pages,
    audit_pages,
    data_pages,
    line_pages,
    passkey_pages,
    person_pages,
    recall_pages,
    retention_pages,
    session_pages,
    work_pages,
)
from souvenance.surfaces.http.inspector.passkey_pages import PasskeyPages
from souvenance.surfaces.http.inspector.static_files import compressed, static_routes
from souvenance.surfaces.http.inspector.visit import PAGES, Visit, posted, redirect
from souvenance.surfaces.http.inspector.webauthn import offered
from souvenance.surfaces.http.openapi import Paths
from souvenance.surfaces.http.request_threads import RequestThreads, json_answer, token_of
from souvenance.surfaces.http.routes import status_of

LINKS = "/inspect/links"
SIGN_IN = "/inspect/sign-in"
SIGN_OUT = "/inspect/sign-out"
_COOKIE = SessionCookie("souvenance-inspector", "strict")
_SIGN_IN_BYTES = 32 * 1024

_PARTS = (
    person_pages,
    line_pages,
    recall_pages,
    session_pages,
    access_pages,
    audit_pages,
    retention_pages,
)
_Page = Callable[[Visit], Awaitable[Response]]


class InspectorDoor:
    def __init__(
        self, sessions: BrowserSessions, files: data_pages.DataFiles, public_url: str | None = None
    ) -> None:
        self._sessions = sessions
        self._public_url = public_url
        self._data = data_pages.DataPages(files)
        self._work = work_pages.WorkPages()

    def routes(self, gate: Gate, threads: RequestThreads) -> Sequence[BaseRoute]:
        passkeys = PasskeyPages(self._sessions, self._public_url, gate, threads)
        at = partial(self._at, gate, threads)
        return [
            Route(LINKS, partial(self._links, gate, threads), methods=["POST"]),
            Route(SIGN_IN, partial(self._sign_in, gate, threads), methods=["GET", "POST"]),
            Route(passkey_pages.CHALLENGES, passkeys.challenge, methods=["POST"]),
            Route(passkey_pages.SIGN_IN, partial(self._sign_in_with, passkeys), methods=["POST"]),
            Route(SIGN_OUT, partial(at, self._sign_out), methods=["POST"]),
            *(
                Route(path, partial(at, page), methods=[method])
                for part in (*_PARTS, self._data, self._work, passkeys)
                for (method, path), page in ((key.split(), page) for key, page in part.ENDPOINTS.items())
            ),
            *static_routes(),
        ]

    def described(self) -> Paths:
        return {}

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            self._data.close()

    async def _links(self, gate: Gate, threads: RequestThreads, request: Request) -> Response:
        """For the command line: a link that signs a browser in with the token of this request."""
        token = token_of(request) or ""
        secret = await threads.judge(gate, Credentials(token), lambda: self._sessions.link(token))
        return json_answer(201, {"path": f"{SIGN_IN}?link={secret}"})

    async def _sign_in(self, gate: Gate, threads: RequestThreads, request: Request) -> Response:
        link = request.query_params.get("link")
        if request.method == "GET" and link is None:
            return self._sign_in_page(request, 200)
        if request.method == "GET" and not is_same_site(request.headers):
            return PAGES.shown("follow_link.html", link=link)
        return await self._signed_in(request, self._begun(request, gate, threads, link))

    async def _sign_in_with(self, passkeys: PasskeyPages, request: Request) -> Response:
        return await self._signed_in(request, passkeys.session(request))

    async def _signed_in(self, request: Request, begun: Awaitable[str]) -> Response:
        """To the first page, with the secret of the new session; else the sign-in page says why."""
        try:
            secret = await begun
        except SouvenanceError as error:
            return self._sign_in_page(request, status_of(type(error)), error)
        answered = redirect("/")
        _COOKIE.give(answered, secret, self._secure(request))
        return answered

    def _sign_in_page(self, request: Request, code: int, error: SouvenanceError | None = None) -> Response:
        return PAGES.shown("sign_in.html", code, error=error, offered=offered(request, self._public_url))

    async def _begun(self, request: Request, gate: Gate, threads: RequestThreads, link: str | None) -> str:
        """The secret of a new session, whatever cookie the browser brought. Raises: SouvenanceError."""
        fields = await posted(request, _SIGN_IN_BYTES) if request.method == "POST" else {}
        if followed := link or fields.get("link"):
            secret = await threads.judge(gate, Credentials(None), lambda: self._sessions.follow(followed))
            if secret is None:
                raise Denied("this link was used before, or is too old: run `souvenance open` again")
            return secret
        token = fields.get("token", "").strip()
        return await threads.judge(gate, Credentials(token), lambda: self._sessions.begin(token))

    async def _sign_out(self, visit: Visit) -> Response:
        await visit.form()
        secure = self._secure(visit.request)
        self._sessions.end(_COOKIE.read(visit.request.cookies, secure))
        answered = redirect("/")
        _COOKIE.take_back(answered, secure)
        return answered

    async def _at(self, gate: Gate, threads: RequestThreads, page: _Page, request: Request) -> Response:
        secret = _COOKIE.read(request.cookies, self._secure(request))
        token = (
            await threads.judge(gate, Credentials(None), lambda: self._sessions.token(secret))
            if secret
            else None
        )
        if token is None:
            return self._sign_in_page(request, 401)
        visit = Visit(request, gate, threads, token, secret)
        try:
            return compressed(request, await page(visit))
        except Unauthenticated as error:
            return self._sign_in_page(request, 401, error)
        except SouvenanceError as error:
            return visit.page("error.html", status_of(type(error)), error=error)

    def _secure(self, request: Request) -> bool:
        return (self._public_url or str(request.url)).startswith("https://")
