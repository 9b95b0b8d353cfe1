"""How the chat door refuses: in the shape that OpenAI's clients read, with our code."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from souvenance.errors import SouvenanceError
from souvenance.surfaces.http.request_threads import json_answer, refusal_headers
from souvenance.surfaces.http.routes import status_of
from souvenance.surfaces.http.telemetry.observer import note

_KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_FIRST_FAULT_OF_A_SERVER = 500


def refusal(error: SouvenanceError) -> Response:
    note(error)
    return json_answer(status_of(type(error)), told(error), refusal_headers(error))


def told(error: SouvenanceError) -> dict[str, Any]:
    status = status_of(type(error))
    kind = "server_error" if status >= _FIRST_FAULT_OF_A_SERVER else "invalid_request_error"
    message = f"{error.detail}. {error.hint}" if error.hint else error.detail
    said = {"message": message, "type": _KINDS.get(status, kind), "param": None, "code": error.code}
    return {"error": said}
