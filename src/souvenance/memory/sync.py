"""`souvenance.open`: a memory in a data folder, or on a server."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, Self

from souvenance.domain.limits import RECALL_DEFAULT
from souvenance.domain.names import DEFAULT_KIND, DEFAULT_NAMESPACE
from souvenance.errors import InvalidInput
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation import (
    chat,
    conclusions,
    context,
    messages,
    peers,
    queue,
    sessions,
)
from souvenance.gate.conversation.chat import Level
from souvenance.gate.conversation.messages import NewMessage
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.memory.connection import Connection, connect
from souvenance.memory.results import Conclusion, Context, Forgotten, Line, Message, made

_PAGE = 100
_POLL_SECONDS = 0.05
_TIMEOUT_SECONDS = 60.0


def open(
    home: str | Path | None = None,
    *,
    url: str | None = None,
    token: str | None = None,
    workspace: str | None = None,
    timeout: float = _TIMEOUT_SECONDS,
    **settings: str | int | bool,
) -> Memory:
    """Open the memory in the data folder `home`, or the one that a server has at `url`.

    Without either, `SOUVENANCE_URL` and `SOUVENANCE_HOME` say where it is, and else it is `~/.souvenance`.
    A folder that is not there yet is set up.

    `token` is a capability token, or `@` and the name of a file that holds one. Without it,
    `SOUVENANCE_CAP` is used; for a folder the owner's token is the default. A server always needs one.
    `workspace` chooses one workspace if the token opens several. `timeout` is how many seconds a server has
    to answer.

    Any setting of the environment can be passed by keyword, in lower case and without its prefix:
    `embedder="none"` is `SOUVENANCE_EMBEDDER=none`. They are for a folder; a server has its own.

    Raises: SouvenanceError.
    """
    return Memory(connect(home, url, token, workspace, timeout, settings))


class LineMethods:
    """What `Memory` and `Peer` do with the lines of one owner."""

    def __init__(self, connection: Connection, owner: str | None = None) -> None:
        self._connection = connection
        self._owner = owner

    def _call(self, operation: Operation, request: Request) -> Any:
        return self._connection.call(operation, request, self._owner)

    def put(
        self,
        text: str,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        kind: str = DEFAULT_KIND,
        session: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        occurred_at: datetime | None = None,
        expires_at: datetime | None = None,
        id: str | None = None,
    ) -> str:
        """Store a line, and return its id.

        From `expires_at` on nobody is shown the line any more, and it is removed. `metadata` is stored
        unencrypted. Pass an `id` of your own (a ULID) to retry safely: the same line is stored once.
        """
        request = m.Put(
            text,
            namespace,
            id,
            kind=kind,
            session=session,
            metadata=dict(metadata or {}),
            occurred_at=occurred_at,
            expires_at=expires_at,
        )
        answer: m.PutAnswer = self._call(o.PUT, request)
        return answer.id

    def get(
        self,
        query: str | None = None,
        *,
        namespaces: str | Sequence[str] | None = None,
        limit: int = RECALL_DEFAULT,
        since: datetime | None = None,
        until: datetime | None = None,
        at: datetime | None = None,
        floor: bool = False,
    ) -> Sequence[Line]:
        """Return up to `limit` lines (20 at most) that answer `query` best, best first; without a query, the
        newest.

        If nothing matches you get the newest lines, with `matched` false. `floor=True` hides weak matches,
        which may leave nothing. `since` and `until` are about when lines were stored. `at` is when the
        question is asked, if not now: it decides which week "last week" is. Without `namespaces`, all that
        the token opens are searched.
        """
        request = m.Get(query, _names(namespaces), limit, since, until, at, floor)
        answer: m.GetAnswer = self._call(o.GET, request)
        return [made(Line, one) for one in answer.lines]

    def line(self, id: str) -> Line:
        """Return one line, also one that was corrected."""
        return made(Line, self._call(o.LINE, m.GetLine(id)))

    def list(
        self,
        *,
        namespaces: str | Sequence[str] | None = None,
        since: datetime | None = None,
        history: bool = False,
    ) -> Iterator[Line]:
        """Iterate over all lines, oldest first; with `history`, over corrected ones too.

        They are read in pages, as you go on.
        """
        texts = self._connection.grants("get")
        cursor = None
        while True:
            request = m.List(_names(namespaces), since, cursor, _PAGE, history, texts)
            answer: m.ListAnswer = self._call(o.LIST, request)
            yield from (made(Line, one) for one in answer.lines)
            cursor = answer.cursor
            if cursor is None:
                return

    def namespaces(self) -> Sequence[str]:
        """Return the names of the namespaces that have lines, as far as the token opens them."""
        answer: m.StatusAnswer = self._call(o.STATUS, m.Nothing())
        return sorted(one.namespace for one in answer.namespaces if one.lines)

    def snapshot(self, *, namespaces: str | Sequence[str] | None = None) -> str:
        """Return a short profile for a system prompt, framed as quoted data."""
        answer: m.SnapshotAnswer = self._call(o.SNAPSHOT, m.Snapshot(_names(namespaces)))
        return answer.profile

    def correct(self, id: str, text: str | None = None) -> str:
        """Replace a line with `text`, and return the id of the new line.

        Without a text, the line is marked as no longer true. It stays in the history.
        """
        answer: m.InvalidateAnswer = self._call(o.INVALIDATE, m.Invalidate(id, text))
        return answer.id

    def forget(
        self,
        id: str | None = None,
        *,
        namespace: str | None = None,
        owner: str | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        """Erase a line, a namespace, or everything of an owner, for good.

        Pass exactly one of the three. A dry run erases nothing, and says what would go.
        """
        return made(Forgotten, self._call(o.FORGET, m.Forget(id, namespace, owner, dry_run)))


class Memory(LineMethods):
    """An open memory. Use it in a `with` block, or call `close`. Any number of threads may share it."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(finish=kind is None)

    def close(self, *, finish: bool = True) -> None:
        """Wait for calls under way, and close. With `finish`, background work has a few seconds to finish;
        what is left is done when the folder is opened again.
        """
        self._connection.close(finish=finish)

    def peer(self, name: str) -> Peer:
        """A person or an agent, who has lines of their own. Nothing is stored until you write."""
        return Peer(self._connection, name)

    def session(self, name: str, *, namespace: str | None = None) -> Session:
        """A conversation. It is made in `namespace` when the first message is added."""
        return Session(self._connection, name, None, namespace)

    def peers(self) -> Iterator[str]:
        """Iterate over the names of all peers of the workspace."""
        return (one.id for one in self._connection.pages(peers.LIST_PEERS))

    def sessions(self) -> Iterator[str]:
        """Iterate over the names of all sessions of the workspace."""
        return (one.id for one in self._connection.pages(sessions.LIST_SESSIONS))

    def mint(
        self,
        subject: str,
        *,
        ops: str | Sequence[str],
        namespaces: str | Sequence[str],
        peers: str | Sequence[str] = (),
        sessions: str | Sequence[str] | None = None,
        ttl_seconds: int = 3600,
    ) -> str:
        """Make a token that opens no more than this, for an agent or another program.

        `subject` is whose memory it opens, `ops` what it may do: `put`, `get`, `list`, `snapshot`,
        `invalidate`, `forget` and others. `"*"` stands for all namespaces or peers.
        """
        request = m.Mint(
            subject,
            _names(ops) or (),
            _names(namespaces) or (),
            ttl_seconds=ttl_seconds,
            wid=self._connection.workspace,
            peers=_names(peers) or (),
            sessions=_names(sessions),
        )
        answer: m.CapAnswer = self._call(o.MINT, request)
        return answer.cap

    def wait(self, timeout: float = _TIMEOUT_SECONDS) -> bool:
        """Wait until conclusions are drawn from all messages. Return False if it takes longer.

        The token must open the whole workspace.
        """
        end = time.monotonic() + timeout
        while True:
            left: queue.Queue = self._connection.ask(queue.QUEUE_STATUS)
            if not left.pending_work_units + left.in_progress_work_units:
                return True
            if time.monotonic() >= end:
                return False
            time.sleep(_POLL_SECONDS)


