"""Names from what the host says: the peer of the speaker, and the session of a conversation."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import quote, unquote

from msgspec import Struct
from msgspec.structs import replace

from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.names import MOST_CHARS, escalated, is_plain, marked, sanitised
from souvenance.agents.recalled import AI, USER
from souvenance.domain.names import own_session
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.host import PERSONAL, HostConversation
from souvenance.patterns import pattern

HTTP = "api_server"
"""The platform whose callers name themselves."""
Rung = Literal["pin", "alias", "alias-alt", "prefix", "id", "name", "key"]
"""The seven rungs, highest first."""

_HTTP_LEAD = "api-"
_CONVENTION = "user"
_OF_TWO = "dm"
"""The kind of chat that one person has with the agent."""
_GATEWAY_HEAD = 3
"""How many segments of a gateway's key come before the kind of chat: agent, profile, channel."""


class Person(Struct, frozen=True):
    peer: str
    rung: Rung
    runtime_id: str | None = None
    """Their id from the host or the session key; None if there is only one person."""

    @property
    def personal(self) -> bool:
        """Whether this person is the only one who speaks here."""
        return self.rung == "pin" or self.runtime_id is None


class IdentityClaim(NamedTuple):
    channel: str
    id: str

    @property
    def spelled(self) -> str:
        """As an alias has to name it."""
        return f"{self.channel}:{self.id}"


def identify(configuration: Configuration, conversation: HostConversation) -> Person | None:
    """Whose memory the conversation is about; None if that is unknown: then nothing is read or written."""
    user_id, alternative = _given(conversation.user_id), _given(conversation.user_id_alt)
    names, runtime_id = _Names(configuration), user_id or alternative
    if configuration.pin_user_peer and names.owner is not None:
        return Person(names.owner, "pin", runtime_id)
    if user_id is not None and (peer := names.alias(user_id)) is not None:
        return Person(peer, "alias", user_id)
    if alternative is not None and (peer := names.alias(alternative)) is not None:
        return Person(peer, "alias-alt", alternative)
    if runtime_id is not None and conversation.platform != HTTP:
        return Person(names.runtime(runtime_id), names.rung, runtime_id)
    key = _given(conversation.gateway_session_key)
    if conversation.platform == HTTP:
        return _caller(names, IdentityClaim(_CONVENTION, runtime_id) if runtime_id else claimed(key), key)
    if conversation.platform in PERSONAL and names.owner is not None:
        return Person(names.owner, "name")
    if key is not None and (chat := _chat(key)) is not None:
        return Person(names.keyed("key", key, chat), "key", key)
    return Person(names.of(USER), "key") if conversation.platform in PERSONAL else None


def written_by(conversation: HostConversation, author: str) -> HostConversation:
    """The conversation as if its user were that author of a turn in it: over HTTP, a claim like any other."""
    if conversation.platform == HTTP:
        key = f"{_CONVENTION}:{quote(author, safe='', errors='surrogateescape')}"
        return replace(conversation, user_id=None, user_id_alt=None, gateway_session_key=key)
    return replace(conversation, user_id=author, user_id_alt=None)


def agent_peer(configuration: Configuration) -> str:
    text = configuration.ai_peer.strip() or configuration.host
    stem = sanitised(text)
    return stem if len(stem) <= MOST_CHARS else escalated(stem, frozenset(), "name", text)


def is_shared(conversation: HostConversation) -> bool:
    """Whether others may be in the conversation. They may, unless something says otherwise."""
    key = _given(conversation.gateway_session_key)
    kinds = {_given(conversation.chat_type), _kind_of(key)} - {None}
    if kinds:
        return kinds != {_OF_TWO}
    if conversation.platform == HTTP:
        return key is not None and claimed(key) is None
    return conversation.platform not in PERSONAL


def claimed(key: str | None) -> IdentityClaim | None:
    """Who a session key of the HTTP API names, with an empty id if it leaves that out; None if nobody.

    That is the id of `user:<id>`, at the beginning or after a colon, or else the chat of the gateway's
    own `agent:<profile>:<channel>:dm:<chat>[:<thread>]`. Percent signs in an id are decoded. A key with
    two different ids names neither.
    """
    segments = (key or "").split(":")
    start = _GATEWAY_HEAD if segments[0] == "agent" else 0
    ids = {
        _decoded(after)
        for segment, after in zip(segments[start:], segments[start + 1 :], strict=False)
        if segment == _CONVENTION
    }
    if len(ids) == 1 or "" in ids:
        return IdentityClaim(_CONVENTION, min(ids))
    if not ids and start and len(segments) in (5, 6) and segments[2] and segments[3] == "dm":
        return IdentityClaim(segments[2], _decoded(segments[4]))
    return None


