"""What other memories left in JSON: data exports of ChatGPT and Claude, memories of mem0, and plain JSONL.

- ChatGPT: the zip that is sent by mail, or the conversations.json in it. A conversation is a tree of
  messages. What its owner saw last is the branch that ends in `current_node`; other branches are drafts. Of
  that branch, what the two said to each other is read, and nothing that the service put between: system
  messages, calls of tools and their results, thinking, and what it kept in mind of its user.
- Claude: the same files. A message has its text in blocks, and a long text that was pasted as an attachment
  without a name. What the two said to each other is read, and nothing between: thinking, calls of tools and
  their results, other attachments and files. Newer exports name the message before each one: of those the
  branch with the newest message is read. Of older ones all messages are, in their order.
- mem0: what `get_all` answers, a list of memories or one page of them. A memory is a sentence that mem0's
  model made of a conversation. It becomes a statement about its user, or, without one, about its agent.
- JSONL, a message a line: `{"peer" or "role", "content", "created_at", "session", "metadata"}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any

from msgspec import Struct

from souvenance.adapters.importers import source_files as source
from souvenance.adapters.private_files import SourceFile
from souvenance.domain import imports as r
from souvenance.domain.reasoning_settings import MemberReasoning
from souvenance.errors import ImportUnreadable, InvalidInput

CHATGPT = "chatgpt"
CONVERSATIONS = re.compile(r"conversations(?:-\d+)?\.json")

_SPOKEN = frozenset({"text", "multimodal_text"})
_ABOUT_THE_USER = frozenset({"user_editable_context", "model_editable_context"})
_THINKING = frozenset({"thoughts", "reasoning_recap"})
_MOST_TITLE_CHARS = 500


class _Author(Struct):
    role: str = ""


class _Content(Struct):
    content_type: str = ""
    parts: list[Any] | None = None


class _Notes(Struct):
    is_visually_hidden_from_conversation: Any = None
    is_user_system_message: Any = None
    model_slug: Any = None


class _Message(Struct):
    id: str
    author: _Author
    content: _Content | None = None
    create_time: float | None = None
    weight: float | None = None
    recipient: str | None = None
    channel: str | None = None
    metadata: _Notes | None = None


class _ConversationNode(Struct):
    message: _Message | None = None
    parent: str | None = None
    children: list[str] = []


class _Conversation(Struct):
    mapping: dict[str, _ConversationNode]
    conversation_id: str | None = None
    id: str | None = None
    title: str | None = None
    create_time: float | None = None
    current_node: str | None = None


class ChatExport(source.FileReader):
    """A service's data export: conversations of its user with its assistant, in a zip or the file in it."""

    kind: str
    """Also what the assistant is called here, and how the names of its sessions begin."""

    def __init__(self, path: SourceFile, wanted: r.Wanted) -> None:
        """Raises: ImportUnreadable if an archive holds no conversations, InvalidInput for a name in use."""
        if wanted.peer == self.kind:
            raise InvalidInput(
                f"{self.kind!r} is what the assistant is called here", hint="Use another --peer."
            )
        super().__init__(path, wanted)
        self._peer = wanted.peer
        self._members = source.names_in(path, CONVERSATIONS) if is_zip(path) else None
        if self._members == []:
            raise ImportUnreadable(f"{path.name} holds no conversations.json")

    def records(self) -> Iterator[r.Record]:
        yield r.ImportedPeer(self._peer, self._peer)
        yield r.ImportedPeer(self.kind, self.kind, observed=False)
        if self._members is None:
            with source.opened(self._path) as file:
                yield from self._conversations(file, self._path.name)
        for name in self._members or ():
            with source.member(self._path, name) as file:
                yield from self._conversations(file, source.shown(name))

    def _conversations(self, file: IO[bytes], name: str) -> Iterator[r.Record]:
        for number, raw in enumerate(source.elements(file, name), 1):
            yield from self._records_of(raw, f"{name}, conversation {number}")

    def _records_of(self, raw: bytes, place: str) -> Iterator[r.Record]:
        raise NotImplementedError

    def _told(
        self,
        conversation: str | None,
        title: str | None,
        said: list[r.ImportedMessage | r.Skipped],
        place: str,
    ) -> Iterator[r.Record]:
        if not conversation:
            raise ImportUnreadable(f"{place}: it has no id")
        if not any(isinstance(one, r.ImportedMessage) for one in said):
            yield from said
            yield r.Skipped("conversations in which nobody said anything", place)
            return
        yield r.ImportedSession(
            self._session(conversation),
            source.clean(conversation),
            {self._peer: MemberReasoning(), self.kind: MemberReasoning()},
            {"title": source.clean(title)[:_MOST_TITLE_CHARS]} if title else {},
        )
        yield from said

    def _session(self, conversation: str | None) -> str:
        return source.name_of(conversation or "", f"{self.kind}-")


