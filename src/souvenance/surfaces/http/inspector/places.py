"""What the pages share: the workspace of a page, who can read what is on it, and how a line is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from starlette.responses import Response

from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.domain.names import namespace as valid_namespace
from souvenance.gate import messages as m
from souvenance.gate import sign_ins
from souvenance.gate.conversation.peers import LIST_PEERS, ListPeers
from souvenance.gate.conversation.workspaces import LIST_WORKSPACES, ListWorkspaces
from souvenance.gate.operation import Operation
from souvenance.gate.token_tree import LIST_TOKENS, READERS, ListReaders, ListTokens, TokenAnswer
from souvenance.surfaces.http.inspector.visit import Visit


def workspace_of(visit: Visit) -> str:
    """The workspace that a page is about: the one asked for, the token's own, or the default one."""
    return visit.path.get("workspace") or visit.query.get("w") or home_of(visit)


def home_of(visit: Visit) -> str:
    """The workspace that the token writes notes to."""
    wid = visit.who.wid
    return wid if wid != ALL else DEFAULT_WORKSPACE


async def workspaces_of(visit: Visit) -> list[str]:
    if visit.who.wid != ALL:
        return [visit.who.wid]
    page = await visit.ask(LIST_WORKSPACES, ListWorkspaces(size=100))
    named = [one.id for one in page.items] if page else []
    return sorted({*named, workspace_of(visit)})


async def names_of(visit: Visit, workspace: str) -> list[str]:
    """The first people of the workspace, to choose from; the token's own if it is not for everybody."""
    page = await visit.ask(LIST_PEERS, ListPeers(workspace_id=workspace, size=100), of_all=True)
    return [one.id for one in page.items] if page else [visit.who.sub]


async def tokens_of(visit: Visit, workspace: str) -> list[TokenAnswer] | None:
    """The tokens that open the workspace, newest first; None if the signed-in token does not show them."""
    found = await visit.ask(LIST_TOKENS, ListTokens(workspace))
    return None if found is None else [one for one in found.tokens if one.workspace in (workspace, ALL)]


async def sign_ins_of(visit: Visit) -> list[Any] | None:
    """The programs that are signed in; None if the signed-in token does not show them."""
    found = await visit.ask(sign_ins.LIST, m.Nothing())
    return None if found is None else found.sign_ins


async def forget(
    visit: Visit,
    operation: Operation,
    asked: m.Request,
    what: str,
    keep: str,
    after: str | None = None,
    workspace: str | None = None,
) -> Response:
    """Show what goes; with the form's consent, delete it, and show the receipt.

    `what` says it in words. `keep` is the page to go back to, `after` the one that follows, if another."""
    sure = (await visit.form()).get("sure") == "yes"
    answer = await visit.call(operation, replace(asked, dry_run=not sure), workspace)
    if sure:
        return visit.page("forgotten.html", answer=answer, moved_to=None, back=after or keep)
    return visit.page("forget.html", gone=answer, what=what, keep=keep)


async def move(
    visit: Visit, operation: Operation, asked: Callable[..., m.Request], page: str, session: str | None = None
) -> Response:
    """Show what moves and what goes; with the form's consent, move it, and show the receipt."""
    fields = await visit.form()
    target, sure = valid_namespace(fields.get("namespace", "").strip()), fields.get("sure") == "yes"
    answer = await visit.call(operation, asked(namespace=target, dry_run=not sure))
    if sure:
        return visit.page("forgotten.html", answer=answer, moved_to=target, back=page)
    return visit.page("move.html", moves=answer, to=target, session=session, keep=page)


async def readers_of(
    visit: Visit, workspace: str, owner: str, about: str, line: str | None = None
) -> dict[str, Any]:
    """The tokens and programs that may read that line, or what the owner knows about the other; None if the
    signed-in token does not show them."""
    asked = ListReaders(workspace_id=workspace, owner=owner, about=about, id=line)
    found = await visit.ask(READERS, asked)
    return {"tokens": found and found.tokens, "sign_ins": found and found.sign_ins}
