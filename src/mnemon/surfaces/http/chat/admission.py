"""Admission to the chat door: the gate judges the cap. While it can't, a cap that proves itself goes on."""

from __future__ import annotations

import asyncio

from starlette.requests import Request

from mnemon.domain.names import ALL
from mnemon.errors import CapDataClassMismatch, CapScopeMismatch, Unavailable
from mnemon.gate import messages as m
from mnemon.gate.admission import Credentials
from mnemon.gate.caps import told
from mnemon.gate.gate import Gate
from mnemon.gate.operations import WHOAMI
from mnemon.surfaces.http.chat.keeping import Complaints
from mnemon.surfaces.http.chat.passes import Admitted
from mnemon.surfaces.http.exchange import Hands, credentials_of


class Admission:
    def __init__(self, gate: Gate, hands: Hands, patience: float, complaints: Complaints) -> None:
        self._gate = gate
        self._hands = hands
        self._patience = patience
        self._complaints = complaints

    async def admit(self, request: Request, body: bytes) -> Admitted:
        """Raises: Unauthenticated, Denied, RateLimited."""
        credentials = credentials_of(request, body)
        judged = True
        try:
            async with asyncio.timeout(self._patience):
                grant = await self._judged(credentials)
        except (TimeoutError, Unavailable) as error:
            grant = told(await asyncio.to_thread(self._gate.recognise, credentials))
            self._complaints.add("nothing was recalled", error)
            judged = False
        if grant.data_class not in ("memory", ALL):
            raise CapDataClassMismatch("the cap is not of data class 'memory'")
        if grant.sessions is not None:
            raise CapScopeMismatch(
                "the cap is limited to sessions", hint="Chat with a cap that names no sessions."
            )
        return Admitted(credentials.token or "", grant, judged)

    async def judge(self, caller: Admitted) -> None:
        """Have the gate judge a caller whom it could not judge before. Raises: MnemonError."""
        if not caller.judged:
            await self._judged(Credentials(caller.token))

    async def _judged(self, credentials: Credentials) -> m.WhoAmIAnswer:
        grant: m.WhoAmIAnswer = await self._hands.call(self._gate, WHOAMI, credentials, m.WhoAmI)
        return grant
