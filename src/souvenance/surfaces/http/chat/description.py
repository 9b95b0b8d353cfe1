"""What OpenAPI says of the chat door: OpenAI's own objects, of which it reads a little and passes on all."""

from __future__ import annotations

from souvenance import errors as e
from souvenance.surfaces.http.openapi import (
    JSON,
    NUMBER,
    TEXT,
    Paths,
    Schema,
    a_list,
    an_object,
    answer,
    described,
    one_of,
    refusals,
)
from souvenance.surfaces.http.routes import EVERY_BODY, EVERY_CAP

_IDENTITY = tuple(
    {
        "name": name,
        "in": "header",
        "description": description,
        "schema": {"type": "string", "minLength": 1, "maxLength": 256},
    }
    for name, description in (
        ("X-Hermes-User-Id", "Who speaks."),
        ("X-Hermes-Session-Key", "The conversation it belongs to."),
        ("X-Hermes-Session-Id", "The transcript that it continues."),
    )
)
_STREAM = "text/event-stream"
_KINDS = (
    "authentication_error",
    "permission_error",
    "rate_limit_error",
    "invalid_request_error",
    "server_error",
)
_MODEL = an_object({"id": TEXT}, object=TEXT, created=NUMBER, owned_by=TEXT)


def _shape(codes: list[str]) -> Schema:
    said = {"message": TEXT, "type": one_of(*_KINDS), "param": {"type": "null"}, "code": one_of(*codes)}
    return an_object({"error": an_object(said)})


_ADMITTED = (*EVERY_CAP, e.CapOpMismatch, e.CapScopeMismatch, e.Denied, e.UpstreamUnreachable)
_REFUSED = refusals(_ADMITTED, _shape)
_UNSERVED = refusals((*_ADMITTED, e.NotFound), _shape)
_TURN = refusals((*_ADMITTED, e.NotFound, *EVERY_BODY), _shape)
_PASSED_ON = {
    "default": answer("What the model endpoint answered, as it was", {}, _STREAM),
}


def _turn(name: str, summary: str, asked: Schema, told: Schema) -> dict[str, object]:
    body = {JSON: {"schema": asked}}
    responses = {"200": answer("The model's answer", told, _STREAM), **_TURN, **_PASSED_ON}
    return {"post": described(name, summary, responses, body=body, parameters=_IDENTITY)}


PATHS: Paths = {
    "/v1/chat/completions": _turn(
        "chat.completions",
        "A chat with a model that remembers",
        an_object({"model": TEXT, "messages": a_list({"type": "object"})}, stream={"type": "boolean"}),
        an_object({"choices": a_list({"type": "object"})}),
    ),
    "/v1/responses": _turn(
        "chat.responses",
        "A response of a model that remembers",
        an_object({"model": TEXT, "input": {"type": ["string", "array"]}}, stream={"type": "boolean"}),
        an_object({"output": a_list({"type": "object"})}),
    ),
    "/v1/models": {
        "get": described(
            "chat.models",
            "The models there are",
            {
                "200": answer("The models", an_object({"data": a_list({"type": "object"})}, object=TEXT)),
                **_REFUSED,
                **_PASSED_ON,
            },
        )
    },
    "/v1/models/{model}": {
        "get": described(
            "chat.model",
            "One of the models",
            {"200": answer("The model", _MODEL), **_UNSERVED, **_PASSED_ON},
            parameters=[{"name": "model", "in": "path", "required": True, "schema": TEXT}],
        )
    },
}