class ChatGPT(ChatExport):
    kind = CHATGPT

    def _records_of(self, raw: bytes, place: str) -> Iterator[r.Record]:
        whole = source.decoded(raw, _Conversation, place)
        conversation = whole.conversation_id or whole.id
        said = list(self._branch(whole, self._session(conversation), conversation or "", place))
        yield from self._told(conversation, whole.title, said, place)

    def _branch(
        self, whole: _Conversation, session: str, conversation: str, place: str
    ) -> Iterator[r.ImportedMessage | r.Skipped]:
        latest = whole.create_time
        for one in _thread(whole, place):
            latest = one.create_time if one.create_time is not None else latest
            why, where = _left_out(one), f"{place}, message {source.shown(one.id)}"
            if why is not None:
                content = one.content if one.author.role in ("user", "assistant") else None
                kind = content.content_type if content else one.author.role
                yield r.Skipped(why, f"{where}: {source.shown(kind)}")
                continue
            text, pictures = _text_of(one)
            for _ in range(pictures):
                yield r.Skipped("pictures, sounds and files in messages", where)
            if not text.strip():
                if not pictures:
                    yield r.Skipped("empty messages", where)
                continue
            yield r.ImportedMessage(
                session,
                self._peer if one.author.role == "user" else self.kind,
                source.clean(text),
                source.clean(one.id),
                where,
                source.moment(latest, where),
                origin={"conversation": source.clean(conversation), **_model(one), **mended(text)},
            )


def is_zip(path: SourceFile) -> bool:
    """Whether the file begins as a zip archive does. Raises: ImportUnreadable."""
    with source.opened(path) as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def _thread(whole: _Conversation, place: str) -> list[_Message]:
    """The messages of the branch that was seen last, from its beginning. Raises: ImportUnreadable."""
    at = whole.current_node or _newest_leaf(whole)
    if at is not None and at not in whole.mapping:
        raise ImportUnreadable(f"{place}: current_node names no message of it")
    found: list[_Message] = []
    seen: set[str] = set()
    while at is not None and at in whole.mapping:
        if at in seen:
            raise ImportUnreadable(f"{place}: its messages go round in a circle")
        seen.add(at)
        node = whole.mapping[at]
        if node.message is not None:
            found.append(node.message)
        at = node.parent
    return found[::-1]


def _newest_leaf(whole: _Conversation) -> str | None:
    leaves = [(key, node.message) for key, node in whole.mapping.items() if not node.children]
    times = {key: 0.0 if one is None else one.create_time or 0.0 for key, one in leaves}
    return max(times, key=lambda key: times[key], default=None)


def _left_out(one: _Message) -> str | None:
    """Why the message is nothing that the two said to each other; None if it is."""
    kind = "" if one.content is None else one.content.content_type
    notes = one.metadata or _Notes()
    if kind in _ABOUT_THE_USER or notes.is_user_system_message:
        return "what ChatGPT kept in mind of its user"
    if one.author.role not in ("user", "assistant"):
        return "messages of the system and of tools"
    if notes.is_visually_hidden_from_conversation or one.weight == 0:
        return "hidden messages"
    if kind in _THINKING or one.channel in ("analysis", "commentary"):
        return "thinking"
    if one.recipient not in (None, "", "all"):
        return "messages of the system and of tools"
    return None if kind in _SPOKEN else "messages that are not text"


def _text_of(one: _Message) -> tuple[str, int]:
    """What is said in it, and how many of its parts are no words."""
    parts = [] if one.content is None else one.content.parts or []
    words: list[str | None] = []
    for part in parts:
        match part:
            case str(text) | {"content_type": "audio_transcription", "text": str(text)}:
                words.append(text)
            case _:
                words.append(None)
    return "\n\n".join(part for part in words if part), sum(part is None for part in words)


def _model(one: _Message) -> dict[str, str]:
    slug = None if one.metadata is None else one.metadata.model_slug
    return {"model": source.clean(slug)[:100]} if isinstance(slug, str) and slug else {}


def mended(text: str) -> dict[str, bool]:
    """What the origin of a text says if characters of it were replaced."""
    return {"mended": True} if source.clean(text) != text else {}


CLAUDE = "claude"
_KEPT = re.compile(r"(?:memories|projects)\.json")
_LEFT_OUT = {
    **dict.fromkeys(("thinking", "redacted_thinking"), "thinking"),
    **dict.fromkeys(("tool_use", "tool_result"), "messages of the system and of tools"),
}


class Block(Struct):
    type: str = "text"
    text: str | None = None


