"""How the Honcho door refuses: with the statuses and texts that its clients look at, and our code beside."""

from __future__ import annotations

import re
from typing import Any

from starlette.responses import Response

from souvenance import errors as e
from souvenance.surfaces.http.honcho.statuses import refused_as
from souvenance.surfaces.http.request_threads import json_answer, refusal_headers
from souvenance.surfaces.http.telemetry.observer import note

TEXTS: dict[type[e.SouvenanceError], str] = {
    e.CapMissing: "No access token provided",
    e.CapMalformed: "Invalid JWT",
    e.CapSigInvalid: "Invalid JWT",
    e.CapExpired: "JWT expired",
    e.CapRevoked: "JWT revoked",
    e.CapPopInvalid: "Invalid JWT",
    e.CapOpMismatch: "JWT not permissioned for this resource",
    e.CapDataClassMismatch: "JWT not permissioned for this resource",
    e.CapScopeMismatch: "JWT not permissioned for this resource",
    e.NamespaceDenied: "JWT not permissioned for this resource",
}
ADMIN_TEXT = "Resource requires admin privileges"

_AT = re.compile(r" - at (?:`key` in )?`\$(.*)`\Z")
_PATTERN = re.compile(r"Expected `str` matching regex .*(?:scope\\|a-zA-Z0-9_-).*")
_NAMES = "A name has letters, digits, _ and - only; names that begin with 'scope.' belong to scopes"
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d*|\.\.\.)\]")


class Unreadable(e.InvalidInput):
    """A request whose fields are not what they should be, told the way FastAPI does."""

    def __init__(self, fault: str, where: str) -> None:
        found = _AT.search(fault)
        told = _PATTERN.sub(_NAMES, _AT.sub("", fault))
        super().__init__(f"the {where} can't be read: {told}")
        steps = [name or _place(index) for name, index in _STEP.findall(found.group(1))] if found else []
        self.problems = [{"type": "value_error", "loc": [where, *steps], "msg": told}]


def _place(index: str) -> int | str:
    """Where in a list, if that is told."""
    return int(index) if index.isdigit() else index


def refusal(error: e.SouvenanceError, *, admin: bool) -> Response:
    note(error)
    detail: Any = TEXTS.get(type(error), error.detail)
    if admin and isinstance(error, e.Denied):
        detail = ADMIN_TEXT
    if isinstance(error, Unreadable):
        detail = error.problems
    body = {"detail": detail, "error": error.code, "hint": error.hint}
    return json_answer(refused_as(type(error)), body, refusal_headers(error))
