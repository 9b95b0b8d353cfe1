"""What OpenAPI says of the MCP door: one path for messages of JSON-RPC, whose tools describe themselves."""

from __future__ import annotations

from souvenance import errors as e
from souvenance.surfaces.http.openapi import (
    JSON,
    TEXT,
    Paths,
    an_object,
    answer,
    described,
    own_shape,
    refusals,
)
from souvenance.surfaces.http.routes import EVERY_BODY, EVERY_CAP

_VERSION = {"const": "2.0"}
_ASKED = an_object(
    {"jsonrpc": _VERSION, "method": TEXT}, id={"type": ["string", "integer"]}, params={"type": "object"}
)
_TOLD = an_object(
    {"jsonrpc": _VERSION},
    id={"type": ["string", "integer", "null"]},
    result={"type": "object"},
    error=an_object({"code": {"type": "integer"}, "message": TEXT}),
)
_FOR_THE_PROTOCOL = answer(
    "What is no message of the protocol", {"anyOf": [_TOLD, own_shape([e.InvalidInput.code])]}
)
_REFUSED = refusals((*EVERY_CAP, *EVERY_BODY, e.UnsupportedType), own_shape)

PATHS: Paths = {
    "/mcp": {
        "post": described(
            "mcp",
            "A message of the Model Context Protocol",
            {
                "200": answer("The answer to a request", _TOLD),
                "202": {"description": "A notification was taken"},
                **_REFUSED,
                "400": _FOR_THE_PROTOCOL,
                "406": answer("The client takes no JSON", _TOLD),
            },
            body={JSON: {"schema": _ASKED}},
        )
    }
}