class _Attachment(Struct):
    file_name: str | None = None
    extracted_content: str | None = None

    @property
    def pasted(self) -> str:
        """The text of a paste that was too long for the message; nothing for a file."""
        return "" if self.file_name else self.extracted_content or ""


class _ClaudeMessage(Struct):
    uuid: str
    sender: str = ""
    text: str | None = None
    content: list[Block] | None = None
    created_at: str | None = None
    parent_message_uuid: str | None = None
    attachments: list[_Attachment] | None = None
    files: list[dict[str, object]] | None = None


class _Chat(Struct):
    chat_messages: list[_ClaudeMessage]
    uuid: str | None = None
    name: str | None = None
    created_at: str | None = None


class Claude(ChatExport):
    kind = CLAUDE

    def records(self) -> Iterator[r.Record]:
        yield from super().records()
        for name in source.names_in(self._path, _KEPT) if self._members else ():
            yield r.Skipped("files of projects and of what Claude kept in mind", source.shown(name))

    def _records_of(self, raw: bytes, place: str) -> Iterator[r.Record]:
        chat = source.decoded(raw, _Chat, place)
        yield from self._told(chat.uuid, chat.name, list(self._said(chat, place)), place)

    def _said(self, chat: _Chat, place: str) -> Iterator[r.ImportedMessage | r.Skipped]:
        latest = chat.created_at
        branch = _newest_branch(chat.chat_messages, place)
        for _ in range(len(chat.chat_messages) - len(branch)):
            yield r.Skipped("messages of other branches of a conversation", place)
        for one in branch:
            latest, where = one.created_at or latest, f"{place}, message {source.shown(one.uuid)}"
            if one.sender not in ("human", "assistant"):
                yield r.Skipped("messages of the system and of tools", f"{where}: {source.shown(one.sender)}")
                continue
            blocks = one.content or []
            for block in blocks:
                if block.type != "text":
                    why = _LEFT_OUT.get(block.type, "blocks of a kind that is not known here")
                    yield r.Skipped(why, f"{where}: {source.shown(block.type)}")
            attached = one.attachments or []
            for _ in (*(each for each in attached if not each.pasted), *(one.files or ())):
                yield r.Skipped("attachments and files in messages", where)
            written = [block.text for block in blocks if block.type == "text"] if blocks else [one.text]
            text = "\n\n".join(part for part in (*written, *(each.pasted for each in attached)) if part)
            if not text.strip():
                yield r.Skipped("empty messages", where)
                continue
            yield r.ImportedMessage(
                self._session(chat.uuid),
                self._peer if one.sender == "human" else self.kind,
                source.clean(text),
                source.clean(one.uuid),
                where,
                source.moment(latest, where),
                origin={"conversation": source.clean(chat.uuid or ""), **mended(text)},
            )


def _newest_branch(messages: list[_ClaudeMessage], place: str) -> list[_ClaudeMessage]:
    """The messages that lead to the newest one; all of them if they don't say what they follow."""
    if not all(one.parent_message_uuid for one in messages):
        return messages
    by_id = {one.uuid: one for one in messages}
    at = max(reversed(messages), key=lambda one: one.created_at or "", default=None)
    found: dict[str, _ClaudeMessage] = {}
    while at is not None:
        if at.uuid in found:
            raise ImportUnreadable(f"{place}: its messages go round in a circle")
        found[at.uuid] = at
        at = by_id.get(at.parent_message_uuid or "")
    return [*found.values()][::-1]


MEM0 = "mem0"


class _Memory(Struct):
    memory: str | None = None
    id: str | int | None = None
    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    created_at: str | float | None = None
    updated_at: str | float | None = None
    metadata: dict[str, Any] | None = None
    categories: list[str] | None = None


class Mem0(source.FileReader):
    kind = MEM0

    def records(self) -> Iterator[r.Record]:
        """All memories. Raises: ImportUnreadable, also if several people would have to be called the same."""
        ids, owners = source.Counted(), set()
        for one, place in source.listed(self._path, _Memory, source.ListedPage[_Memory], "memory"):
            if isinstance(one, r.Skipped):
                yield one
                continue
            if not (one.memory or "").strip():
                yield r.Skipped("memories without a text", place)
                continue
            owner = one.user_id or one.agent_id
            owners.add(owner)
            if self._wanted.renamed and len(owners) > 1:
                raise ImportUnreadable(
                    f"{place}: it is of {source.shown(owner or 'nobody')}, and not all memories are of one",
                    hint="Leave --peer out: each keeps the name that it has there.",
                )
            peer = self._peer(owner)
            yield r.ImportedPeer(peer, source.clean(owner or peer))
            yield _statement(one, peer, ids, place)

    def _peer(self, owner: str | None) -> str:
        return self._wanted.peer if owner is None or self._wanted.renamed else source.name_of(owner)


