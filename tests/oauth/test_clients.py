"""Programs that register themselves, what the server says of itself, and giving a sign-in back."""

from __future__ import annotations

import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata

from oauth.browser import ORIGIN, Place, fetching, refreshing
from souvenance.domain.sign_ins import UNUSED_MS
from souvenance.gate.oauth_state import MOST_STRANGERS


def test_a_program_registers_itself_and_is_let_in_as_what_it_calls_itself(place):
    told = place.register(client_name="<b>Cursor</b>", grant_types=["authorization_code", "refresh_token"])
    assert told.status_code == 201
    client = told.json()
    assert "client_secret" not in client
    assert client["redirect_uris"] == ["http://127.0.0.1:49152/callback"]
    assert client["response_types"] == ["code"]
    place.sign_in()
    page = place.consent(client_id=client["client_id"])
    assert "Nobody has checked who this is" in page.text
    assert "<b>Cursor" not in page.text
    code = place.code(client_id=client["client_id"])
    token = place.fetch(fetching(code, client_id=client["client_id"]))
    assert "refresh_token" in token.json()


def test_a_program_that_did_not_ask_for_refresh_tokens_gets_none(place):
    client = place.register().json()["client_id"]
    place.sign_in()
    token = place.fetch(fetching(place.code(client_id=client), client_id=client)).json()
    assert "refresh_token" not in token


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_a_program_with_a_secret_has_to_bring_it(place, method):
    client = place.register(token_endpoint_auth_method=method).json()
    place.sign_in()
    code = place.code(client_id=client["client_id"])
    without = place.fetch(fetching(code, client_id=client["client_id"]))
    assert without.json()["error"] == "invalid_client"
    secret = client["client_secret"]
    for given, status in (("wrong", 401), (secret, 200)):
        if method == "client_secret_basic":
            found = place.fetch(fetching(code, client_id=None), auth=(client["client_id"], given))
        else:
            found = place.fetch(fetching(code, client_id=client["client_id"], client_secret=given))
        assert found.status_code == status
    with place.world.store.read() as tx:
        assert secret.encode() not in tx.signins.client(client["client_id"]).secret


@pytest.mark.parametrize(
    "uri",
    [
        "http://evil.example/cb",
        "javascript:alert(1)",
        "javascript://h/%0aalert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://user@evil.example/cb",
        "https://app.example/cb#fragment",
        "https:///cb",
        "ftp://app.example/",
        "relative",
        "",
        "https://app.example/a b",
        "http://127.0.0.1.evil.example/cb",
    ],
)
def test_a_redirect_to_where_no_answer_may_go_is_not_registered(place, uri):
    found = place.register(redirect_uris=[uri])
    assert found.status_code == 400
    assert found.json()["error"] in ("invalid_redirect_uri", "invalid_client_metadata")


@pytest.mark.parametrize(
    "uri",
    [
        "https://app.example/cb",
        "http://localhost:1/cb",
        "http://[::1]/cb",
        "cursor://x/cb",
        "com.ex.app://cb/",
    ],
)
def test_a_redirect_to_tls_to_this_machine_or_to_the_programs_own_scheme_is(place, uri):
    assert place.register(redirect_uris=[uri]).status_code == 201


@pytest.mark.parametrize(
    "metadata",
    [
        {"redirect_uris": []},
        {"redirect_uris": "https://app.example/cb"},
        {"redirect_uris": [7]},
        {"redirect_uris": ["https://app.example/cb"] * 11},
        {"client_name": 7},
        {"client_name": "x" * 201},
        {"grant_types": ["password"]},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"scope": "admin"},
    ],
)
def test_what_makes_no_sense_is_not_registered(place, metadata):
    assert place.register(**metadata).json()["error"] == "invalid_client_metadata"


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b"null", b"\xff", b"[" * 10_000])
def test_what_is_no_metadata_is_not_registered(place, body):
    found = place.program.post("/oauth/register", content=body)
    assert (found.status_code, found.json()["error"]) == (400, "invalid_client_metadata")


def test_what_is_not_known_here_is_left_out_of_the_answer(place):
    told = place.register(
        grant_types=["authorization_code", "implicit"], logo_uri="https://app.example/logo", jwks={"keys": []}
    ).json()
    assert told["grant_types"] == ["authorization_code"]
    assert "logo_uri" not in told


