"""The pages about memory: home, a person, a session, your notes, a line, and what a message would recall."""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from souvenance.agents import injection
from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.gated_memory import GatedMemory
from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.errors import Denied, SouvenanceError
from souvenance.gate import inspection, sign_ins
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.conclusions import (
    DELETE_CONCLUSION,
    LIST_CONCLUSIONS,
    ListConclusions,
    OfConclusion,
)
from souvenance.gate.conversation.context import SUMMARIES, WRITE_CARD, Summaries, WriteCard
from souvenance.gate.conversation.messages import (
    DELETE_MESSAGE,
    LIST_MESSAGES,
    READ_MESSAGE,
    SEARCH_PEER,
    SEARCH_WORKSPACE,
    DeleteMessage,
    ListMessages,
    OfMessage,
    SearchPeer,
    SearchWorkspace,
)
from souvenance.gate.conversation.sessions import DELETE_SESSION, SESSIONS_OF_PEER, OfSession, SessionsOfPeer
from souvenance.gate.conversation.workspaces import LIST_WORKSPACES, ListWorkspaces
from souvenance.gate.gate import Gate
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.inspector.visit import Visit, download, number, redirect, url

_FOUND = 20
_SHOWN = 50
_SIGNALS = 6
_TOKENS, _MOST_TOKENS = 1200, 100_000
_BEGINNING = 60
"""So much of a message is looked for in the text that an agent is given."""


class RankedMessage(Struct, frozen=True):
    """A message that a search found, its strongest signals, and why an agent would not be given it."""

    message: Any
    bars: list[tuple[str, float, int]]
    left_out: str
    """Empty if it would be."""


def workspace_of(visit: Visit) -> str:
    """The workspace that a page is about: the one asked for, the token's own, or the default one."""
    wid = visit.who.wid
    return visit.path.get("workspace") or visit.query.get("w") or (wid if wid != ALL else DEFAULT_WORKSPACE)


async def home(visit: Visit) -> Response:
    workspace = workspace_of(visit)
    query = visit.query.get("q", "").strip()
    people, status, workspaces, found = await asyncio.gather(
        visit.ask(inspection.PEOPLE, inspection.People(workspace)),
        visit.ask(o.STATUS, m.Status(), workspace),
        workspaces_of(visit),
        _found(visit, workspace, query),
    )
    return visit.page(
        "home.html",
        workspace=workspace,
        workspaces=workspaces,
        people=_or_none(people),
        status=_or_none(status),
        query=query,
        found=found,
    )


async def workspaces_of(visit: Visit) -> list[str]:
    if visit.who.wid != ALL:
        return [visit.who.wid]
    page = await visit.ask(LIST_WORKSPACES, ListWorkspaces(size=100))
    named = [] if isinstance(page, SouvenanceError) else [one.id for one in page.items]
    return sorted({*named, workspace_of(visit)})


async def _found(visit: Visit, workspace: str, query: str) -> dict[str, Any]:
    if not query:
        return {}
    search = SearchWorkspace(workspace_id=workspace, query=query, limit=_FOUND)
    notes, messages = await asyncio.gather(
        visit.ask(o.GET, m.Get(query=query, k=_FOUND)), visit.ask(SEARCH_WORKSPACE, search)
    )
    return {
        "notes": [] if isinstance(notes, SouvenanceError) else [one for one in notes.lines if one.matched],
        "messages": [] if isinstance(messages, SouvenanceError) else messages.messages,
    }


def _or_none(answer: Any | SouvenanceError) -> Any | None:
    return None if isinstance(answer, SouvenanceError) else answer


async def person(visit: Visit) -> Response:
    workspace, peer = workspace_of(visit), visit.path["peer"]
    observer = visit.query.get("as") or peer
    past = SessionsOfPeer(workspace_id=workspace, peer_id=peer, size=_SHOWN, reverse=True)
    about = {"observed_id": peer, "observer_id": observer}
    facts, sessions, conclusions, let_in = await asyncio.gather(
        visit.call(inspection.FACTS, inspection.Facts(workspace, peer, observer)),
        visit.ask(SESSIONS_OF_PEER, past),
        visit.ask(LIST_CONCLUSIONS, ListConclusions(workspace_id=workspace, filters=about, size=_SHOWN)),
        _sign_ins(visit),
    )
    readers = [one for one in let_in if one.workspace == workspace and (one.everyone or one.peer == peer)]
    return visit.page(
        "person.html",
        workspace=workspace,
        peer=peer,
        observer=observer,
        facts=facts.facts,
        sessions=_or_none(sessions),
        conclusions=_or_none(conclusions),
        readers=readers,
    )


