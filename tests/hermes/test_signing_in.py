"""Signing in: where to go, which answer is taken, by a browser and by a code."""

import contextlib
import hashlib
import re
import socket
from base64 import urlsafe_b64encode

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hermes.authority import TOKEN
from hermes.browser import Browser, asked_in, brought
from ports import vacant_port
from processes import PATIENCE_SECONDS
from souvenance.errors import (
    ServerUnreachable,
    SignInDenied,
    SignInExpired,
    SignInFailed,
    SouvenanceError,
    Unsupported,
)
from souvenance.hermes.oauth_tokens import SignInEndpoints, endpoints_of, issued
from souvenance.hermes.sign_in import flows
from souvenance.hermes.sign_in import profile as signin
from souvenance.hermes.sign_in.flows import Attempt, by_browser, by_code
from souvenance.hermes.sign_in.listener import HOST, PORT, Listener

WELL_KNOWN = "/.well-known/oauth-authorization-server"


@pytest.fixture
def listener():
    with Listener(0) as made:
        yield made


class TestWhere:
    def test_a_server_that_says_where_is_believed(self, authority):
        found = endpoints_of(f"{authority.url}/")
        assert found == SignInEndpoints(
            authorize=f"{authority.url}/authorize",
            token=f"{authority.url}/oauth/token",
            device=f"{authority.url}/oauth/device",
            revoke=f"{authority.url}/oauth/revoke",
            issuer=authority.url,
            names_itself=True,
        )

    def test_a_server_below_a_path_is_asked_at_the_root(self):
        asked = []
        with pytest.raises(Unsupported):
            endpoints_of("https://example.com/memory/", asked.append)
        assert asked == [f"https://example.com{WELL_KNOWN}/memory"]

    def test_a_server_that_calls_itself_otherwise_is_not_believed(self, authority):
        authority.describes(issuer="https://evil.example")
        with pytest.raises(SignInFailed, match=r"calls itself https://evil\.example"):
            endpoints_of(authority.url)

    @pytest.mark.parametrize("told", [(404, {}), (200, []), (200, b"<html>"), (400, {"error": "no"})])
    def test_a_server_that_does_not_say_signs_nobody_in(self, authority, told):
        authority.says(WELL_KNOWN, told)
        with pytest.raises(Unsupported, match="does not say where to sign in"):
            endpoints_of(authority.url)

    @pytest.mark.parametrize(
        "changed",
        [
            {"authorization_endpoint": "javascript:alert(1)"},
            {"authorization_endpoint": "file:///etc/passwd"},
            {"token_endpoint": 7},
            {"token_endpoint": None},
            {"issuer": None},
        ],
    )
    def test_what_can_t_be_an_endpoint_is_refused(self, authority, changed):
        authority.describes(**changed)
        with pytest.raises(SignInFailed):
            endpoints_of(authority.url)

    def test_a_server_with_tls_has_no_endpoint_without(self):
        told = {"issuer": "https://a.example", "authorization_endpoint": "http://a.example/authorize"}
        with pytest.raises(SignInFailed, match="authorization_endpoint"):
            endpoints_of("https://a.example", lambda url: told)

    def test_a_server_without_s256_signs_nobody_in(self, authority):
        authority.describes(code_challenge_methods_supported=["plain"])
        with pytest.raises(Unsupported, match="S256"):
            endpoints_of(authority.url)

    def test_the_cloud_s_places_are_known(self):
        found = endpoints_of("https://api.honcho.dev", lambda url: pytest.fail("asked"))
        assert found.authorize == "https://app.honcho.dev/authorize"
        assert found.token == "https://api.honcho.dev/oauth/token"

    @given(st.dictionaries(st.sampled_from(["issuer", *SignInEndpoints.__struct_fields__]), st.text()))
    def test_whatever_a_server_says_it_is_taken_or_refused(self, told):
        with pytest.raises(SouvenanceError):
            endpoints_of("https://a.example", lambda url: told)


ENDPOINTS = SignInEndpoints(
    authorize="https://a.example/authorize",
    token="https://a.example/oauth/token",
    issuer="https://a.example",
    names_itself=True,
)


