"""A profile on a server has what its token grants, and is told once what the token lacks."""

import json
import logging
import re
import shlex

import pytest

from hermes.stage import Stage
from hermes.theatre import delivered
from souvenance import hermes_backends
from souvenance.domain.names import own_session
from souvenance.hermes.config_files import read_configuration
from surfaces.door import serving, souvenance

TRIP = "I am going to Chengdu from May 25 to May 29."
QUESTION = "When do I go to Chengdu?"
KEY = "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"
ENOUGH = ["put", "get", "forget"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served") / "home") as made:
        yield made


@pytest.fixture
def profile(tmp_path, server):
    """Makes a profile whose key is a token of a workspace of its own."""
    made = []

    def make(sub, ops, namespaces, **more):
        workspace = more.pop("wid", f"w-{tmp_path.name}")
        settings = more.pop("settings", {})
        token = server.mint(sub, ops, namespaces, wid=workspace, ttl_seconds=600, **more)
        stage = Stage(tmp_path / str(len(made)))
        known = {"baseUrl": server.url, "recallWait": 10, "hosts": {"hermes": {"apiKey": token}}, **settings}
        (stage.home / "souvenance.json").write_text(json.dumps(known))
        (stage.home / "souvenance.json").chmod(0o600)
        made.append(stage)
        return stage

    yield make
    for stage in made:
        stage.close()


def configured(stage):
    return read_configuration(stage.home, stage.environment)


def texts(stage, server):
    """What was saved, by session, as the owner sees it."""
    (stage.home / "souvenance.json").write_text(
        json.dumps({"baseUrl": server.url, "hosts": {"hermes": {"apiKey": server.owner_cap}}})
    )
    return stage.sessions(f"w-{stage.home.parent.parent.name}")


def ask(provider, tool, **args):
    return json.loads(provider.handle_tool_call(f"souvenance_{tool}", args))


@pytest.mark.parametrize(
    ("sub", "peers", "settings"),
    [
        ("ann", ["hermes"], {}),
        ("ann", ["ann", "hermes"], {}),
        ("svc", ["ann", "hermes"], {"peerName": "ann"}),
    ],
)
def test_a_token_of_one_person_and_the_agent_remembers_and_recalls(profile, server, sub, peers, settings):
    stage = profile(sub, ENOUGH, ["default"], peers=peers, settings=settings)
    assert configured(stage)[1] == [], "nothing is missing"
    stage.tell(stage.provider("s1"), TRIP, "Have a good time.")
    assert "May 25" in stage.recall(stage.provider("s2"), QUESTION)
    assert texts(stage, server) == {
        own_session("project", "ann"): [("ann", TRIP), ("hermes", "Have a good time.")]
    }


def test_a_token_of_one_person_and_one_namespace_remembers_what_that_person_says(profile, server, caplog):
    """The founding document's: one actor, `namespaces_allowed: ["travel"]`, and nothing configured."""
    stage = profile("ann", ["put", "get"], ["travel"])
    configuration, _ = configured(stage)
    assert (configuration.peer_name, configuration.namespaces.read) == ("ann", ("travel",))
    with caplog.at_level(logging.WARNING, "souvenance.hermes"):
        stage.tell(stage.provider("s1"), TRIP, "Have a good time.")
        assert "May 25" in stage.recall(stage.provider("s2"), QUESTION)
        provider = stage.provider("s3")
        assert "Chengdu" in str(ask(provider, "search", query="Chengdu"))
        assert ask(provider, "profile", card=["Lives in Porto."])["card"] == ["Lives in Porto."]
    told = [one.getMessage() for one in caplog.records if "token" in one.getMessage()]
    assert len(told) == 1, "the log says it once, however many conversations there are"
    assert "'forget'" in told[0] and "what the agent says is not saved" in told[0]
    assert [text for one in texts(stage, server).values() for _, text in one] == [TRIP]


def test_the_token_of_the_page_on_moving_from_honcho_recalls_too(profile, caplog):
    stage = profile("my-app", ["put", "get", "list", "forget"], ["default"], peers=["*"])
    with caplog.at_level(logging.WARNING, "souvenance.hermes"):
        stage.tell(stage.provider("s1"), TRIP)
        assert "May 25" in stage.recall(stage.provider("s2"), QUESTION)
    assert not caplog.records


def test_what_may_only_be_read_is_recalled_and_nothing_is_saved(profile, server, caplog):
    writer = profile("ann", ENOUGH, ["default"], peers=["hermes"])
    writer.tell(writer.provider("s1"), TRIP)
    reader = profile("ann", ["get"], ["default"], via=["hermes"])
    assert "May 25" in reader.recall(reader.provider("s2"), QUESTION)
    reader.tell(reader.provider("s2"), "I live in Oslo.")
    assert "put" in ask(reader.provider("s3"), "conclude", conclusion="Plays the viola.")["detail"]
    assert "Oslo" not in str(texts(writer, server))


def test_what_may_only_be_written_is_saved_and_a_tool_says_what_it_lacks(profile):
    stage = profile("ann", ["put"], ["default"], peers=["hermes"])
    stage.tell(stage.provider("s1"), TRIP)
    assert stage.recall(stage.provider("s2"), QUESTION) == ""
    assert ask(stage.provider("s3"), "search", query="Chengdu") == {
        "error": "cap_op_mismatch",
        "detail": "the token does not grant 'get'",
        "hint": ask(stage.provider("s3"), "profile")["hint"],
    }


def test_a_token_without_forget_keeps_what_was_undone_and_goes_on(profile, server):
    stage = profile("ann", ["put", "get"], ["default"], peers=["hermes"])
    provider = stage.provider()
    stage.tell(provider, "I live in Oslo.", "Fine.")
    provider.on_session_switch("s1", rewound=True)
    stage.tell(
        provider, "I live in Rome.", "Good.", messages=[{"role": "user", "content": "I live in Rome."}]
    )
    assert delivered(stage)
    assert [text for one in texts(stage, server).values() for _, text in one][-2:] == [
        "I live in Rome.",
        "Good.",
    ]


def test_a_token_without_somebody_remembers_nothing_of_them_and_says_so_once(profile, server, caplog):
    stage = profile("ann", ENOUGH, ["default"], peers=["hermes"])
    with caplog.at_level(logging.WARNING, "souvenance.hermes"):
        for session in ("s1", "s2"):
            bob = stage.provider(session, "telegram", user_id="77", chat_type="dm")
            stage.tell(bob, "I am bob.")
            assert stage.recall(bob, "Who am I?") == ""
    [told] = [one.getMessage() for one in caplog.records]
    assert "--peers '*'" in told
    assert texts(stage, server) == {}


MISFITS = {
    "another data class": {"data_class": "config"},
    "sessions": {"sessions": ["s"]},
    "no right": {"ops": ["list"]},
    "no memory": {"namespaces": []},
    "a key": {
        "cnf": {"jwk": {"kty": "OKP", "crv": "Ed25519", "x": "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"}}
    },
    "another workspace": {"settings": {"workspace": "elsewhere"}},
    "somebody else": {"settings": {"peerName": "bob"}},
}
WORDS = {
    "another data class": "data class 'config'",
    "sessions": "limited to sessions",
    "no right": "neither 'put' nor 'get'",
    "no memory": "opens no namespace",
    "a key": "bound to a key",
    "another workspace": "not 'elsewhere'",
    "somebody else": "does not speak for 'bob'",
}


@pytest.mark.parametrize("kind", MISFITS)
def test_a_token_that_can_not_work_switches_memory_off_and_says_why(profile, server, kind):
    claims = {"ops": ENOUGH, "namespaces": ["default"], **MISFITS[kind]}
    if kind == "no memory":
        claims["namespaces"] = ["default"]
        stage = profile("ann", **claims)
        attenuated = souvenance("cap", "attenuate", key_of(stage), "--namespaces", "", home=server.home)
        rekey(stage, attenuated.out.strip())
    else:
        stage = profile("ann", **claims)
    configuration, [complaint] = configured(stage)
    assert not configuration.enabled
    assert WORDS[kind] in str(complaint)
    assert "souvenance cap mint" in str(complaint)


def key_of(stage):
    return json.loads((stage.home / "souvenance.json").read_text())["hosts"]["hermes"]["apiKey"]


def rekey(stage, token):
    known = json.loads((stage.home / "souvenance.json").read_text())
    known["hosts"]["hermes"]["apiKey"] = token
    (stage.home / "souvenance.json").write_text(json.dumps(known))


@pytest.mark.parametrize(
    "claims",
    [
        {"ops": ["put", "get"], "namespaces": ["travel"]},
        {"ops": ["get"], "namespaces": ["default"], "settings": {"namespaces": "work"}},
        {"ops": ["list"], "namespaces": ["default"], "settings": {"peerName": "bob"}},
        {"ops": ["get"], "namespaces": ["default"], "peers": ["*"]},
    ],
)
def test_the_command_that_it_names_mints_a_token_with_which_nothing_is_missing(profile, server, claims):
    stage = profile("ann", **claims)
    _, [complaint] = configured(stage)
    line = re.search(r"souvenance (cap mint .*)", str(complaint))[1]
    rekey(stage, souvenance(*shlex.split(line), home=server.home).out.strip())
    configuration, complaints = configured(stage)
    assert (configuration.enabled, complaints) == (True, [])
    stage.tell(stage.provider("s1"), TRIP, "Have a good time.")
    assert "May 25" in stage.recall(stage.provider("s2"), QUESTION)


def test_status_asks_the_server_who_the_token_is(profile, server):
    stage = profile("ann", ["get"], ["travel"])
    found = hermes_backends.inspect(configured(stage)[0])
    assert (found.reachable, found.detail) == (True, server.url)
    whoami = server.client(key_of(stage)).get("/v1/caps/whoami").json()
    server.owner.post("/v1/caps/revoke", json={"jti": whoami["jti"]})
    found = hermes_backends.inspect(configured(stage)[0])
    assert (found.reachable, "cap_revoked" in found.detail) == (False, True)


def test_a_server_that_wants_a_key_says_that_none_was_sent(server, tmp_path):
    stage = Stage(tmp_path, baseUrl=server.url)
    found = hermes_backends.inspect(configured(stage)[0])
    assert (found.reachable, found.detail.partition(":")[0]) == (False, "cap_missing")
