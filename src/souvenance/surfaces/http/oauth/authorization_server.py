"""The authorization server: Authlib's rules of OAuth, over `gate.oauth_state`.

It is made anew for each request, as the URL that this server is known by may differ. Everything that changes
anything happens in one step of `OAuthState`, when all of Authlib's checks have passed.
"""

from __future__ import annotations

import base64
import hmac
import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from authlib.common.urls import is_valid_url
from authlib.consts import default_json_headers
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.base import invalid_error_characters
from authlib.oauth2.rfc6749 import AuthorizationServer, ClientMixin, OAuth2Request
from authlib.oauth2.rfc6749.errors import (
    AccessDeniedError,
    InvalidClientError,
    InvalidGrantError,
    InvalidRequestError,
    UnauthorizedClientError,
)
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7591 import InvalidClientMetadataError, InvalidRedirectURIError
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import (
    AuthorizationPendingError,
    DeviceAuthorizationEndpoint,
    DeviceCodeGrant,
    ExpiredTokenError,
    SlowDownError,
)
from msgspec import Meta, Struct

from souvenance.decoders import decoded, settled
from souvenance.domain import sign_ins
from souvenance.gate.oauth_state import OAuthState
from souvenance.gate.sign_ins import Allow, Chosen
from souvenance.surfaces.http.oauth.messages import Answered, OAuthRequest

POLL_SECONDS = 5
_MOST_POLLS = 1000
_TOLD_BACK = ("client_id", "redirect_uri", "response_type", "grant_type", "scope")

logging.getLogger("authlib").setLevel(logging.INFO)  # At DEBUG it writes tokens to the log.


class CodeContent(Struct, frozen=True):
    """What a code stands for, besides the sign-in."""

    redirect_uri: str
    challenge: str
    scope: str


class Approval(Struct, frozen=True):
    """What a person decided, and the cap that they decide with."""

    token: str
    request: str
    chosen: Chosen


class InvalidTargetError(OAuth2Error):
    error = "invalid_target"
    description = "The resource is not this server."


class RegisteredClient(ClientMixin):
    """A client, as Authlib asks about it."""

    def __init__(self, client: sign_ins.Client) -> None:
        self.client = client
        self.client_id = client.id

    def get_client_id(self) -> str:
        return self.client.id

    def get_default_redirect_uri(self) -> str | None:
        return None

    def get_allowed_scope(self, scope: str | None) -> str:
        return scope or ""

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return any(sign_ins.redirect_matches(known, redirect_uri) for known in self.client.redirects)

    def check_client_secret(self, client_secret: str) -> bool:
        return hmac.compare_digest(self.client.secret or b"", sign_ins.hash_of(client_secret))

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == self.client.auth

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code" and AuthorizationCodeGrant.GRANT_TYPE in self.client.grants

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.client.grants


class HeldSlip:
    """A slip that a client came with, as Authlib asks about it."""

    code_challenge_method = "S256"

    def __init__(self, slip: sign_ins.Slip) -> None:
        self.slip = slip
        if slip.kind == sign_ins.CODE:
            sent = msgspec.json.decode(slip.content, type=settled(CodeContent))
        else:
            sent = CodeContent(redirect_uri="", challenge="", scope=slip.content.decode())
        self.scope, self.code_challenge, self._redirect_uri = sent.scope, sent.challenge, sent.redirect_uri

    def get_redirect_uri(self) -> str:
        return self._redirect_uri

    def get_scope(self) -> str:
        """What a client may ask for again. One that may write may also ask for less."""
        return f"{sign_ins.READ} {sign_ins.WRITE}" if sign_ins.WRITE in self.scope.split() else self.scope

    def check_client(self, client: RegisteredClient) -> bool:
        return self.slip.client == client.client_id

    def get_client_id(self) -> str:
        return self.slip.client