class TestAttempt:
    def attempt(self, **changed):
        return Attempt(replace(ENDPOINTS, **changed), "http://127.0.0.1:8765/callback")

    def test_it_asks_with_pkce_and_says_who_asks(self):
        attempt = self.attempt()
        page = attempt.url(source="hermes-cli", config_path="~/.hermes/souvenance.json", login_hint="")
        assert page.startswith("https://a.example/authorize?")
        digest = hashlib.sha256(attempt.verifier.encode()).digest()
        assert asked_in(page) == {
            "response_type": "code",
            "client_id": "hermes-agent",
            "redirect_uri": "http://127.0.0.1:8765/callback",
            "scope": "write",
            "state": attempt.state,
            "code_challenge": urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "source": "hermes-cli",
            "config_path": "~/.hermes/souvenance.json",
        }
        assert attempt.verifier not in page

    def test_no_two_attempts_are_alike(self):
        made = [self.attempt() for _ in range(100)]
        assert len({one.state for one in made} | {one.verifier for one in made}) == 200

    def test_the_answer_brings_the_code(self):
        attempt = self.attempt()
        answer = {"state": attempt.state, "code": "c", "iss": "https://a.example"}
        assert attempt.code(answer) == "c"

    @pytest.mark.parametrize(
        ("changed", "error"),
        [
            ({"state": "another"}, SignInFailed),
            ({"state": "ü" * 43}, SignInFailed),
            ({"iss": "https://b.example"}, SignInFailed),
            ({"iss": "https://a.example/"}, SignInFailed),
            ({"iss": ""}, SignInFailed),
            ({"code": ""}, SignInFailed),
            ({"error": "access_denied"}, SignInDenied),
            ({"error": "server_error\x1b[2J"}, SignInFailed),
        ],
    )
    def test_any_other_answer_is_refused(self, changed, error):
        attempt = self.attempt()
        answer = {"state": attempt.state, "code": "c", "iss": "https://a.example", **changed}
        with pytest.raises(SignInFailed) as refused:
            attempt.code(answer)
        assert type(refused.value) is error
        assert refused.value.detail.isprintable()

    @given(st.dictionaries(st.sampled_from(["state", "code", "iss", "error"]), st.text()))
    def test_whatever_is_answered_it_is_a_code_or_a_refusal(self, answer):
        attempt = self.attempt()
        for state in ({}, {"state": attempt.state}):
            with contextlib.suppress(SignInFailed):
                assert attempt.code({**answer, **state}) == answer["code"]

    def test_a_server_that_does_not_name_itself_need_not(self):
        attempt = self.attempt(names_itself=False)
        assert attempt.code({"state": attempt.state, "code": "c"}) == "c"


class TestListener:
    def test_it_is_at_its_own_port_or_at_any_that_is_free(self):
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                taken.bind((HOST, PORT))
            except OSError:
                pass  # Another program has it, which is as good.
            else:
                taken.listen()
            with Listener() as listener:
                assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/callback", listener.redirect)
                assert not listener.redirect.endswith(f":{PORT}/callback")

    def test_what_nobody_awaits_is_not_let_in(self, listener):
        assert brought(listener.redirect, state="s", code="c").status_code == 400
        listener.expect(lambda answer: answer.get("state") == "s")
        assert brought(listener.redirect, state="t", code="c").status_code == 400
        assert brought(f"http://{listener.host}/favicon.ico").status_code == 404
        assert listener.wait(0) is None

    def test_a_name_for_this_machine_is_not_its_address(self, listener):
        listener.expect(lambda answer: True)
        headers = {"host": "rebound.example"}
        told = httpx.get(listener.redirect, headers=headers, trust_env=False, timeout=PATIENCE_SECONDS)
        assert told.status_code == 404
        assert listener.wait(0) is None

    def test_one_answer_is_taken(self, listener):
        listener.expect(lambda answer: answer.get("state") == "s")
        page = brought(listener.redirect, state="s", code="c")
        assert listener.wait(PATIENCE_SECONDS) == {"state": "s", "code": "c"}
        assert brought(listener.redirect, state="s", code="d").status_code == 400
        assert page.status_code == 200
        assert "You can close this tab" in page.text
        assert page.headers["content-security-policy"].startswith("default-src 'none'")
        assert (page.headers["referrer-policy"], page.headers["cache-control"]) == ("no-referrer", "no-store")
        assert page.headers["server"].strip() == "souvenance"

    def test_whoever_waits_goes_on_after_the_page_was_sent(self, listener):
        request = f"GET /callback?state=s&error=access_denied HTTP/1.1\r\nhost: {listener.host}\r\n\r\n"
        for _ in range(20):
            listener.expect(lambda answer: answer.get("state") == "s")
            with socket.create_connection(listener.host.split(":")) as browser:
                browser.sendall(request.encode())
                listener.wait(PATIENCE_SECONDS)
                page = browser.recv(100_000, socket.MSG_DONTWAIT)
                assert b"You are not signed in" in page

    def test_a_connection_that_says_nothing_holds_nobody_up(self, listener):
        port = int(listener.host.rpartition(":")[2])
        with socket.create_connection((HOST, port)):
            assert brought(listener.redirect).status_code == 400