async def _sign_ins(visit: Visit) -> list[Any]:
    found = await visit.ask(sign_ins.LIST, sign_ins.ListSignIns())
    return [] if isinstance(found, SouvenanceError) else found.sign_ins


async def change_card(visit: Visit) -> Response:
    """Add, correct or take away one fact: the card is written as a whole."""
    fields = await visit.form()
    workspace, peer = workspace_of(visit), visit.path["peer"]
    observer = fields.get("observer") or peer
    held = await visit.call(inspection.FACTS, inspection.Facts(workspace, peer, observer))
    texts = [fact.text for fact in held.facts]
    before, after = fields.get("before", ""), fields.get("after", "").strip()
    if before and before not in texts:
        raise Denied("the card has changed meanwhile", hint="Look at the person again.")
    kept = [after if text == before else text for text in texts] if before else [*texts, after]
    card = WriteCard(
        workspace_id=workspace, peer_id=observer, target=peer, peer_card=[text for text in kept if text]
    )
    await visit.call(WRITE_CARD, card)
    return redirect(url(workspace, "people", peer, **({} if observer == peer else {"as": observer})))


async def forget_conclusion(visit: Visit) -> Response:
    await visit.form()
    workspace, peer = workspace_of(visit), visit.path["peer"]
    gone = OfConclusion(workspace_id=workspace, conclusion_id=visit.path["id"])
    await visit.call(DELETE_CONCLUSION, gone)
    return redirect(url(workspace, "people", peer))


async def session(visit: Visit) -> Response:
    workspace, name = workspace_of(visit), visit.path["session"]
    page = max(1, number(visit.query.get("page", ""), 1))
    said = ListMessages(workspace_id=workspace, session_id=name, page=page, size=_SHOWN)
    summed_up = Summaries(workspace_id=workspace, session_id=name, if_any=True)
    drawn = ListConclusions(workspace_id=workspace, filters={"session_id": name}, size=100)
    messages, summaries, concluded = await asyncio.gather(
        visit.call(LIST_MESSAGES, said),
        visit.ask(SUMMARIES, summed_up),
        visit.ask(LIST_CONCLUSIONS, drawn),
    )
    beside: dict[str, list[Any]] = {}
    for one in [] if isinstance(concluded, SouvenanceError) else concluded.items:
        for source in one.source_ids or ():
            beside.setdefault(source, []).append(one)
    return visit.page(
        "session.html",
        workspace=workspace,
        session=name,
        messages=messages,
        summaries=_or_none(summaries),
        beside=beside,
    )


async def forget_message(visit: Visit) -> Response:
    """Shows what goes; with the form's consent, deletes it."""
    fields = await visit.form()
    workspace, name, line = workspace_of(visit), visit.path["session"], visit.path["id"]
    message = DeleteMessage(workspace_id=workspace, session_id=name, message_id=line)
    if fields.get("sure") != "yes":
        read = OfMessage(workspace_id=workspace, session_id=name, message_id=line)
        found = await visit.call(READ_MESSAGE, read)
        return visit.page("forget_message.html", workspace=workspace, session=name, message=found)
    await visit.call(DELETE_MESSAGE, message)
    return redirect(url(workspace, "sessions", name))


async def forget_session(visit: Visit) -> Response:
    """Shows what goes; with the form's consent, deletes it."""
    fields = await visit.form()
    workspace, name = workspace_of(visit), visit.path["session"]
    if fields.get("sure") != "yes":
        newest = ListMessages(workspace_id=workspace, session_id=name, size=3, reverse=True)
        messages = await visit.call(LIST_MESSAGES, newest)
        return visit.page("forget_session.html", workspace=workspace, session=name, messages=messages)
    await visit.call(DELETE_SESSION, OfSession(workspace_id=workspace, session_id=name))
    return redirect(url())


async def notes(visit: Visit) -> Response:
    namespace = visit.query.get("namespace")
    asked = m.List(
        namespaces=(namespace,) if namespace else None,
        cursor=visit.query.get("after"),
        limit=_SHOWN,
        texts=visit.may("get"),
    )
    found, status = await asyncio.gather(visit.call(o.LIST, asked), visit.ask(o.STATUS, m.Status()))
    return visit.page("notes.html", found=found, status=_or_none(status), namespace=namespace)


