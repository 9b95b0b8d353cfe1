"""The memory of one conversation, asked for through a gate: in this process, or behind a URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.narrow_tokens import CallableGate, Purpose
from souvenance.agents.notes import MOST_OF_A_REMARK
from souvenance.agents.recalled import (
    AI,
    USER,
    Known,
    Portrait,
    RecalledPassage,
    SessionSnapshot,
)
from souvenance.agents.redaction import redact
from souvenance.domain import representation
from souvenance.domain.line import MESSAGE
from souvenance.domain.reasoning_settings import MemberReasoning
from souvenance.domain.representation import taken_apart
from souvenance.domain.timestamps import to_datetime
from souvenance.domain.trust import Trust, least_shown, of_message, unquoted
from souvenance.errors import CapScopeMismatch, NotFound, SouvenanceError, Unavailable, Unsupported
from souvenance.gate.conversation import conclusions as concluded
from souvenance.gate.conversation import context
from souvenance.gate.conversation.chat import ASK_PEER, AskPeer, ChatAnswer
from souvenance.gate.conversation.messages import SEARCH_PEER, MessageAnswer, Messages, SearchPeer
from souvenance.gate.conversation.peers import CHANGE_PEER, OPEN_PEER, ChangePeer, OpenPeer
from souvenance.gate.conversation.sessions import ADD_MEMBERS, OPEN_SESSION, OpenSession, SetMembers
from souvenance.gate.conversation.workspaces import OPEN_WORKSPACE, OpenWorkspace
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials

_MOST_QUERY = 4_000
_CONCLUSIONS = 20
_OF_ITSELF = 8
"""Of the agent itself a turn is shown three or four."""
_ALIKE = 10
_CARD = "the agent's own card"
_OWN_CARD = "the user's own card"
_SAID_BY_USER = 5
_SAID_BY_AI = 3
_NOTES = 20
_RECENT_TOKENS = 2_000
_OVERFULL = 1.25
"""How much more than fits is looked up: some of it may have been shown already."""

_T = TypeVar("_T")


Together = Callable[[Credentials, Sequence[tuple[Operation, Request]]], list[Any]]
"""Asks several things that are only read, and gives the answers in order; of what is refused, the error."""


class Look(Struct, Generic[_T], frozen=True):
    """Something that is asked of memory, and what is made of the answer; of None, where there is nothing."""

    operation: Operation
    request: Request
    read: Callable[[Any | None], _T]


class GatedMemory:
    """The memory of one conversation. `peer` is USER, AI or the name of another peer.

    Every method raises SouvenanceError.
    """

    def __init__(
        self,
        gate: CallableGate,
        scope: ConversationScope,
        tokens: Callable[[Purpose], Credentials],
        *,
        capped: bool,
        together: Together | None = None,
    ) -> None:
        self._gate = gate
        self._scope = scope
        self._tokens = tokens
        self._capped = capped
        self._together = together or partial(one_by_one, gate)
        self._guarded = not capped and not scope.alone
        """Whether no gate separates the people of this agent, so that it has to be done here."""

    def _views(self, peer: str) -> tuple[str, str]:
        """Observer and observed. Raises: NotFound for anybody else, where no gate separates people."""
        if self._guarded and self._scope.named(peer) not in (self._scope.user, self._scope.ai):
            raise NotFound("there is no such peer here")
        return self._scope.views(peer)

    def _session_of(self, observed: str) -> str | None:
        """The session to keep to: what the agent knows of itself is of many people."""
        return self._scope.session if self._guarded and observed == self._scope.ai else None

    def known(self, message: str, *, shown: str = "", room: int | None = None) -> Known:
        """What bears on the message, and what is known of its author. No passage is in `shown`.

        With `room`, in characters, what the agent said is looked for only if what the user said does not
        take more than that: it would come last.
        """
        query = message.strip()[:_MOST_QUERY]
        looks: dict[str, Look[Any]] = {
            **self._summary(),
            USER: self._portrait(USER, query),
            **self._itself(_OF_ITSELF),
        }
        if query:
            looks["said by user"] = self._said(USER, query, _SAID_BY_USER, floor=True)
        by_ai: dict[str, Look[Any]] = {}
        if query and self._scope.agent != "absent":
            by_ai["said by ai"] = self._said(AI, query, _SAID_BY_AI, floor=True)
        looks |= self._owner_s_card() | self._user_s_own_card()
        found = self._all(looks if room is not None else {**looks, **by_ai})
        user = found[USER] if _tells(found[USER]) else self._own_portrait(query)
        user = user if user.card else replace(user, card=tuple(found.get(_OWN_CARD, ())))
        if room is not None:
            texts = {one.text for one in (*user.said, *found.get("said by user", ()))}
            fresh = (text for text in texts if text not in shown)
            if sum(min(len(text), MOST_OF_A_REMARK) for text in fresh) < _OVERFULL * room:
                found |= self._all(by_ai)
        searched = [*found.get("said by user", ()), *found.get("said by ai", ())]
        by_text = {(one.session, one.text.strip()): one for one in searched}
        said = _timed(user.said, by_text)
        elsewhere = [one for one in by_text.values() if one.peer == self._scope.user]
        others = [one for one in by_text.values() if one not in elsewhere]
        passages = tuple(one for one in (*elsewhere, *said, *others) if one.text not in shown)
        return Known(found.get("summary", ""), user, _with_card(found), passages)

    def _own_portrait(self, query: str) -> Portrait:
        user = self._scope.user
        if not self._has_own(self._scope.observer, user):
            return Portrait()
        own: Portrait = self._all({USER: self._view(user, user, query)})[USER]
        return own

    def _has_own(self, observer: str, observed: str) -> bool:
        """Whether there is a view of their own of the user, for an agent that has none of them yet."""
        return observed == self._scope.user != observer and self._scope.observation.user.observe_me

    def ask(self, question: str, level: str, peer: str = USER) -> str:
        """An answer in words; empty if memory has none."""
        observer, observed = self._views(peer)
        answer = self._asked(question, level, observer, observed)
        own = not answer and self._has_own(observer, observed)
        return self._asked(question, level, observed, observed) if own else answer

    def _asked(self, question: str, level: str, observer: str, observed: str) -> str:
        session = self._session_of(observed)
        asked = AskPeer(
            workspace_id=self._scope.workspace,
            peer_id=observer,
            query=question,
            target=None if observer == observed else observed,
            filters=None if session is None else {"session_id": session},
            reasoning_level=level,  # type: ignore[arg-type]  # The gate says which there are.
        )
        answer: ChatAnswer | None = self._found(ASK_PEER, asked)
        return "" if answer is None else answer.content or ""

    def search(self, query: str, peer: str, limit: int) -> list[RecalledPassage]:
        whole = self._scope.named(peer) == self._scope.user and self._scope.agent != "absent"
        peers = (USER, AI) if whole else (peer,)
        found = self._all({one: self._said(one, query[:_MOST_QUERY], limit) for one in peers})
        return [passage for some in found.values() for passage in some][:limit]

    def card(self, peer: str) -> list[str]:
        observer, observed = self._card_of(peer)
        looks = {"card": self._card(observer, observed)}
        if self._has_own(observer, observed):
            looks["own"] = self._card(observed, observed)
        found: dict[str, list[str]] = self._all(looks)
        return found["card"] or found.get("own", [])

    def _card_of(self, peer: str) -> tuple[str, str]:
        """Observer and observed. Raises: Unsupported for the agent's own, where others speak.

        Where the agent serves others elsewhere, its card is the owner's, and nobody else sees it.
        """
        observer, observed = self._views(peer)
        if observed != self._scope.ai or self._scope.alone:
            return observer, observed
        if not self._scope.personal:
            raise Unsupported(
                "the agent's own card is neither told nor written where others may share it",
                hint="The operator can set pinUserPeer if nobody else speaks with the agent.",
            )
        return self._scope.user, observed

    def _owner_s_card(self) -> dict[str, Look[list[str]]]:
        scope = self._scope
        others = not scope.personal or scope.alone
        if others or scope.agent == "absent" or not scope.observation.ai.observe_me:
            return {}
        return {_CARD: self._card(scope.user, scope.ai)}

    def _user_s_own_card(self) -> dict[str, Look[list[str]]]:
        """The user's own card, for an agent that may have none of them; not asked of others' servers."""
        user = self._scope.user
        wanted = self._capped and self._has_own(self._scope.observer, user)
        return {_OWN_CARD: self._card(user, user)} if wanted else {}

    def _card(self, observer: str, observed: str) -> Look[list[str]]:
        def read(found: context.PeerCard | None) -> list[str]:
            return [] if found is None else found.peer_card or []

        asked = context.ReadCard(workspace_id=self._scope.workspace, peer_id=observer, target=observed)
        return Look(context.READ_CARD, asked, read)

    def card_sources(self, peer: str) -> list[tuple[str, str]]:
        """The facts of the card that were said, each with its message; none if the server can't say."""
        from souvenance.gate.inspection import FACTS, Facts, FactsAnswer  # A turn does not need it.

        observer, observed = self._card_of(peer)
        for one in dict.fromkeys((observer, observed)):
            asked = Facts(workspace_id=self._scope.workspace, peer=observed, observer=one)
            answer = answer_or_error(self._gate, self._tokens("read"), FACTS, asked)
            if isinstance(answer, FactsAnswer) and answer.facts:
                return [(fact.text, fact.message) for fact in answer.facts if fact.message is not None]
        return []

    def write_card(self, peer: str, entries: Sequence[str]) -> list[str]:
        observer, observed = self._card_of(peer)
        asked = context.WriteCard(
            workspace_id=self._scope.workspace,
            peer_id=observer,
            target=observed,
            peer_card=[redact(entry) for entry in entries],
            namespace=self._scope.written,
        )
        answer: context.PeerCard = self._gate.call(context.WRITE_CARD, self._tokens("note"), asked)
        return answer.peer_card or []

    def snapshot(self, peer: str) -> SessionSnapshot:
        asked = context.SessionContext(
            workspace_id=self._scope.workspace,
            session_id=self._scope.session,
            tokens=_RECENT_TOKENS,
        )
        itself = self._scope.named(peer) == self._scope.ai
        looks: dict[str, Look[Any]] = {**self._itself(), **self._owner_s_card()}
        looks = looks if itself else {AI: self._portrait(peer, "")}
        portrait = _with_card(self._all(looks))
        if self._scope.named(peer) == self._scope.user and not _tells(portrait):
            portrait = self._own_portrait("")
        found: context.SessionContextAnswer | None = self._found(context.CONTEXT, asked)
        if found is None:
            return SessionSnapshot("", portrait, ())
        summary = "" if found.summary is None else found.summary.content
        return SessionSnapshot(summary, portrait, tuple(_passage(one) for one in found.messages))

    def conclude(self, peer: str, text: str) -> concluded.ConclusionAnswer:
        """What is concluded in a session that is not there yet belongs to none, so that none is left empty.

        Only what the agent is to know of itself belongs to one: elsewhere it would be everybody's.
        """
        scope = self._scope
        observer, observed = self._views(peer)
        if observed == scope.ai and not scope.personal:
            raise Unsupported(
                "what the agent is to know of itself is not taken from one of many",
                hint="Say it of the user.",
            )
        stated = concluded.NewConclusion(
            content=redact(text), observer_id=observer, observed_id=observed, session_id=scope.session
        )
        try:
            return self._conclude(stated)
        except (NotFound, CapScopeMismatch):
            if observed == scope.ai and not scope.alone:
                self.begin()
                return self._conclude(stated)
            self._begin_peers()
            return self._conclude(replace(stated, session_id=None))

    def _conclude(self, stated: concluded.NewConclusion) -> concluded.ConclusionAnswer:
        scope = self._scope
        asked = concluded.AddConclusions(
            workspace_id=scope.workspace, conclusions=[stated], namespace=scope.written
        )
        answer: concluded.Conclusions = self._gate.call(
            concluded.ADD_CONCLUSIONS, self._tokens("note"), asked
        )
        return answer.conclusions[0]

    def begin(self) -> None:
        """Make the session, for something to be written to it that can't make it by itself."""
        scope, members = self._scope, members_of(self._scope)
        if self._capped:
            joining = SetMembers(
                workspace_id=scope.workspace, session_id=scope.session, peers=members, namespace=scope.written
            )
            self._gate.call(ADD_MEMBERS, self._tokens("speak"), joining)
            return
        self._begin_peers()
        asked = OpenSession(workspace_id=scope.workspace, id=scope.session, peers=members)
        self._gate.call(OPEN_SESSION, self._tokens("speak"), asked)

    def _begin_peers(self) -> None:
        """Make those who take part, and no session."""
        credentials, workspace = self._tokens("name"), self._scope.workspace
        if not self._capped:
            self._gate.call(OPEN_WORKSPACE, credentials, OpenWorkspace(id=workspace))
        for peer in members_of(self._scope):
            if self._capped:
                self._gate.call(CHANGE_PEER, credentials, ChangePeer(workspace_id=workspace, peer_id=peer))
            else:
                self._gate.call(OPEN_PEER, credentials, OpenPeer(workspace_id=workspace, id=peer))

    def retract(self, note_id: str) -> None:
        if self._guarded and not any(self.conclusions(peer, None, id=note_id) for peer in (USER, AI)):
            raise NotFound("there is no such conclusion")
        asked = concluded.OfConclusion(workspace_id=self._scope.workspace, conclusion_id=note_id)
        self._gate.call(concluded.DELETE_CONCLUSION, self._tokens("erase"), asked)

    def stated(self, peer: str, query: str) -> list[concluded.ConclusionAnswer]:
        """Facts about the peer that were stated, not concluded from messages, and may answer the query."""
        return [one for one in self.conclusions(peer, query[:_MOST_QUERY]) if not one.source_ids]

    def conclusions(self, peer: str, query: str | None, **more: str) -> list[concluded.ConclusionAnswer]:
        """Those that answer the query, or else the newest. `more` is filtered by."""
        observer, observed = self._views(peer)
        filters = {"observer_id": observer, "observed_id": observed, **more}
        if (session := self._session_of(observed)) is not None:
            filters["session_id"] = session
        workspace = self._scope.workspace
        if query:
            asked = concluded.QueryConclusions(
                workspace_id=workspace, query=query, top_k=_NOTES, filters=filters
            )
            found: concluded.Conclusions | None = self._found(concluded.QUERY_CONCLUSIONS, asked)
            return [] if found is None else found.conclusions
        newest = concluded.ListConclusions(workspace_id=workspace, filters=filters, size=_NOTES)
        page: concluded.ConclusionPage | None = self._found(concluded.LIST_CONCLUSIONS, newest)
        return [] if page is None else page.items

    def _summary(self) -> dict[str, Look[str]]:
        """What was said in this conversation, if only the user and the agent took part in it."""
        scope = self._scope
        if self._guarded and not scope.personal:
            return {}  # Nobody else can say who took part.

        def read(found: context.SessionSummaries | None) -> str:
            newest = None if found is None else found.short_summary or found.long_summary
            return "" if newest is None else newest.content

        asked = context.Summaries(
            workspace_id=scope.workspace,
            session_id=scope.session,
            if_any=True,
            between=[scope.user, scope.ai],
        )
        return {"summary": Look(context.SUMMARIES, asked, read)}

    def _portrait(self, peer: str, query: str, most: int = _CONCLUSIONS) -> Look[Portrait]:
        return self._view(*self._views(peer), query, most)

    def _view(self, observer: str, observed: str, query: str, most: int = _CONCLUSIONS) -> Look[Portrait]:
        def read(found: context.PeerContextAnswer | None) -> Portrait:
            if found is None:
                return Portrait()
            view, passages = taken_apart(found.representation or "")
            return Portrait(view, tuple(found.peer_card or ()), tuple(_quoted(passages)))

        asked = context.PeerContext(
            workspace_id=self._scope.workspace,
            peer_id=observer,
            target=None if observer == observed else observed,
            search_query=query or None,
            search_top_k=_ALIKE if query else None,
            include_most_frequent=False,
            max_conclusions=most,
            floor=True,
            quotes=observed != self._scope.ai,
        )
        return Look(context.PEER_CONTEXT, asked, read)

    def _itself(self, most: int = _CONCLUSIONS) -> dict[str, Look[Portrait]]:
        """What the agent knows of itself, if it is to know anything."""
        scope = self._scope
        if not scope.observation.ai.observe_me or scope.agent == "absent":
            return {}
        if (session := self._session_of(scope.ai)) is None:
            return {AI: self._portrait(AI, "", most)}

        def read(found: context.Representation | None) -> Portrait:
            return Portrait() if found is None else Portrait(taken_apart(found.representation)[0])

        asked = context.Represent(
            workspace_id=scope.workspace, peer_id=scope.ai, session_id=session, max_conclusions=most
        )
        return {AI: Look(context.REPRESENT, asked, read)}

    def _said(self, peer: str, query: str, limit: int, *, floor: bool = False) -> Look[list[RecalledPassage]]:
        """What the peer said: the user anywhere, others where the user was.

        With `floor`, nothing unless it is worth showing to who did not ask: what reads like orders never is,
        and what the peer only carried is if the query asks for something.
        """
        name = self._views(peer)[1]
        least = least_shown(query) if floor else Trust.SUSPECT

        def read(found: Messages | None) -> list[RecalledPassage]:
            said = [] if found is None else [_passage(one) for one in found.messages]
            return [one for one in said if one.trust >= least and one.peer == name]

        asked = SearchPeer(
            workspace_id=self._scope.workspace,
            peer_id=name,
            query=query,
            limit=limit,
            filters=None if name == self._scope.user else {"peer_perspective": self._scope.user},
            floor=floor,
        )
        return Look(SEARCH_PEER, asked, read)

    def _all(self, looks: Mapping[str, Look[Any]]) -> dict[str, Any]:
        """What is made of the answer to each. Raises: SouvenanceError."""
        calls = [(look.operation, look.request) for look in looks.values()]
        pairs = zip(looks.items(), self._together(self._tokens("read"), calls), strict=True)
        return {name: look.read(self._there(answer)) for (name, look), answer in pairs}

    def _found(self, operation: Operation, request: Request) -> Any:
        """The answer; None if there is nothing. Raises: SouvenanceError."""
        return self._there(answer_or_error(self._gate, self._tokens("read"), operation, request))

    def _there(self, answer: Any) -> Any:
        """The answer; None if what it is about is not there, or not there for this conversation.

        Without caps a server that denies something denies everything.

        Raises: SouvenanceError.
        """
        if isinstance(answer, NotFound) or (self._capped and isinstance(answer, CapScopeMismatch)):
            return None
        if isinstance(answer, SouvenanceError):
            raise answer
        return answer