class TestByBrowser:
    def test_the_answer_is_traded_for_a_grant(self, authority, listener):
        browser = Browser(authority.url)
        endpoints = endpoints_of(authority.url)
        signed = by_browser(endpoints, listener, browser, source="hermes-cli")
        assert browser.back().status_code == 200
        (form,) = authority.forms("/oauth/token")
        asked = asked_in(browser.page)
        digest = hashlib.sha256(form.pop("code_verifier").encode()).digest()
        assert asked["code_challenge"] == urlsafe_b64encode(digest).rstrip(b"=").decode()
        assert form == {
            "grant_type": "authorization_code",
            "client_id": "hermes-agent",
            "code": "the-code",
            "redirect_uri": listener.redirect,
        }
        assert (signed.grant.access, signed.grant.refresh) == ("hch-at-1", "hch-rt-1")
        assert signed.grant.revoke == f"{authority.url}/oauth/revoke"
        assert signin.consented(signed) == {"peerName": "alice", "workspace": "home"}

    @pytest.mark.parametrize(
        ("answer", "error", "shown"),
        [
            ({"error": "access_denied", "code": None}, SignInDenied, "You are not signed in"),
            ({"error": "server_error", "code": None}, SignInFailed, "You are not signed in"),
            ({"iss": "https://evil.example"}, SignInFailed, "Go back to Hermes"),
            ({"iss": None}, SignInFailed, "Go back to Hermes"),
            ({"code": None}, SignInFailed, "You are not signed in"),
        ],
    )
    def test_an_answer_that_is_not_to_be_taken_ends_it(self, authority, listener, answer, error, shown):
        browser = Browser(authority.url, **answer)
        with pytest.raises(error):
            by_browser(endpoints_of(authority.url), listener, browser)
        assert shown in browser.back().text
        assert authority.forms("/oauth/token") == []

    @pytest.mark.parametrize(
        ("told", "error"),
        [
            ((400, {"error": "invalid_grant", "error_description": "used before"}), SignInFailed),
            ((503, {}), ServerUnreachable),
            ((200, {"access_token": ""}), ServerUnreachable),
            ((200, {**TOKEN, "token_type": "mac"}), ServerUnreachable),
            ((200, {**TOKEN, "refresh_token": ""}), SignInFailed),
            ((200, b"<html>"), ServerUnreachable),
            ((302, {}), ServerUnreachable),
            ((200, b" " * 300_000), ServerUnreachable),
        ],
    )
    def test_a_server_that_gives_nothing_for_it_is_told_of(self, authority, listener, told, error):
        authority.says("/oauth/token", told)
        browser = Browser(authority.url)
        with pytest.raises(error):
            by_browser(endpoints_of(authority.url), listener, browser)
        browser.back()

    def test_a_forged_answer_neither_signs_in_nor_ends_the_wait(self, authority, listener):
        browser = Browser(authority.url)

        def show(page):
            assert brought(listener.redirect, state="forged", code="evil").status_code == 400
            browser(page)

        signed = by_browser(endpoints_of(authority.url), listener, show)
        assert signed.grant.access == "hch-at-1"
        assert [form["code"] for form in authority.forms("/oauth/token")] == ["the-code"]

    def test_without_an_answer_in_time_nobody_has_signed_in(self, authority, listener, monkeypatch):
        monkeypatch.setattr(flows, "LIFE_SECONDS", 0)
        with pytest.raises(SignInExpired):
            by_browser(endpoints_of(authority.url), listener, lambda page: None)


