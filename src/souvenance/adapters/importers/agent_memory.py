"""What memories of agents left in JSON: Letta's agent file, and the episodes of Zep and Graphiti.

- Letta (.af): agents with their messages, and blocks of memory. A block is what the agent noted of its
  person; the block `persona` is of the agent itself. Each paragraph of a block becomes a statement.
- Episodes: a list of Graphiti's, or one page of Zep's episodes or messages. An episode of the kind `message`
  is what somebody said, or several did (`name: text`); any other becomes a statement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from souvenance.adapters.importers import source_files as source
from souvenance.adapters.importers.json_files import ASSISTANT, MACHINE, PERSON, UNSPOKEN, Block, mended
from souvenance.domain import imports as r
from souvenance.domain.reasoning_settings import MemberReasoning
from souvenance.errors import ImportUnreadable

LETTA, EPISODES = "letta", "episodes"
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
_PERSONA = "persona"
_UNHEARD = "messages of the system and of tools"


class _CalledFunction(Struct):
    name: str = ""
    arguments: str = ""


class _Call(Struct):
    function: _CalledFunction


class _LettaMessage(Struct):
    role: str
    content: str | list[Block] | None = None
    created_at: str | None = None
    tool_calls: list[_Call] | None = None


class _Agent(Struct):
    name: str
    block_ids: list[str] | None = None
    messages: list[_LettaMessage] = []


class _MemoryBlock(Struct):
    id: str
    label: str = ""
    value: str = ""


class _AgentFile(Struct):
    agents: list[_Agent]
    blocks: list[_MemoryBlock] = []
    files: list[Any] = []


class Letta(source.FileReader):
    kind = LETTA

    def records(self) -> Iterator[r.Record]:
        name = self._path.name
        with source.opened(self._path) as file:
            whole = source.decoded(next(source.elements(file, name)), _AgentFile, name)
        blocks = {block.id: block for block in whole.blocks}
        yield r.ImportedPeer(self._wanted.peer, self._wanted.peer)
        for number, agent in enumerate(whole.agents, 1):
            peer, place = source.name_of(agent.name), f"{name}, agent {number}"
            if peer == self._wanted.peer:
                raise ImportUnreadable(f"{place}: it is called as you are", hint="Use another --peer.")
            yield r.ImportedPeer(peer, source.clean(agent.name), observed=False)
            for block in (blocks[one] for one in agent.block_ids or () if one in blocks):
                yield from self._noted(block, peer, place)
            yield from self._said(agent, peer, place)
        held = {one for agent in whole.agents for one in agent.block_ids or ()}
        for one in sorted(held ^ blocks.keys()):
            why = "blocks that the file does not hold" if one in held else "blocks that no agent has"
            yield r.Skipped(why, f"{name}, block {source.shown(one)}")
        for number in range(1, len(whole.files) + 1):
            yield r.Skipped("files that agents could open", f"{name}, file {number}")

    def _noted(self, block: _MemoryBlock, peer: str, place: str) -> Iterator[r.Record]:
        about = peer if block.label == _PERSONA else self._wanted.peer
        ids, origin = source.Counted(), {"block": source.clean(block.label)}
        for text in (one.strip() for one in _PARAGRAPHS.split(block.value)):
            if text:
                where = f"{place}, block {source.shown(block.label)}"
                known = ids.id_of(block.label, text)
                yield r.ImportedStatement(
                    peer, about, source.clean(text), known, where, origin={**origin, **mended(text)}
                )

    def _said(self, agent: _Agent, peer: str, place: str) -> Iterator[r.Record]:
        session, ids = source.name_of(agent.name, f"{LETTA}-"), source.Counted()
        members = {self._wanted.peer: MemberReasoning(), peer: MemberReasoning()}
        if agent.messages:
            yield r.ImportedSession(
                session, source.clean(agent.name), members, {"title": source.clean(agent.name)}
            )
        for number, one in enumerate(agent.messages, 1):
            text, where = _words(one), f"{place}, message {number}"
            for piece in one.content if isinstance(one.content, list) else ():
                if piece.type != "text":
                    yield r.Skipped(
                        "parts of messages that are not text", f"{where}: {source.shown(piece.type)}"
                    )
            if one.role not in ("user", "assistant") or text is None or not text.strip():
                yield r.Skipped(_UNHEARD, f"{where}: {source.shown(one.role)}")
                continue
            yield r.ImportedMessage(
                session,
                self._wanted.peer if one.role == "user" else peer,
                source.clean(text),
                ids.id_of(one.role, text, str(one.created_at)),
                where,
                source.moment(one.created_at, where),
                origin=mended(text),
            )


def _words(one: _LettaMessage) -> str | None:
    """What was said; None if it is the framework's own. An older agent speaks by the tool `send_message`, and
    what its person said lies in an event."""
    if one.role == "assistant" and one.tool_calls:
        sent = [
            _member(call.function.arguments, "message")
            for call in one.tool_calls
            if call.function.name == "send_message"
        ]
        if any(sent):
            return "\n\n".join(text for text in sent if text)
    pieces = [Block("text", one.content)] if isinstance(one.content, str) else one.content or []
    text = "\n\n".join(piece.text for piece in pieces if piece.type == "text" and piece.text)
    if one.role == "user" and (kind := _member(text, "type")) is not None:
        return _member(text, "message") if kind == "user_message" else None
    return text


def _member(text: str, name: str) -> str | None:
    """The member of the object that the text is; None if it is none, or has no such text."""
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text).get(name)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, str) else None


_SPEAKER = re.compile(r"^([^\W_][\w .@'-]{0,39}?): ?(?=\S|$)", re.MULTILINE)


class _Episode(Struct):
    """Graphiti's episode, Zep's, or Zep's message."""

    content: str | None = None
    uuid: str | None = None
    source: str | None = None
    source_description: str | None = None
    name: str | None = None
    role: str | None = None
    role_name: str | None = None
    group_id: str | None = None
    thread_uuid: str | None = None
    thread_id: str | None = None
    valid_at: str | float | None = None
    reference_time: str | float | None = None
    created_at: str | float | None = None
    metadata: dict[str, Any] | None = None
    episode_metadata: dict[str, Any] | None = None


