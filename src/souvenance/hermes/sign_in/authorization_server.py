"""The authorization server: its endpoints, and requests to it."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Struct

from souvenance.decoders import UNREADABLE, settled
from souvenance.errors import ServerUnreachable, SignInFailed, Unsupported
from souvenance.version import __version__

if TYPE_CHECKING:
    import httpx

CLIENT = "hermes-agent"
"""One client id for every surface, so that there is one grant to renew."""
SCOPE = "write"

_TIMEOUT = 15.0
_MOST_CHARS = 200
_HEADERS = {"accept": "application/json", "user-agent": f"souvenance/{__version__}"}
_WELL_KNOWN = "/.well-known/oauth-authorization-server"


class SignInRefused(Exception):
    """The server refused, with an error code of OAuth."""

    def __init__(self, error: str, description: str = "") -> None:
        super().__init__(f"{error}: {description}" if description else error)
        self.error = error


class Issued(Struct, frozen=True):
    """What a token endpoint gives."""

    access_token: str
    refresh_token: str = ""
    expires_in: float = 3600
    scope: str = ""
    token_type: str = "Bearer"  # noqa: S105 - a kind of tokens
    config: Any = None
    """What the person chose on the consent page, if the server says."""


class _Refusal(Struct, frozen=True):
    error: str
    error_description: str = ""


def issued(endpoint: str, form: Mapping[str, str]) -> Issued:
    """What the token endpoint gives. Raises: SignInRefused; ServerUnreachable."""
    answer = post(endpoint, form)
    try:
        told = msgspec.json.decode(answer.content, type=settled(Issued), strict=False)
    except UNREADABLE:
        told = None
    if answer.status_code != 200 or not (told and told.access_token and told.token_type.lower() == "bearer"):
        raise ServerUnreachable(f"{plain_url(endpoint)} gave no token that can be used")
    return told


def post(endpoint: str, form: Mapping[str, str]) -> httpx.Response:
    """Send a form. Raises: SignInRefused; ServerUnreachable."""
    return _send("POST", endpoint, form)


def get_json(url: str) -> Any:
    """The JSON object at that URL; None if there is none. Raises: ServerUnreachable."""
    try:
        answer = _send("GET", url)
        told = msgspec.json.decode(answer.content) if answer.status_code == 200 else None
    except (SignInRefused, *UNREADABLE):
        return None
    return told if isinstance(told, dict) else None


def plain_url(url: str) -> str:
    """The URL without user, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _on_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _send(method: str, url: str, form: Mapping[str, str] | None = None) -> httpx.Response:
    """Raises: SignInRefused; ServerUnreachable."""
    import httpx

    # A request to this machine takes no proxy. Without TLS no certificates are loaded, which is slow.
    proxied = not _on_this_machine(url)
    verify = True if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        with httpx.Client(trust_env=proxied, verify=verify, timeout=_TIMEOUT, headers=_HEADERS) as client:
            answer = client.request(method, url, data=form)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError, OSError) as error:
        why = str(error) or type(error).__name__
        raise ServerUnreachable(f"no answer from {plain_url(url)}: {why}") from error
    if answer.status_code >= 500:
        raise ServerUnreachable(f"{plain_url(url)} answered {answer.status_code}", hint="")
    if answer.status_code >= 400:
        raise _refusal(answer)
    return answer


def _refusal(answer: httpx.Response) -> SignInRefused:
    try:
        told = msgspec.json.decode(answer.content, type=settled(_Refusal))
    except UNREADABLE:
        return SignInRefused(f"http_{answer.status_code}")
    return SignInRefused(printable(told.error), printable(told.error_description))


def printable(text: str) -> str:
    return "".join(one if one.isprintable() else "?" for one in text[:_MOST_CHARS])


class SignInEndpoints(Struct, frozen=True, kw_only=True):
    authorize: str
    token: str
    device: str = ""
    """Empty if the server has no sign-in by a code."""
    revoke: str = ""
    issuer: str = ""
    names_itself: bool = False
    """Whether every answer in a browser carries `iss`."""


_KNOWN = {
    "https://api.honcho.dev": SignInEndpoints(
        authorize="https://app.honcho.dev/authorize",
        token="https://api.honcho.dev/oauth/token",  # noqa: S106 - where tokens are given, and none
    ),
}
"""Honcho's cloud has no metadata."""


def endpoints_of(url: str, found: Callable[[str], Any] = get_json) -> SignInEndpoints:
    """The endpoints of the server with that URL; `found` gets a JSON object from the web.

    Raises: Unsupported if the server has no sign-in; SignInFailed if its metadata can't be trusted;
    ServerUnreachable.
    """
    url = url.rstrip("/")
    if url in _KNOWN:
        return _KNOWN[url]
    parts = urlsplit(url)
    told = found(urlunsplit((parts.scheme, parts.netloc, f"{_WELL_KNOWN}{parts.path}", "", "")))
    if told is None:
        raise Unsupported(f"{plain_url(url)} does not say where to sign in", hint="Use a key.")
    return _checked(url, told)


def _checked(url: str, told: Mapping[str, Any]) -> SignInEndpoints:
    """The endpoints in the metadata, if it is the server's own and each is as safe as the server."""
    issuer = told.get("issuer")
    if not isinstance(issuer, str) or issuer.rstrip("/") != url:
        named = f"calls itself {plain_url(issuer)}" if isinstance(issuer, str) else "does not say who it is"
        hint = f"If you trust it: --url {plain_url(issuer)}" if isinstance(issuer, str) else ""
        raise SignInFailed(f"{plain_url(url)} {named}", hint=hint)

    def endpoint(name: str) -> str:
        value = told.get(name, "")
        safe = isinstance(value, str) and (not value or _is_address(value))
        if not safe or (value and url.startswith("https:") and not value.startswith("https:")):
            raise SignInFailed(f"the {name} of {plain_url(url)} can't be used")
        return str(value)

    challenges = told.get("code_challenge_methods_supported")
    if isinstance(challenges, list) and "S256" not in challenges:
        raise Unsupported(f"{plain_url(url)} does not support PKCE with S256", hint="Use a key.")
    endpoints = SignInEndpoints(
        authorize=endpoint("authorization_endpoint"),
        token=endpoint("token_endpoint"),
        device=endpoint("device_authorization_endpoint"),
        revoke=endpoint("revocation_endpoint"),
        issuer=issuer,
        names_itself=told.get("authorization_response_iss_parameter_supported") is True,
    )
    if not endpoints.authorize or not endpoints.token:
        raise SignInFailed(f"{plain_url(url)} does not say where to sign in")
    return endpoints


def _is_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and value.isprintable()
    except ValueError:
        return False
