"""The page of passkeys, and signing in with one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from souvenance.domain.encoding import b64
from souvenance.domain.sign_ins import hash_of
from souvenance.errors import Denied, RateLimited
from souvenance.gate import browser_sessions as s
from souvenance.gate import messages as m
from souvenance.gate.browser_sessions import BrowserSessions
from souvenance.gate.gate import Gate
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.browser_pages import check_same_site
from souvenance.surfaces.http.inspector import webauthn
from souvenance.surfaces.http.inspector.visit import Visit, posted, redirect, url
from souvenance.surfaces.http.request_threads import RequestThreads, json_answer

_T = TypeVar("_T")

SIGN_IN = "/inspect/passkeys/sign-in"
CHALLENGES = "/inspect/passkeys/challenges"


class PasskeyPages:
    def __init__(
        self, sessions: BrowserSessions, public_url: str | None, gate: Gate, threads: RequestThreads
    ) -> None:
        self._sessions = sessions
        self._public_url = public_url
        self._gate = gate
        self._threads = threads
        self.ENDPOINTS = {
            "GET /inspect/passkeys": self._passkeys,
            "POST /inspect/passkeys": self._add,
            "POST /inspect/passkeys/options": self._options,
            "POST /inspect/passkeys/localhost": self._at_localhost,
            "POST /inspect/passkeys/{id}/remove": self._remove,
        }

    async def challenge(self, request: Request) -> Response:
        """What a passkey must sign for somebody who is not signed in yet."""
        try:
            check_same_site(request.headers)
            site = self._site(request)
            challenge = await self._run(self._sessions.challenge)
        except (Denied, RateLimited) as error:
            return json_answer(403, {"trouble": error.detail})
        return json_answer(200, webauthn.request_options(site, challenge))

    async def session(self, request: Request) -> str:
        """The secret of a new session, for a passkey's signature. Raises: SouvenanceError."""
        response = (await posted(request)).get("response", "")
        site = self._site(request)
        return await self._run(lambda: self._begun(site, response))

    def _begun(self, site: webauthn.PasskeySite, response: str) -> str:
        credential = webauthn.credential_of(response)
        known = self._sessions.passkey(credential)
        if known is None:
            raise Denied("this passkey was removed, or its token has ended")
        signed = webauthn.signed(site, response, known.public_key)
        return self._sessions.begin_with_passkey(known, credential, signed.challenge, signed.counter)

    async def _passkeys(self, visit: Visit) -> Response:
        found = await visit.call(s.LIST_PASSKEYS, m.Nothing())
        return visit.page(
            "passkeys.html",
            passkeys=found.passkeys,
            offered=webauthn.offered(visit.request, self._public_url),
        )

    async def _options(self, visit: Visit) -> Response:
        try:
            await visit.form()
            site = self._site(visit.request)
            challenge = await self._run(lambda: self._sessions.challenge(visit.who.jti))
        except (Denied, RateLimited) as error:
            return json_answer(403, {"trouble": error.detail})
        return json_answer(200, webauthn.creation_options(site, challenge, visit.who.sub))

    async def _add(self, visit: Visit) -> Response:
        fields = await visit.form()
        made = webauthn.added(self._site(visit.request), fields.get("response", ""))
        asked = s.AddPasskey(
            passkey=hash_of(b64(made.credential)),
            challenge=hash_of(b64(made.challenge)),
            name=fields.get("name", "").strip() or "A passkey",
            public_key=made.public_key,
            counter=made.counter,
        )
        await visit.call(s.ADD_PASSKEY, asked)
        return redirect(url("passkeys"))

    async def _remove(self, visit: Visit) -> Response:
        await visit.form()
        await visit.call(s.REMOVE_PASSKEY, s.RemovePasskey(visit.path["id"]))
        return redirect(url("passkeys"))

    async def _at_localhost(self, visit: Visit) -> Response:
        """A link that signs in at the same server, under the name that passkeys need."""
        await visit.form()
        origin = webauthn.named_origin(visit.request)
        if origin is None:
            raise Denied("this server has a name already, or is on another machine")
        link = await self._run(lambda: self._sessions.link(visit.token))
        return visit.page("at_localhost.html", link=f"{origin}/inspect/sign-in?link={link}", origin=origin)

    async def _run(self, work: Callable[[], _T]) -> _T:
        return await self._threads.do(self._gate, Credentials(None), work, writes=True)

    def _site(self, request: Request) -> webauthn.PasskeySite:
        """Raises: Denied."""
        site = webauthn.passkey_site(request, self._public_url)
        if site is None:
            raise Denied(
                "passkeys do not work at this address",
                hint="Open the server by its name over HTTPS, or as localhost.",
            )
        return site