class _Names:
    """The names that the configuration gives, and the names that it leaves to others."""

    def __init__(self, configuration: Configuration) -> None:
        self._aliases = configuration.user_peer_aliases
        self._prefix = configuration.runtime_peer_prefix.strip()
        self.rung: Rung = "prefix" if self._prefix else "id"
        owner = _given(configuration.peer_name)
        targets = [target for target in map(_given, self._aliases.values()) if target is not None]
        configured = {*targets, *([owner] if owner else [])}
        self._alike = Counter(map(sanitised, configured))
        self._agent = frozenset({agent_peer(configuration), AI})
        self._stems = self._agent | self._alike.keys()
        self._taken = self._stems | {self.of(text) for text in (USER, *configured)}
        self.owner = None if owner is None else self.of(owner)

    def of(self, text: str) -> str:
        """The peer of a configured name: as it looks, unless another one or the agent looks the same."""
        stem = sanitised(text)
        alone = stem == text or self._alike[stem] == 1
        if alone and stem not in self._agent and len(stem) <= MOST_CHARS:
            return stem
        return escalated(stem, self._stems, "name", text)

    def alias(self, spelled: str) -> str | None:
        target = _given(self._aliases.get(spelled))
        return None if target is None else self.of(target)

    def runtime(self, runtime_id: str) -> str:
        """The peer of an id that a platform vouches for."""
        raw = self._prefix + runtime_id
        if self._free(raw) and not runtime_id.startswith(_HTTP_LEAD):
            return raw
        return escalated(sanitised(raw), self._taken, "id", raw)

    def claimed(self, claim: IdentityClaim) -> str:
        """The peer of a caller of the HTTP API: never that of an id on another platform."""
        raw = f"{self._prefix}{_HTTP_LEAD}{claim.channel}-{claim.id}"
        if self._free(raw) and "-" not in claim.channel:
            return raw
        return escalated(sanitised(raw), self._taken, "claim", self._prefix, *claim)

    def keyed(self, kind: str, key: str, chat: str) -> str:
        """The peer of a session key that names no person: its own."""
        return escalated(sanitised(f"user-{chat}"), self._taken, kind, key)

    def _free(self, raw: str) -> bool:
        return is_plain(raw) and raw not in self._taken


def _caller(names: _Names, claim: IdentityClaim | None, key: str | None) -> Person | None:
    """Who calls the HTTP API. What a caller says of itself leads to nobody whom no alias spells the same."""
    if claim is None:
        chat = None if key is None else _chat(key)
        return None if chat is None or key is None else Person(names.keyed("http key", key, chat), "key", key)
    if not claim.id:
        return None
    if (peer := names.alias(claim.spelled)) is not None:
        return Person(peer, "alias", claim.spelled)
    return Person(names.claimed(claim), names.rung, claim.spelled)


def _chat(key: str) -> str | None:
    """The channel and chat of a session key; None for one of the gateway's that leaves the chat out."""
    segments = key.split(":")
    if segments[0] == "agent" and len(segments) > _GATEWAY_HEAD:
        chat = [segment for segment in segments[_GATEWAY_HEAD + 1 :] if segment.strip()]
        return "-".join((segments[2], *chat)) if chat else None
    return "-".join(segments) if len(segments) > 1 else f"default-{key}"


def _kind_of(key: str | None) -> str | None:
    segments = (key or "").split(":")
    return segments[_GATEWAY_HEAD] if segments[0] == "agent" and len(segments) > _GATEWAY_HEAD else None


def _decoded(segment: str) -> str:
    return unquote(segment, errors="surrogateescape").strip()


def _given(text: str | None) -> str | None:
    return (text or "").strip() or None


_MARKED = pattern(r".--[0-9a-f]{16}\Z")
_NAME = pattern(r"[a-zA-Z0-9_-]+\Z")
_GATEWAY_KEY = pattern(r"agent(?::-?[a-zA-Z0-9_]+){3,}\Z")
_GATEWAY_NAME = pattern(r"agent(?:--?[a-zA-Z0-9_]+){3,}\Z")


class _Source(Struct, frozen=True):
    kind: str
    text: str
    name: str | None = None
    """Its name, if that is a name and has no other meaning."""
    chosen: bool = False
    """Whether the operator gave the name."""


