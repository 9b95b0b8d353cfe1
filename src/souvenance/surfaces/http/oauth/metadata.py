"""What this server says of itself: authorization server (RFC 8414) and resource (RFC 9728)."""

from __future__ import annotations

from typing import Any

from souvenance.domain.sign_ins import AUTH_METHODS, GRANTS, SCOPES

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
