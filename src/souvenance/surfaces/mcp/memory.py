"""The memory of a person, as the tools use it: one memory, through all doors.

What the person said anywhere, the lines kept for them and the conclusions they hold lie in their own
compartments, where one question finds them all. What an agent concluded of them and said to them is added
where the cap may read that agent's view.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, time
from itertools import chain, islice, zip_longest
from typing import Any, Literal

from msgspec import Struct

from souvenance.agents.names import MOST_CHARS, escalated, is_plain, sanitised
from souvenance.agents.notes import AlreadyTold, Remark, search_terms
from souvenance.agents.redaction import redact
from souvenance.agents.transcript import clean
from souvenance.domain.line import CARD, CONCLUSIONS, MESSAGE, PROFILE, STATEMENT
from souvenance.domain.names import ALL, COMMON_NAMESPACE, DEFAULT_KIND, DEFAULT_WORKSPACE
from souvenance.domain.trust import KINDS
from souvenance.errors import CapScopeMismatch, InvalidInput, NotFound
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation import conclusions as c
from souvenance.gate.conversation import context, messages
from souvenance.gate.conversation.chat import ASK_PEER, ChatAnswer, Evidence
from souvenance.gate.conversation.peers import CHANGE_PEER
from souvenance.gate.conversation.resource import ResponsePage
from souvenance.gate.conversation.sessions import SESSIONS_OF_PEER, SessionPage
from souvenance.gate.messages import Request, WhoAmIAnswer
from souvenance.gate.operation import Operation
from souvenance.surfaces.local_time import here
from souvenance.surfaces.mcp import results as r

Task = Literal["read", "speak", "note", "erase"]
"""To look, to say something in the session, to keep something that is in none, to forget."""


Asks = Callable[[Task, Operation, Request], Awaitable[Any]]
"""Asks the gate. Raises: SouvenanceError."""


_PEER = re.compile(r"[a-zA-Z0-9_-]{1,512}\Z")


class MemoryOwner(Struct, frozen=True):
    """Whose memory it is, which agents' views of the person belong to it, and where it is written to."""

    workspace: str
    name: str
    ops: frozenset[str]
    namespace: str
    """Where what is remembered lies."""
    agents: tuple[str, ...] = ()
    """Agents whose view of the person belongs to this memory."""
    session: str | None = None
    """Where what the person says is stored; None for a cap that can't speak in any session."""

    @property
    def is_peer(self) -> bool:
        """Whether the name is one that a peer can have; other people have lines, and no conversations."""
        return _PEER.match(self.name) is not None

    @property
    def observer(self) -> str:
        """Who holds the view that facts about the person are stated in: an agent, if any, as in Hermes."""
        return self.agents[0] if self.agents else self.name


def person_of(cap: WhoAmIAnswer, *, session: str | None = None, namespace: str | None = None) -> MemoryOwner:
    """The person of a cap; `session` and `namespace` are those to write to, where an operator chose them."""
    return MemoryOwner(
        workspace=DEFAULT_WORKSPACE if cap.wid == ALL else cap.wid,
        name=cap.sub,
        ops=frozenset(cap.ops),
        namespace=namespace or _home(cap.namespaces_allowed),
        agents=tuple(agent for agent in cap.via if agent != cap.sub),
        session=session or _session(cap),
    )


def session_for(person: str) -> str:
    """The session of what a person says through this door; no two people have the same."""
    name = f"mcp-{person}"
    return name if is_plain(name) else escalated(sanitised(name)[:MOST_CHARS], frozenset(), name)


def _home(namespaces: list[str]) -> str:
    """The common namespace if the cap opens it, as everywhere; else the first that it does."""
    opens_it = {ALL, COMMON_NAMESPACE}.intersection(namespaces)
    return COMMON_NAMESPACE if opens_it else min(namespaces, default=COMMON_NAMESPACE)


def _session(cap: WhoAmIAnswer) -> str | None:
    if cap.sessions is not None:
        return min(cap.sessions, default=None)
    return session_for(cap.sub) if ALL in cap.peers else None


TASKS: dict[Task, tuple[str, ...]] = {
    "read": ("get", "list", "snapshot"),
    "speak": ("put", "list"),
    "note": ("put", "list", "get"),
    "erase": ("get", "forget"),
}
"""The rights that each task takes."""


def narrower(
    person: MemoryOwner,
    task: Task,
    *,
    read: tuple[str, ...] | None = None,
    write: str | None = None,
) -> m.Attenuate:
    """What the token of a task says; `read` and `write` are the namespaces, where an operator chose some."""
    written = None if write is None else (write,)
    session = person.session if task == "speak" else None
    return m.Attenuate(
        sub=person.name,
        wid=person.workspace,
        data_class="memory",
        ops=tuple(op for op in TASKS[task] if op in person.ops),
        namespaces_allowed=read if task == "read" else written,
        peers=(person.name,),
        via=person.agents,
        sessions=None if session is None else (session,),
    )


