"""What came of mending a store and its bucket."""

from __future__ import annotations

from msgspec import Struct, field

NOT_REBUILT = (
    "the audit log and its checkpoints",
    "revocations of caps, and sign-ins",
    "metadata and settings of workspaces, peers and sessions, and who left a session",
    "scopes, webhooks and work that waited",
)
"""What objects do not tell, in words."""


class Mended(Struct):
    """What was done, and what could not be."""

    restored: int = 0
    """Lines that the store lacked."""
    carried: int = 0
    """Objects that the bucket lacked."""
    removed: int = 0
    """Objects of what was forgotten."""
    renewed: int = 0
    """Objects that did not say what the store says."""
    findings: list[str] = field(default_factory=list)
