"""Admission to the chat door: every request waits for the gate's verdict, and leaves its audit row first.

While the store is out of reach a request is refused, unless the settings say that it goes on without memory.
Either way the verdict is kept, and its row is written once the store is back.
"""

from __future__ import annotations

from functools import partial

from starlette.requests import Request

from souvenance.domain.upstream import PASS_WITHOUT_MEMORY, ChatSettings
from souvenance.errors import Unavailable
from souvenance.gate import messages as m
from souvenance.gate.gate import Gate
from souvenance.gate.operations import CHAT
from souvenance.gate.tokens import told
from souvenance.surfaces.http.chat.narrow_tokens import Admitted
from souvenance.surfaces.http.chat.write_queue import Complaints
from souvenance.surfaces.http.request_threads import RequestThreads, credentials_of


class Admission:
    def __init__(
        self, gate: Gate, hands: RequestThreads, settings: ChatSettings, complaints: Complaints
    ) -> None:
        self._gate = gate
        self._hands = hands
        self._passes_on = settings.when_store_is_down == PASS_WITHOUT_MEMORY
        self._complaints = complaints

    async def admit(self, request: Request, body: bytes) -> Admitted:
        """Raises: Unauthenticated, Denied, RateLimited, Unavailable."""
        credentials = credentials_of(request, body)
        token = credentials.token or ""
        try:
            grant: m.WhoAmIAnswer = await self._hands.call(self._gate, CHAT, credentials, m.WhoAmI)
            return Admitted(token, grant)
        except Unavailable as error:
            self._complaints.add("the store is out of reach", error)
            late = partial(
                self._gate.judge_late, CHAT, credentials, m.WhoAmI(), error, grants=self._passes_on
            )
            granted = await self._hands.judge(self._gate, credentials, late)
            return Admitted(token, told(granted), store_down=True)
