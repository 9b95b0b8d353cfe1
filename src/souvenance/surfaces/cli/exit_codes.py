"""The exit code of every error: one table. 0 is success, 2 is click's own for wrong usage."""

from __future__ import annotations

from souvenance import errors as e

INTERNAL = 1
INTERRUPTED = 130

EXIT: dict[type[e.SouvenanceError], int] = {
    e.InvalidInput: 3,
    e.Unauthenticated: 4,
    e.Denied: 5,
    e.NotFound: 6,
    e.MethodNotAllowed: 6,
    e.Conflict: 7,
    e.LimitExceeded: 8,
    e.Unavailable: 9,
    e.IntegrityError: 10,
    e.Misconfigured: 11,
    e.Unsupported: 12,
    e.UnsupportedType: 12,
    e.Disabled: 12,
}


def exit_of(kind: type[e.SouvenanceError]) -> int:
    """The code of an error class: its own row, or that of its nearest ancestor."""
    return next((EXIT[base] for base in kind.__mro__ if base in EXIT), INTERNAL)
