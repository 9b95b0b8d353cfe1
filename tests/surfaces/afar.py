"""Asking a gate, here or behind a URL, the right request of every operation."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from souvenance.errors import SouvenanceError
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from surfaces.inhabited import EVERY_ROUTE, Names, right

NAMES: Names = {
    "workspace_id": "home",
    "peer_id": "ann",
    "session_id": "walk",
    "scope_id": "trips",
    "message_id": "V1StGXR8_Z5jdHi6B-myT",
    "conclusion_id": "c1StGXR8_Z5jdHi6B-myT",
    "endpoint_id": "w1StGXR8_Z5jdHi6B-myT",
}
"""Names for a world that is only told of."""


def asked(operation: Operation, names: Names) -> Any:
    route, sent = EVERY_ROUTE[operation.name], right(operation.name, names)
    fields: dict[str, Any] = {name: names[name] for name in route.in_path}
    fields |= {**(sent.params or {}), **(sent.data or {})}
    if sent.json is not None:
        fields |= {route.whole: sent.json} if route.whole else sent.json
    if sent.files is not None:
        fields["filename"], fields["file"], fields["media_type"] = sent.files["file"]
    return msgspec.convert(fields, operation.request, strict=False)


def raised(gate: Any, operation: Operation, credentials: Credentials, request: Any) -> SouvenanceError:
    """The error that the call must end with."""
    with pytest.raises(SouvenanceError) as refused:
        gate.call(operation, credentials, request)
    return refused.value
