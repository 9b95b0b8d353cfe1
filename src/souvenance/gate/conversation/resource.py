"""What the resources of conversations share: fields, pages, metadata, and how an operation is declared.

Each resource is one module here. It holds what may be asked, who may ask it, the work, and what is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Self, TypeVar

import msgspec
from msgspec import Meta

from souvenance.core.conversation import directory
from souvenance.core.conversation.compartments import Changes, everywhere, reading
from souvenance.core.request_context import RequestContext, Trace
from souvenance.domain.content import check_characters, decode_metadata, encode_metadata
from souvenance.domain.directory import PEER, SESSION, WORKSPACE, Entry
from souvenance.domain.filters import Column, Field, predicate
from souvenance.domain.reasoning_settings import habits_of
from souvenance.domain.timestamps import to_datetime, to_ms
from souvenance.errors import InvalidInput
from souvenance.gate.messages import Answer, Request
from souvenance.gate.messages import Done as Done
from souvenance.gate.operation import AuthorisedRequest, Outcome
from souvenance.gate.operation import operation as operation

MOST_METADATA_KEYS = 100
MOST_METADATA_LEVELS = 5

NewName = Annotated[str, Meta(min_length=1, max_length=512, pattern=r"^[a-zA-Z0-9_-]+$(?!\n)")]
"""The name of something that may be made by it."""
NewScopeName = Annotated[
    str, Meta(min_length=1, max_length=506, pattern=r"^(?!scope\.)[a-zA-Z0-9_-]+$(?!\n)")
]
AnyName = Annotated[str, Meta(min_length=1, max_length=512)]
"""A name to look up."""
PeerName = Annotated[str, Meta(min_length=1, max_length=512, pattern=r"^(?!scope\.)")]
"""The name of a peer to look up. Names that begin as those of scopes do are no peers'."""
Query = Annotated[str, Meta(max_length=10_000)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
UpTo100 = Annotated[int, Meta(ge=1, le=100)]
Page = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Scopes = AnyName | Annotated[list[AnyName], Meta(min_length=1, max_length=100)]
JsonObject = dict[str, Any]


class WorkspaceRequest(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    """Base of what is asked about one workspace. Unknown fields are ignored: newer clients send some."""

    workspace_id: AnyName


class OpenRequest(WorkspaceRequest, frozen=True, kw_only=True):
    """Base of what finds something by its name, or makes it."""

    workspace_id: NewName
    id: NewName
    metadata: JsonObject | None = None

    @property
    def changes(self) -> bool:
        """Whether it asks for more than to find or make it."""
        return self.metadata is not None or getattr(self, "configuration", None) is not None


class ChangeRequest(WorkspaceRequest, frozen=True, kw_only=True):
    """Base of what replaces the metadata of something, and parts of its configuration."""

    workspace_id: NewName
    metadata: JsonObject | None = None
    configuration: JsonObject | None = None


class PagedRequest(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    """Base of what asks for one page of a list."""

    page: Page = 1
    size: UpTo100 = 50
    reverse: bool = False

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.size

    def cut(self, found: list[Any]) -> list[Any]:
        """The page's part of everything that was found."""
        return found[self.offset : self.offset + self.size]

    def answer(self, kind: type[_Page], items: list[Any], total: int) -> _Page:
        return kind(items, total, self.page, self.size, -(-total // self.size))


class ListRequest(PagedRequest, frozen=True, kw_only=True):
    workspace_id: AnyName


class ResponsePage(Answer, frozen=True):
    items: list[Any]
    total: int
    page: int
    size: int
    pages: int


_Page = TypeVar("_Page", bound=ResponsePage)


class NamedAnswer(Answer, frozen=True):
    """Base of an answer that shows an entry of the directory."""

    id: str
    created_at: datetime
    metadata: JsonObject

    @classmethod
    def of(cls, entry: Entry) -> Self:
        shown: dict[str, Any] = {
            "id": entry.name,
            "uid": entry.uid,
            "workspace_id": entry.workspace,
            "created_at": to_datetime(entry.created_at),
            "metadata": dict(decode_metadata(entry.metadata)),
            "configuration": dict(decode_metadata(entry.configuration)),
            "is_active": True,
        }
        return cls(**{name: shown[name] for name in cls.__struct_fields__})


class BareListAnswer(Answer, frozen=True):
    """Base of an answer that is one list, its first field; `repeated` says what of it was there already."""


class Opened(Answer, frozen=True):
    """Something found or made by name."""

    what: Any
    created: bool


class Note(Answer, frozen=True):
    message: str = ""


def found_by_name(
    kind: str, show: Callable[[Entry], Answer]
) -> Callable[[AuthorisedRequest, Any], Outcome | None]:
    """Looks up what a request would open, so that nothing is written where it is there and stays as it is."""

    def peek(call: AuthorisedRequest, request: Any) -> Outcome | None:
        entry = directory.find(call.ctx, kind, request.id)
        if entry is None or request.changes:
            return None
        return Outcome(Opened(show(entry), False), names_read(call.ctx, entry))

    return peek


def names_read(ctx: RequestContext, *entries: Entry) -> Trace:
    """What the log says of names that were looked up: where the sessions lie, or, without any, may lie."""
    namespaces = {entry.namespace for entry in entries if entry.kind == SESSION}
    return reading(sorted(namespaces) or everywhere(ctx))


_FIELDS = {"id": Field(Column.TEXT), "created_at": Field(Column.TIME), "metadata": Field(Column.METADATA)}
_IN_WORKSPACE = {**_FIELDS, "workspace_id": Field(Column.TEXT)}
_FIELDS_OF = {
    WORKSPACE: _FIELDS,
    PEER: {**_IN_WORKSPACE, "peer_id": Field(Column.TEXT)},
    SESSION: {**_IN_WORKSPACE, "session_id": Field(Column.TEXT), "is_active": Field(Column.FLAG)},
}
"""What a list of such names may be filtered by."""


def filter_of(kind: str, filters: JsonObject | None) -> Callable[[Entry], bool] | None:
    """Raises: InvalidInput."""
    wanted = predicate(filters, _FIELDS_OF[kind])
    if wanted is None:
        return None
    return lambda entry: wanted(
        {
            "id": entry.name,
            "workspace_id": entry.workspace,
            "peer_id": entry.name,
            "session_id": entry.name,
            "created_at": entry.created_at,
            "is_active": True,
            "metadata": decode_metadata(entry.metadata),
        }
    )


def page_of_entries(
    request: PagedRequest,
    answer: type[ResponsePage],
    show: Callable[[Entry], Answer],
    entries: Iterable[Entry],
    wanted: Callable[[Entry], bool] | None = None,
) -> ResponsePage:
    """The request's page of those entries that are wanted, in their order or the other way round."""
    found = list(entries if wanted is None else filter(wanted, entries))
    if request.reverse:
        found.reverse()
    return request.answer(answer, [show(entry) for entry in request.cut(found)], len(found))


def list_entries(
    ctx: RequestContext,
    kind: str,
    request: PagedRequest,
    answer: type[ResponsePage],
    show: Callable[[Entry], Answer],
    wanted: Callable[[Entry], bool] | None = None,
    *,
    of_every_workspace: bool = False,
) -> Outcome:
    """The request's page of everything of a kind that has a name, in the workspace or in all of them."""
    stored, workspace = ctx.tx.directory, None if of_every_workspace else ctx.scope.workspace
    namespaces = ctx.scope.namespaces if kind == SESSION else None
    if wanted is None:
        entries = stored.entries(
            workspace,
            kind,
            namespaces=namespaces,
            newest_first=request.reverse,
            offset=request.offset,
            limit=request.size,
        )
        total = stored.count(workspace, kind, namespaces)
        page = request.answer(answer, [show(entry) for entry in entries], total)
    else:
        entries = stored.entries(workspace, kind, namespaces=namespaces)
        page = page_of_entries(request, answer, show, entries, wanted)
    return Outcome(page, names_read(ctx))


def erased(call: AuthorisedRequest, changes: Changes, answer: Answer, **facts: object) -> Outcome:
    """The answer once the bytes are gone too."""

    def scrubbed(row: object) -> Answer:
        call.scrub()
        return answer

    return Outcome(scrubbed, changes.trace(**facts))


def encode_object(given: Mapping[str, Any] | None, field: str = "metadata") -> str | None:
    """Metadata or a configuration as it is kept. Raises: InvalidInput, LimitExceeded."""
    if given is None:
        return None
    if len(given) > MOST_METADATA_KEYS:
        raise InvalidInput(f"{field} has more than {MOST_METADATA_KEYS} keys")
    if _levels(given) > MOST_METADATA_LEVELS:
        raise InvalidInput(f"{field} is nested deeper than {MOST_METADATA_LEVELS} levels")
    for key in given:
        check_characters(key, field)
    return encode_metadata(given)


def _levels(value: object, most: int = MOST_METADATA_LEVELS + 1) -> int:
    if most == 0 or not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max((_levels(one, most - 1) for one in inner), default=0)


def change_entry(
    ctx: RequestContext, entry: Entry, metadata: JsonObject | None, configuration: JsonObject | None
) -> Entry:
    """The entry with other metadata, and with the given keys of the configuration in place of its own."""
    merged = None
    if configuration is not None:
        encode_object(configuration, "configuration")
        whole = {**decode_metadata(entry.configuration), **configuration}
        habits_of(whole)
        merged = msgspec.json.encode(whole, order="sorted").decode()
    return directory.change(ctx, entry, encode_object(metadata), merged)


_EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
_LATEST = datetime(9999, 12, 30, tzinfo=UTC)


def moment_ms(moment: datetime | None, field: str = "created_at") -> int | None:
    """Raises: InvalidInput for a time that no calendar has everywhere."""
    if moment is None:
        return None
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    if not _EARLIEST <= aware <= _LATEST:
        raise InvalidInput(f"{field} lies outside the years 1 to 9999")
    return to_ms(aware)
