"""One visit of the inspector: who came, what they may ask the gate, and how a page is answered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from copy import copy
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from souvenance.domain.capability import read_unverified
from souvenance.domain.imports import Upload
from souvenance.domain.names import ALL
from souvenance.errors import BodyTooLarge, Denied, FileTooLarge, InvalidInput
from souvenance.gate import messages as m
from souvenance.gate.gate import Gate
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from souvenance.gate.tokens import attenuated
from souvenance.surfaces.http.browser_pages import PageTemplates, check_same_site, form_token, is_form_token
from souvenance.surfaces.http.form_fields import form_fields
from souvenance.surfaces.http.inspector.static_files import STATIC
from souvenance.surfaces.http.request_bodies import FORM_BYTES as WITH_FILE
from souvenance.surfaces.http.request_bodies import body_of, body_of_anybody, largest_import
from souvenance.surfaces.http.request_threads import RequestThreads

_T = TypeVar("_T")

SIGN_IN_BYTES = 32 * 1024  # Of a form that may come before anybody is signed in.
FORM_BYTES = 128 * 1024
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_BAR_HEIGHT, _LEAST_BAR = 24, 4
_UNITS = ("bytes", "kB", "MB", "GB")
_MOST_DIGITS = 9
_FIRST_DAY = datetime(2000, 1, 1, tzinfo=UTC)


def url(*parts: str, **query: Any) -> str:
    """The path of these parts, with the query that has a value."""
    path = "/inspect/" + "/".join(quote(part, safe="") for part in parts)
    asked = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(asked)}" if asked else path


def number(text: str, otherwise: int) -> int:
    """The number that a field or a query holds."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else otherwise


def moment_of(text: str, *, end: bool = False) -> datetime | None:
    """The beginning or the end of the day or the minute that a field holds, in UTC. Raises: InvalidInput."""
    if not text:
        return None
    span = timedelta(minutes=1) if "T" in text else timedelta(days=1)
    try:
        begin = max(datetime.fromisoformat(text).replace(tzinfo=UTC), _FIRST_DAY)
        return begin + span if end else begin
    except (ValueError, OverflowError):
        raise InvalidInput(
            "the time can't be read", hint="Write it as 2026-03-04 or 2026-03-04T10:30."
        ) from None


def _day(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment.astimezone(UTC):%-d %b %Y}"


def _minute(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment.astimezone(UTC):%-d %b %Y, %H:%M} UTC"


