"""The server that signs people in: where it is asked, and what it answers."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.decoders import settled
from souvenance.errors import Misconfigured, ServerUnreachable, SignInFailed, Unsupported
from souvenance.version import __version__

if TYPE_CHECKING:
    import httpx

_TIMEOUT = 15.0

_MOST_BYTES = 256 * 1024
_MOST_CHARS = 200
_HEADERS = {
    "accept": "application/json",
    "accept-encoding": "identity",
    "user-agent": f"souvenance/{__version__}",
}


class Unheard(ServerUnreachable):
    """The server was asked, and no answer came that can be read: what was asked may have been done."""


class SignInRefused(Exception):
    """The server understood, and said no, with a word of the protocol."""

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
    """What was chosen where the sign-in was allowed, if the server says."""


class _Refusal(Struct, frozen=True):
    error: str
    error_description: str = ""


def issued(endpoint: str, form: Mapping[str, str]) -> Issued:
    """What the token endpoint gives for that. Raises: Refused; ServerUnreachable, Unheard among it."""
    status, content = post(endpoint, form)
    try:
        told = msgspec.json.decode(content, type=settled(Issued), strict=False)
    except (msgspec.MsgspecError, ValueError):
        told = None
    usable = told is not None and told.access_token and told.token_type.lower() == "bearer"
    if status != 200 or told is None or not usable:
        raise Unheard(f"{plain_url(endpoint)} answered with nothing that can be used as a token")
    return told


def post(endpoint: str, form: Mapping[str, str]) -> tuple[int, bytes]:
    """Send a form. Raises: Refused; ServerUnreachable, Unheard among it."""
    return _asked("POST", endpoint, form)


def get_json(url: str) -> Any:
    """The JSON object that is there; None if there is none. Raises: ServerUnreachable."""
    try:
        status, content = _asked("GET", url)
        told = msgspec.json.decode(content) if status == 200 else None
    except (SignInRefused, msgspec.MsgspecError, ValueError):
        return None
    return told if isinstance(told, dict) else None


def plain_url(url: str) -> str:
    """Where a URL leads, without what it may hide."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def on_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _asked(method: str, url: str, form: Mapping[str, str] | None = None) -> tuple[int, bytes]:
    import httpx

    # What is for this machine is nothing for the environment's proxy to see; who vouches for a server
    # without TLS is not read, for that takes longer than the request.
    trusting = not on_this_machine(url)
    verify = True if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    end = time.monotonic() + _TIMEOUT
    try:
        with (
            httpx.Client(trust_env=trusting, verify=verify, timeout=_TIMEOUT, headers=_HEADERS) as client,
            client.stream(method, url, data=form) as answer,
        ):
            return answer.status_code, _read(answer, end, url)
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError, httpx.UnsupportedProtocol) as error:
        raise ServerUnreachable(f"no answer from {plain_url(url)}: {error}") from error
    except (httpx.InvalidURL, ValueError, ImportError, OSError) as error:
        raise ServerUnreachable(f"{plain_url(url)} can't be asked: {error}", hint="") from error
    except httpx.HTTPError as error:
        told = str(error) or type(error).__name__
        raise Unheard(f"no answer from {plain_url(url)}: {told}", hint="") from error


def _read(answer: httpx.Response, end: float, url: str) -> bytes:
    """The body of an answer that is not a refusal."""
    chunks: list[bytes] = []
    size = 0
    for chunk in answer.iter_raw():
        size += len(chunk)
        if size > _MOST_BYTES or time.monotonic() > end:
            raise Unheard(f"{plain_url(url)} does not come to an end", hint="")
        chunks.append(chunk)
    content = b"".join(chunks)
    if answer.status_code >= 500:
        raise Unheard(f"{plain_url(url)} answered {answer.status_code}", hint="")
    if answer.status_code >= 400:
        raise _refused(answer.status_code, content)
    return content


