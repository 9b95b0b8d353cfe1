"""Exports of other memories, made by hand, and a memory of our own to take them into."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from souvenance.agents.import_memory import ImportTally, ImportTerms, Taking
from souvenance.config import settings_from
from souvenance.domain.imports import Wanted
from souvenance.gate.conversation.conclusions import LIST_CONCLUSIONS, ListConclusions
from souvenance.gate.conversation.context import READ_CARD, REPRESENT, ReadCard, Represent
from souvenance.gate.conversation.messages import LIST_MESSAGES, ListMessages
from souvenance.gate.conversation.peers import LIST_PEERS, ListPeers
from souvenance.gate.conversation.sessions import LIST_SESSIONS, ListSessions
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import open_installation

NOW = datetime.now(UTC)
"""As late as the clocks of the servers and stores that take part."""
ANN = Wanted(peer="ann")


def said(text, role="user", at=1_700_000_000.0, **more):
    """A message as ChatGPT exports it, but for its place."""
    metadata = more.pop("metadata", {})
    content = more.pop("content", {"content_type": "text", "parts": [text]})
    return {
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "content": content,
        "status": "finished_successfully",
        "weight": more.pop("weight", 1.0),
        "metadata": metadata,
        "recipient": more.pop("recipient", "all"),
        **more,
    }


def conversation(*messages, id="8f3a2b1c-0000-4000-8000-000000000001", title="A talk", **more):
    """A conversation whose messages follow each other."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for number, message in enumerate(messages):
        key = f"m{number}"
        mapping[parent]["children"].append(key)
        mapping[key] = {"id": key, "message": {"id": key, **message}, "parent": parent, "children": []}
        parent = key
    return {
        "title": title,
        "create_time": 1_700_000_000.0,
        "update_time": 1_700_000_100.0,
        "mapping": mapping,
        "current_node": parent,
        "conversation_id": id,
        "id": id,
        **more,
    }


def written(path: Path, value: Any) -> Path:
    """A file with that value in JSON, or with those bytes."""
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return path


class Memory:
    """A memory of our own, asked as its owner."""

    def __init__(self, installation: Any, workspace: str = "default") -> None:
        self.installation = installation
        self.workspace = workspace

    def ask(self, operation, request):
        return self.installation.gate.call(operation, Credentials(self.installation.owner_cap), request)

    def take(self, reader, records=None, **terms) -> ImportTally:
        settled = ImportTerms(**{"kind": reader.kind, "now": NOW, "workspace": self.workspace, **terms})
        return Taking(self.ask, settled).take(reader.records() if records is None else records)

    def look_through(self, reader, **terms) -> ImportTally:
        settled = ImportTerms(**{"kind": reader.kind, "now": NOW, "workspace": self.workspace, **terms})
        return Taking(self.ask, settled).look_through(reader.records())

    def sessions(self):
        return self.ask(LIST_SESSIONS, ListSessions(workspace_id=self.workspace, size=100)).items

    def messages(self, session):
        request = ListMessages(workspace_id=self.workspace, session_id=session, size=100)
        return self.ask(LIST_MESSAGES, request).items

    def conclusions(self, **filters):
        request = ListConclusions(workspace_id=self.workspace, filters=filters or None, size=100)
        return self.ask(LIST_CONCLUSIONS, request).items

    def peers(self):
        listed = self.ask(LIST_PEERS, ListPeers(workspace_id=self.workspace, size=100)).items
        return {one.id: one for one in listed}

    def representation(self, peer):
        request = Represent(workspace_id=self.workspace, peer_id=peer)
        return self.ask(REPRESENT, request).representation

    def card(self, peer, target=None):
        request = ReadCard(workspace_id=self.workspace, peer_id=peer, target=target)
        return self.ask(READ_CARD, request).peer_card

    def think(self):
        """Let everything that is due be reasoned about."""
        with self.installation.working():
            self.installation.settle(30)


@contextmanager
def memory(home: Path) -> Iterator[Memory]:
    installation = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(home)))
    try:
        yield Memory(installation)
    finally:
        installation.close()
