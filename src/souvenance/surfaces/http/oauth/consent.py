"""The pages on which people sign in and decide which programs they let in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec
from authlib.oauth2 import OAuth2Error
from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from souvenance.decoders import decodable, decoded
from souvenance.domain import names, sign_ins
from souvenance.domain.names import ALL, DEFAULT_WORKSPACE
from souvenance.domain.sign_ins import typed
from souvenance.errors import Denied, InvalidInput, NotFound, SouvenanceError, Unauthenticated
from souvenance.gate.messages import WhoAmIAnswer
from souvenance.gate.oauth_state import OAuthState
from souvenance.gate.sign_ins import Allow, Chosen
from souvenance.patterns import pattern
from souvenance.surfaces.http.browser_pages import (
    SessionCookie,
    check_same_site,
    form_token,
    is_form_token,
    names_in,
)
from souvenance.surfaces.http.oauth import metadata
from souvenance.surfaces.http.oauth.authorization_server import Approval, OAuthServer, Polls, granted
from souvenance.surfaces.http.oauth.messages import (
    ANOTHER_DEVICE,
    Consent,
    Fields,
    OAuthRequest,
    as_page,
    fields_of,
    notice,
    page,
    redirect,
    sentence_of,
    to_client,
)
from souvenance.surfaces.http.routes import status_of

_HOUR = 3600
_DAY = 24 * _HOUR
_ENDS = (
    ("One hour", _HOUR),
    ("One day", _DAY),
    ("30 days", 30 * _DAY),
    ("90 days", 90 * _DAY),
    ("One year", 365 * _DAY),
)
_USUAL_END = 90 * _DAY
_WHAT_IS_LEFT = 0
"""In the place of seconds: until the cap of the person who decides ends."""
_MOST_SHOWN = 200


def _chosen(view: Consent, asked: OAuthRequest, left: int) -> Chosen:
    """What the form says. The gate holds it against the cap. Raises: InvalidInput."""
    access, end = asked.get("access"), asked.get("end")
    if access not in (sign_ins.READ, sign_ins.WRITE) or (access == sign_ins.WRITE and not view.write_offered):
        raise InvalidInput("'access' must be one of those offered")
    if end not in _ends_of(view, left):
        raise InvalidInput("'end' must be one of those offered")
    workspace, namespaces = asked.get("workspace").strip(), _namespaces(asked)
    names.name(workspace, "workspace")
    if not namespaces:
        raise InvalidInput("name at least one namespace")
    return Chosen(
        workspace=workspace,
        peer=asked.get("peer").strip(),
        namespaces=namespaces,
        access="write" if access == sign_ins.WRITE else "read",
        seconds=min(int(end) or left, left),
        everyone=view.everyone_offered and asked.get("everyone") == "yes",
    )


def _posted(view: Consent, asked: OAuthRequest, left: int) -> Consent:
    """The page again, with what the form says as far as it was offered."""
    end, opened = asked.get("end"), view.namespaces
    return replace(
        view,
        workspace=view.workspace if view.workspace_fixed else asked.get("workspace").strip(),
        peer=asked.get("peer").strip(),
        chosen=tuple(name for name in _namespaces(asked) if ALL in opened or name in opened),
        access="write" if asked.get("access") == sign_ins.WRITE and view.write_offered else "read",
        end=int(end) if end in _ends_of(view, left) else view.end,
        everyone=view.everyone_offered and asked.get("everyone") == "yes",
    )


def _ends_of(view: Consent, left: int) -> set[str]:
    """The ends that are offered, or were when the page was made."""
    then = left + sign_ins.REQUEST_MS // 1000
    return {str(seconds) for _, seconds in (*view.ends, *_ENDS) if seconds <= then}


def _namespaces(asked: OAuthRequest) -> tuple[str, ...]:
    return names_in(",".join(asked.every("namespace")))


def _is_name(text: str) -> bool:
    try:
        return names.actor(text, "login_hint") == text and len(text) <= _MOST_SHOWN
    except InvalidInput:
        return False


_COOKIE = SessionCookie("souvenance-session", "lax", sign_ins.SESSION_MS // 1000)
_SECRET = pattern(r"[A-Za-z0-9_-]{43}\Z")


class BrowserSession:
    """A request from a browser, and what its cookie says of who sends it."""

    def __init__(self, asked: OAuthRequest, state: OAuthState) -> None:
        self.asked = asked
        brought = _COOKIE.read(asked.cookies, asked.secure)
        self.known = _SECRET.match(brought) is not None
        """Whether the browser brought the cookie."""
        self.secret = brought if self.known else state.secret()
        self.token = asked.trusted or (
            state.browsers.token(brought, sign_ins.SESSION) if self.known else None
        )
        """The cap of the person who is signed in, or of this machine where that is trusted."""

    def form_token(self, *form: str) -> str:
        return form_token("souvenance.signin.form", self.secret, *form)

    def check_form(self, *form: str) -> None:
        """Raises: Denied for a form that this browser was not given."""
        check_same_site(self.asked.headers)
        if not self.known or not is_form_token(self.asked.get("csrf"), self.form_token(*form)):
            raise Denied(
                "the form is not one of this browser's, or too old",
                hint="Go back, load the page again, and allow cookies for it.",
            )

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        answer = page(template, status, **values)
        if not self.known:
            _COOKIE.give(answer, self.secret, self.asked.secure)
        return answer


_SIGN_IN = "sign-in"
_CONSENT = "consent"
_DEVICE = "device"
_SIGN_OUT = "sign-out"
_UNKNOWN = "This browser knows you no longer."
_TRUSTED = "Nobody has to sign in on this machine: its user decides as the owner."
_AGAIN = "Sign in again: that was too long ago."

_Kind = TypeVar("_Kind")


class _Device(Struct, frozen=True):
    """What is kept of a device's request while a person decides: hashes of its two codes."""

    device: bytes
    typed: bytes


