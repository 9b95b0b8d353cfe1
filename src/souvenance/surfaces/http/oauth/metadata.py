"""What this server says of itself: authorization server (RFC 8414), resource (RFC 9728), and in OpenAPI."""

from __future__ import annotations

from typing import Any

from souvenance.domain.sign_ins import AUTH_METHODS, CODE_GRANT, DEVICE_GRANT, GRANTS, REFRESH_GRANT, SCOPES
from souvenance.surfaces.http.openapi import (
    JSON,
    NUMBER,
    TEXT,
    URL,
    Paths,
    Schema,
    a_list,
    an_object,
    answer,
    described,
    one_of,
)

AUTHORIZE = "/authorize"
TOKEN = "/oauth/token"  # noqa: S105 - a path
REGISTER = "/oauth/register"
REVOKE = "/oauth/revoke"
DEVICE_AUTHORIZATION = "/oauth/device"
DEVICE_PAGE = "/device"
SIGN_IN = "/signin"
SIGN_OUT = "/signout"
SERVER_METADATA = "/.well-known/oauth-authorization-server"
RESOURCE_METADATA = "/.well-known/oauth-protected-resource"
MCP = "/mcp"
DOCUMENTS = (SERVER_METADATA, RESOURCE_METADATA, f"{RESOURCE_METADATA}{MCP}")
"""What a program reads before it knows anything of us; one in a page of another site may, too."""


def of_server(issuer: str) -> dict[str, Any]:
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}{AUTHORIZE}",
        "token_endpoint": f"{issuer}{TOKEN}",
        "registration_endpoint": f"{issuer}{REGISTER}",
        "revocation_endpoint": f"{issuer}{REVOKE}",
        "device_authorization_endpoint": f"{issuer}{DEVICE_AUTHORIZATION}",
        "scopes_supported": SCOPES,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": GRANTS,
        "token_endpoint_auth_methods_supported": AUTH_METHODS,
        "revocation_endpoint_auth_methods_supported": AUTH_METHODS,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }


def of_resource(issuer: str, path: str) -> dict[str, Any]:
    return {
        "resource": f"{issuer}{path}",
        "resource_name": "Souvenance",
        "authorization_servers": [issuer],
        "scopes_supported": SCOPES,
        "bearer_methods_supported": ["header"],
    }


_FORM = "application/x-www-form-urlencoded"
_CLIENT = {"client_id": TEXT, "client_secret": TEXT}
_ERRORS = (
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "invalid_scope",
    "invalid_target",
    "unauthorized_client",
    "unsupported_grant_type",
    "unsupported_token_type",
    "access_denied",
    "authorization_pending",
    "slow_down",
    "expired_token",
    "insecure_transport",
    "invalid_client_metadata",
    "invalid_redirect_uri",
    "temporarily_unavailable",
    "server_error",
)
_ERROR = an_object({"error": one_of(*_ERRORS)}, error_description=TEXT, error_uri=TEXT)
_STATUSES = {
    "400": "Refused, in the words of OAuth",
    "401": "The client is not who it says",
    "408": "The body did not arrive in time",
    "413": "The request is too large",
    "429": "Too many strangers at once",
    "500": "Something stored can't be read",
    "503": "The store is out of reach, or the server is busy",
}
_REFUSED = {status: answer(told, _ERROR) for status, told in _STATUSES.items()}
_TOKEN = an_object(
    {"access_token": TEXT, "token_type": {"const": "Bearer"}, "expires_in": NUMBER, "scope": TEXT},
    refresh_token=TEXT,
    config=an_object({"peerName": TEXT, "workspace": TEXT}),
)
_METADATA = {
    "client_name": TEXT,
    "redirect_uris": a_list(URL),
    "grant_types": a_list(TEXT),
    "token_endpoint_auth_method": TEXT,
    "scope": TEXT,
}
_REGISTERED = an_object(
    {
        "client_id": TEXT,
        "client_id_issued_at": NUMBER,
        "client_name": TEXT,
        "grant_types": a_list(one_of(*GRANTS)),
        "response_types": a_list(one_of("code")),
        "token_endpoint_auth_method": one_of(*AUTH_METHODS),
    },
    client_secret=TEXT,
    client_secret_expires_at=NUMBER,
    redirect_uris=a_list(URL),
    scope=TEXT,
)
_DEVICE = an_object(
    {
        "device_code": TEXT,
        "user_code": TEXT,
        "verification_uri": URL,
        "verification_uri_complete": URL,
        "expires_in": NUMBER,
        "interval": NUMBER,
    }
)
_OF_SERVER = an_object(
    {
        name: URL if name == "issuer" or name.endswith("_endpoint") else {}
        for name in of_server("https://memory.example")
    }
)
_OF_RESOURCE = an_object(
    {
        "resource": URL,
        "resource_name": TEXT,
        "authorization_servers": a_list(URL),
        "scopes_supported": a_list(one_of(*SCOPES)),
        "bearer_methods_supported": a_list(TEXT),
    }
)


def _posted(name: str, summary: str, media: str, asked: Schema, told: Any, status: str = "200") -> Any:
    responses = {status: told, **_REFUSED}
    return {"post": described(name, summary, responses, body={media: {"schema": asked}}, needs_cap=False)}


def _grant(kind: str, *names: str, **optional: Schema) -> Schema:
    needed = {"grant_type": {"const": kind}, **dict.fromkeys(names, TEXT)}
    return an_object(needed, **_CLIENT, resource=URL, **optional)


def _read(name: str, summary: str, schema: Schema) -> Any:
    return {"get": described(name, summary, {"200": answer("The document", schema)}, needs_cap=False)}


DESCRIBED: Paths = {
    TOKEN: _posted(
        "oauth.token",
        "Tokens for a code, a refresh token or a device code",
        _FORM,
        {
            "oneOf": [
                _grant(CODE_GRANT, "code", "redirect_uri", "code_verifier"),
                _grant(REFRESH_GRANT, "refresh_token", scope=TEXT),
                _grant(DEVICE_GRANT, "device_code"),
            ]
        },
        answer("The tokens", _TOKEN),
    ),
    REVOKE: _posted(
        "oauth.revoke",
        "End the sign-in that a token is of",
        _FORM,
        an_object({"token": TEXT}, token_type_hint=TEXT, **_CLIENT),
        answer("It is over, if it ever was", {"type": "object"}),
    ),
    DEVICE_AUTHORIZATION: _posted(
        "oauth.device",
        "A device code, and the code for a person to type",
        _FORM,
        an_object({"client_id": TEXT}, client_secret=TEXT, scope=TEXT, resource=URL),
        answer("The codes", _DEVICE),
    ),
    REGISTER: _posted(
        "oauth.register",
        "Register a client",
        JSON,
        {"type": "object", "properties": _METADATA},
        answer("The client", _REGISTERED),
        "201",
    ),
    SERVER_METADATA: _read("oauth.server", "How programs are let in (RFC 8414)", _OF_SERVER),
    RESOURCE_METADATA: _read("oauth.resource", "Who gives tokens for this (RFC 9728)", _OF_RESOURCE),
    f"{RESOURCE_METADATA}{MCP}": _read(
        "oauth.resource.mcp", "Who gives tokens for MCP (RFC 9728)", _OF_RESOURCE
    ),
}
