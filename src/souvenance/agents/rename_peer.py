"""Moves a peer's memory to another name, part by part, to the end."""

from __future__ import annotations

from souvenance.agents.import_memory import Ask
from souvenance.gate.conversation.peers import RENAME_PEER, Renamed, RenamePeer


def rename(call: Ask, workspace: str, peer: str, name: str) -> int:
    """How many lines were moved. If it was stopped midway, call it again. Raises: SouvenanceError."""
    lines, after = 0, None
    while True:
        asked = RenamePeer(workspace_id=workspace, peer_id=peer, name=name, after=after)
        renamed: Renamed = call(RENAME_PEER, asked)
        lines, after = lines + renamed.lines, renamed.after
        if after is None:
            return lines
