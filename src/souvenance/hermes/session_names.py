"""What a session is called: a conversation always the same, and no two chats alike."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from souvenance.agents.names import MOST_CHARS, digest, sanitised
from souvenance.domain.names import own_session
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.host import PERSONAL, HostConversation
from souvenance.hermes.identity import HTTP, Person
from souvenance.patterns import pattern

_DIGITS = 16
_MARKED = pattern(r".--[0-9a-f]{16}\Z")
_NAME = pattern(r"[a-zA-Z0-9_-]+\Z")
_GATEWAY_KEY = pattern(r"agent(?::-?[a-zA-Z0-9_]+){3,}\Z")
_GATEWAY_NAME = pattern(r"agent(?:--?[a-zA-Z0-9_]+){3,}\Z")


class _Source(Struct, frozen=True):
    """What tells the conversation from others."""

    kind: str
    text: str
    name: str | None = None
    """What it is called, if that is a name and stands for nothing else."""
    chosen: bool = False
    """Whether the operator gave the name."""


def session_name(
    configuration: Configuration, conversation: HostConversation, person: Person | None, *, session_id: str
) -> str:
    """The session that what is said in the conversation belongs to.

    The gateway's key decides, or else the id under the per-session strategy, the map of directories,
    the title that the conversation began with, the repository, the directory, the workspace: the
    first that there is. What isn't a name as it stands, or could be taken for another's, ends in `--`
    and a digest of all that tells it apart. With a token that does not reach everybody it is the
    person's own.
    """
    name = _session_name(configuration, conversation, person, session_id)
    return name if person is None else _reachable(configuration, name, person.peer)


def _reachable(configuration: Configuration, name: str, peer: str) -> str:
    token = configuration.token
    return name if token is None or token.everybody else own_session(name, peer)


def _session_name(
    configuration: Configuration, conversation: HostConversation, person: Person | None, session_id: str
) -> str:
    source = _source(configuration, conversation, session_id)
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
    return _marked("-".join(filter(None, shown)), source.kind, source.text, peer, namespace)


def pages_name(configuration: Configuration, owner: str) -> str:
    """The session that holds the owner's files: one that no conversation has, whoever it is with."""
    namespace = configuration.namespaces.write or "default"
    return _reachable(configuration, _marked(f"{owner}-files", "files", owner, namespace), owner)


def _source(configuration: Configuration, conversation: HostConversation, session_id: str) -> _Source:
    key = (conversation.gateway_session_key or "").strip()
    if key and conversation.platform == HTTP:
        return _Source("http", key)
    if key:
        return _Source("gateway", key, key.replace(":", "-") if _GATEWAY_KEY.match(key) else None)
    source = _local(configuration, conversation, session_id)
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


def _local(configuration: Configuration, conversation: HostConversation, session_id: str) -> _Source:
    """The source of one who is alone with the agent."""
    strategy, directory = configuration.session_strategy, conversation.directory
    if strategy == "per-session" and session_id.strip():
        text = session_id.strip()
    elif (name := _mapped(configuration.sessions, directory)) is not None:
        return _Source("local", name, name if _NAME.match(name) else None, chosen=True)
    elif title := (conversation.session_title or "").strip():
        text = title
    elif strategy == "global":
        text = configuration.workspace
    else:
        repository = _repository(directory) if strategy == "per-repo" else None
        text = repository or directory.name or str(directory)
    return _Source("local", text, text if _NAME.match(text) and not _GATEWAY_NAME.match(text) else None)


def _mapped(sessions: Mapping[str, str], directory: Path) -> str | None:
    """The name that the map has for the directory, however the map spells its path."""
    if exact := sessions.get(str(directory), "").strip():
        return exact
    here = _real(str(directory))
    names = (name.strip() for path, name in sessions.items() if here is not None and _real(path) == here)
    return next(filter(None, names), None)


def _real(path: str) -> str | None:
    """Where a path leads; None if it is none, or depends on where one stands."""
    try:
        expanded = os.path.expanduser(path)
        return os.path.realpath(expanded) if os.path.isabs(expanded) else None
    except ValueError:
        return None


def _repository(directory: Path) -> str | None:
    """The name of the root of the repository, work tree or submodule that the directory is in."""
    roots = (folder for folder in (directory, *directory.parents) if os.path.exists(folder / ".git"))
    root = next(roots, None)
    return None if root is None else root.name


def _marked(shown: str, *original: str) -> str:
    readable = re.sub("-+", "-", sanitised(shown)).strip("-") or "session"
    return f"{readable[: MOST_CHARS - 2 - _DIGITS]}--{digest(*original)[:_DIGITS]}"