class Watch:
    """A clock that moves by waiting."""

    def __init__(self):
        self.at = 0.0
        self.waits = []

    def wait(self, seconds):
        self.waits.append(seconds)
        self.at += seconds

    def now(self):
        return self.at


CODE = {
    "device_code": "d",
    "user_code": "ABCD-EFGH",
    "verification_uri": "https://a.example/device",
    "verification_uri_complete": "https://a.example/device?user_code=ABCD-EFGH",
    "expires_in": 600,
    "interval": 5,
}
PENDING = (400, {"error": "authorization_pending"})


class TestByCode:
    def code(self, authority, *answers, given=CODE):
        authority.says("/oauth/device", (200, given))
        authority.says("/oauth/token", *answers)
        watch, shown = Watch(), []
        ask = lambda: by_code(  # noqa: E731
            endpoints_of(authority.url), shown.append, wait=watch.wait, now=watch.now
        )
        return watch, shown, ask

    def test_it_asks_until_somebody_allowed_it(self, authority):
        watch, shown, ask = self.code(authority, PENDING, PENDING, (200, TOKEN))
        assert ask().grant.access == "hch-at-1"
        assert [one.user_code for one in shown] == ["ABCD-EFGH"]
        assert watch.waits == [5, 5, 5]
        assert authority.forms("/oauth/device") == [{"client_id": "hermes-agent", "scope": "write"}]
        assert authority.forms("/oauth/token")[0] == {
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
            "device_code": "d",
            "client_id": "hermes-agent",
        }

    def test_it_asks_less_often_if_it_is_told_to(self, authority):
        slow = (400, {"error": "slow_down"})
        watch, _, ask = self.code(authority, slow, PENDING, slow, (200, TOKEN))
        ask()
        assert watch.waits == [5, 10, 10, 15]

    def test_a_server_that_is_away_for_a_while_is_asked_again_later(self, authority):
        watch, _, ask = self.code(authority, (503, {}), (0, {}), (200, TOKEN))
        ask()
        assert watch.waits == [5, 10, 20]

    @pytest.mark.parametrize(
        ("told", "error"),
        [("access_denied", SignInDenied), ("expired_token", SignInExpired), ("invalid_grant", SignInFailed)],
    )
    def test_it_ends_when_there_is_nothing_to_wait_for(self, authority, told, error):
        _, _, ask = self.code(authority, PENDING, (400, {"error": told}))
        with pytest.raises(error) as ended:
            ask()
        assert type(ended.value) is error

    def test_it_ends_with_the_code(self, authority):
        watch, _, ask = self.code(authority, PENDING, given={**CODE, "expires_in": 60, "interval": 1})
        with pytest.raises(SignInExpired):
            ask()
        assert watch.at == 60

    def test_a_server_without_codes_says_so(self, authority):
        authority.describes(device_authorization_endpoint=None)
        with pytest.raises(Unsupported, match="no sign-in by a code"):
            by_code(endpoints_of(authority.url), print)

    @pytest.mark.parametrize(
        "spoiled",
        [
            {"verification_uri": "javascript:x"},
            {"user_code": "\x1b[2J"},
            {"device_code": None},
            {"verification_uri_complete": "http://a\nb"},
        ],
    )
    def test_what_can_t_be_shown_is_not(self, authority, spoiled):
        _, shown, ask = self.code(authority, (200, TOKEN), given={**CODE, **spoiled})
        with pytest.raises(SignInFailed):
            ask()
        assert shown == []


class TestWire:
    def test_a_server_that_gives_no_answer_is_unreachable(self, authority):
        authority.says("/oauth/token", (0, {}), (502, {}), (200, b"{"))
        for _ in range(3):
            with pytest.raises(ServerUnreachable):
                issued(f"{authority.url}/oauth/token", {})
        with vacant_port() as port, pytest.raises(ServerUnreachable):
            issued(f"http://127.0.0.1:{port}/oauth/token", {})

    def test_an_answer_without_an_end_is_not_read(self, authority):
        authority.says("/oauth/token", (200, b" " * 300_000))
        with pytest.raises(ServerUnreachable, match="more than 262144 bytes"):
            issued(f"{authority.url}/oauth/token", {})

    def test_what_is_for_this_machine_is_not_shown_to_a_proxy(self, authority, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        assert issued(f"{authority.url}/oauth/token", {}).access_token == "hch-at-1"