class ConsentPages:
    """Raises, all of it: SouvenanceError."""

    def __init__(self, state: OAuthState) -> None:
        self._state = state

    def sign_in(self, asked: OAuthRequest) -> Response:
        browser = BrowserSession(asked, self._state)
        if asked.method == "POST":
            return self._enter(browser, None)
        who = self._who(browser)
        if who is None:
            return self._ask_who(browser, None)
        text = f"You are signed in as {who.sub}. Programs that you began to connect can ask you now."
        return notice("Signed in", text)

    def sign_out(self, asked: OAuthRequest) -> Response:
        """If a program waits, the page comes back on which somebody else can sign in."""
        browser = BrowserSession(asked, self._state)
        if asked.method != "POST":
            who = self._who(browser)
            if who is None or asked.trusted is not None:
                return notice("Signed out", _UNKNOWN if asked.trusted is None else _TRUSTED)
            csrf = browser.form_token(_SIGN_OUT)
            return browser.page("sign_out.html", action=metadata.SIGN_OUT, csrf=csrf, who=who.sub)
        request = asked.get("request")
        browser.check_form(*((_CONSENT, request) if request else (_SIGN_OUT,)))
        self._state.browsers.end(browser.secret, sign_ins.SESSION)
        waiting = self._state.asked(request) if request else None
        answer = notice("Signed out", _UNKNOWN) if waiting is None else redirect(_back(waiting.content))
        _COOKIE.take_back(answer, asked.secure)
        return answer

    def authorize(self, asked: OAuthRequest) -> Response:
        """Raises: OAuth2Error too."""
        browser = BrowserSession(asked, self._state)
        if asked.method == "POST" and asked.get("request"):
            return self._decide(browser)
        query = replace(asked, fields=fields_of(asked.query))
        try:
            grant = self._server(asked).get_consent_grant(query)
        except OAuth2Error as error:
            sent = to_client(error(), asked.issuer) if self._is_trusted(query) else None
            return sent or as_page(error)
        client: sign_ins.Client = grant.client.client
        if asked.method == "POST":
            return self._enter(browser, client.name)
        who = self._who(browser)
        if who is None:
            return self._ask_who(browser, client.name)
        request = self._state.ask(client.id, msgspec.json.encode(query.fields))
        return self._consent(browser, self._view(browser, who, client, request, **_asked_at(query)))

    def _is_trusted(self, query: OAuthRequest) -> bool:
        """Whether a browser may be sent to where the request says though nobody decided anything. Else any
        registered program could have this server lead people anywhere."""
        client = self._state.client(query.get("client_id"))
        if client is None:
            return False
        here = query.get("redirect_uri").startswith("http://")  # Which is this machine alone.
        return here or client.id in sign_ins.BUILT_IN or client.used_at is not None

    def _decide(self, browser: BrowserSession) -> Response:
        """Raises: OAuth2Error too."""
        asked, request = browser.asked, browser.asked.get("request")
        browser.check_form(_CONSENT, request)
        query = replace(asked, method="GET", fields=self._pending(request, Fields))
        server = self._server(asked)
        grant = server.get_consent_grant(query)
        client: sign_ins.Client = grant.client.client

        def finish(approval: Approval | None) -> Response:
            answered = server.create_authorization_response(grant.request, approval, grant)
            return to_client(answered, asked.issuer) or notice("Done", "You can close this page.")

        def deny(token: str) -> Response:
            self._state.deny(token, request, client.id)
            return finish(None)

        return self._decided(
            browser,
            client,
            _asked_at(query),
            allow=lambda token, chosen: finish(Approval(token, request, chosen)),
            deny=deny,
            here=f"{asked.path}?{urlencode(query.fields)}",
        )

    def device(self, asked: OAuthRequest) -> Response:
        browser = BrowserSession(asked, self._state)
        if asked.method == "POST" and asked.get("request"):
            return self._decide_device(browser)
        if asked.method == "POST" and asked.get("cap"):
            return self._enter(browser, None)
        who = self._who(browser)
        if who is None:
            return self._ask_who(browser, None)
        if asked.method == "GET":
            return self._ask_code(browser)
        browser.check_form(_DEVICE)
        code = typed(asked.get("user_code"))
        slip = None if code is None else self._state.device_of(code)
        client = None if slip is None else self._state.client(slip.client)
        if code is None or slip is None or client is None:
            trouble = "No device waits with this code. It may have expired: let the device show a new one."
            return self._ask_code(browser, trouble)
        request = self._state.ask(client.id, msgspec.json.encode(_Device(slip.hash, sign_ins.hash_of(code))))
        view = self._view(browser, who, client, request, scope=slip.content.decode(), **_ELSEWHERE)
        return self._consent(browser, view)

    def _decide_device(self, browser: BrowserSession) -> Response:
        request = browser.asked.get("request")
        browser.check_form(_CONSENT, request)
        pending = self._pending(request, _Device)
        slip = self._state.waiting(pending.device)
        client = None if slip is None else self._state.client(slip.client)
        if slip is None or client is None:
            raise _gone()
        asked_for = slip.content.decode()

        def allow(token: str, chosen: Chosen) -> Response:
            allowed = Allow(
                client=slip.client,
                request=sign_ins.hash_of(request),
                kind=sign_ins.DEVICE,
                slip=slip.hash,
                content=granted(asked_for, chosen.access).encode(),
                typed=pending.typed,
                chosen=chosen,
            )
            self._state.allow(token, allowed)
            return notice("Connected", f"{client.name} goes on by itself. You can close this page.")

        def deny(token: str) -> Response:
            self._state.deny(token, request, client.id, slip)
            return notice("Denied", f"{client.name} was not let in. You can close this page.")

        return self._decided(browser, client, {"scope": asked_for, **_ELSEWHERE}, allow=allow, deny=deny)

    def _decided(
        self,
        browser: BrowserSession,
        client: sign_ins.Client,
        request: Mapping[str, str],
        *,
        allow: Callable[[str, Chosen], Response],
        deny: Callable[[str], Response],
        here: str | None = None,
    ) -> Response:
        """What comes of the form's decision; the form again if it can't be followed, and the page that asks
        who somebody is, to come back `here`, if that was too long ago."""
        asked, who, token = browser.asked, self._who(browser), browser.token
        if who is None or token is None:
            return self._ask_who(browser, client.name, _AGAIN, action=here)
        view, left = self._view(browser, who, client, asked.get("request"), **request), self._left(who)
        try:
            match asked.get("decision"):
                case "allow":
                    return allow(token, _chosen(view, asked, left))
                case "deny":
                    return deny(token)
                case _:
                    raise InvalidInput("choose whether to allow or to deny")
        except (InvalidInput, Denied) as error:
            return self._consent(browser, _posted(view, asked, left), error)

    def _enter(self, browser: BrowserSession, asked_by: str | None) -> Response:
        """Sign in with the cap of the form, and come back."""
        browser.check_form(_SIGN_IN)
        try:
            secret = self._state.sign_in(browser.asked.get("cap").strip())
        except (Unauthenticated, Denied) as error:
            return self._ask_who(browser, asked_by, sentence_of(error), status=status_of(type(error)))
        answer = redirect(browser.asked.here)
        _COOKIE.give(answer, secret, browser.asked.secure)
        return answer

    def _ask_who(
        self,
        browser: BrowserSession,
        asked_by: str | None,
        trouble: str = "",
        *,
        action: str | None = None,
        status: int = 200,
    ) -> Response:
        return browser.page(
            "sign_in.html",
            status,
            action=action or browser.asked.here,
            csrf=browser.form_token(_SIGN_IN),
            asked_by=asked_by,
            trouble=trouble,
        )

    def _ask_code(self, browser: BrowserSession, trouble: str = "") -> Response:
        return browser.page(
            "device.html",
            400 if trouble else 200,
            action=metadata.DEVICE_PAGE,
            csrf=browser.form_token(_DEVICE),
            code=browser.asked.get("user_code"),
            trouble=trouble,
        )

    def _consent(
        self, browser: BrowserSession, view: Consent, error: SouvenanceError | None = None
    ) -> Response:
        status, trouble = (200, "") if error is None else (status_of(type(error)), sentence_of(error))
        return browser.page("consent.html", status, leads_to=view.leads_to, view=view, trouble=trouble)

    def _view(
        self,
        browser: BrowserSession,
        who: WhoAmIAnswer,
        client: sign_ins.Client,
        request: str,
        *,
        scope: str,
        hint: str = "",
        **place: Any,
    ) -> Consent:
        """What the person is asked, and what is proposed. `scope` is what the client asks for, empty if it
        does not say; `hint` whose memory it means, in its own words; `place` where the answer goes."""
        preset = sign_ins.PRESETS.get(client.id, sign_ins.Preset())
        opened, left = who.namespaces_allowed, self._left(who)
        writes = "put" in who.ops and (not scope.split() or sign_ins.WRITE in scope.split())
        everyone = preset.everyone and ALL in who.peers and who.sessions is None
        reached = ALL in who.peers or hint in who.peers
        ends = tuple(one for one in _ENDS if one[1] <= left) or (("As long as your own cap", _WHAT_IS_LEFT),)
        proposed = tuple(name for name in preset.namespaces if ALL in opened or name in opened)
        return Consent(
            client=client.name,
            client_id=client.id,
            registered=client.id not in sign_ins.BUILT_IN,
            signed_in_as=who.sub,
            workspace=who.wid if who.wid != ALL else preset.workspace or DEFAULT_WORKSPACE,
            workspace_fixed=who.wid != ALL,
            peer=hint if reached and _is_name(hint) else who.sub,
            peer_fixed=not who.peers,
            namespaces=tuple(opened),
            chosen=proposed or tuple(opened),
            access="write" if writes else "read",
            write_offered=writes,
            ends=ends,
            end=max((end for _, end in ends if end <= _USUAL_END), default=ends[0][1]),
            everyone_offered=everyone,
            everyone=everyone,
            csrf=browser.form_token(_CONSENT, request),
            request=request,
            sign_out=metadata.SIGN_OUT if browser.asked.trusted is None else None,
            **place,
        )

    def _left(self, who: WhoAmIAnswer) -> int:
        """Of the person's cap, in seconds."""
        return max(1, who.exp - self._state.now() // 1000)

    def _who(self, browser: BrowserSession) -> WhoAmIAnswer | None:
        """Who is signed in, with a cap that is still good."""
        try:
            return None if browser.token is None else self._state.who(browser.token)
        except Unauthenticated:
            return None

    def _pending(self, request: str, kind: type[_Kind]) -> _Kind:
        """What was asked, and was not answered yet. Raises: NotFound."""
        slip = self._state.asked(request)
        if slip is None:
            raise _gone()
        return decoded(slip.content, kind, _gone())  # It may have been asked at the other page.

    def _server(self, asked: OAuthRequest) -> OAuthServer:
        return OAuthServer(self._state, Polls(), asked.issuer)


_ELSEWHERE: Mapping[str, str] = {"where": ANOTHER_DEVICE, "action": metadata.DEVICE_PAGE}


def _asked_at(query: OAuthRequest) -> dict[str, Any]:
    """What a request asks for whose redirect is known to be good, where its answer goes, and what its client
    says of itself."""
    uri = query.get("redirect_uri")
    return {
        "scope": query.get("scope"),
        "hint": query.get("login_hint"),
        "where": sign_ins.where_of(uri),
        "action": metadata.AUTHORIZE,
        "leads_to": sign_ins.form_target(uri),
        "source": query.get("source")[:_MOST_SHOWN] or None,
        "config_path": query.get("config_path")[:_MOST_SHOWN] or None,
    }


def _back(asked: bytes) -> str:
    """The page that a pending request came from."""
    fields = decodable(asked, Fields)
    return metadata.DEVICE_PAGE if fields is None else f"{metadata.AUTHORIZE}?{urlencode(fields)}"


def _gone() -> NotFound:
    return NotFound("this request has expired or was answered already", hint="Let the program ask again.")
