"""Whatever anybody sends, the door answers, and a store that is out of reach is told as such."""

from __future__ import annotations

from contextlib import contextmanager
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.world import World
from oauth.browser import CALLBACK, VERIFIER, Place, asking, challenge, fetching
from pace import examples
from reference.store import MemoryStore
from souvenance.domain.sign_ins import DEVICE_GRANT
from souvenance.errors import StorageBusy

PLACE = Place()
VALUES = st.text(max_size=20) | st.sampled_from(
    [
        "hermes-agent",
        "authorization_code",
        "refresh_token",
        DEVICE_GRANT,
        "code",
        CALLBACK,
        challenge(),
        VERIFIER,
        "S256",
        "write",
        'a"b\\c\r\nd',
        "\x00",
        "allow",
    ]
)
NAMES = st.sampled_from(
    [
        "client_id",
        "client_secret",
        "redirect_uri",
        "scope",
        "state",
        "resource",
        "response_type",
        "code_challenge",
        "code_challenge_method",
        "grant_type",
        "code",
        "code_verifier",
        "refresh_token",
        "device_code",
        "user_code",
        "token",
        "token_type_hint",
        "cap",
        "csrf",
        "request",
        "decision",
        "prompt",
        "nonce",
    ]
)
FORMS = st.dictionaries(NAMES, VALUES, max_size=9)
PATHS = st.sampled_from(
    ["/authorize", "/device", "/signin", "/oauth/token", "/oauth/revoke", "/oauth/device"]
)
FORM = {"content-type": "application/x-www-form-urlencoded"}


def sent(form):
    return urlencode(form, errors="surrogatepass")


@settings(max_examples=examples(150), deadline=None)
@given(
    PATHS, FORMS, FORMS, st.none() | st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20)
)
def test_no_form_makes_it_fail(path, query, form, credentials):
    headers = FORM if credentials is None else {**FORM, "authorization": f"Basic {credentials}"}
    found = PLACE.new_browser().post(f"{path}?{sent(query)}", content=sent(form), headers=headers)
    assert found.status_code < 500 or found.status_code == 503
    if found.status_code == 303:
        assert found.headers["location"].startswith((f"{CALLBACK}?", f"{path}?"))


@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from(["/authorize", "/device", "/signin"]), FORMS, st.booleans())
def test_no_query_makes_it_fail_or_leads_elsewhere(path, query, nearly):
    found = PLACE.new_browser().get(f"{path}?{sent({**asking(), **query} if nearly else query)}")
    assert found.status_code < 500
    if found.status_code == 303:
        assert found.headers["location"].startswith(f"{CALLBACK}?")


@settings(max_examples=examples(50), deadline=None)
@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.text(), st.lists).map(lambda told: repr(told).encode())
)
def test_no_registration_makes_it_fail(body):
    assert PLACE.program.post("/oauth/register", content=body).status_code in (400, 429)


class Busy(MemoryStore):
    """A book that another process holds, when told so."""

    held = False

    @contextmanager
    def write(self, *of, **options):
        if self.held:
            raise StorageBusy("the store is busy")
        with super().write(*of, **options) as tx:
            yield tx


def test_a_store_that_is_out_of_reach_loses_no_code():
    store = Busy()
    place = Place(World(store=store))
    place.sign_in()
    code = place.code()
    page = place.consent()
    store.held = True
    found = place.fetch(fetching(code))
    assert (found.status_code, found.json()["error"]) == (503, "temporarily_unavailable")
    assert found.headers["retry-after"] == "1"
    assert place.decide(page).status_code == 503
    store.held = False
    assert place.fetch(fetching(code)).status_code == 200
    assert place.decide(page).status_code == 303


@pytest.mark.parametrize("path", ["/authorize", "/device", "/signin", "/oauth/token", "/oauth/register"])
def test_what_is_too_large_is_refused(path):
    assert PLACE.program.post(path, content="a=" + "b" * 40_000, headers=FORM).status_code == 413