def answer_or_error(
    gate: CallableGate, credentials: Credentials, operation: Operation, request: Request
) -> Any:
    """What came of the call. Raises: Unavailable."""
    try:
        return gate.call(operation, credentials, request)
    except Unavailable:
        raise
    except SouvenanceError as error:
        return error


def one_by_one(
    gate: CallableGate, credentials: Credentials, calls: Sequence[tuple[Operation, Request]]
) -> list[Any]:
    """What came of each call. Raises: Unavailable."""
    return [answer_or_error(gate, credentials, *call) for call in calls]


def members_of(scope: ConversationScope) -> dict[str, MemberReasoning]:
    """Who takes part in the session, and what each observes."""
    user, ai = scope.observation.user, scope.observation.ai
    found = {scope.user: MemberReasoning(user.observe_me, user.observe_others)}
    if scope.agent == "speaks":
        found[scope.ai] = MemberReasoning(ai.observe_me, ai.observe_others)
    return found


def _with_card(found: Mapping[str, Any]) -> Portrait:
    """What the agent knows of itself, and its card."""
    itself: Portrait = found.get(AI, Portrait())
    return replace(itself, card=tuple(found[_CARD])) if found.get(_CARD) else itself


def _tells(portrait: Portrait) -> bool:
    return bool(portrait.view or portrait.card or portrait.said)