async def add_note(visit: Visit) -> Response:
    fields = await visit.form()
    put = m.Put(text=fields.get("text", ""), namespace=fields.get("namespace", "").strip() or "personal")
    stored = await visit.call(o.PUT, put)
    return redirect(url("lines", stored.id))


async def line(visit: Visit) -> Response:
    found = await visit.call(o.LINE, m.GetLine(visit.path["id"]))
    return visit.page("line.html", line=found)


async def correct_line(visit: Visit) -> Response:
    fields = await visit.form()
    text = fields.get("text", "").strip()
    made = await visit.call(o.INVALIDATE, m.Invalidate(visit.path["id"], text or None))
    return redirect(url("lines", made.id) if text else url("notes"))


async def forget_line(visit: Visit) -> Response:
    """Shows what goes; with the form's consent, deletes it and gives the receipt."""
    fields = await visit.form()
    sure = fields.get("sure") == "yes"
    answer = await visit.call(o.FORGET, m.Forget(id=visit.path["id"], dry_run=not sure))
    template = "forgotten.html" if sure else "forget_line.html"
    return visit.page(template, line=visit.path["id"], answer=answer)


async def receipt(visit: Visit) -> Response:
    """The receipt that a page showed, as a file."""
    fields = await visit.form()
    return download(fields.get("receipt", "").encode(), "receipt.jws", "application/jose")


async def recall(visit: Visit) -> Response:
    workspace, query = workspace_of(visit), visit.query
    asked = {name: query.get(name, "").strip() for name in ("peer", "agent", "q", "tokens")}
    if not asked["peer"] or not asked["q"]:
        return visit.page("recall.html", workspace=workspace, asked=asked, ranked=None, text="")
    tokens = min(number(asked["tokens"], _TOKENS), _MOST_TOKENS)
    search = SearchPeer(
        workspace_id=workspace, peer_id=asked["peer"], query=asked["q"], limit=_FOUND, explain=True
    )
    every, strong, text = await asyncio.gather(
        visit.call(SEARCH_PEER, search),
        visit.call(SEARCH_PEER, replace(search, floor=True)),
        visit.look(partial(_injected, workspace, asked["peer"], asked["agent"], asked["q"], tokens)),
    )
    near = {one.id for one in strong.messages}
    return visit.page(
        "recall.html",
        workspace=workspace,
        asked=asked,
        ranked=[
            RankedMessage(one, _signal_bars(one.explanation), _left_out(one, near, text))
            for one in every.messages
        ],
        text=text,
    )


def _injected(
    workspace: str, peer: str, agent: str, message: str, tokens: int, gate: Gate, credentials: Credentials
) -> str:
    """The very text that an agent would find before the message."""
    scope = ConversationScope(
        workspace=workspace,
        session="",
        user=peer,
        ai=agent or peer,
        personal=False,
        agent="looks" if agent else "absent",
    )
    memory = GatedMemory(gate, scope, lambda job: credentials, capped=True, together=gate.call_all)
    known = memory.known(message)
    return injection.base(known, message, datetime.now().astimezone(), tokens=tokens)


def _left_out(message: Any, near: set[str], text: str) -> str:
    if " ".join(message.content.split())[:_BEGINNING] in text:
        return ""
    return "told already, or no room" if message.id in near else "weak match"


def _signal_bars(explanation: m.Explanation | None) -> list[tuple[str, float, int]]:
    """The signals that added most, each with what it added and the length of its bar."""
    if explanation is None:
        return []
    strongest = list(explanation.signals.items())[:_SIGNALS]
    most = max((abs(signal.added) for _, signal in strongest), default=0) or 1
    return [(name, signal.added, round(abs(signal.added) / most * 100)) for name, signal in strongest]


PAGES = {
    "/": home,
    "/inspect/": home,
    "/inspect/notes": notes,
    "/inspect/lines/{id}": line,
    "/inspect/recall": recall,
    "/inspect/{workspace}/people/{peer}": person,
    "/inspect/{workspace}/sessions/{session}": session,
}
ACTIONS = {
    "/inspect/notes": add_note,
    "/inspect/lines/{id}/correct": correct_line,
    "/inspect/lines/{id}/forget": forget_line,
    "/inspect/receipt": receipt,
    "/inspect/{workspace}/people/{peer}/card": change_card,
    "/inspect/{workspace}/people/{peer}/conclusions/{id}/forget": forget_conclusion,
    "/inspect/{workspace}/sessions/{session}/forget": forget_session,
    "/inspect/{workspace}/sessions/{session}/messages/{id}/forget": forget_message,
}