def test_strangers_can_not_fill_the_store_by_registering(place):
    with place.world.store.read() as tx:
        assert tx.signins.strangers() == 0
    refused = 0
    while not refused:
        found = place.register()
        if found.status_code == 429:
            assert found.json()["error"] == "temporarily_unavailable"
            with place.world.store.read() as tx:
                refused = tx.signins.strangers() >= MOST_STRANGERS
            place.world.clock.advance(seconds=60)
    place.world.clock.advance(ms=UNUSED_MS)
    assert place.register().status_code == 201
    with place.world.store.read() as tx:
        assert tx.signins.strangers() == 1


def test_a_program_that_somebody_let_in_is_not_forgotten(place):
    client = place.register(grant_types=["authorization_code", "refresh_token"]).json()["client_id"]
    place.sign_in()
    token = place.fetch(fetching(place.code(client_id=client), client_id=client)).json()
    place.world.clock.advance(ms=2 * UNUSED_MS)
    place.sign_in(browser=place.new_browser())
    found = place.fetch(refreshing(token["refresh_token"], client_id=client))
    assert found.status_code == 200


# What the server says of itself


def test_the_server_describes_itself_as_one_that_gives_tokens(place):
    told = place.program.get("/.well-known/oauth-authorization-server").json()
    assert told["issuer"] == ORIGIN
    assert told["code_challenge_methods_supported"] == ["S256"]
    assert told["authorization_response_iss_parameter_supported"] is True
    for name, url in told.items():
        if name.endswith("_endpoint"):
            assert url.startswith(f"{ORIGIN}/")
            assert place.program.post(url).status_code != 404
    public = Place(public_url="https://memory.example", origin="https://memory.example")
    described = public.program.get("/.well-known/oauth-authorization-server").json()
    AuthorizationServerMetadata(described).validate()


@pytest.mark.parametrize("path", ["", "/mcp"])
def test_the_server_describes_itself_as_one_that_takes_them(place, path):
    told = place.program.get(f"/.well-known/oauth-protected-resource{path}").json()
    assert told["resource"] == f"{ORIGIN}{path}"
    assert told["authorization_servers"] == [ORIGIN]
    assert told["bearer_methods_supported"] == ["header"]


def test_a_public_url_is_the_issuer_however_the_server_is_called():
    place = Place(public_url="https://memory.example", origin="http://10.0.0.7:8787")
    told = place.program.get("/.well-known/oauth-authorization-server").json()
    assert told["issuer"] == "https://memory.example"


# Giving it back


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_a_program_gives_its_sign_in_back_and_all_of_it_ends(place, which):
    token = place.signed_in_program()
    second = place.fetch(refreshing(token["refresh_token"])).json()
    given = {"client_id": "hermes-agent", "token": second[which], "token_type_hint": which}
    assert place.program.post("/oauth/revoke", data=given).status_code == 200
    for one in (token, second):
        assert place.whoami(one["access_token"]).json()["error"] == "cap_revoked"
    assert place.fetch(refreshing(second["refresh_token"])).json()["error"] == "invalid_grant"
    assert place.program.post("/oauth/revoke", data=given).status_code == 200


def test_nobody_gives_back_what_is_anothers(place):
    token = place.signed_in_program()
    other = place.register().json()["client_id"]
    for which in ("access_token", "refresh_token"):
        found = place.program.post("/oauth/revoke", data={"client_id": other, "token": token[which]})
        assert (found.status_code, found.json()["error"]) == (400, "invalid_grant")
    assert place.whoami(token["access_token"]).status_code == 200


def test_a_narrower_cap_made_of_an_access_token_can_not_end_it(place):
    token = place.signed_in_program()["access_token"]
    header = {"authorization": f"Bearer {token}"}
    child = place.program.post("/v1/caps/attenuate", json={"ops": ["get"]}, headers=header).json()["cap"]
    given = {"client_id": "hermes-agent", "token": child}
    assert place.program.post("/oauth/revoke", data=given).status_code == 200
    assert place.whoami(token).status_code == 200


def test_a_revocation_of_what_is_no_token_does_nothing(place):
    for token in ("made up", "hch-rt-made-up", place.owner.token):
        given = {"client_id": "hermes-agent", "token": token}
        assert place.program.post("/oauth/revoke", data=given).status_code == 200
    assert place.whoami(place.owner.token).status_code == 200
    found = place.program.post("/oauth/revoke", data={"client_id": "hermes-agent"})
    assert found.json()["error"] == "invalid_request"