def _timed(
    quoted: Sequence[RecalledPassage], found: dict[tuple[str, str], RecalledPassage]
) -> list[RecalledPassage]:
    """The quoted messages, each at the very time of one that was found and is quoted with it, if one was.

    Those that were found are taken from there, with their ids.
    """
    pairs = [(one, found.pop((one.session, one.text.strip()), one)) for one in quoted]
    times: dict[str, datetime] = {}
    for one, same in pairs:
        if same is not one:
            times.setdefault(one.beside, same.said_at)
    return [replace(one, id=same.id, said_at=times.get(one.beside, one.said_at)) for one, same in pairs]


def _quoted(passages: Iterable[representation.QuotedPassage]) -> Iterator[RecalledPassage]:
    """The quoted messages, each at the time of the first of its passage, as clocks on the wall showed it."""
    for passage in passages:
        at = to_datetime(passage.at).replace(tzinfo=None)
        for quote in passage.quotes:
            trust, text = unquoted(quote.text)
            beside = f"{passage.session} {passage.at} {passage.quotes[0].text}"
            yield RecalledPassage("", quote.peer, passage.session, text, at, trust, beside)


def _passage(message: MessageAnswer) -> RecalledPassage:
    return RecalledPassage(
        message.id,
        message.peer_id,
        message.session_id,
        message.content,
        message.created_at,
        of_message(message.kind or MESSAGE, message.metadata, message.content),
    )
