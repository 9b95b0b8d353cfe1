"""The directory: workspaces, peers, sessions and scopes, found or made by name, and who is in a session.

A session lies in one namespace, from when it was made. A token that does not open it finds no such session.
Peers, scopes and webhooks are the workspace's; what of them lies in sessions is seen as far as those are.

A webhook hears of the namespaces that were open to the token that added it. A token that opens none of them
finds no such webhook.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from souvenance.core.conversation.compartments import compartments_of, denied
from souvenance.core.request_context import RequestContext
from souvenance.decoders import settled
from souvenance.domain.directory import (
    DELIVER,
    MEMBER,
    PEER,
    PICK,
    SCOPE,
    SESSION,
    WEBHOOK,
    WORKSPACE,
    Entry,
    Job,
    Membership,
)
from souvenance.domain.names import ALL, COMMON_NAMESPACE
from souvenance.domain.reasoning_settings import MOST_OBSERVERS, Habits, MemberReasoning, PeerHabits
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import Conflict, InvalidInput, NotFound
from souvenance.ports.directory import Batch

_Kind = TypeVar("_Kind", bound=Struct)

_SPENT = b"spent"
"""Under this digest the batches of a session hold the highest turn that was given out and deleted."""
_FOREVER = 1 << 62

Stay = tuple[int, int | None]
"""From which turn of a session on, and up to which (exclusive), a peer was there."""


def find(ctx: RequestContext, kind: str, name: str) -> Entry | None:
    entry = ctx.tx.directory.entry(ctx.scope.workspace, kind, name)
    hidden = kind == SESSION and entry is not None and not ctx.scope.opens(entry.namespace)
    return None if hidden else entry


def need(ctx: RequestContext, kind: str, name: str) -> Entry:
    """Raises: NotFound."""
    entry = find(ctx, kind, name)
    if entry is None:
        raise NotFound(f"there is no such {kind}")
    return entry


def ensure(
    ctx: RequestContext,
    kind: str,
    name: str,
    metadata: str = "{}",
    configuration: str = "{}",
    *,
    namespace: str = COMMON_NAMESPACE,
) -> tuple[Entry, bool]:
    """The entry of that name, and whether it is new. Raises: NamespaceDenied for a session out of reach."""
    found = find(ctx, kind, name)
    if found is not None:
        return found, False
    if kind != WORKSPACE:
        ensure(ctx, WORKSPACE, ctx.scope.workspace)
    uid, workspace = ctx.fresh_id(), ctx.scope.workspace
    entry = Entry(workspace, kind, name, uid, ctx.now, metadata, configuration, namespace)
    if not ctx.tx.directory.add(entry):
        raise denied()
    return entry, True


def ensure_session(ctx: RequestContext, session: str, asked: str | None = None) -> tuple[Entry, bool]:
    """The session, made if there is none. Raises: NamespaceDenied, Conflict, as `namespace_for`."""
    return ensure(ctx, SESSION, session, namespace=namespace_for(ctx, session, asked))


def namespace_for(ctx: RequestContext, session: str | None, asked: str | None) -> str:
    """Where to write: where the session lies, or, without one, where asked, or else in the common namespace.
    Raises: NamespaceDenied if that or what is asked for is not open; Conflict if both are and differ."""
    entry = None
    if session is not None:
        entry = ctx.tx.directory.entry(ctx.scope.workspace, SESSION, session)
    namespace = (asked or COMMON_NAMESPACE) if entry is None else entry.namespace
    if not ctx.scope.opens(namespace) or (asked is not None and not ctx.scope.opens(asked)):
        raise denied()
    if asked not in (None, namespace):
        raise Conflict(
            "the session lies in another namespace",
            hint="A session keeps its namespace: leave namespace out, or name another session.",
        )
    return namespace


def home(ctx: RequestContext) -> str:
    """The namespace of what comes into being without one: the common one if it is open."""
    namespaces = ctx.scope.namespaces
    return COMMON_NAMESPACE if ctx.scope.opens(COMMON_NAMESPACE) else min(namespaces or (COMMON_NAMESPACE,))


def namespaces(ctx: RequestContext) -> list[str]:
    """Where conversations lie, as far as may be looked."""
    scope = ctx.scope
    if scope.namespaces is not None:
        return sorted(scope.namespaces)
    return ctx.tx.directory.namespaces(scope.workspace, SESSION)


def in_reach(ctx: RequestContext, sessions: Iterable[str]) -> frozenset[str]:
    """Those of the sessions that there are and that may be looked into."""
    found = ctx.tx.directory.named(ctx.scope.workspace, SESSION, frozenset(sessions))
    return frozenset(entry.name for entry in found if ctx.scope.opens(entry.namespace))


def where(ctx: RequestContext, session: str) -> tuple[str, ...]:
    """Where the session lies, as the audit log names it."""
    entry = find(ctx, SESSION, session)
    return () if entry is None else (entry.namespace,)


def knows_peer(ctx: RequestContext, peer: Entry) -> bool:
    """Whether the peer came into being, was in a session or has lines where may be looked."""
    if ctx.scope.opens(peer.namespace):
        return True
    memberships = ctx.tx.directory.memberships(peer.workspace, MEMBER, held=peer.name)
    return bool(in_reach(ctx, (stay.holder for stay in memberships)) or compartments_of(ctx, peer.name))


def change(ctx: RequestContext, entry: Entry, metadata: str | None, configuration: str | None) -> Entry:
    changed = replace(
        entry,
        metadata=entry.metadata if metadata is None else metadata,
        configuration=entry.configuration if configuration is None else configuration,
    )
    if changed != entry:
        ctx.tx.directory.update(changed)
    return changed


def habits(ctx: RequestContext, session: str | None) -> tuple[Habits, Habits]:
    """Those of the session and those of the workspace."""
    workspace = find(ctx, WORKSPACE, ctx.scope.workspace)
    entry = None if session is None else find(ctx, SESSION, session)
    return _configured(entry, Habits), _configured(workspace, Habits)


def stays(ctx: RequestContext, session: str) -> list[Membership]:
    """Every stay of every peer in the session, past ones too."""
    return ctx.tx.directory.memberships(ctx.scope.workspace, MEMBER, holder=session)


def stays_of(ctx: RequestContext, session: str, peer: str | None) -> Sequence[Membership]:
    """Every stay of the peer, or of all, in the session: the same is asked of many messages."""
    stored, workspace = ctx.tx.directory, ctx.scope.workspace
    return ctx.once(
        (MEMBER, session, peer), lambda: stored.memberships(workspace, MEMBER, holder=session, held=peer)
    )


def next_turn(ctx: RequestContext, session: str) -> int:
    """The number of the session's next message: no turn is given out twice, also after a deletion."""
    spent = ctx.tx.directory.batch(ctx.scope.workspace, session, _SPENT)
    last = ctx.tx.lines.last_turn(ctx.scope.workspace, session)
    return max(last, 0 if spent is None else spent.last) + 1


