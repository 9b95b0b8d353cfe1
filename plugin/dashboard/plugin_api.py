# Placed by 'souvenance hermes install', which also renews and removes it.
"""What the tab and the pane ask for. The host signs people in, and serves it at /api/plugins/souvenance/."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body
from fastapi.responses import JSONResponse

router = APIRouter()


def _answered(work: str, given: dict[str, Any]) -> JSONResponse:
    from souvenance.hermes_dashboard import answered

    status, content = answered(work, given)
    return JSONResponse(content, status, {"cache-control": "no-store"})


# Not asynchronous: the host runs them in threads of their own, in the context of the request's profile.


@router.get("/person")
def person() -> JSONResponse:
    return _answered("person", {})


@router.post("/{work}")
def other(work: Literal["recall", "card", "forget"], given: Annotated[dict[str, Any], Body()]) -> Any:
    return _answered(work, given)
