"""Where a server signs people in: by what it says of itself, Honcho's known places, and the environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct
from msgspec.structs import replace

from souvenance.errors import Misconfigured, SignInFailed, Unsupported
from souvenance.hermes.sign_in import wire

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
    url: str, environment: Mapping[str, str], found: Callable[[str], Any] = wire.found
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
            f"{wire.place(url)} does not say where to sign in",
            hint=f"Use a key, or name the places in {_PREFIX}AUTHORIZE_URL and {_PREFIX}TOKEN_URL.",
        )
    return _checked(url, told)


def _checked(url: str, told: Mapping[str, Any]) -> SignInEndpoints:
    """What metadata says, if it is the server's own and no endpoint is less safe than the server itself."""
    issuer = told.get("issuer")
    if not isinstance(issuer, str) or issuer.rstrip("/") != url:
        named = f"calls itself {wire.place(issuer)}" if isinstance(issuer, str) else "does not say who it is"
        hint = f"If you trust it: --url {wire.place(issuer)}" if isinstance(issuer, str) else ""
        raise SignInFailed(f"{wire.place(url)} {named}", hint=hint)

    def endpoint(name: str) -> str:
        value = told.get(name, "")
        safe = isinstance(value, str) and (not value or _is_address(value))
        if not safe or (value and url.startswith("https:") and not value.startswith("https:")):
            raise SignInFailed(f"the {name} of {wire.place(url)} can't be used")
        return str(value)

    challenges = told.get("code_challenge_methods_supported")
    if isinstance(challenges, list) and "S256" not in challenges:
        raise Unsupported(f"{wire.place(url)} signs nobody in with PKCE S256", hint="Use a key.")
    endpoints = SignInEndpoints(
        authorize=endpoint("authorization_endpoint"),
        token=endpoint("token_endpoint"),
        device=endpoint("device_authorization_endpoint"),
        revoke=endpoint("revocation_endpoint"),
        issuer=issuer,
        names_itself=told.get("authorization_response_iss_parameter_supported") is True,
    )
    if not endpoints.authorize or not endpoints.token:
        raise SignInFailed(f"{wire.place(url)} does not say where to sign in")
    return endpoints


def _is_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and value.isprintable()
    except ValueError:
        return False