class Peer(LineMethods):
    """A person or an agent: their lines, their conversations, and what is known of them.

    `about` names another peer: the answer is then what this peer knows of that one.
    """

    def __init__(self, connection: Connection, name: str) -> None:
        super().__init__(connection, name)
        self.name = name

    def session(self, name: str, *, namespace: str | None = None) -> Session:
        """A conversation in which this peer speaks."""
        return Session(self._connection, name, self.name, namespace)

    def search(self, query: str, *, limit: int = 10) -> Sequence[Message]:
        """Return the messages of this peer that answer `query` best."""
        answer = self._ask(messages.SEARCH_PEER, query=query, limit=limit)
        return [made(Message, one) for one in answer.messages]

    def context(self, query: str | None = None, *, about: str | None = None) -> Context:
        """Return what is known of the peer; with `query`, what matters for it first.

        For a prompt, pass it to `souvenance.framed`.
        """
        return Context.of(self._ask(context.PEER_CONTEXT, target=about, search_query=query))

    def chat(self, question: str, *, about: str | None = None, level: Level = "low") -> str | None:
        """Answer a question about the peer in words: by a model if one is configured, else by quotations.

        `level` is how hard the model thinks: `minimal`, `low`, `medium`, `high` or `max`. Return `None` if
        nothing is known.
        """
        answer: chat.ChatAnswer = self._ask(
            chat.ASK_PEER, query=question, target=about, reasoning_level=level
        )
        return answer.content

    def card(self, *, about: str | None = None) -> Sequence[str]:
        """Return the most important facts about the peer."""
        answer: context.PeerCard = self._ask(context.READ_CARD, target=about)
        return answer.peer_card or []

    def set_card(self, facts: Sequence[str], *, about: str | None = None) -> Sequence[str]:
        """Replace the card, and return it as it was stored."""
        answer: context.PeerCard = self._ask(context.WRITE_CARD, target=about, peer_card=[*facts])
        return answer.peer_card or []

    def conclusions(
        self, query: str | None = None, *, about: str | None = None, limit: int = 10
    ) -> Sequence[Conclusion]:
        """Return what was concluded about the peer: what answers `query` best, or the newest."""
        ask, filters = self._connection.ask, {"observer_id": self.name, "observed_id": about or self.name}
        if query is None:
            found = ask(conclusions.LIST_CONCLUSIONS, filters=filters, size=limit).items
        else:
            found = ask(conclusions.QUERY_CONCLUSIONS, filters=filters, query=query, top_k=limit).conclusions
        return [made(Conclusion, one) for one in found]

    def conclude(self, text: str, *, about: str | None = None, session: str | None = None) -> Conclusion:
        """Store a fact about the peer."""
        stated = conclusions.NewConclusion(
            content=text, observer_id=self.name, observed_id=about or self.name, session_id=session
        )
        for name in {self.name, about or self.name}:
            self._connection.ask(peers.OPEN_PEER, id=name)
        answer = self._connection.ask(conclusions.ADD_CONCLUSIONS, conclusions=[stated])
        return made(Conclusion, answer.conclusions[0])

    def _ask(self, operation: Operation, **fields: Any) -> Any:
        return self._connection.ask(operation, peer_id=self.name, **fields)