def _refused(status: int, content: bytes) -> SignInRefused:
    try:
        told = msgspec.json.decode(content, type=settled(_Refusal))
    except (msgspec.MsgspecError, ValueError):
        return SignInRefused(f"http_{status}")
    return SignInRefused(_printable(told.error), _printable(told.error_description))


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else "?" for one in text[:_MOST_CHARS])


CLIENT = "hermes-agent"
"""One for every surface, so that there is one grant to renew."""
SCOPE = "write"

_PREFIX = "HONCHO_OAUTH_"
_WELL_KNOWN = "/.well-known/oauth-authorization-server"


class SignInEndpoints(Struct, frozen=True, kw_only=True):
    authorize: str
    token: str
    device: str = ""
    """Empty where there is no sign-in by a code."""
    revoke: str = ""
    issuer: str = ""
    """Who answers, where that is known."""
    names_itself: bool = False
    """Whether every answer in a browser says who it is of."""
    client: str = CLIENT
    scope: str = SCOPE


_KNOWN = {
    "https://api.honcho.dev": SignInEndpoints(
        authorize="https://app.honcho.dev/authorize",
        token="https://api.honcho.dev/oauth/token",  # noqa: S106 - where tokens are given, and none
    ),
    "http://localhost:8000": SignInEndpoints(
        authorize="http://localhost:3000/authorize",
        token="http://localhost:8000/oauth/token",  # noqa: S106 - where tokens are given, and none
    ),
}
"""The places of Honcho's cloud, and of one that is developed on this machine."""


def endpoints_of(
    url: str, environment: Mapping[str, str], found: Callable[[str], Any] = get_json
) -> SignInEndpoints:
    """The endpoints of the server with that URL; `found` gets a JSON object from the web.

    Raises: Unsupported if it does not sign anybody in; SignInFailed if what it says is not to be relied on;
    Misconfigured if the environment spoils it; ServerUnreachable.
    """
    said = {name: environment.get(f"{_PREFIX}{name}", "").strip() for name in ("AUTHORIZE_URL", "TOKEN_URL")}
    if dashboard := environment.get(f"{_PREFIX}DASHBOARD", "").strip():
        said["AUTHORIZE_URL"] = said["AUTHORIZE_URL"] or f"{dashboard.rstrip('/')}/authorize"
    if all(said.values()):
        endpoints = SignInEndpoints(authorize=said["AUTHORIZE_URL"], token=said["TOKEN_URL"])
    else:
        endpoints = _found(url.rstrip("/"), found)
    if any(said.values()):
        # Whose answers are to come from elsewhere can't be asked to name itself.
        endpoints = replace(
            endpoints,
            authorize=said["AUTHORIZE_URL"] or endpoints.authorize,
            token=said["TOKEN_URL"] or endpoints.token,
            issuer="",
            names_itself=False,
        )
        for name, value in said.items():
            if value and not _is_address(value):
                raise Misconfigured(f"{_PREFIX}{name} must be an http or https address", hint="")
    return replace(
        endpoints,
        client=environment.get(f"{_PREFIX}CLIENT_ID", "").strip() or endpoints.client,
        scope=environment.get(f"{_PREFIX}SCOPE", "").strip() or endpoints.scope,
    )


def _found(url: str, found: Callable[[str], Any]) -> SignInEndpoints:
    if url in _KNOWN:
        return _KNOWN[url]
    parts = urlsplit(url)
    told = found(urlunsplit((parts.scheme, parts.netloc, f"{_WELL_KNOWN}{parts.path}", "", "")))
    if told is None:
        raise Unsupported(
            f"{plain_url(url)} does not say where to sign in",
            hint=f"Use a key, or name the places in {_PREFIX}AUTHORIZE_URL and {_PREFIX}TOKEN_URL.",
        )
    return _checked(url, told)


def _checked(url: str, told: Mapping[str, Any]) -> SignInEndpoints:
    """What metadata says, if it is the server's own and no endpoint is less safe than the server itself."""
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
        raise Unsupported(f"{plain_url(url)} signs nobody in with PKCE S256", hint="Use a key.")
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
