"""The HTTP status of every error: one table."""

from __future__ import annotations

from souvenance import errors as e

STATUS: dict[type[e.SouvenanceError], int] = {
    e.InvalidInput: 400,
    e.Disabled: 400,
    e.Unauthenticated: 401,
    e.Denied: 403,
    e.NotFound: 404,
    e.MethodNotAllowed: 405,
    e.BodyTimeout: 408,
    e.Conflict: 409,
    e.LimitExceeded: 413,
    e.UnsupportedType: 415,
    e.RateLimited: 429,
    e.HeadersTooLarge: 431,
    e.IntegrityError: 500,
    e.Misconfigured: 500,
    e.Unsupported: 501,
    e.UpstreamUnreachable: 502,
    e.Unavailable: 503,
    e.ServerBusy: 503,
}


def status_of(kind: type[e.SouvenanceError]) -> int:
    """The status of an error class: its own row, or that of its nearest ancestor."""
    return next(STATUS[base] for base in kind.__mro__ if base in STATUS)