def spend_turns(ctx: RequestContext, session: str, last: int) -> None:
    """Remember that the session's turns up to the last one were given out, also of deleted messages."""
    ctx.tx.directory.keep_batch(Batch(ctx.scope.workspace, session, _SPENT, _FOREVER, 0, last), 0)


def was_there(stays: Iterable[Stay], turn: int) -> bool:
    return any(since <= turn and (until is None or turn < until) for since, until in stays)


def members(ctx: RequestContext, session: str) -> dict[str, Membership]:
    """The present stay of each peer that is in the session."""
    return {stay.held: stay for stay in stays(ctx, session) if stay.until is None}


def member_habits(stay: Membership | None) -> MemberReasoning:
    return _configured(stay, MemberReasoning)


def peer_habits(entry: Entry | None) -> PeerHabits:
    return _configured(entry, PeerHabits)


def join(ctx: RequestContext, session: str, peers: Mapping[str, MemberReasoning | None]) -> None:
    """Let the peers into the session, making those that do not exist. Who is in stays in; given habits
    replace earlier ones. Raises: NotFound, InvalidInput if too many would observe the others."""
    present = members(ctx, session)
    joining = [peer for peer in peers if peer not in present]
    turn = next_turn(ctx, session) if joining else 0
    namespace = need(ctx, SESSION, session).namespace
    for peer, given in peers.items():
        ensure(ctx, PEER, peer, namespace=namespace)
        stay = present.get(peer) or Membership(ctx.scope.workspace, MEMBER, session, peer, turn)
        if given is not None:
            news = {name: one for name, one in asdict(given).items() if one is not None}
            stay = replace(stay, configuration=encoded(replace(member_habits(stay), **news)))
        if present.get(peer) != stay:
            ctx.tx.directory.add_membership(stay)
            present[peer] = stay
    if sum(member_habits(stay).observe_others is True for stay in present.values()) > MOST_OBSERVERS:
        raise InvalidInput(
            f"more than {MOST_OBSERVERS} peers of the session would observe the others",
            hint="Set observe_others for fewer peers; nothing was changed.",
        )


