import json
import re
import shlex
import stat
from datetime import UTC, datetime

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.domain import capability
from souvenance.domain.capability import Claims, Confirmation, HolderKey
from souvenance.domain.encoding import unb64
from surfaces.door import souvenance


def mint(command, *more, sub="guest", ops="get,list", namespaces="travel"):
    asked = ("cap", "mint", "--sub", sub, "--ops", ops, "--namespaces", namespaces, *more)
    return command(*asked).out.strip()


def test_mint_prints_just_the_cap(command):
    printed = command(
        "cap", "mint", "--sub", "guest", "--ops", "get, list", "--namespaces", "travel", "--ttl", "1h"
    )
    assert re.fullmatch(r"[\w.~-]+\n", printed.out)
    assert printed.err == ""
    told = json.loads(command("cap", "whoami", "--cap", printed.out.strip()).out)
    assert (told["sub"], told["ops"], told["namespaces_allowed"]) == ("guest", ["get", "list"], ["travel"])


def test_mint_takes_every_option(command):
    token = mint(
        command,
        *("--data-class", "config", "--ttl", "90s", "--wid", "acme", "--peers", "a,b", "--sessions", "s,t"),
    )
    told = command("--json", "cap", "whoami", "--cap", token, exit_code=None)
    [claims], bound = capability.read_unverified(token)
    assert told.err.startswith('{"error":"cap_data_class_mismatch"')
    assert (claims.data_class, claims.wid, claims.peers) == ("config", "acme", ("a", "b"))
    assert (claims.sessions, claims.exp - claims.iat, bound) == (("s", "t"), 90, False)


@pytest.mark.parametrize(
    ("span", "seconds"), [("5", 5), ("5s", 5), ("2m", 120), ("1h", 3600), ("3d", 259200), ("1w", 604800)]
)
def test_a_time_to_live_may_have_a_unit(command, span, seconds):
    told = command(
        "--json", "cap", "mint", "--sub", "a", "--ops", "get", "--namespaces", "b", "--ttl", span
    ).json()
    [claims], _ = capability.read_unverified(told["cap"])
    assert (claims.exp - claims.iat, claims.exp, claims.jti) == (seconds, told["exp"], told["jti"])


def test_a_token_that_may_not_ask_for_the_status_is_told_how_to_mint_one_that_may(command):
    token = mint(command, "--peers", "*", ops="get", sub="an actor")
    told = command("--cap", token, "status", exit_code=None).err
    assert told.startswith("cap_op_mismatch: the cap does not grant 'list'\n")
    line = re.search(r"souvenance (cap mint .*)", told)[1]
    minted = command(*shlex.split(line)).out.strip()
    assert "owner an actor" in command("--cap", minted, "status").out
    [claims], _ = capability.read_unverified(minted)
    assert (claims.ops, claims.peers, claims.namespaces_allowed) == (("get", "list"), ("*",), ("travel",))


def test_show_prints_what_a_cap_says_and_asks_nobody(command, tmp_path):
    token = mint(command, "--ttl", "1h")
    nowhere = tmp_path / "nothing-here"
    told = souvenance("cap", "show", token, home=nowhere, url="http://127.0.0.1:1").out
    for said in ("actor       guest", "operations  get, list", "namespaces  travel", "holder      bearer"):
        assert said in told.splitlines()
    shown = souvenance("--json", "cap", "show", token, home=nowhere).json()
    assert [block["sub"] for block in shown["blocks"]] == ["guest"]
    assert shown["bound"] is False
    assert not nowhere.exists()


def test_show_without_a_cap_shows_the_owners(command):
    assert "actor       owner" in command("cap", "show").out.splitlines()


@pytest.mark.parametrize("token", ["junk", "a.b.c", "~", ""])
def test_show_refuses_what_is_no_cap(tmp_path, token):
    refused = souvenance("cap", "show", token or "~", home=tmp_path, exit_code=4)
    assert refused.err.startswith("cap_malformed: ")


@pytest.mark.parametrize("end", [10**30, -(10**30), 10**12, -1])
def test_show_survives_a_cap_that_lies_about_its_time(tmp_path, end):
    key = Ed25519PrivateKey.generate()
    claims = Claims(
        iss="x",
        aud="x",
        sub="x",
        jti="01JD7Y8Q2W3E4R5T6Y7V8J9K0M",
        iat=end,
        nbf=end,
        exp=end,
        wid="x",
        cnf=Confirmation(HolderKey.of(key.public_key())),
    )
    token = capability.bearer(capability.sign(claims, key=key, kid="x"), key)
    told = souvenance("cap", "show", token, home=tmp_path, exit_code=None)
    assert told.exit_code in (0, 4)
    assert "Traceback" not in told.err


def test_attenuate_makes_a_narrower_cap_with_no_server_and_no_folder(command, tmp_path):
    nowhere = tmp_path / "nothing-here"
    token = mint(command, sub="owner", ops="put,get", namespaces="travel,work")
    command("put", "Trip to Chengdu", "-n", "travel")
    narrower = souvenance(
        "cap", "attenuate", token, "--ops", "get", "--namespaces", "travel", "--ttl", "5m", home=nowhere
    )
    child = narrower.out.strip()
    assert not nowhere.exists()
    assert "Chengdu" in command("--cap", child, "get", "Chengdu").out
    assert command("--cap", child, "put", "no", "-n", "travel", exit_code=5).err.startswith(
        "cap_op_mismatch: "
    )
    assert command("--cap", child, "get", "-n", "work", exit_code=5).err.startswith("namespace_denied: ")
    _, last = capability.read_unverified(child)[0]
    assert last.exp - last.iat <= 300


