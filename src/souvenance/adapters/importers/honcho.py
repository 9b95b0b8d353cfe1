"""A Honcho server, through its v3 API: any server of it, Souvenance's own too.

Only what its lists say is read, page by page and oldest first, so that what is added meanwhile moves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
from msgspec import Struct

from souvenance.adapters.importers.source_files import bag, clean, decoded, moment, shown
from souvenance.domain.imports import (
    ImportedCard,
    ImportedMessage,
    ImportedPeer,
    ImportedSession,
    ImportedStatement,
    ImportedWorkspace,
    Record,
    Skipped,
    Wanted,
)
from souvenance.domain.reasoning_settings import MemberReasoning
from souvenance.errors import ImportUnreadable, Misconfigured, NotFound, ServerUnreachable, Unauthenticated
from souvenance.http_client import bounded, client, seconds_to_wait
from souvenance.patterns import pattern

KIND = "honcho"

_PAGE = 100
_MOST_ANSWER_BYTES = 64 * 1024 * 1024
_TIMEOUT_SECONDS = 60.0
_TRIES = 5
_LONGEST_WAIT = 30
_NAME = pattern(r"[a-zA-Z0-9_-]{1,512}")
_QUOTED = pattern(r"Quoted(?:, not to be followed)?: “(.*)”", 16)
"""How Souvenance shows a conclusion that is not its peer's own word; 16 is `re.DOTALL`."""


class _HonchoEntry(Struct):
    id: str
    metadata: dict[str, Any] | None = None
    configuration: dict[str, Any] | None = None


class _HonchoMessage(Struct):
    id: str
    content: str
    peer_id: str
    created_at: str | None = None
    metadata: dict[str, Any] | None = None


class _HonchoConclusion(Struct):
    id: str
    content: str
    observer_id: str
    observed_id: str
    session_id: str | None = None
    level: str | None = None
    created_at: str | None = None


class _HonchoPage(Struct):
    items: list[msgspec.Raw]
    pages: int = 1


class _CardPage(Struct):
    peer_card: list[str] | None = None


class _Habits(Struct):
    observe_me: bool | None = None
    observe_others: bool | None = None


class Honcho:
    """The reader of a server's workspaces: the one that is wanted, or all that the key opens."""

    kind = KIND
    again = False

    def __init__(self, url: str, wanted: Wanted, *, rest: Callable[[float], None] = time.sleep) -> None:
        """Raises: ImportUnreadable if that is no URL."""
        try:
            base = httpx.URL(url.rstrip("/"))
            if wanted.key:
                base = base.copy_with(userinfo=b"")
            self._client = client(str(base), wanted.key, base_url=base, timeout=_TIMEOUT_SECONDS)
        except (httpx.InvalidURL, ValueError, Misconfigured) as error:
            raise ImportUnreadable(f"that is not the address of a server: {error}") from None
        self._workspace = wanted.workspace
        self._rest = rest

    def records(self) -> Iterator[Record]:
        """All that the workspaces hold.

        Raises: ImportUnreadable, ServerUnreachable, Unauthenticated, NotFound.
        """
        with self._client:
            every = self.listed("/v3/workspaces/list", _HonchoEntry)
            for one in every if self._workspace is None else self._one(self._workspace):
                place = f"workspace {shown(one.id)}"
                yield ImportedWorkspace(one.id, bag(one.metadata, place), bag(one.configuration, place))
                yield from _Copy(self, one.id).records()

    def _one(self, name: str) -> Iterator[_HonchoEntry]:
        """The workspace of that name, as far as a key of it alone may know. Raises: NotFound."""
        try:
            found = self.listed("/v3/workspaces/list", _HonchoEntry)
            there = next((one for one in found if one.id == name), None)
        except Unauthenticated:
            there = _HonchoEntry(name)  # A workspace's own key may not list workspaces.
        if there is None:
            raise NotFound(f"the source has no workspace {name!r}", hint="Name another, or none for all.")
        yield there

    def listed(self, path: str, kind: type[Any], method: str = "POST") -> Iterator[Any]:
        number = pages = 1
        while number <= pages:
            query: dict[str, Any] = {"page": number, "size": _PAGE}
            if method == "POST":
                query["reverse"] = "true" if "/conclusions/" in path else "false"
            place = f"page {number} of {path}"
            body: dict[str, Any] | None = {} if method == "POST" else None
            page = decoded(self.asked(method, path, query, body), _HonchoPage, place)
            for raw in page.items:
                yield decoded(bytes(raw), kind, place)
            number, pages = number + 1, page.pages if page.items else 0

    def asked(self, method: str, path: str, query: Mapping[str, Any], body: Any = None) -> bytes:
        """What is answered; a server that is busy or away is asked again for a while.

        Raises: ServerUnreachable, Unauthenticated, NotFound, ImportUnreadable.
        """
        for tries in range(1, _TRIES + 1):
            wait = float(2 ** (tries - 1))
            try:
                with self._client.stream(method, path, params=dict(query), json=body) as answer:
                    status = answer.status_code
                    content = b"".join(bounded(answer, _MOST_ANSWER_BYTES, inf, ImportUnreadable))
                    later = answer.headers.get("retry-after")
            except httpx.HTTPError as error:
                status, content, later = 0, (str(error) or type(error).__name__).encode(), None
            if 200 <= status < 300:
                return content
            if (0 < status < 500 and status != 429) or tries == _TRIES:
                raise _refused(status, path, content)
            asked = 0 if later is None else seconds_to_wait(later, now=time.time(), most=_LONGEST_WAIT)
            self._rest(max(wait, float(asked)))
        raise AssertionError("the last try answers or raises")


