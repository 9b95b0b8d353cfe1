"""A request to the sign-in door, read once: its fields, who sent it, and what this server is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from urllib.parse import parse_qsl

from msgspec import Struct
from starlette.requests import Request

from souvenance.errors import BodyTooLarge, InvalidInput
from souvenance.surfaces.http.request_bodies import body_of_anybody

MOST_BYTES = 32 * 1024
_MOST_FIELDS = 200
_FORM = "application/x-www-form-urlencoded"
_REPEATABLE = frozenset({"resource", "namespace"})

Fields = tuple[tuple[str, str], ...]


class OAuthRequest(Struct, frozen=True, kw_only=True):
    method: str
    path: str
    query: str
    fields: Fields
    """Of the query, or for a POST of the form in its body."""
    headers: Mapping[str, str]
    cookies: Mapping[str, str]
    issuer: str
    """The URL that this server is known by."""
    trusted: str | None
    """The cap of whoever uses this machine, on a server that trusts it."""
    body: bytes = b""

    def get(self, name: str, otherwise: str = "") -> str:
        return dict(self.fields).get(name, otherwise)

    def every(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key == name]

    @property
    def here(self) -> str:
        """The path and query that it was sent to."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def secure(self) -> bool:
        return self.issuer.startswith("https://")


async def read(request: Request, public_url: str | None, *, form: bool = True) -> OAuthRequest:
    """Raises: SouvenanceError for a body that is too large or too slow, is no form or says a thing twice."""
    if len(request.url.query) > MOST_BYTES:
        raise BodyTooLarge(f"the query is larger than {MOST_BYTES} bytes")
    body = (await body_of_anybody(request, MOST_BYTES)).read() if request.method == "POST" else b""
    posted = request.method == "POST" and form
    if posted and request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise InvalidInput("the body is not a form", hint=f"Send {_FORM}.")
    return OAuthRequest(
        method=request.method,
        path=request.url.path,
        query=request.url.query,
        fields=fields_of(body.decode("utf-8", "replace") if posted else request.url.query),
        headers=request.headers,
        cookies=request.cookies,
        issuer=public_url or f"{request.url.scheme}://{request.headers.get('host', '')}",
        trusted=request.scope.get("souvenance.trusted"),
        body=body,
    )


def fields_of(encoded: str) -> Fields:
    """Raises: InvalidInput."""
    try:
        found = tuple(parse_qsl(encoded, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise InvalidInput(f"there are more than {_MOST_FIELDS} fields") from None
    counted = Counter(name for name, _ in found if name not in _REPEATABLE)
    if twice := [name for name, count in counted.items() if count > 1]:
        raise InvalidInput(f"{twice[0]!r} is given twice")
    return found