@pytest.mark.parametrize(
    "wider",
    [
        ("--ops", "get,put"),
        ("--namespaces", "*"),
        ("--namespaces", "travel,work"),
        ("--sub", "owner"),
        ("--peers", "owner"),
        ("--wid", "acme"),
        ("--data-class", "config"),
    ],
)
def test_attenuate_refuses_to_widen(tmp_path, wider):
    token = mint(lambda *asked: souvenance(*asked, home=tmp_path / "home"))
    refused = souvenance("cap", "attenuate", token, *wider, home=tmp_path, exit_code=5)
    assert refused.out == ""
    assert refused.err.startswith("cap_scope_mismatch: ")


def test_revoking_a_cap_kills_it_and_its_children_at_once(command):
    token = mint(command)
    child = command("cap", "attenuate", token, "--ops", "get").out.strip()
    jti = capability.read_unverified(token)[0][0].jti
    assert command("cap", "revoke", token).out == f"revoked jti {jti}\n"
    for dead in (token, child):
        assert command("--cap", dead, "get", exit_code=4).err.startswith("cap_revoked: ")


def test_revoking_by_jti_and_by_actor(command, compartment):
    token = mint(command, sub=f"one-{compartment}")
    told = command("--json", "cap", "revoke", "--jti", capability.read_unverified(token)[0][0].jti).json()
    assert told["kind"] == "jti"
    assert command("--cap", token, "get", exit_code=4).err.startswith("cap_revoked: ")
    token = mint(command, sub=f"two-{compartment}")
    assert command("cap", "revoke", "--sub", f"two-{compartment}").out == f"revoked sub two-{compartment}\n"
    assert command("--cap", token, "get", exit_code=4).err.startswith("cap_revoked: ")


def test_a_holder_key_is_made_once_and_is_its_owners_alone(tmp_path):
    file = tmp_path / "holder.key"
    printed = souvenance("cap", "holder-key", str(file), home=tmp_path).out.strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    secret = Ed25519PrivateKey.from_private_bytes(unb64(file.read_text().strip()))
    assert HolderKey.of(secret.public_key()).x == printed
    before = file.read_bytes()
    refused = souvenance("cap", "holder-key", str(file), home=tmp_path, exit_code=3)
    assert refused.err.startswith("invalid_input: ")
    assert file.read_bytes() == before


def test_a_bound_cap_serves_its_holder_only_here_and_over_the_network(command, tmp_path):
    key = tmp_path / "holder.key"
    public = command("cap", "holder-key", str(key)).out.strip()
    bound = mint(command, "--cnf", public, sub="owner")
    assert command("--cap", bound, "get", exit_code=4).err.startswith("cap_pop_invalid: ")
    assert command("--cap", bound, "--holder-key", str(key), "get").exit_code == 0
    child = command("cap", "attenuate", bound, "--ops", "get", "--holder-key", str(key)).out.strip()
    assert command("--cap", child, "get").exit_code == 0
    assert command("cap", "attenuate", bound, exit_code=4).err.startswith("cap_malformed: ")


def test_rotating_the_keys_keeps_every_line_readable(tmp_path):
    home = tmp_path / "home"
    ids = [souvenance("put", f"line {number}", "-n", "travel", home=home).out.strip() for number in range(2)]
    before = (home / "root.key").read_text()
    told = souvenance("key", "rotate", home=home).out
    assert told == "new keys for 1 namespace, 3 keys wrapped by a new root key\n"
    assert (home / "root.key").read_text() != before
    ids.append(souvenance("put", "line 2", "-n", "travel", home=home).out.strip())
    for number, line in enumerate(ids):
        assert souvenance("--json", "line", line, home=home).json()["text"] == f"line {number}"
    told = souvenance("--json", "key", "rotate", home=home).json()
    assert told == {"compartments": 1, "rewrapped": 4, "kid": None, "kept": False}


def test_rotating_the_signing_key_spares_old_caps_until_the_old_key_is_revoked(tmp_path):
    home = tmp_path / "home"
    old = mint(lambda *asked: souvenance(*asked, home=home), sub="owner")
    old_kid = capability.key_id(old)
    told = souvenance("key", "rotate", "--signing", home=home).out
    new_kid = json.loads((home / "signing.key").read_text())["current"]
    assert new_kid != old_kid
    assert new_kid in told
    souvenance("--cap", old, "get", home=home)
    assert capability.key_id(mint(lambda *asked: souvenance(*asked, home=home))) == new_kid
    souvenance("cap", "revoke", "--kid", old_kid, home=home)
    assert souvenance("--cap", old, "get", home=home, exit_code=4).err.startswith("cap_revoked: ")
    souvenance("get", home=home)


def test_upkeep_is_not_served_over_the_network(server):
    for asked in (("key", "rotate"), ("doctor",)):
        refused = souvenance(*asked, home=server.home, url=server.url, exit_code=12)
        assert refused.err.startswith("unsupported: ")


def test_an_actors_cap_can_not_rotate_keys(tmp_path):
    home = tmp_path / "home"
    token = mint(lambda *asked: souvenance(*asked, home=home), ops="grant,audit,forget", namespaces="*")
    for asked in (("key", "rotate"), ("key", "rotate", "--signing"), ("doctor",)):
        refused = souvenance("--cap", token, *asked, home=home, exit_code=5)
        assert refused.err.startswith("cap_scope_mismatch: ")


def test_a_cap_that_has_ended_is_told_so(command):
    token = mint(command, sub="owner")
    past = int(datetime.now(UTC).timestamp()) - 5
    ended = capability.attenuate(
        token,
        lambda claims: msgspec.structs.replace(claims, exp=past),
        child_secret=None,
    )
    assert command("--cap", ended, "get", exit_code=4).err.startswith("cap_expired: ")
