"""Admission to the chat door: the gate judges the cap. While it can't, those that it let in of late go on."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict

from starlette.requests import Request

from mnemon.domain.names import ALL
from mnemon.errors import (
    CapDataClassMismatch,
    CapScopeMismatch,
    Unauthenticated,
    Unavailable,
)
from mnemon.gate import messages as m
from mnemon.gate.gate import Gate
from mnemon.gate.operations import WHOAMI
from mnemon.surfaces.http.chat.passes import Admitted
from mnemon.surfaces.http.exchange import Hands, credentials_of

_REMEMBERED_SECONDS = 3600
_MOST_REMEMBERED = 4_000


class Admission:
    def __init__(self, gate: Gate, hands: Hands, patience: float) -> None:
        self._gate = gate
        self._hands = hands
        self._patience = patience
        self._known: OrderedDict[str, tuple[float, m.WhoAmIAnswer]] = OrderedDict()

    async def admit(self, request: Request, body: bytes) -> Admitted:
        """Raises: Unauthenticated, Denied, Unavailable, RateLimited."""
        credentials = credentials_of(request, body)
        token = credentials.token or ""
        asked = self._hands.call(self._gate, WHOAMI, credentials, m.WhoAmI)
        known = self._remembered(token)
        try:
            grant = await asyncio.wait_for(asked, None if known is None else self._patience)
            self._remember(token, grant)
        except Unauthenticated:
            self._known.pop(token, None)
            raise
        except (TimeoutError, Unavailable):
            if known is None:
                raise
            grant = known
        if grant.data_class not in ("memory", ALL):
            raise CapDataClassMismatch("the cap is not of data class 'memory'")
        if grant.sessions is not None:
            raise CapScopeMismatch(
                "the cap is limited to sessions", hint="Chat with a cap that names no sessions."
            )
        return Admitted(token, grant)

    def _remembered(self, token: str) -> m.WhoAmIAnswer | None:
        """What the cap was found to grant of late, if it needs no proof and is in its time."""
        at, grant = self._known.get(token, (0.0, None))
        if grant is None or grant.bound or time.time() >= min(at + _REMEMBERED_SECONDS, grant.exp):
            return None
        return grant

    def _remember(self, token: str, grant: m.WhoAmIAnswer) -> None:
        self._known[token] = (time.time(), grant)
        self._known.move_to_end(token)
        if len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)
