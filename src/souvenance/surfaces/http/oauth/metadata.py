"""What this server says of itself: authorization server (RFC 8414), resource (RFC 9728), and in OpenAPI."""

from __future__ import annotations

from typing import Any

from souvenance.domain.sign_ins import AUTH_METHODS, GRANTS, SCOPES
from souvenance.surfaces.http.openapi import JSON, TEXT, Paths, an_object, answer, described

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
_OBJECT = {"type": "object"}
_ERROR = an_object({"error": TEXT}, error_description=TEXT)
_REFUSED = {"default": answer("Refused, in the words of OAuth", _ERROR)}


def _posted(name: str, summary: str, media: str = _FORM, status: str = "200") -> dict[str, Any]:
    """An endpoint whose fields are those of the RFC that the summary names."""
    responses = {status: answer("Done", _OBJECT), **_REFUSED}
    return {"post": described(name, summary, responses, body={media: {"schema": _OBJECT}}, needs_cap=False)}


def _read(name: str, summary: str) -> dict[str, Any]:
    return {"get": described(name, summary, {"200": answer("The document", _OBJECT)}, needs_cap=False)}


DESCRIBED: Paths = {
    TOKEN: _posted("oauth.token", "Tokens for a code, a refresh token or a device code (RFC 6749, RFC 8628)"),
    REVOKE: _posted("oauth.revoke", "End the sign-in that a token is of (RFC 7009)"),
    DEVICE_AUTHORIZATION: _posted(
        "oauth.device", "A device code, and the code for a person to type (RFC 8628)"
    ),
    REGISTER: _posted("oauth.register", "Register a client (RFC 7591)", JSON, "201"),
    SERVER_METADATA: _read("oauth.server", "How programs are let in (RFC 8414)"),
    RESOURCE_METADATA: _read("oauth.resource", "Who gives tokens for this (RFC 9728)"),
    f"{RESOURCE_METADATA}{MCP}": _read("oauth.resource.mcp", "Who gives tokens for MCP (RFC 9728)"),
}