class Episodes(source.FileReader):
    kind = EPISODES

    def records(self) -> Iterator[r.Record]:
        """In the order of their times, whatever order the file has."""
        found: list[tuple[datetime, _Episode, str]] = []
        for one, place in source.listed(self._path, _Episode, source.ListedPage[_Episode], "episode"):
            if isinstance(one, r.Skipped):
                yield one
                continue
            at = source.moment(one.valid_at or one.reference_time or one.created_at, place)
            found.append((at or datetime.min.replace(tzinfo=UTC), one, place))
        yield r.ImportedPeer(self._wanted.peer, self._wanted.peer)
        ids = source.Counted()
        for at, one, place in sorted(found, key=lambda each: each[0]):
            yield from self._told(one, at if at.year > 1 else None, place, ids)

    def _told(
        self, one: _Episode, at: datetime | None, place: str, ids: source.Counted
    ) -> Iterator[r.Record]:
        content = one.content or ""
        if not content.strip() or one.role in UNSPOKEN:
            yield r.Skipped(_UNHEARD if content.strip() else "episodes without a text", place)
            return
        group = one.thread_uuid or one.thread_id or one.group_id
        metadata = source.bag(one.metadata or one.episode_metadata, place)
        named = {"name": one.name, "source": one.source_description, "group": group}
        origin = source.bag({key: value for key, value in named.items() if value} | mended(content), place)
        known = source.clean(one.uuid) if one.uuid else ids.id_of(content, str(at))
        if one.source not in (None, "message") or (one.source is None and one.role is None):
            peer = self._wanted.peer
            yield r.ImportedStatement(
                peer, peer, source.clean(content).strip(), known, place, at, metadata=metadata, origin=origin
            )
            return
        session = source.name_of(group or self._path.stem, f"{EPISODES}-")
        for number, (speaker, text) in enumerate(self._turns(one, source.clean(content)), 1):
            if speaker is None:
                yield r.Skipped(_UNHEARD, place)
                continue
            yield r.ImportedPeer(speaker, speaker, observed=False if speaker == ASSISTANT else None)
            yield r.ImportedSession(
                session, source.clean(group or self._path.stem), {speaker: MemberReasoning()}
            )
            part = known if number == 1 else f"{known}#{number}"
            yield r.ImportedMessage(session, speaker, text, part, place, at, metadata, origin)

    def _turns(self, one: _Episode, content: str) -> Iterator[tuple[str | None, str]]:
        """Who said what; None for what nobody said."""
        if one.role is not None:
            yield self._speaker(one.role_name or one.name or one.role, one.role), content
            return
        starts = list(_SPEAKER.finditer(content))
        if not starts or starts[0].start():
            yield self._wanted.peer, content
            return
        ends = [found.start() for found in starts[1:]] + [len(content)]
        for found, end in zip(starts, ends, strict=True):
            if text := content[found.end() : end].strip():
                yield self._speaker(found[1], found[1].lower()), text

    def _speaker(self, name: str, role: str) -> str | None:
        if role in UNSPOKEN:
            return None
        if name.lower() in PERSON:
            return self._wanted.peer
        return ASSISTANT if name.lower() in MACHINE else source.name_of(name)