class _Copy:
    """The records of one workspace."""

    def __init__(self, server: Honcho, workspace: str) -> None:
        self._server = server
        self._base = f"/v3/workspaces/{quote(workspace, safe='')}"
        self._peers: set[str] = set()

    def records(self) -> Iterator[Record]:
        for peer in self._listed("/peers/list", _HonchoEntry):
            if not _NAME.fullmatch(peer.id):
                yield Skipped("peers that stand for scopes")
                continue
            self._peers.add(peer.id)
            observed = (peer.configuration or {}).get("observe_me")
            yield ImportedPeer(
                peer.id,
                peer.id,
                bag(peer.metadata, f"peer {shown(peer.id)}"),
                observed if isinstance(observed, bool) else None,
            )
        sessions: set[str] = set()
        for session in self._listed("/sessions/list", _HonchoEntry):
            sessions.add(session.id)
            yield from self._session(session)
        pairs = {(peer, peer): None for peer in sorted(self._peers)}
        for held in self._listed("/conclusions/list", _HonchoConclusion):
            if not (_NAME.fullmatch(held.observer_id) and _NAME.fullmatch(held.observed_id)):
                yield Skipped("conclusions of peers that stand for scopes")
                continue
            pairs[held.observer_id, held.observed_id] = None
            yield from self._known(held, sessions)
        for observer, observed in pairs:
            yield from self._card(observer, observed)

    def _session(self, session: _HonchoEntry) -> Iterator[Record]:
        base = f"/sessions/{quote(session.id, safe='')}"
        place = f"session {shown(session.id)}"
        members = {}
        for peer in self._listed(f"{base}/peers", _HonchoEntry, "GET"):
            if not _NAME.fullmatch(peer.id):
                continue
            config = self._asked("GET", f"{base}/peers/{quote(peer.id, safe='')}/config", {})
            habits = decoded(config, _Habits, f"{place}, peer {shown(peer.id)}")
            members[peer.id] = MemberReasoning(habits.observe_me, habits.observe_others)
        yield from self._met(members)
        yield ImportedSession(
            session.id, session.id, members, bag(session.metadata, place), bag(session.configuration, place)
        )
        for said in self._listed(f"{base}/messages/list", _HonchoMessage):
            where = f"{place}, message {shown(said.id)}"
            if not said.content.strip():
                yield Skipped("empty messages")
                continue
            yield from self._met((said.peer_id,))
            yield ImportedMessage(
                session.id,
                said.peer_id,
                clean(said.content),
                said.id,
                where,
                moment(said.created_at, where),
                bag(said.metadata, where),
            )

    def _met(self, names: Any) -> Iterator[ImportedPeer]:
        for name in names:
            if name not in self._peers:
                self._peers.add(name)
                yield ImportedPeer(name, name)

    def _known(self, held: _HonchoConclusion, sessions: set[str]) -> Iterator[Record]:
        where = f"conclusion {shown(held.id)}"
        text = clean(held.content)
        quoted = _QUOTED.fullmatch(text)
        yield from self._met((held.observer_id, held.observed_id))
        yield ImportedStatement(
            held.observer_id,
            held.observed_id,
            quoted[1] if quoted else text,
            held.id,
            where,
            moment(held.created_at, where),
            held.session_id if held.session_id in sessions else None,
            origin={"level": held.level} if held.level else {},
        )

    def _card(self, observer: str, observed: str) -> Iterator[Record]:
        query = {} if observer == observed else {"target": observed}
        try:
            raw = self._asked("GET", f"/peers/{quote(observer, safe='')}/card", query)
        except NotFound:
            return
        card = decoded(raw, _CardPage, f"card of {shown(observer)}").peer_card
        if card:
            yield ImportedCard(observer, observed, tuple(clean(one) for one in card))

    def _listed(self, path: str, kind: type[Any], method: str = "POST") -> Iterator[Any]:
        return self._server.listed(f"{self._base}{path}", kind, method)

    def _asked(self, method: str, path: str, query: Mapping[str, Any]) -> bytes:
        return self._server.asked(method, f"{self._base}{path}", query)


def _refused(status: int, path: str, content: bytes) -> Exception:
    reason = shown(content.decode("utf-8", "replace"))
    if status == 0:
        return ServerUnreachable(
            f"no answer from the source: {reason}", hint="Check its URL; then import again."
        )
    if status in (401, 403):
        return Unauthenticated(
            f"the source does not let this key read {path}",
            hint="Give its key: --key-file, or HONCHO_API_KEY.",
        )
    if status == 404:
        return NotFound(
            f"the source has no {path}", hint="Name its base URL, without /v3, and its workspace."
        )
    if status >= 500 or status == 429:
        return ServerUnreachable(
            f"the source answered {status} to {path}", hint="Import again later: it goes on."
        )
    return ImportUnreadable(f"the source answered {status} to {path}: {reason}")
