"""The sign-in door: where people let programs in, and where those fetch what they were given."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Annotated, Any

import msgspec
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc7591 import (
    ClientRegistrationEndpoint,
    InvalidClientMetadataError,
    InvalidRedirectURIError,
)
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from souvenance.decoders import UNREADABLE, settled
from souvenance.domain.sign_ins import (
    AUTH_METHODS,
    CODE_GRANT,
    GRANTS,
    PUBLIC,
    SCOPES,
    Client,
    hash_of,
    may_redirect,
)
from souvenance.errors import SouvenanceError
from souvenance.gate.gate import Gate
from souvenance.gate.oauth_state import OAuthState
from souvenance.surfaces.http.oauth import description, metadata
from souvenance.surfaces.http.oauth.authorization_server import Answered, Authority, Polls
from souvenance.surfaces.http.oauth.consent import ConsentPages
from souvenance.surfaces.http.oauth.request import OAuthRequest, read
from souvenance.surfaces.http.oauth.responses import answer, as_json
from souvenance.surfaces.http.openapi_parts import Paths
from souvenance.surfaces.http.request_threads import RequestThreads, json_answer

_UNNAMED = "A program without a name"

_Told = dict[str, Any]


class _Wanted(Struct, frozen=True, omit_defaults=True):
    """What a client says of itself, as far as it matters here."""

    redirect_uris: Annotated[tuple[str, ...], Meta(max_length=10)] = ()
    token_endpoint_auth_method: str = "client_secret_basic"  # noqa: S105 - the name of a method
    grant_types: Annotated[tuple[str, ...], Meta(max_length=20)] = (CODE_GRANT,)
    client_name: Annotated[str, Meta(max_length=200)] = ""
    scope: Annotated[str, Meta(max_length=200)] = ""


def register(reception: OAuthState, asked: OAuthRequest) -> Answered:
    """Raises: SouvenanceError, OAuth2Error."""
    endpoint = _Registration(reception)
    answered: Answered = endpoint(_Registering(asked))
    return answered


class _Registering:
    """The request, as Authlib asks about it."""

    def __init__(self, asked: OAuthRequest) -> None:
        self.payload = self
        self.credential = None
        try:
            wanted = msgspec.json.decode(asked.body, type=settled(_Wanted))
        except UNREADABLE:
            raise InvalidClientMetadataError("The metadata can not be read.") from None
        self.data: _Told = {
            name: getattr(wanted, name) for name in wanted.__struct_fields__ if getattr(wanted, name)
        }


class _Registration(ClientRegistrationEndpoint):
    def __init__(self, reception: OAuthState) -> None:
        super().__init__()
        self._reception = reception

    def authenticate_token(self, request: _Registering) -> bool:
        return True

    def get_server_metadata(self) -> _Told:
        return {"scopes_supported": SCOPES, "token_endpoint_auth_methods_supported": AUTH_METHODS}

    def extract_client_metadata(self, request: _Registering) -> _Told:
        """What is registered: what was asked for, without what there is not here."""
        metadata: _Told = super().extract_client_metadata(request)
        redirects = metadata.get("redirect_uris", [])
        if not all(map(may_redirect, redirects)):
            raise InvalidRedirectURIError("It must be https, a loopback address or a scheme of your own.")
        grants = [grant for grant in metadata["grant_types"] if grant in GRANTS]
        if not grants or (CODE_GRANT in grants and not redirects):
            raise InvalidClientMetadataError("It needs a known grant type, and for codes a redirect.")
        return {
            **metadata,
            "client_name": metadata.get("client_name") or _UNNAMED,
            "grant_types": grants,
            "response_types": ["code"] if CODE_GRANT in grants else [],
        }

    def generate_client_info(self, request: _Registering) -> _Told:
        info: _Told = {
            "client_id": self._reception.secret(),
            "client_id_issued_at": self._reception.now() // 1000,
        }
        if request.data["token_endpoint_auth_method"] != PUBLIC:
            info |= {"client_secret": self._reception.secret(), "client_secret_expires_at": 0}
        return info

    def save_client(self, client_info: _Told, client_metadata: _Told, request: Any) -> Client:
        secret = client_info.get("client_secret")
        client = Client(
            id=client_info["client_id"],
            name=client_metadata["client_name"],
            redirects=tuple(client_metadata.get("redirect_uris", ())),
            grants=tuple(client_metadata["grant_types"]),
            auth=client_metadata["token_endpoint_auth_method"],
            secret=None if secret is None else hash_of(secret),
            created_at=self._reception.now(),
        )
        self._reception.register(client)
        return client


class Endpoints:
    def __init__(self, reception: OAuthState) -> None:
        self._reception = reception
        self._polls = Polls()

    def token(self, asked: OAuthRequest) -> Response:
        """Raises: SouvenanceError, OAuth2Error."""
        authority = self._authority(asked)
        authority.check_resources(authority.create_oauth2_request(asked))
        return answer(authority.create_token_response(asked))

    def revoke(self, asked: OAuthRequest) -> Response:
        """Raises: SouvenanceError, OAuth2Error."""
        return answer(self._authority(asked).create_endpoint_response("revocation", asked))

    def device(self, asked: OAuthRequest) -> Response:
        """Raises: SouvenanceError, OAuth2Error."""
        return answer(self._authority(asked).create_endpoint_response("device_authorization", asked))

    def register(self, asked: OAuthRequest) -> Response:
        """Raises: SouvenanceError, OAuth2Error."""
        return answer(register(self._reception, asked))

    def refuse(self, error: Exception) -> Response:
        return as_json(error)

    def _authority(self, asked: OAuthRequest) -> Authority:
        return Authority(self._reception, self._polls, asked.issuer)


_THREADS = 4
_TO_ANY_PAGE = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET",
    "access-control-allow-headers": "mcp-protocol-version",
}
"""Clients of MCP send that header with their first question, so that a browser asks before it does."""

Answers = Callable[[OAuthRequest], Response]


class SignInDoor:
    """`public_url` is the origin that this server is known by; without it, whatever each request calls it."""

    def __init__(self, reception: OAuthState, public_url: str | None = None) -> None:
        self._public_url = public_url
        self._consent = ConsentPages(reception)
        self._endpoints = Endpoints(reception)
        self._threads = ThreadPoolExecutor(_THREADS, "souvenance-signin")

    def routes(self, gate: Gate, hands: RequestThreads) -> Sequence[BaseRoute]:
        consent, endpoints = self._consent, self._endpoints
        page = partial(self._at, consent.refuse)
        api = partial(self._at, endpoints.refuse)
        return [
            Route(metadata.AUTHORIZE, page(consent.authorize), methods=["GET", "POST"]),
            Route(metadata.DEVICE_PAGE, page(consent.device), methods=["GET", "POST"]),
            Route(metadata.SIGN_IN, page(consent.sign_in), methods=["GET", "POST"]),
            Route(metadata.SIGN_OUT, page(consent.sign_out), methods=["GET", "POST"]),
            Route(metadata.TOKEN, api(endpoints.token), methods=["POST"]),
            Route(metadata.REVOKE, api(endpoints.revoke), methods=["POST"]),
            Route(metadata.DEVICE_AUTHORIZATION, api(endpoints.device), methods=["POST"]),
            Route(metadata.REGISTER, api(endpoints.register, form=False), methods=["POST"]),
            self._document(metadata.SERVER_METADATA, metadata.of_server),
            *(
                self._document(
                    f"{metadata.RESOURCE_METADATA}{path}", partial(metadata.of_resource, path=path)
                )
                for path in ("", metadata.MCP)
            ),
        ]

    def described(self) -> Paths:
        return description.PATHS

    def open(self) -> AbstractAsyncContextManager[None]:
        @asynccontextmanager
        async def held() -> AsyncIterator[None]:
            yield
            self._threads.shutdown(wait=False)

        return held()

    def _document(self, path: str, told: Callable[[str], dict[str, Any]]) -> Route:
        async def answer(request: Request) -> Response:
            if request.method == "OPTIONS":
                return Response(status_code=204, headers=_TO_ANY_PAGE)
            asked = await read(request, self._public_url)
            return json_answer(200, told(asked.issuer), {"cache-control": "max-age=300", **_TO_ANY_PAGE})

        return Route(path, answer, methods=["GET", "OPTIONS"])

    def _at(
        self, refuse: Callable[[Exception], Response], answers: Answers, *, form: bool = True
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                asked = await read(request, self._public_url, form=form)
                return await asyncio.get_running_loop().run_in_executor(self._threads, answers, asked)
            except (SouvenanceError, OAuth2Error) as error:
                return refuse(error)

        return answer