class Polls:
    """When each device last came to see whether somebody let it in, in this process."""

    def __init__(self) -> None:
        self._last: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    def too_soon(self, hashed: bytes, now: int) -> bool:
        with self._lock:
            last = self._last.pop(hashed, None)
            self._last[hashed] = now
            if len(self._last) > _MOST_POLLS:
                self._last.popitem(last=False)
        return last is not None and now - last < POLL_SECONDS * 1000


class _Request(OAuth2Request):
    def __init__(self, asked: OAuthRequest, uri: str) -> None:
        super().__init__(asked.method, uri, headers=asked.headers)
        self.payload = BasicOAuth2Payload(dict(asked.fields))
        self.resources = asked.every("resource")

    @property
    def args(self) -> Mapping[str, str]:
        return self.form

    @property
    def form(self) -> Mapping[str, str]:
        data: Mapping[str, str] = self.payload.data
        return data


class _S256(CodeChallenge):
    """PKCE by S256, which every client needs, and nothing weaker."""

    DEFAULT_CODE_CHALLENGE_METHOD = "S256"
    SUPPORTED_CODE_CHALLENGE_METHOD = ("S256",)

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        data = grant.request.payload.data
        if not data.get("code_challenge"):
            raise InvalidRequestError("Missing 'code_challenge'")
        if data.get("code_challenge_method") != "S256":
            raise InvalidRequestError("Unsupported 'code_challenge_method': it must be S256")
        super().validate_code_challenge(grant, redirect_uri)
        grant.server.check_resources(grant.request)

    def validate_code_verifier(self, grant: Any, result: Any) -> None:
        if not grant.request.form.get("code_verifier"):
            raise InvalidRequestError("Missing 'code_verifier'")
        super().validate_code_verifier(grant, result)


