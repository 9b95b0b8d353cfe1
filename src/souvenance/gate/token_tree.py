"""Which tokens were made and still hold, and which token each was made with. The audit log tells of them.

A token that its holder narrowed without this server is not among them. It ends with the one it was made from.
To look at tokens needs `revoke`, by a token that reaches all that they open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.request_context import RequestContext
from souvenance.decoders import settled
from souvenance.domain import ulid
from souvenance.domain.audit import MAKES_TOKENS
from souvenance.domain.capability import (
    Ancestor,
    Extent,
    Grant,
    HolderKey,
    Revocation,
    Revocations,
    sessions_opened,
)
from souvenance.domain.line import SealedLine
from souvenance.domain.names import ALL, DEFAULT_WORKSPACE, Name
from souvenance.domain.policy import Need, Reach, check_need, check_reach
from souvenance.domain.timestamps import to_datetime
from souvenance.domain.ulid import LineId
from souvenance.errors import Denied
from souvenance.gate import browser_sessions, sign_ins
from souvenance.gate.browser_sessions import PasskeyAnswer
from souvenance.gate.messages import Answer, Request
from souvenance.gate.operation import AuthorisedRequest, Outcome, Rights, declare, in_workspace
from souvenance.gate.sign_ins import SignInAnswer
from souvenance.gate.tokens import MadeToken
from souvenance.ports.store import Transaction, WantedRows

_MOST = 1000
"""So many of the newest are looked at."""
_EVERYTHING = Extent(ALL, ALL, (ALL,), (ALL,), None)


class ListTokens(Request, frozen=True):
    workspace_id: Name


class ListReaders(Request, frozen=True, kw_only=True):
    """Who may read a line of an owner; without one, what the owner knows `about` a peer."""

    workspace_id: Name
    owner: Name
    about: Name
    id: LineId | None = None


class WhatFalls(Request, frozen=True, kw_only=True):
    """What a revocation would end: of one token by its id, or of all tokens of an actor. One of both."""

    workspace_id: Name
    jti: Name | None = None
    sub: Name | None = None


class TokenAnswer(Answer, frozen=True, kw_only=True):
    """A token that holds: who gave it to whom, and what it opens."""

    id: str
    sub: str
    by: str
    """Who made it."""
    parent: str
    """The id of the token that it was made with."""
    workspace: str
    peers: list[str]
    namespaces: list[str]
    sessions: list[str] | None
    via: list[str]
    """Those whose view of these peers it opens, too."""
    ops: list[str]
    since: datetime
    until: datetime


class TokensAnswer(Answer, frozen=True):
    """Newest first, each."""

    tokens: list[TokenAnswer]
    sign_ins: Sequence[SignInAnswer] = ()
    passkeys: Sequence[PasskeyAnswer] = ()


class _TokenRow(Struct, frozen=True):
    made: MadeToken
    by: str
    parent: str
    at: int


def list_tokens(authorised: AuthorisedRequest, request: ListTokens) -> Outcome:
    rows = _known(authorised, _logs(authorised))
    return Outcome(TokensAnswer([_shown(row) for row in _held(authorised, rows)]))


def falls(authorised: AuthorisedRequest, request: WhatFalls) -> Outcome:
    kind, value = ("jti", request.jti) if request.jti is not None else ("sub", request.sub or "")
    chain, now = authorised.chain, authorised.ctx.now
    named = Revocations.of([Revocation(chain.grant.workspace, kind, value, now, chain.revoker)])
    logs = _logs(authorised)
    rows = _known(authorised, logs)
    elsewhere = {row.made.token.extent.workspace for row in rows.values()} - logs - {ALL}
    rows |= _known(authorised, elsewhere)
    return Outcome(
        TokensAnswer(
            [_shown(row) for row in _held(authorised, rows) if named.covers(_lineage(row, rows))],
            [one for one, _, lineage in sign_ins.living(authorised) if named.covers(lineage)],
            [
                one
                for one, token in browser_sessions.living_passkeys(authorised)
                if named.covers(token.lineage)
            ],
        )
    )


def readers(authorised: AuthorisedRequest, request: ListReaders) -> Outcome:
    line = None if request.id is None else authorised.ctx.find(request.id)[0]

    def reads(made: MadeToken, lineage: Sequence[Ancestor]) -> bool:
        return _reads(authorised.ctx, request, line, _grant(made, lineage))

    rows = _known(authorised, _logs(authorised))
    tokens = [_shown(row) for row in _held(authorised, rows) if reads(row.made, _lineage(row, rows))]
    let_in = [
        one
        for one, given, lineage in sign_ins.living(authorised)
        if reads(MadeToken(lineage[-1], given.ops, given.exp), lineage)
    ]
    return Outcome(TokensAnswer(tokens, let_in))


def _reads(ctx: RequestContext, request: ListReaders, line: SealedLine | None, grant: Grant) -> bool:
    """Whether a token that grants this is let through to it, as the gate judges it."""
    try:
        check_need(grant, Need(None))
        scope = check_reach(grant, Reach(workspace=request.workspace_id, some_compartment=True))
        rights = Rights(replace(ctx, scope=scope), grant)
        if line is None:
            rights.looks(request.owner, request.about)
            return "get" in grant.ops
    except Denied:
        return False
    if not scope.opens(line.compartment.namespace):
        return False
    if "get" in grant.ops:
        return rights.sees(line)
    profile = line.compartment.owner == grant.actor and not (line.of_another or line.invalidated_by)
    return "snapshot" in grant.ops and profile and scope.sees(line.session)


def _grant(made: MadeToken, lineage: Sequence[Ancestor]) -> Grant:
    """What the token allows. Who holds it is not known here, and does not matter."""
    token, extent = made.token, made.token.extent
    return Grant(
        actor=token.sub,
        workspace=extent.workspace,
        ops=frozenset(made.ops),
        data_class=extent.data_class,
        namespaces=frozenset(extent.namespaces),
        peers=frozenset(extent.actors),
        sessions=None if extent.sessions is None else frozenset(extent.sessions),
        opened=sessions_opened(lineage),
        speakers=None,
        via=frozenset(extent.via),
        jti=token.jti,
        expires_at=made.exp,
        holder=HolderKey(""),
        bound=False,
    )


def _logs(authorised: AuthorisedRequest) -> set[str]:
    """The owner's own token makes others in the default workspace's log, whatever they open."""
    here = {authorised.ctx.scope.workspace}
    return here | {DEFAULT_WORKSPACE} if authorised.chain.grant.operates else here


def _known(authorised: AuthorisedRequest, logs: Iterable[str]) -> dict[str, _TokenRow]:
    tx = authorised.ctx.tx
    return {row.made.token.jti: row for log in sorted(logs) for row in _rows(tx, log)}


def _held(authorised: AuthorisedRequest, rows: Mapping[str, _TokenRow]) -> list[_TokenRow]:
    """Those that hold and that the token reaches, newest first."""
    ctx = authorised.ctx
    extents = {row.made.token.extent.workspace for row in rows.values()}
    found = chain.from_iterable(ctx.tx.caps.revocations(one) for one in sorted(extents))
    revoked = Revocations.of(dict.fromkeys(found))
    reached = authorised.chain.lineage[-1].extent
    held = [
        row
        for row in rows.values()
        if row.made.exp > ctx.now // 1000
        and row.made.token.extent.within(reached)
        and not revoked.covers(_lineage(row, rows))
    ]
    return sorted(held, key=lambda row: row.at, reverse=True)


def _rows(tx: Transaction, log: str) -> Iterable[_TokenRow]:
    wanted = WantedRows(0, tx.audit.tree(log).size, operations=MAKES_TOKENS, allowed=True)
    for row in tx.audit.find(log, wanted, _MOST):
        event = row.event
        try:
            made = msgspec.json.decode(event.detail, type=settled(MadeToken))
        except msgspec.MsgspecError:
            continue  # It was narrowed from a token that this server was only shown.
        yield _TokenRow(made, event.actor, event.cap, event.at)


def _lineage(row: _TokenRow, rows: Mapping[str, _TokenRow]) -> Sequence[Ancestor]:
    """The token and those it came from, as far as the log tells; the first of them is the owner's."""
    found = [row.made.token]
    while (above := rows.get(row.parent)) is not None and above.made.token not in found:
        row = above
        found.insert(0, row.made.token)
    return [Ancestor(row.parent, row.by, "", ulid.milliseconds(row.parent), _EVERYTHING), *found]


def _shown(row: _TokenRow) -> TokenAnswer:
    token, extent = row.made.token, row.made.token.extent
    return TokenAnswer(
        id=token.jti,
        sub=token.sub,
        by=row.by,
        parent=row.parent,
        workspace=extent.workspace,
        peers=list(extent.actors),
        namespaces=list(extent.namespaces),
        sessions=None if extent.sessions is None else list(extent.sessions),
        via=list(extent.via),
        ops=list(row.made.ops),
        since=to_datetime(row.at),
        until=to_datetime(row.made.exp * 1000),
    )


LIST_TOKENS = declare("caps.list", "revoke", TokensAnswer, list_tokens, in_workspace)
READERS = declare(
    "caps.readers",
    "revoke",
    TokensAnswer,
    readers,
    lambda request: Reach(workspace=request.workspace_id, actor=request.owner, some_compartment=True),
)
WHAT_FALLS = declare("caps.falls", "revoke", TokensAnswer, falls, in_workspace)
