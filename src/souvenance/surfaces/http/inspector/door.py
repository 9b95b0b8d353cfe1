"""The inspector's door: its paths, the browser's session, and the one-time link that begins one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from souvenance.domain.capability import read_unverified
from souvenance.domain.names import ALL
from souvenance.errors import SouvenanceError, Unauthenticated
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
from souvenance.surfaces.http.inspector.visit import PAGES, Visit, posted, redirect, url
from souvenance.surfaces.http.inspector.webauthn import offered
from souvenance.surfaces.http.openapi import Paths
from souvenance.surfaces.http.request_threads import RequestThreads, json_answer, token_of
from souvenance.surfaces.http.routes import status_of

LINKS = "/inspect/links"
SIGN_IN = "/inspect/sign-in"
SIGN_OUT = "/inspect/sign-out"
BACK = "/inspect/back"
VIEW_AS = "/inspect/access/view-as"
GIVE_LINK = "/inspect/access/link"
_COOKIE = SessionCookie("souvenance-inspector", "strict")
_OWN = SessionCookie("souvenance-inspector-own", "strict")
"""Holds the person's own session while they look at the pages as another token sees them."""

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
            Route(passkey_pages.SIGN_IN, partial(self._signed_in, passkeys.session), methods=["POST"]),
            Route(SIGN_OUT, partial(at, partial(self._sign_out, gate, threads)), methods=["POST"]),
            Route(VIEW_AS, partial(at, partial(self._view_as, gate, threads)), methods=["POST"]),
            Route(GIVE_LINK, partial(at, partial(self._give_link, gate, threads)), methods=["POST"]),
            Route(BACK, partial(self._back, gate, threads), methods=["POST"]),
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
        given = "given" in request.query_params  # Programs that look into letters must not use it up.
        if request.method == "GET" and (given or not is_same_site(request.headers)):
            return PAGES.shown("follow_link.html", link=link)
        return await self._signed_in(partial(self._begun, gate, threads, link), request)

    async def _signed_in(self, begun: Callable[[Request], Awaitable[str]], request: Request) -> Response:
        """To the first page, with the secret of the new session; else the sign-in page says why."""
        try:
            secret = await begun(request)
        except SouvenanceError as error:
            return self._sign_in_page(request, status_of(type(error)), error)
        answered, secure = redirect("/"), self._secure(request)
        _COOKIE.give(answered, secret, secure)
        if _OWN.read(request.cookies, secure):
            _OWN.take_back(answered, secure)
        return answered

    def _sign_in_page(self, request: Request, code: int, error: SouvenanceError | None = None) -> Response:
        secure, way_in = self._secure(request), offered(request, self._public_url)
        kept = {"own": _OWN.read(request.cookies, secure), "held": _COOKIE.read(request.cookies, secure)}
        return PAGES.shown("sign_in.html", code, error=error, offered=way_in, **kept)

    async def _begun(self, gate: Gate, threads: RequestThreads, link: str | None, request: Request) -> str:
        """The secret of a new session, whatever cookie the browser brought. Raises: SouvenanceError."""
        fields = await posted(request) if request.method == "POST" else {}
        if followed := link or fields.get("link"):
            return await threads.judge(gate, Credentials(None), lambda: self._sessions.follow(followed))
        token = fields.get("token", "").strip()
        return await threads.judge(gate, Credentials(token), lambda: self._sessions.begin(token))

    async def _sign_out(self, gate: Gate, threads: RequestThreads, visit: Visit) -> Response:
        await visit.form()
        answered, secure = redirect("/"), self._secure(visit.request)
        for cookie in (_COOKIE, _OWN):
            await self._end(gate, threads, cookie.read(visit.request.cookies, secure))
            cookie.take_back(answered, secure)
        return answered

    async def _view_as(self, gate: Gate, threads: RequestThreads, visit: Visit) -> Response:
        """Sign in with a token that the person made, and keep the way back."""
        token, cookies = (await visit.form()).get("token", "").strip(), visit.request.cookies
        secret = await threads.judge(gate, Credentials(token), lambda: self._sessions.begin(token))
        answered, secure = redirect("/"), self._secure(visit.request)
        _OWN.give(answered, _OWN.read(cookies, secure) or _COOKIE.read(cookies, secure), secure)
        _COOKIE.give(answered, secret, secure)
        return answered

    async def _give_link(self, gate: Gate, threads: RequestThreads, visit: Visit) -> Response:
        """For somebody else: a link that signs in with a token that the person made."""
        token = (await visit.form()).get("token", "").strip()
        workspace = read_unverified(token)[0][-1].wid
        giver = visit.credentials(None if workspace == ALL else workspace)
        secret = await threads.do(gate, giver, lambda: self._sessions.give(token, giver), writes=True)
        origin = (self._public_url or str(visit.request.base_url)).rstrip("/")
        link = f"{origin}{SIGN_IN}?given=1&link={secret}"
        return await access_pages.access(visit, {"workspace": workspace}, token, link)

    async def _back(self, gate: Gate, threads: RequestThreads, request: Request) -> Response:
        """To the person's own session. Raises: Denied."""
        fields, secure = await posted(request), self._secure(request)
        answered = redirect(url("access", w=fields.get("w")))
        if own := _OWN.read(request.cookies, secure):
            await self._end(gate, threads, _COOKIE.read(request.cookies, secure))
            _COOKIE.give(answered, own, secure)
            _OWN.take_back(answered, secure)
        return answered

    async def _end(self, gate: Gate, threads: RequestThreads, secret: str) -> None:
        await threads.do(gate, Credentials(None), lambda: self._sessions.end(secret), writes=True)

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
        visit.views_as = bool(_OWN.read(request.cookies, self._secure(request)))
        try:
            return compressed(request, await page(visit))
        except Unauthenticated as error:
            return self._sign_in_page(request, 401, error)
        except SouvenanceError as error:
            return visit.page("error.html", status_of(type(error)), error=error)

    def _secure(self, request: Request) -> bool:
        return (self._public_url or str(request.url)).startswith("https://")