class _CodeGrant(AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = sign_ins.AUTH_METHODS

    def save_authorization_code(self, code: str, request: _Request) -> None:
        approval: Approval = request.user
        sent = CodeContent(
            redirect_uri=request.payload.redirect_uri,
            challenge=request.payload.data["code_challenge"],
            scope=granted(request.payload.scope or "", approval.chosen.access),
        )
        allowed = Allow(
            client=request.client.client_id,
            request=sign_ins.hash_of(approval.request),
            kind=sign_ins.CODE,
            slip=sign_ins.hash_of(code),
            content=msgspec.json.encode(sent),
            chosen=approval.chosen,
        )
        self.server.state.allow(approval.token, allowed)

    def query_authorization_code(self, code: str, client: RegisteredClient) -> HeldSlip | None:
        held: HeldSlip | None = self.server.held(sign_ins.CODE, code)
        return held if held is not None and held.check_client(client) else None

    def authenticate_user(self, authorization_code: HeldSlip) -> HeldSlip:
        return authorization_code

    def delete_authorization_code(self, authorization_code: HeldSlip) -> None:
        """It is spent already, together with the making of the token."""


class _RefreshGrant(RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = sign_ins.AUTH_METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> HeldSlip | None:
        held: HeldSlip | None = self.server.held(sign_ins.REFRESH, refresh_token)
        return held

    def authenticate_user(self, refresh_token: HeldSlip) -> HeldSlip:
        return refresh_token

    def revoke_old_credential(self, refresh_token: HeldSlip) -> None:
        """It is spent already, together with the making of the token."""


class _DeviceGrant(DeviceCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = sign_ins.AUTH_METHODS

    def query_device_credential(self, device_code: str) -> HeldSlip:
        held: HeldSlip | None = self.server.held(sign_ins.DEVICE, device_code)
        if held is None:
            raise InvalidGrantError("Invalid 'device_code' in request.")
        return held

    def validate_device_credential(self, credential: HeldSlip) -> HeldSlip:
        slip, now = credential.slip, self.server.state.now()
        if slip.until <= now:
            raise ExpiredTokenError()
        if slip.signin is not None:
            return credential
        if slip.spent_at is not None:
            raise AccessDeniedError()
        if self.server.polls.too_soon(slip.hash, now):
            raise SlowDownError()
        raise AuthorizationPendingError()


class _DeviceEndpoint(DeviceAuthorizationEndpoint):
    CLIENT_AUTH_METHODS = sign_ins.AUTH_METHODS
    EXPIRES_IN = sign_ins.DEVICE_MS // 1000
    INTERVAL = POLL_SECONDS

    def authenticate_client(self, request: _Request) -> RegisteredClient:
        client: RegisteredClient = super().authenticate_client(request)
        if not client.check_grant_type(DeviceCodeGrant.GRANT_TYPE):
            raise UnauthorizedClientError("The client did not register for device codes.")
        self.server.check_resources(request)
        return client

    def get_verification_uri(self) -> str:
        return f"{self.server.issuer}/device"

    def save_device_credential(self, client_id: str, scope: str | None, data: Mapping[str, str]) -> None:
        self.server.state.wait(client_id, data["device_code"], data["user_code"], (scope or "").encode())


class _Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = sign_ins.AUTH_METHODS

    def authenticate_token(self, request: _Request, client: RegisteredClient) -> str:
        self.check_params(request, client)
        return request.form["token"]

    def revoke_token(self, token: str, request: _Request) -> None:
        if not self.server.state.end(request.client.client_id, token):
            raise InvalidGrantError("The token is another client's.")


class OAuthServer(AuthorizationServer):
    """Raises SouvenanceError besides its own errors, where `OAuthState` does."""

    def __init__(self, state: OAuthState, polls: Polls, issuer: str) -> None:
        super().__init__(scopes_supported=list(sign_ins.SCOPES))
        self.state = state
        self.polls = polls
        self.issuer = issuer
        self.register_grant(_CodeGrant, [_S256()])
        self.register_grant(_RefreshGrant)
        self.register_grant(_DeviceGrant)
        self.register_endpoint(_DeviceEndpoint)
        self.register_endpoint(_Revocation)

    def held(self, kind: str, secret: str) -> HeldSlip | None:
        slip = self.state.slip(kind, secret)
        if slip is None or (slip.signin is None and kind != sign_ins.DEVICE):
            return None
        return HeldSlip(slip)

    def check_resources(self, request: _Request) -> None:
        """Raises: InvalidTargetError."""
        if not all(sign_ins.is_target(resource, self.issuer) for resource in request.resources):
            raise InvalidTargetError()

    def get_authorization_grant(self, request: _Request) -> Any:
        """Raises: OAuth2Error."""
        if self.query_client(request.payload.client_id or "") is None:
            raise InvalidClientError("No program of that name is known here.")
        return super().get_authorization_grant(request)

    def query_client(self, client_id: str) -> RegisteredClient | None:
        client = self.state.client(client_id)
        return None if client is None else RegisteredClient(client)

    def generate_token(
        self,
        grant_type: str,
        client: RegisteredClient,
        user: HeldSlip | None = None,
        scope: str | None = None,
        expires_in: int | None = None,
        include_refresh_token: bool = True,
    ) -> dict[str, Any]:
        """The token's answer; the slip that the client came with is spent by it. Raises: OAuth2Error."""
        if user is None:
            raise InvalidGrantError()
        granted_scope = scope if scope and scope != user.get_scope() else user.scope
        access: sign_ins.Access = "write" if sign_ins.WRITE in granted_scope.split() else "read"
        tokens = self.state.redeem(user.slip, access, user.scope.encode(), again=include_refresh_token)
        if tokens is None:
            raise InvalidGrantError("It has expired, was withdrawn or was used before.")
        answer: dict[str, Any] = {
            "access_token": tokens.access_token,
            "token_type": "Bearer",
            "expires_in": tokens.expires_in,
            "scope": granted_scope,
        }
        if tokens.refresh_token is not None:
            answer["refresh_token"] = tokens.refresh_token
        if user.slip.kind != sign_ins.REFRESH:
            answer["config"] = {"peerName": tokens.signin.peer, "workspace": tokens.signin.workspace}
        return answer

    def save_token(self, token: Mapping[str, Any], request: _Request) -> None:
        """Nothing of an access token is kept: it is a cap."""

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Nobody listens."""

    def create_oauth2_request(self, request: OAuthRequest | _Request) -> _Request:
        if isinstance(request, _Request):
            return request
        for name in _TOLD_BACK:
            if invalid_error_characters(request.get(name)):
                raise InvalidRequestError(f"'{name}' holds a character that it may not.")
        _check_credentials(request.headers.get("authorization"))
        return _Request(request, f"{self.issuer}{request.path}")

    def handle_response(self, status: int, body: Any, headers: list[tuple[str, str]]) -> Answered:
        return status, body, headers


def _check_credentials(header: str | None) -> None:
    """Raises: InvalidClientError for what Authlib would stumble over."""
    if header is None:
        return
    try:
        scheme, credentials = header.split(None, 1)
        if scheme.lower() == "basic":
            base64.b64decode(credentials).decode()
    except ValueError:
        raise InvalidClientError("The credentials can not be read.", status_code=401) from None


def granted(asked: str, access: str) -> str:
    """What a token's scope is said to be, after what the client asked for and what it was allowed."""
    if access != sign_ins.WRITE:
        return sign_ins.READ
    return asked if sign_ins.WRITE in asked.split() else f"{sign_ins.READ} {sign_ins.WRITE}"


_UNNAMED = "A program without a name"


class _Wanted(Struct, frozen=True):
    """What a client says of itself, as far as it matters here (RFC 7591)."""

    redirect_uris: Annotated[tuple[str, ...], Meta(max_length=10)] = ()
    token_endpoint_auth_method: str = "client_secret_basic"  # noqa: S105 - the name of a method
    grant_types: Annotated[tuple[str, ...], Meta(max_length=20)] = (sign_ins.CODE_GRANT,)
    client_name: Annotated[str, Meta(max_length=200)] = ""
    scope: Annotated[str, Meta(max_length=200)] = ""


def register(state: OAuthState, asked: OAuthRequest) -> Answered:
    """The client, registered with what it asks for, without what there is not here.

    Raises: SouvenanceError, OAuth2Error.
    """
    wanted = decoded(asked.body, _Wanted, InvalidClientMetadataError("The metadata can not be read."))
    redirects, method = wanted.redirect_uris, wanted.token_endpoint_auth_method
    if not all(sign_ins.may_redirect(uri) and is_valid_url(uri) for uri in redirects):
        raise InvalidRedirectURIError("It must be https, a loopback address or a scheme of your own.")
    grants = tuple(grant for grant in wanted.grant_types if grant in sign_ins.GRANTS)
    if not grants or (sign_ins.CODE_GRANT in grants and not redirects):
        raise InvalidClientMetadataError("It needs a known grant type, and for codes a redirect.")
    if method not in sign_ins.AUTH_METHODS or not set(wanted.scope.split()) <= set(sign_ins.SCOPES):
        raise InvalidClientMetadataError("Its authentication method and scope must be ones of this server.")
    secret = None if method == sign_ins.PUBLIC else state.secret()
    client = sign_ins.Client(
        id=state.secret(),
        name=wanted.client_name or _UNNAMED,
        redirects=redirects,
        grants=grants,
        auth=method,
        secret=None if secret is None else sign_ins.hash_of(secret),
        created_at=state.now(),
    )
    state.register(client)
    told = {
        **({"redirect_uris": redirects} if redirects else {}),
        **({"scope": wanted.scope} if wanted.scope else {}),
        **({} if secret is None else {"client_secret": secret, "client_secret_expires_at": 0}),
        "token_endpoint_auth_method": method,
        "grant_types": grants,
        "response_types": ["code"] if sign_ins.CODE_GRANT in grants else [],
        "client_name": client.name,
        "client_id": client.id,
        "client_id_issued_at": client.created_at // 1000,
    }
    return 201, told, default_json_headers