class Session:
    """A conversation."""

    def __init__(self, connection: Connection, name: str, peer: str | None, namespace: str | None) -> None:
        self._connection = connection
        self.name = name
        self.peer = peer
        """Who speaks if a message names nobody."""
        self._namespace = namespace

    def add(
        self,
        text: str,
        *,
        peer: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        created_at: datetime | None = None,
        key: str | None = None,
    ) -> Message:
        """Add a message. The session and the peer are made if they are not there.

        Pass a `key` of your own to retry safely: within a day, the same key is stored once.
        """
        speaker = peer or self.peer
        if speaker is None:
            raise InvalidInput("nobody says who speaks", hint="Pass peer=, or use peer(...).session(...).")
        extra = None if metadata is None else dict(metadata)
        said = NewMessage(content=text, peer_id=speaker, metadata=extra, created_at=created_at)
        return self._added([said], key)[0]

    def add_all(
        self,
        messages: Sequence[tuple[str, str] | tuple[str, str, Mapping[str, Any]]],
        *,
        key: str | None = None,
    ) -> Sequence[Message]:
        """Add up to 100 messages at once, each as the name of who speaks, the text, and metadata if any."""
        if any(isinstance(one, str | Mapping) for one in messages):
            raise InvalidInput(
                "a message is not a tuple", hint='E.g. [("ann", "Hello"), ("bot", "Hello Ann.")]'
            )
        said = [
            NewMessage(content=text, peer_id=peer, metadata=dict(*metadata) or None)
            for peer, text, *metadata in messages
        ]
        return self._added(said, key)

    def _added(self, said: list[NewMessage], key: str | None) -> Sequence[Message]:
        answer = self._ask(
            messages.ADD_MESSAGES,
            messages=said,
            idempotency_key=key or token_hex(16),
            namespace=self._namespace,
        )
        return [made(Message, one) for one in answer.messages]

    def messages(self) -> Iterator[Message]:
        """Iterate over all messages, oldest first."""
        return (
            made(Message, one) for one in self._connection.pages(messages.LIST_MESSAGES, session_id=self.name)
        )

    def search(self, query: str, *, limit: int = 10) -> Sequence[Message]:
        """Return the messages that answer `query` best."""
        answer = self._ask(messages.SEARCH_SESSION, query=query, limit=limit)
        return [made(Message, one) for one in answer.messages]

    def context(self, query: str | None = None, *, tokens: int | None = None) -> Context:
        """Return what a model needs: the summary, the newest messages, and what is known of the peer, as it
        was said. `tokens` is how much of it fits. For a prompt, pass it to `souvenance.framed`.
        """
        about = {"peer_target": self.peer, "search_query": query} if self.peer else {}
        return Context.of(self._ask(context.CONTEXT, tokens=tokens, **about))

    def chat(self, question: str, *, level: Level = "low") -> str | None:
        """Answer a question from what was said in this session, as `Peer.chat` does."""
        whom, asked = ({"peer_id": self.peer}, chat.ASK_PEER) if self.peer else ({}, chat.ASK_WORKSPACE)
        answer: chat.ChatAnswer = self._ask(asked, query=question, reasoning_level=level, **whom)
        return answer.content

    def forget(self, id: str) -> None:
        """Erase a message for good."""
        self._ask(messages.DELETE_MESSAGE, message_id=id)

    def delete(self) -> None:
        """Delete the session and its messages for good."""
        self._ask(sessions.DELETE_SESSION)

    def _ask(self, operation: Operation, **fields: Any) -> Any:
        return self._connection.ask(operation, session_id=self.name, **fields)


def _names(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    return (given,) if isinstance(given, str) else None if given is None else tuple(given)
