"""The inspector's door: its paths, the browser's session, and the one-time link that begins one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from souvenance.errors import Denied, SouvenanceError, Unauthenticated
from souvenance.gate.browser_sessions import BrowserSessions
from souvenance.gate.gate import Gate
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.inspector import (
    access_pages,
    data_pages,
    memory_pages,
    passkey_pages,
    work_pages,
)
from souvenance.surfaces.http.inspector.passkey_pages import PasskeyPages
from souvenance.surfaces.http.inspector.static_files import compressed, static_routes
from souvenance.surfaces.http.inspector.visit import Visit, is_same_site, redirect, same_site, shown
from souvenance.surfaces.http.inspector.webauthn import offered
from souvenance.surfaces.http.openapi import Paths
from souvenance.surfaces.http.request_bodies import body_of_anybody
from souvenance.surfaces.http.request_threads import RequestThreads, json_answer, token_of
from souvenance.surfaces.http.routes import status_of

LINKS = "/inspect/links"
SIGN_IN = "/inspect/sign-in"
SIGN_OUT = "/inspect/sign-out"
_COOKIE = "souvenance-inspector"
_SIGN_IN_BYTES = 32 * 1024

_Answers = Callable[[Request], Awaitable[Response]]
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
        own = (self._data, self._work, passkeys)
        pages = memory_pages.PAGES | access_pages.PAGES
        actions = memory_pages.ACTIONS | access_pages.ACTIONS
        for one in own:
            pages, actions = pages | one.pages, actions | one.actions
        return [
            Route(LINKS, self._links(gate, threads), methods=["POST"]),
            Route(SIGN_IN, self._sign_in(gate, threads), methods=["GET", "POST"]),
            Route(passkey_pages.CHALLENGES, passkeys.challenge, methods=["POST"]),
            Route(passkey_pages.SIGN_IN, self._sign_in_with(passkeys), methods=["POST"]),
            Route(SIGN_OUT, self._at(gate, threads, self._sign_out), methods=["POST"]),
            *(Route(path, self._at(gate, threads, page), methods=["GET"]) for path, page in pages.items()),
            *(Route(path, self._at(gate, threads, act), methods=["POST"]) for path, act in actions.items()),
            *static_routes(),
        ]

    def described(self) -> Paths:
        return {}

    def open(self) -> AbstractAsyncContextManager[None]:
        @asynccontextmanager
        async def held() -> AsyncIterator[None]:
            try:
                yield
            finally:
                self._data.close()

        return held()

    def _links(self, gate: Gate, threads: RequestThreads) -> _Answers:
        """For the command line: a link that signs a browser in with the token of this request."""

        async def answer(request: Request) -> Response:
            token = token_of(request) or ""
            secret = await threads.judge(gate, Credentials(token), lambda: self._sessions.link(token))
            return json_answer(201, {"path": f"{SIGN_IN}?link={secret}"})

        return answer

    def _sign_in(self, gate: Gate, threads: RequestThreads) -> _Answers:
        async def answer(request: Request) -> Response:
            link = request.query_params.get("link")
            if request.method == "GET" and link is None:
                return self._sign_in_page(request, 200)
            if request.method == "GET" and not is_same_site(request):
                return shown("follow_link.html", link=link)
            try:
                return self._signed_in(request, await self._begun(request, gate, threads, link))
            except SouvenanceError as error:
                return self._sign_in_page(request, status_of(type(error)), error.detail)

        return answer

    def _sign_in_with(self, passkeys: PasskeyPages) -> _Answers:
        async def answer(request: Request) -> Response:
            try:
                return self._signed_in(request, await passkeys.session(request))
            except SouvenanceError as error:
                return self._sign_in_page(request, status_of(type(error)), error.detail)

        return answer

    def _signed_in(self, request: Request, secret: str) -> Response:
        answered = redirect("/")
        secure = self._secure(request)
        answered.set_cookie(
            _cookie(secure), secret, path="/", secure=secure, httponly=True, samesite="strict"
        )
        return answered

    def _sign_in_page(self, request: Request, code: int, trouble: str = "") -> Response:
        return shown("sign_in.html", code, trouble=trouble, offered=offered(request, self._public_url))

    async def _begun(self, request: Request, gate: Gate, threads: RequestThreads, link: str | None) -> str:
        """The secret of a new session, whatever cookie the browser brought. Raises: SouvenanceError."""
        fields: dict[str, str] = {}
        if request.method == "POST":
            same_site(request)
            body = (await body_of_anybody(request, _SIGN_IN_BYTES)).read()
            fields = dict(parse_qsl(body.decode("utf-8", "replace")))
        followed = link or fields.get("link")
        if followed is not None:
            secret = await threads.judge(gate, Credentials(None), lambda: self._sessions.follow(followed))
            if secret is None:
                raise Denied("this link was used before, or is too old: run `souvenance open` again")
            return secret
        token = fields.get("token", "").strip()
        return await threads.judge(gate, Credentials(token), lambda: self._sessions.begin(token))

    async def _sign_out(self, visit: Visit) -> Response:
        await visit.form()
        request = visit.request
        secure = self._secure(request)
        self._sessions.end(request.cookies[_cookie(secure)])
        answered = redirect("/")
        answered.delete_cookie(_cookie(secure), path="/", secure=secure, httponly=True, samesite="strict")
        return answered

    def _at(self, gate: Gate, threads: RequestThreads, page: _Page) -> _Answers:
        async def answer(request: Request) -> Response:
            secret = request.cookies.get(_cookie(self._secure(request)), "")
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
                return self._sign_in_page(request, 401, error.detail)
            except SouvenanceError as error:
                return visit.page("error.html", status_of(type(error)), error=error)

        return answer

    def _secure(self, request: Request) -> bool:
        return (self._public_url or str(request.url)).startswith("https://")


def _cookie(secure: bool) -> str:
    """Over TLS a browser takes a cookie of the second name from this very host alone."""
    return f"__Host-{_COOKIE}" if secure else _COOKIE