def _size(count: int) -> str:
    """So many bytes, as people say it."""
    power = min(len(_UNITS) - 1, (len(str(count)) - 1) // 3)
    found = count / 1000**power
    return f"{found:.{1 if power and found < 10 else 0}f} {_UNITS[power]}"


def _bars(counts: list[int]) -> list[tuple[int, int]]:
    """The place and height of each bar of a small chart."""
    most = max([*counts, 1])
    heights = [max(_LEAST_BAR * bool(count), round(count / most * _BAR_HEIGHT)) for count in counts]
    return list(enumerate(heights))


PAGES = PageTemplates(
    "souvenance.surfaces.http.inspector",
    {
        "content-security-policy": _POLICY,
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    },
)
PAGES.environment.globals |= {"url": url, "static": STATIC}
PAGES.environment.filters |= {"day": _day, "minute": _minute, "bars": _bars, "size": _size}
redirect = PAGES.redirect


def download(content: bytes | AsyncIterator[bytes], name: str, media: str) -> Response:
    """A file; in pieces if it is too large for memory."""
    headers = {**PAGES.headers, "content-disposition": f'attachment; filename="{name}"'}
    if isinstance(content, bytes):
        return Response(content, 200, headers, media)
    return StreamingResponse(content, 200, headers, media)


def events(pieces: AsyncIterator[bytes]) -> Response:
    """Events, sent as they happen."""
    return StreamingResponse(pieces, 200, PAGES.headers, "text/event-stream")


def _read(sent: bytes) -> str:
    return sent.decode("utf-8", "replace")


def _too_large(most: int) -> FileTooLarge:
    hint = "Import it on the command line: souvenance import FILE."
    return FileTooLarge(f"the file is larger than {_size(most)}", hint=hint)


async def posted(request: Request, most: int = SIGN_IN_BYTES) -> dict[str, str]:
    """The fields of a form of this site, a small file among them as text. Raises: SouvenanceError."""
    check_same_site(request.headers)
    body = (await body_of_anybody(request, most)).read()
    if not request.headers.get("content-type", "").startswith("multipart/"):
        return dict(parse_qsl(_read(body), keep_blank_values=True))
    sent = _parts(request, body)
    return {name: value if isinstance(value, str) else _read(value) for name, value in sent.items()}


def _parts(request: Request, body: bytes) -> dict[str, Any]:
    """Raises: InvalidInput."""
    try:
        return form_fields(body, request.headers.get("content-type", ""))
    except ValueError as error:
        raise InvalidInput(str(error)) from None


class Visit:
    """What a page knows of the person who looks at it."""

    def __init__(
        self, request: Request, gate: Gate, threads: RequestThreads, token: str, secret: str
    ) -> None:
        self.request = request
        self.gate = gate
        self._threads = threads
        self.token = token
        self.form_token = form_token("souvenance.inspector.form", secret)
        self.views_as = False
        """Whether the person has a sign-in of their own to go back to."""
        self.who = read_unverified(token)[0][-1]
        """What the token says of itself. The gate judges it at every call."""

    @property
    def path(self) -> Mapping[str, str]:
        return self.request.path_params

    @property
    def query(self) -> Mapping[str, str]:
        return self.request.query_params

    def number(self, name: str) -> int:
        """Which page of a list the query asks for."""
        return max(1, number(self.query.get(name, ""), 1))

    def may(self, op: str) -> bool:
        """Whether the token grants it; the gate decides."""
        return op in self.who.ops

    def reaches(self, owner: str) -> bool:
        """Whether the token is for this owner's memory too; the gate decides."""
        return owner == self.who.sub or not {owner, ALL}.isdisjoint(self.who.peers)

    @property
    def is_whole(self) -> bool:
        """Whether the token is for everybody of its workspace; the gate decides."""
        return ALL in self.who.peers and self.who.sessions is None

    @property
    def is_owner(self) -> bool:
        """Whether the token is the installation's own; the gate decides."""
        return self.who.wid == ALL and self.is_whole

    def credentials(self, workspace: str | None = None) -> Credentials:
        """The token, of one workspace if it is for all."""
        if workspace is None or self.who.wid != ALL:
            return Credentials(self.token)
        return Credentials(self._narrowed(m.Attenuate(wid=workspace)))

    async def call(self, operation: Operation, asked: m.Request, workspace: str | None = None) -> Any:
        """What the gate answers, of one workspace if the token is for all. Raises: SouvenanceError."""
        credentials = self.credentials(workspace)
        return await self._threads.call(self.gate, operation, credentials, lambda: m.checked(asked))

    def _narrowed(self, claims: m.Attenuate) -> str:
        secret = Ed25519PrivateKey.generate()
        return attenuated(self.token, claims, jti=self.who.jti, now=self.who.iat, secret=secret).cap

    def narrowed(self, claims: m.Attenuate) -> Visit:
        """The same visit through the eyes of who holds only that. Raises: SouvenanceError."""
        other = copy(self)
        other.token = self._narrowed(claims)
        other.who = read_unverified(other.token)[0][-1]
        return other

    async def ask(
        self, operation: Operation, asked: m.Request, workspace: str | None = None, *, of_all: bool = False
    ) -> Any:
        """What the gate answers; None where it refuses: for a part that a page can do without.

        What the token says it does not grant is not asked for, so that the log has no refusals of it: also
        what is `of_all` people, with a token that is for some.
        """
        need = operation.need
        granted = (need.op is None or self.may(need.op)) and (self.is_owner or not need.operator)
        if not granted or (of_all and not self.is_whole):
            return None
        try:
            return await self.call(operation, asked, workspace)
        except (Denied, InvalidInput):
            return None

    async def look(self, work: Callable[[Gate, Credentials], _T]) -> _T:
        """What comes of several questions to the gate, one after the other. Raises: SouvenanceError."""
        credentials = Credentials(self.token)
        return await self._threads.do(self.gate, credentials, lambda: work(self.gate, credentials))

    async def form(self) -> dict[str, str]:
        """The fields that were sent, a small file among them as text.

        Raises: Denied for a form that this browser was not given; InvalidInput.
        """
        fields = await posted(self.request, FORM_BYTES)
        self._check_form(fields.get("csrf", ""))
        return fields

    async def form_with_file(self) -> tuple[dict[str, str], Upload]:
        """The fields that were sent, and the file. Raises: Denied as `form`; FileTooLarge, InvalidInput."""
        check_same_site(self.request.headers)
        most = self.largest_import
        body = await body_of(self.request, self.gate, most + WITH_FILE, self.token)
        if isinstance(body.fault, BodyTooLarge):
            raise _too_large(most)
        fields = _parts(self.request, body.read())
        content = fields.pop("file", None)
        self._check_form(str(fields.get("csrf", "")))
        if not isinstance(content, bytes) or not content:
            raise InvalidInput("no file was sent, or an empty one", hint="Go back and choose a file.")
        if len(content) > most:
            raise _too_large(most)
        return fields, Upload(str(fields.get("filename") or "file"), content)

    @property
    def largest_import(self) -> int:
        """In bytes."""
        return largest_import(self.request)

    def _check_form(self, csrf: str) -> None:
        if not is_form_token(csrf, self.form_token):
            raise Denied("the form is too old", hint="Go back, load the page again and repeat what you did.")

    def page(self, template: str, code: int = 200, **values: Any) -> Response:
        return PAGES.shown(template, code, visit=self, who=self.who, csrf=self.form_token, **values)