def leave(ctx: RequestContext, session: str, peers: Iterable[str]) -> None:
    present = members(ctx, session)
    leaving = [present[peer] for peer in peers if peer in present]
    turn = next_turn(ctx, session) if leaving else 0
    for stay in leaving:
        ctx.tx.directory.add_membership(replace(stay, until=turn))


def scope_sessions(ctx: RequestContext, scopes: Iterable[str]) -> frozenset[str]:
    """The sessions of all these scopes, as far as may be looked. Raises: NotFound for an unknown scope."""
    found: set[str] = set()
    for scope in scopes:
        need(ctx, SCOPE, scope)
        found.update(picked.held for picked in picks(ctx, scope))
    return frozenset(found)


def picks(ctx: RequestContext, scope: str) -> list[Membership]:
    """Which sessions are in the scope, as far as may be looked."""
    memberships = ctx.tx.directory.memberships(ctx.scope.workspace, PICK, holder=scope)
    return [one for one in memberships if find(ctx, SESSION, one.held) is not None]


def pick(ctx: RequestContext, scope: str, session: str) -> None:
    stored, workspace = ctx.tx.directory, ctx.scope.workspace
    if not stored.memberships(workspace, PICK, holder=scope, held=session):
        stored.add_membership(Membership(workspace, PICK, scope, session, ctx.now))


def encoded(value: Struct) -> str:
    return msgspec.json.encode(value).decode()


def _configured(known: Entry | Membership | None, kind: type[_Kind]) -> _Kind:
    """What its configuration says; none, or what can't be read there, configures nothing."""
    try:
        return kind() if known is None else msgspec.json.decode(known.configuration, type=settled(kind))
    except msgspec.MsgspecError:
        return kind()


class WebhookEndpoint(Struct, frozen=True):
    url: str
    namespaces: tuple[str, ...] = (COMMON_NAMESPACE,)


class Delivery(Struct, frozen=True):
    """What a delivery's job says: to which endpoint, and what."""

    endpoint: str
    body: str


def endpoints(ctx: RequestContext) -> list[Entry]:
    """Those that hear of any namespace that may be looked into."""
    return [
        entry
        for entry in ctx.tx.directory.entries(ctx.scope.workspace, WEBHOOK)
        if any(name == ALL or ctx.scope.opens(name) for name in _endpoint(entry).namespaces)
    ]


def webhook_url(entry: Entry) -> str:
    return _endpoint(entry).url


def _endpoint(entry: Entry) -> WebhookEndpoint:
    return msgspec.json.decode(entry.configuration, type=settled(WebhookEndpoint))


def announce(ctx: RequestContext, event: str, **data: Any) -> int:
    """Owe every endpoint that may hear of it word of the event; how many there are."""
    known = endpoints(ctx)
    if not known:
        return 0
    message = {"type": event, "data": {"workspace_id": ctx.scope.workspace, **data}}
    body = msgspec.json.encode({**message, "timestamp": to_datetime(ctx.now)}).decode()
    for entry in known:
        payload = msgspec.json.encode(Delivery(entry.name, body)).decode()
        ctx.tx.work.add(Job(ctx.scope.workspace, DELIVER, payload=payload), ctx.now)
    return len(known)
