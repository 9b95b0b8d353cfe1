"""Moves a peer's memory to another name, part by part, to the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from souvenance.gate.conversation import operations as o
from souvenance.gate.conversation import requests as q
from souvenance.gate.conversation import responses as a
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation

Call = Callable[[Operation, Request], Any]
"""Asks the gate, here or behind a URL. Raises: SouvenanceError."""


def rename(call: Call, workspace: str, peer: str, name: str) -> int:
    """How many lines were taken along. What was stopped midway is gone on with by doing it again.

    Raises: SouvenanceError.
    """
    lines, after = 0, None
    while True:
        asked = q.RenamePeer(workspace_id=workspace, peer_id=peer, name=name, after=after)
        told: a.Renamed = call(o.RENAME_PEER, asked)
        lines, after = lines + told.lines, told.after
        if after is None:
            return lines