def session_name(configuration: Configuration, conversation: HostConversation, person: Person | None) -> str:
    """The session that what is said in the conversation belongs to.

    The gateway's key decides, or else the id under the per-session strategy, the map of directories,
    the title that the conversation began with, the repository, the directory, the workspace: the
    first that there is. What isn't a name as it stands, or could be taken for another's, ends in `--`
    and a digest of all that identifies it. With a token that does not reach everybody it is the
    person's own.
    """
    name = _session_name(configuration, conversation, person)
    return name if person is None else _reachable(configuration, name, person.peer)


def scope_of(
    configuration: Configuration, conversation: HostConversation, person: Person
) -> ConversationScope:
    token, ai = configuration.token, agent_peer(configuration)
    return ConversationScope(
        workspace=configuration.workspace,
        session=session_name(configuration, conversation, person),
        user=person.peer,
        ai=ai,
        personal=person.personal,
        alone=person.rung == "pin",
        observation=configuration.observation,
        namespaces=configuration.namespaces,
        agent="speaks" if token is None else token.agent(ai),
    )


def _reachable(configuration: Configuration, name: str, peer: str) -> str:
    token = configuration.token
    return name if token is None or token.everybody else own_session(name, peer)


def _session_name(configuration: Configuration, conversation: HostConversation, person: Person | None) -> str:
    source = _source(configuration, conversation)
    apart = configuration.session_peer_prefix or not _told_apart(conversation, source)
    peer = person.peer if person is not None and apart else ""
    namespace = configuration.namespaces.write or "default"
    if source.name is not None and namespace == "default" and "-" not in peer:
        name = f"{peer}-{source.name}" if peer else source.name
        if len(name) <= MOST_CHARS and (source.chosen or not _MARKED.search(name)):
            return name
    shown = (
        peer,
        "api" if source.kind == "http" else "",
        source.text,
        "" if namespace == "default" else namespace,
    )
    return marked("-".join(filter(None, shown)), source.kind, source.text, peer, namespace)


def pages_name(configuration: Configuration, owner: str) -> str:
    """The session that holds the owner's files: one that no conversation has."""
    namespace = configuration.namespaces.write or "default"
    return _reachable(configuration, marked(f"{owner}-files", "files", owner, namespace), owner)


def _source(configuration: Configuration, conversation: HostConversation) -> _Source:
    key = (conversation.gateway_session_key or "").strip()
    if key and conversation.platform == HTTP:
        return _Source("http", key)
    if key:
        return _Source("gateway", key, key.replace(":", "-") if _GATEWAY_KEY.match(key) else None)
    source = _local(configuration, conversation)
    if conversation.platform in PERSONAL:
        return source
    return _Source(f"on {conversation.platform}", source.text)


def _told_apart(conversation: HostConversation, source: _Source) -> bool:
    """Whether the source alone keeps strangers out of each other's sessions.

    A gateway's chat is one for all who are in it. A caller of the HTTP API may name any key, and is
    who the key says unless the host knows better.
    """
    if source.kind == "http":
        return not any((name or "").strip() for name in (conversation.user_id, conversation.user_id_alt))
    return source.kind in ("gateway", "local")


def _local(configuration: Configuration, conversation: HostConversation) -> _Source:
    """The source of one who is alone with the agent."""
    strategy, directory = configuration.session_strategy, conversation.directory
    if strategy == "per-session" and conversation.session_id.strip():
        text = conversation.session_id.strip()
    elif (name := _mapped(configuration.sessions, directory)) is not None:
        return _Source("local", name, name if _NAME.match(name) else None, chosen=True)
    elif title := (conversation.session_title or "").strip():
        text = title
    elif strategy == "global":
        text = configuration.workspace
    else:
        above = (directory, *directory.parents) if strategy == "per-repo" else ()
        root = next((folder for folder in above if os.path.exists(folder / ".git")), directory)
        text = root.name or directory.name or str(directory)
    return _Source("local", text, text if _NAME.match(text) and not _GATEWAY_NAME.match(text) else None)


def _mapped(sessions: Mapping[str, str], directory: Path) -> str | None:
    """The name of the directory in the map, whatever spelling of the path the map has."""
    if exact := sessions.get(str(directory), "").strip():
        return exact
    here = _real(str(directory))
    names = (name.strip() for path, name in sessions.items() if here is not None and _real(path) == here)
    return next(filter(None, names), None)


def _real(path: str) -> str | None:
    """The absolute path; None if it is no path, or a relative one."""
    try:
        expanded = os.path.expanduser(path)
        return os.path.realpath(expanded) if os.path.isabs(expanded) else None
    except ValueError:
        return None