_FROM_HERE = {"door": "mcp"}
_CONCLUSIONS = {STATEMENT, *CONCLUSIONS.values(), *KINDS.values()}
_NEAREST = 3
"""How many lines come where none answers well."""
_MOST_LACKING = 0.67
"""What share of a question's words a conclusion may lack."""
_MOST_SOURCES = 10
_MOST_AGENTS = 4
_RECENT_TOKENS = 2_000
_KNOWN = 20
_NOON = time(12)
_NEWEST = 10
_UNSOURCED = "Leave source_ids out."
_GONE = "Gone from memory. What you read of it before may still stand in this conversation."


class PersonsMemory:
    """What can be done to one person's memory. Raises, all of it: SouvenanceError."""

    def __init__(self, person: MemoryOwner, asks: Asks) -> None:
        self.person = person
        self._asks = asks

    async def remember(
        self, statements: Sequence[str], happened_on: date | None, expires_on: date | None = None
    ) -> r.KeptResult:
        """Keep what the person told: as their words in the session; where the cap can't speak in one, as
        facts about them. What expires, and what is of somebody who can't be a peer, becomes a line of theirs:
        messages don't expire."""
        person = self.person
        said = [_kept(one) for one in statements]
        if expires_on is not None or not person.is_peer:
            return r.KeptResult([await self._put(text, happened_on, expires_on) for text in said])
        if person.session is not None:
            try:
                return await self._say(person.session, said, happened_on)
            except CapScopeMismatch:
                pass  # The cap names that session, and does not open it.
        dated = said if happened_on is None else [f"On {happened_on}: {text}" for text in said]
        return r.KeptResult([one.id for one in await self._state(dated, None)])

    async def _say(self, session: str, said: Sequence[str], happened_on: date | None) -> r.KeptResult:
        person, at = self.person, _at(happened_on, _NOON)
        added = [
            messages.NewMessage(content=text, peer_id=person.name, metadata=_FROM_HERE, created_at=at)
            for text in said
        ]
        stored: messages.Messages = await self._ask(
            "speak", messages.ADD_MESSAGES, session_id=session, messages=added, namespace=person.namespace
        )
        return r.KeptResult([one.id for one in stored.messages], session)

    async def _put(
        self,
        text: str,
        happened_on: date | None = None,
        expires_on: date | None = None,
        kind: str = DEFAULT_KIND,
    ) -> str:
        line = m.Put(
            text,
            self.person.namespace,
            kind=kind,
            occurred_at=_at(happened_on, _NOON),
            expires_at=_at(expires_on),
            metadata=_FROM_HERE,
        )
        kept: m.PutAnswer = await self._asks("note", o.PUT, line)
        return kept.id

    async def recall(self, question: str, limit: int) -> r.RecallResult:
        """The few lines that answer; if none does well, the nearest, and said so."""
        lines = await self._matching(question, limit, floor=True)
        if lines:
            return r.RecallResult(lines)
        nearest = await self._matching(question, min(limit, _NEAREST), floor=False)
        if nearest:
            return r.RecallResult(nearest, False, "None of these answers it well; use them only if they do.")
        return r.RecallResult([], False, "Nothing in memory matches. Ask the user, or try other words once.")

    async def _matching(self, question: str, limit: int, *, floor: bool) -> list[r.Cited]:
        name, about = self.person.name, search_terms(question)
        own: m.GetAnswer = await self._asks("read", o.GET, m.Get(question, k=limit, floor=floor))
        groups: list[list[Any]] = [[one for one in own.lines if one.matched and one.kind != CARD]]
        for agent in self.person.agents[:_MOST_AGENTS]:
            concluded = await self._find(
                c.QUERY_CONCLUSIONS,
                query=question,
                top_k=limit,
                distance=_MOST_LACKING,
                filters={"observer_id": agent, "observed_id": name},
            )
            said = await self._find(  # Where the person was.
                messages.SEARCH_PEER,
                peer_id=agent,
                query=question,
                limit=limit,
                filters={"peer_perspective": name},
                floor=floor,
            )
            groups += [concluded.conclusions if concluded else [], said.messages if said else []]
        found = filter(None, chain.from_iterable(zip_longest(*groups)))
        return [*islice(_once(r.cite(one, name, about) for one in found), limit)]

    async def read(self, id: str, session: str | None) -> r.ReadResult:
        """One line whole, with what it follows from."""
        found = await self._one(id, session)
        if found is None:
            raise NotFound(
                "there is no such line in this memory", hint="Give the session that was cited too."
            )
        concluded, name = found, self.person.name
        if isinstance(found, m.LineAnswer) and found.kind in _CONCLUSIONS:
            concluded = await self._find(c.READ_CONCLUSION, conclusion_id=id)
        sources = []
        if isinstance(concluded, c.ConclusionAnswer):
            ids = (concluded.source_ids or ())[:_MOST_SOURCES]
            sources = [await self._one(source, concluded.session_id) for source in ids]
        shown = r.cite(found, name, most=r.MOST_TEXT_CHARS)
        rests_on = [r.cite(one, name) for one in filter(None, sources)]
        if not isinstance(found, m.LineAnswer):
            return r.ReadResult(shown, rests_on)
        end = None if found.expires_at is None else r.day_of(found.expires_at)
        return r.ReadResult(shown, rests_on, found.supersedes, found.invalidated_by, end)

    async def _one(self, line_id: str, session: str | None) -> Any:
        """The line, message of the session or conclusion of that id; None if it may not be read."""
        found = await _found(self._asks("read", o.LINE, m.GetLine(line_id)))
        if found is None and session is not None:
            found = await self._find(messages.READ_MESSAGE, session_id=session, message_id=line_id)
        return found or await self._find(c.READ_CONCLUSION, conclusion_id=line_id)

    async def list(self, what: str, since: date | None, cursor: str | None, limit: int) -> r.Listed:
        match what:
            case "lines":
                return await self._list_lines(since, cursor, limit)
            case "facts":
                return await self._list_facts(cursor, limit)
            case _:
                return await self.list_sessions(cursor, limit)

    async def _list_lines(self, since: date | None, cursor: str | None, limit: int) -> r.Listed:
        request = m.List(since=_at(since), cursor=cursor, limit=limit)
        page: m.ListAnswer = await self._asks("read", o.LIST, request)
        return r.Listed([r.cite(one, self.person.name) for one in page.lines], next=page.cursor)

    async def _list_facts(self, cursor: str | None, limit: int) -> r.Listed:
        """Conclusions about the person, newest first: their own, and those of the agents."""
        person = self.person
        held_by = [person.name, *person.agents]
        page: c.ConclusionPage | None = await self._find(
            c.LIST_CONCLUSIONS,
            filters={"observer_id": {"in": held_by}, "observed_id": person.name},
            page=_page(cursor),
            size=limit,
        )
        items = [] if page is None else page.items
        return r.Listed([r.cite(one, person.name) for one in items], next=_next(page))

    async def list_sessions(self, cursor: str | None, limit: int) -> r.Listed:
        page: SessionPage | None = await self._find(
            SESSIONS_OF_PEER, peer_id=self.person.name, page=_page(cursor), size=limit, reverse=True
        )
        items = [] if page is None else page.items
        sessions = [r.SessionResult(r.name_of(one.id), r.day_of(one.created_at)) for one in items]
        return r.Listed(sessions=sessions, next=_next(page))

    async def profile(self) -> r.Profiled:
        """The card, and what else is known of the person: by themselves, by the agents, and in lines."""
        card, known = AlreadyTold(), AlreadyTold()
        facts: list[str] = []
        known_lines: list[str] = []
        for observer in (self.person.name, *self.person.agents[:_MOST_AGENTS]):
            portrait: context.PeerContextAnswer | None = await self._find(
                context.PEER_CONTEXT,
                peer_id=observer,
                target=None if observer == self.person.name else self.person.name,
                include_most_frequent=False,
                max_conclusions=_KNOWN,
                floor=True,
            )
            if portrait is not None:
                facts += _new(card, r.facts(portrait.peer_card or ()))
                known_lines += islice(_new(known, r.known(portrait.representation or "")), _NEWEST)
        if "snapshot" in self.person.ops:
            own: m.SnapshotAnswer = await self._asks("read", o.SNAPSHOT, m.Snapshot())
            known_lines += islice(_new(known, r.newest(own.profile)), _NEWEST)
        hint = None if facts or known_lines else "Nothing is known of the user yet: it gathers as they tell."
        return r.Profiled(facts[:_KNOWN], known_lines[:_KNOWN], hint)

    async def conclude(self, fact: str, session: str | None, source_ids: Sequence[str] = ()) -> r.Concluded:
        """Keep a fact of the person: in the agent's view of them if there is one, else in their own. What it
        follows from are messages and facts of this memory, if there are any."""
        text = _kept(fact)
        if not self.person.is_peer:
            if source_ids:
                raise InvalidInput("the sources of a fact about this user can't be kept", hint=_UNSOURCED)
            return r.Concluded(await self._put(text, kind=PROFILE), r.name_of(self.person.name))
        (kept,) = await self._state([text], session, source_ids)
        return r.Concluded(kept.id, r.name_of(kept.observer_id), kept.source_ids or [])

    async def _state(
        self, facts: Sequence[str], session: str | None, sources: Sequence[str] = ()
    ) -> Sequence[c.ConclusionAnswer]:
        person = self.person
        try:
            return await self._stated(person.observer, facts, session, sources)
        except NotFound:
            if session is not None:
                raise
        await self._ask("note", CHANGE_PEER, peer_id=person.name)
        return await self._stated(person.name, facts, session, sources)

    async def _stated(
        self, observer: str, facts: Sequence[str], session: str | None, sources: Sequence[str]
    ) -> Sequence[c.ConclusionAnswer]:
        person = self.person
        stated = [
            c.NewConclusion(
                content=fact,
                observer_id=observer,
                observed_id=person.name,
                session_id=session,
                source_ids=list(sources) or None,
            )
            for fact in facts
        ]
        namespace = person.namespace if session is None else None
        kept: c.Conclusions = await self._ask(
            "note", c.ADD_CONCLUSIONS, conclusions=stated, namespace=namespace
        )
        return kept.conclusions

    async def forget(self, id: str, session: str | None) -> r.ForgetResult:
        """Erase one line for good, and say what it was."""
        said = (await self.read(id, session)).line
        try:
            await self._asks("erase", o.FORGET, m.Forget(id=id))
        except NotFound:  # It lies with an agent: a message of the session, or a conclusion about the person.
            if session is not None and said.kind == MESSAGE:
                await self._ask("erase", messages.DELETE_MESSAGE, session_id=session, message_id=id)
            else:
                await self._ask("erase", c.DELETE_CONCLUSION, conclusion_id=id)
        return r.ForgetResult(id, [said], _GONE)

    async def reason(self, question: str, effort: str) -> r.Reasoned:
        """An answer in words from all that is known, with what it rests on."""
        person = self.person
        reply: ChatAnswer | None = await self._find(
            ASK_PEER,
            peer_id=person.observer,
            target=None if person.observer == person.name else person.name,
            query=question,
            reasoning_level=effort,
            include_evidence=True,
        )
        answer = r.answer_of("" if reply is None else reply.content or "")
        if not answer:
            near = await self.recall(question, _NEAREST)
            hint = "Memory has no answer. These lines are nearest." if near.lines else near.hint
            return r.Reasoned(None, near.lines, hint)
        found = (reply and reply.evidence) or Evidence()
        concluded = [r.cite(one, person.name) for one in found.conclusions[:_MOST_SOURCES]]
        said = [r.cite(one, person.name) for one in found.messages[:_MOST_SOURCES]]
        return r.Reasoned(answer, concluded + said)

    async def session(self, session: str) -> context.SessionContextAnswer:
        """A session's summary and its newest messages. Raises: NotFound."""
        answer: context.SessionContextAnswer | None = await self._find(
            context.CONTEXT, session_id=session, tokens=_RECENT_TOKENS
        )
        if answer is None:
            raise NotFound(
                "there is no such session in this memory", hint="souvenance://sessions lists them."
            )
        return answer

    async def _ask(self, task: Task, operation: Operation, **fields: Any) -> Any:
        """The answer to a request about the person's workspace with these fields."""
        request = operation.request(workspace_id=self.person.workspace, **fields)
        return await self._asks(task, operation, request)

    async def _find(self, operation: Operation, **fields: Any) -> Any:
        return await _found(self._ask("read", operation, **fields))


