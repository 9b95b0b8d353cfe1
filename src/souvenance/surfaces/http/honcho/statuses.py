"""The statuses of the Honcho door, one table; where it says nothing, those of the other doors hold."""

from __future__ import annotations

from souvenance import errors as e
from souvenance.surfaces.http.statuses import status_of

STATUS: dict[type[e.SouvenanceError], int] = {
    e.HostRefused: 403,
    e.Denied: 401,
    e.InvalidInput: 422,
    e.LineTooLong: 422,
    e.BodyTooLarge: 413,
    e.FileTooLarge: 413,
    e.RateLimited: 429,
    e.ServerBusy: 503,
    e.HeadersTooLarge: 431,
    e.BodyTimeout: 408,
    e.LimitExceeded: 400,
    e.Unsupported: 422,
}


def refused_as(kind: type[e.SouvenanceError]) -> int:
    return next((STATUS[base] for base in kind.__mro__ if base in STATUS), 0) or status_of(kind)
