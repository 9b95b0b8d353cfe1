"""The sign-in door: where people let programs in, and where those fetch what they were given."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from authlib.oauth2 import OAuth2Error
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from souvenance.errors import SouvenanceError
from souvenance.gate.gate import Gate
from souvenance.gate.oauth_state import OAuthState
from souvenance.surfaces.http.oauth import metadata
from souvenance.surfaces.http.oauth.authorization_server import OAuthServer, Polls, register
from souvenance.surfaces.http.oauth.consent import ConsentPages
from souvenance.surfaces.http.oauth.messages import OAuthRequest, answer, as_json, as_page, read
from souvenance.surfaces.http.openapi import Paths
from souvenance.surfaces.http.request_threads import RequestThreads, json_answer

_THREADS = 4
_TO_ANY_PAGE = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET",
    "access-control-allow-headers": "mcp-protocol-version",
}
"""Clients of MCP send that header with their first question, so that a browser asks before it does."""

Answers = Callable[[OAuthRequest], Response]


class SignInDoor:
    """`public_url` is the origin that this server is known by; without it, each request says so."""

    def __init__(self, state: OAuthState, public_url: str | None = None) -> None:
        self._state = state
        self._polls = Polls()
        self._public_url = public_url
        self._consent = ConsentPages(state)
        self._threads = ThreadPoolExecutor(_THREADS, "souvenance-signin")

    def routes(self, gate: Gate, threads: RequestThreads) -> Sequence[BaseRoute]:
        consent, page, api = self._consent, partial(self._at, as_page), partial(self._at, as_json)
        document = self._document
        of_mcp = partial(metadata.of_resource, path=metadata.MCP)
        of_api = partial(metadata.of_resource, path="")
        both, post, read = ["GET", "POST"], ["POST"], ["GET", "OPTIONS"]
        return [
            Route(metadata.AUTHORIZE, partial(page, consent.authorize), methods=both),
            Route(metadata.DEVICE_PAGE, partial(page, consent.device), methods=both),
            Route(metadata.SIGN_IN, partial(page, consent.sign_in), methods=both),
            Route(metadata.SIGN_OUT, partial(page, consent.sign_out), methods=both),
            Route(metadata.TOKEN, partial(api, self._token), methods=post),
            Route(metadata.REVOKE, partial(api, partial(self._endpoint, "revocation")), methods=post),
            Route(
                metadata.DEVICE_AUTHORIZATION,
                partial(api, partial(self._endpoint, "device_authorization")),
                methods=post,
            ),
            Route(metadata.REGISTER, partial(api, self._register), methods=post),
            Route(metadata.SERVER_METADATA, partial(document, metadata.of_server), methods=read),
            Route(metadata.RESOURCE_METADATA, partial(document, of_api), methods=read),
            Route(f"{metadata.RESOURCE_METADATA}{metadata.MCP}", partial(document, of_mcp), methods=read),
        ]

    def described(self) -> Paths:
        return metadata.DESCRIBED

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        yield
        self._threads.shutdown(wait=False)

    def _server(self, asked: OAuthRequest) -> OAuthServer:
        return OAuthServer(self._state, self._polls, asked.issuer)

    def _token(self, asked: OAuthRequest) -> Response:
        server = self._server(asked)
        server.check_resources(server.create_oauth2_request(asked))
        return answer(server.create_token_response(asked))

    def _endpoint(self, name: str, asked: OAuthRequest) -> Response:
        return answer(self._server(asked).create_endpoint_response(name, asked))

    def _register(self, asked: OAuthRequest) -> Response:
        return answer(register(self._state, asked))

    async def _document(self, document: Callable[[str], dict[str, Any]], request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=_TO_ANY_PAGE)
        asked = await read(request, self._public_url)
        return json_answer(200, document(asked.issuer), {"cache-control": "max-age=300", **_TO_ANY_PAGE})

    async def _at(
        self, refuse: Callable[[SouvenanceError | OAuth2Error], Response], answers: Answers, request: Request
    ) -> Response:
        try:
            asked = await read(request, self._public_url)
            return await asyncio.get_running_loop().run_in_executor(self._threads, answers, asked)
        except (SouvenanceError, OAuth2Error) as error:
            return refuse(error)