async def _found(answer: Awaitable[Any]) -> Any:
    """The answer; None if there is no such thing, or none for this cap. Raises: SouvenanceError."""
    try:
        return await answer
    except (NotFound, CapScopeMismatch):
        return None


def _kept(text: str) -> str:
    """What of a text may be kept. Raises: InvalidInput if that is nothing."""
    kept = redact(clean(text)).strip()
    if not kept:
        raise InvalidInput("there is nothing in it to remember")
    return kept


def _at(day: date | None, hour: time = time.min) -> datetime | None:
    """A moment of the day where this machine is; of no day, none."""
    return None if day is None else here(datetime.combine(day, hour))


def _once(lines: Iterable[r.Cited]) -> Iterator[r.Cited]:
    """Each line once, and what says the same as one before not at all."""
    seen = AlreadyTold()
    return (one for one in lines if seen.take(one.text))


def _new(seen: AlreadyTold, remarks: Iterable[Remark]) -> Iterator[str]:
    """What is not told yet, each with its day."""
    for one in remarks:
        if seen.take(one.text):
            yield str(one)


def _page(cursor: str | None) -> int:
    """Raises: InvalidInput."""
    if cursor is None:
        return 1
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 8 or int(cursor) < 1:
        raise InvalidInput("the cursor is not one of this list", hint="Give the `next` of the page before.")
    return int(cursor)


def _next(page: ResponsePage | None) -> str | None:
    return str(page.page + 1) if page is not None and page.page < page.pages else None