class JsonShape(Struct):
    """What tells the kinds of JSON apart."""

    mapping: Any = None
    chat_messages: Any = None
    memory: Any = None
    results: Any = None
    agents: Any = None
    blocks: Any = None
    episodes: Any = None
    items: Any = None
    content: Any = None
    uuid: Any = None
    souvenance: Any = None


_AnyShape: Any = JsonShape | list[Any] | str | float | None


def shape_of(raw: bytes, place: str) -> JsonShape:
    """The shape of an object; empty for other JSON. Raises: ImportUnreadable if it is not JSON."""
    found = source.decoded(raw, _AnyShape, place)
    return found if isinstance(found, JsonShape) else JsonShape()


def _statement(one: _Memory, peer: str, ids: source.Counted, place: str) -> r.ImportedStatement:
    text = one.memory or ""
    origin = {
        "user": one.user_id,
        "agent": one.agent_id,
        "app": one.app_id,
        "run": one.run_id,
        "created_at": None if one.created_at is None else str(one.created_at),
        "categories": one.categories or None,
        **mended(text),
    }
    return r.ImportedStatement(
        peer,
        peer,
        source.clean(text).strip(),
        source.clean(str(one.id)) if one.id is not None else ids.id_of(peer, text),
        place,
        source.moment(one.updated_at, place) or source.moment(one.created_at, place),
        metadata=source.bag(one.metadata, place),
        origin=source.bag({key: value for key, value in origin.items() if value is not None}, place),
    )


JSONL = "jsonl"
ASSISTANT = "assistant"
MOST_LINE_BYTES = 16 * 1024 * 1024

PERSON = frozenset({"user", "human"})
MACHINE = frozenset({"assistant", "ai", "model", "bot"})
UNSPOKEN = frozenset({"system", "developer", "tool", "function"})


class _JsonLine(Struct):
    content: str
    peer: str | None = None
    role: str | None = None
    session: str | None = None
    id: str | int | None = None
    created_at: str | float | None = None
    metadata: dict[str, Any] | None = None


class Jsonl(source.FileReader):
    kind = JSONL

    def __init__(self, path: SourceFile, wanted: r.Wanted) -> None:
        super().__init__(path, wanted)
        self._session = source.name_of(path.stem, f"{JSONL}-")
        """Of lines that name none."""

    def records(self) -> Iterator[r.Record]:
        ids = source.Counted()
        for number, raw in self._lines():
            place = f"{self._path.name}, line {number}"
            line = source.decoded(raw, _JsonLine, place)
            if line.role in UNSPOKEN:
                yield r.Skipped("messages of the system and of tools", place)
                continue
            if not line.content.strip():
                yield r.Skipped("empty messages", place)
                continue
            peer = self._speaker(line, place)
            observed = False if line.role in MACHINE else None
            yield r.ImportedPeer(peer, source.clean(line.peer or peer), observed=observed)
            session = self._session if line.session is None else source.name_of(line.session)
            yield r.ImportedSession(session, source.clean(line.session or session), {peer: MemberReasoning()})
            yield self._message(line, peer, session, ids, place)

    def _message(
        self, line: _JsonLine, peer: str, session: str, ids: source.Counted, place: str
    ) -> r.ImportedMessage:
        said = (session, peer, line.content, str(line.created_at))
        known = ids.id_of(*said) if line.id is None else source.clean(str(line.id))
        return r.ImportedMessage(
            session,
            peer,
            source.clean(line.content),
            known,
            place,
            source.moment(line.created_at, place),
            source.bag(line.metadata, place),
            mended(line.content),
        )

    def _speaker(self, line: _JsonLine, place: str) -> str:
        if line.peer is not None:
            return source.name_of(line.peer)
        if line.role in PERSON:
            return self._wanted.peer
        if line.role in MACHINE:
            return ASSISTANT
        fault = (
            "it says neither peer nor role"
            if line.role is None
            else f"there is no role {source.shown(line.role)}"
        )
        raise ImportUnreadable(f"{place}: {fault}")

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        number = 0
        with source.opened(self._path) as file:
            while raw := file.readline(MOST_LINE_BYTES + 1):
                number += 1
                if len(raw) > MOST_LINE_BYTES:
                    raise ImportUnreadable(
                        f"{self._path.name}, line {number}: it is longer than {MOST_LINE_BYTES} bytes"
                    )
                text = raw.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else raw.strip()
                if text:
                    yield number, text
        if number == 0:
            raise ImportUnreadable(f"{self._path.name} is empty")
