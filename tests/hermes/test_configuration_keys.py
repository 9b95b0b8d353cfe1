"""Every setting, at every level, with every value that it may have."""

import json
import re
import tempfile
from dataclasses import fields
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.agents.conversation_scope import Flags, Namespaces, Observation
from souvenance.domain.capability import Claims
from souvenance.hermes import token
from souvenance.hermes.config_files import read_configuration
from souvenance.hermes.configuration import KEYS, NOT_NEEDED, Configuration

token.Claims = Claims  # The provider loads it only where there is a token, and msgspec looks it up there.

ON, OFF = Flags(True, True), Flags(False, False)
UNIFIED = Observation(Flags(True, False), Flags(False, True))
LEVELS = [(level, level) for level in ("minimal", "max", "low", "medium", "high")]
SWITCH = [(True, True), (False, False), ("true", True), ("False", False), (0, False), (1, True)]
SECONDS = [(2, 2.0), (0.25, 0.25), ("1.5", 1.5), (" 7 ", 7.0)]
CADENCE = [(3, 3), ("4", 4), (5.0, 5)]
VALUES = {
    "enabled": SWITCH,
    "baseUrl": [
        ("http://one.example", "http://one.example"),
        ("https://two.example:8443/v3/", "https://two.example:8443"),
        (" http://three.example/honcho/v12 ", "http://three.example/honcho"),
        ("", None),
    ],
    "apiKey": [("hch-1", "hch-1"), (" hch-2 ", "hch-2"), ("", None)],
    "oauth": [({"refreshToken": "r"}, {"refreshToken": "r"}), ({"a": [1]}, {"a": [1]}), ({}, None)],
    "environment": [("production", "production"), ("Local", "local"), ("", None)],
    "timeout": SECONDS,
    "store": [
        ("/srv/memory", "/srv/memory"),
        ("~/memory", "{HOME}/memory"),
        ("$HERMES_HOME/other", "{HOME}/.hermes/other"),
        ("${HERMES_HOME}", "{HOME}/.hermes"),
        ("beside", "{HOME}/.hermes/beside"),
        ("", "{HOME}/.hermes/souvenance"),
    ],
    "workspace": [("home", "home"), (" work_2 ", "work_2"), ("", "hermes")],
    "namespaces": [
        ("travel", Namespaces(("travel",), "travel")),
        (["travel", "health", "travel"], Namespaces(("travel", "health"), "travel")),
        ([], Namespaces((), None)),
        ({"read": ["travel"], "write": None}, Namespaces(("travel",), None)),
        ({"read": "travel", "write": "notes"}, Namespaces(("travel",), "notes")),
        ({"write": "notes"}, Namespaces((), "notes")),
        ({}, Namespaces((), None)),
    ],
    "peerName": [("ann", "ann"), (" Bo ", "Bo"), ("--", "--"), ("", None)],
    "aiPeer": [("robo", "robo"), ("helper-2", "helper-2"), ("", "hermes")],
    "pinUserPeer": SWITCH,
    "userPeerAliases": [
        ({"1": "ann"}, {"1": "ann"}),
        ({" 2 ": " bo "}, {"2": "bo"}),
        ({}, {}),
    ],
    "runtimePeerPrefix": [("telegram_", "telegram_"), (" tg: ", "tg:"), ("", "")],
    "recallMode": [("context", "context"), ("TOOLS", "tools"), ("auto", "hybrid"), ("", "hybrid")],
    "toolNames": [("honcho", "honcho"), ("souvenance", "souvenance"), ("", "souvenance")],
    "observationMode": [
        ("unified", UNIFIED),
        ("shared", UNIFIED),
        ("directional", Observation()),
        ("separate", Observation()),
        ("cross", Observation()),
        ("", Observation()),
    ],
    "observation": [
        ({"user": {"observeMe": False, "observeOthers": False}}, Observation(OFF, ON)),
        ({"ai": {"observeMe": "false"}, "user": None}, Observation(ON, Flags(False, True))),
        ({}, Observation()),
    ],
    "saveMessages": SWITCH,
    "groupChats": SWITCH,
    "messageMaxChars": [(500, 500), ("700", 700)],
    "sessionStrategy": [("per-session", "per-session"), ("per-repo", "per-repo"), ("global", "global")],
    "sessionPeerPrefix": SWITCH,
    "sessions": [
        ({"/srv/site": "site"}, {"/srv/site": "site"}),
        ({"~/code/": " code "}, {"{HOME}/code": "code"}),
        ({}, {}),
    ],
    "dialecticReasoningLevel": LEVELS,
    "dialecticDynamic": SWITCH,
    "dialecticMaxChars": [(900, 900), ("30", 30), (0, 0)],
    "dialecticMaxInputChars": [(50, 50), ("60", 60)],
    "contextTokens": [(800, 800), ("900", 900), (0, 0)],
    "dialecticCadence": CADENCE,
    "injectionFrequency": [("first-turn", "first-turn"), ("every-turn", "every-turn")],
    "recallWait": [*SECONDS, (0, 0.0)],
    "hostModel": SWITCH,
    "hostModelCallsPerDay": [(0, 0), (12, 12), ("7", 7)],
    "hostModelTokensPerDay": [(0, 0), (50_000, 50_000)],
}
"""For each setting what may be written, and what it then is; {HOME} is the user's."""

WRONG = {
    "enabled": ["yes please", 2, [], {}],
    "baseUrl": [
        "localhost:8000",
        "ftp://a.example",
        "http://",
        "http://a.example:99999",
        "http://a.example/?q=1",
        "http://a.example/#v3",
        "http://a b",
        1,
        True,
    ],
    "apiKey": [5, True, "two words", "line\nbreak", "schlüssel"],
    "oauth": ["token", [], 1],
    "environment": ["staging", 1],
    "timeout": [0, -1, "soon", True, 1e9, []],
    "store": [1, "a\0b", {}],
    "workspace": ["two words", "wörk", "x" * 513, 5],
    "namespaces": ["Travel", ["ok", "*"], {"reed": ["travel"]}, {"read": 5}, {"write": ["a"]}, [None], 5, ""],
    "peerName": [5, "山田", "x" * 513, ["ann"]],
    "aiPeer": [5, "!", {}],
    "pinUserPeer": ["maybe", 3],
    "userPeerAliases": [["1"], "ann", 5],
    "runtimePeerPrefix": [5, "a\nb"],
    "recallMode": ["always", 1],
    "toolNames": ["memory", []],
    "observationMode": ["both", 1],
    "observation": [True, "unified", [], {"bot": {}}, {"ai": {"observeMe": 5}}],
    "saveMessages": ["never", "none", 7],
    "groupChats": ["never", "none", 7],
    "messageMaxChars": [0, 19, "many", 30.5, False],
    "sessionStrategy": ["per-chat", 0],
    "sessionPeerPrefix": ["x", {}],
    "sessions": [[], "site"],
    "dialecticReasoningLevel": ["maximum", 3],
    "dialecticDynamic": [[], "on"],
    "dialecticMaxChars": [-1, "all", 0.5],
    "dialecticMaxInputChars": [0, -1, True],
    "contextTokens": [-1, "all", True],
    "dialecticCadence": [True, [], -1],
    "injectionFrequency": ["each-turn", 1],
    "recallWait": [-0.1, "long", 3601],
    "hostModel": ["perhaps", 2, []],
    "hostModelCallsPerDay": [-1, 1.5, "many"],
    "hostModelTokensPerDay": [-1, True],
}
"""For each setting what it does not take."""

BY_NAME = {key.name: key for key in KEYS}
HOST, ROOT, ENVIRONMENT = "host", "root", "environment"


def reading(user, document, **environment):
    """Read the document as the default profile's souvenance.json."""
    home = Path(user) / ".hermes"
    home.mkdir(exist_ok=True)
    path = home / "souvenance.json"
    path.write_text(json.dumps(document), "utf-8")
    path.chmod(0o600)
    return read_configuration(home, {"HOME": str(user), **environment})


def effect(configuration, name):
    """What the setting came to."""
    attribute = "observation" if name == "observationMode" else BY_NAME[name].attribute
    found = getattr(configuration, attribute)
    return str(found) if isinstance(found, Path) else found


def placed(user, expected):
    """The expected value with the user's home in it."""
    return (
        json.loads(json.dumps(expected).replace("{HOME}", str(user)))
        if "{HOME}" in str(expected)
        else expected
    )


def default_of(user, name):
    return effect(reading(user, {})[0], name)


def test_every_setting_of_the_plugin_it_replaces_is_known():
    plugin = """apiKey oauth baseUrl environment enabled workspace peerName aiPeer pinUserPeer userPeerAliases
    runtimePeerPrefix recallMode observationMode observation saveMessages sessionStrategy
    sessionPeerPrefix sessions dialecticReasoningLevel dialecticDynamic
    dialecticMaxChars dialecticMaxInputChars contextTokens
    messageMaxChars dialecticCadence injectionFrequency timeout"""
    model = {"hostModel", "hostModelCallsPerDay", "hostModelTokensPerDay"}
    ours = {"recallWait", "groupChats", "namespaces", "toolNames", "store", *model}
    without_use = """queryRewrite initOnSessionStart writeFrequency dialecticDepth dialecticDepthLevels
    reasoningHeuristic reasoningLevelCap contextCadence
    firstTurnBaseWait firstTurnDialecticWait"""
    assert set(BY_NAME) == set(plugin.split()) | ours == set(VALUES) == set(WRONG)
    assert set(NOT_NEEDED) == set(without_use.split())


def test_every_setting_is_a_field_of_the_configuration_and_every_field_a_setting():
    told = {key.attribute for key in KEYS}
    assert told == {one.name for one in fields(Configuration)} - {"home", "host", "file", "token"}


@pytest.mark.parametrize("name", VALUES)
class TestEverySetting:
    def test_is_read_in_the_block_of_the_host_and_at_the_root(self, tmp_path, name):
        for value, expected in VALUES[name]:
            for document in ({"hosts": {"hermes": {name: value}}}, {name: value}):
                configuration, complaints = reading(tmp_path, document)
                assert effect(configuration, name) == placed(tmp_path, expected), (value, document)
                missing = ("peerName", "no key for it")
                assert all(any(word in one.wrong for word in missing) for one in complaints), complaints

    def test_is_the_default_for_what_it_does_not_take_and_that_is_told(self, tmp_path, name):
        expected = default_of(tmp_path, name)
        for value in WRONG[name]:
            for path, document in (
                (f"hosts.hermes.{name}", {"hosts": {"hermes": {name: value}}, name: VALUES[name][0][0]}),
                (name, {name: value}),
            ):
                configuration, [complaint] = reading(tmp_path, document)
                if name == "enabled":
                    assert not configuration.enabled
                else:
                    assert effect(configuration, name) == expected, value
                assert complaint.file == configuration.file
                assert complaint.key == path

    def test_turns_memory_off_if_a_default_could_lead_elsewhere(self, tmp_path, name):
        for value in WRONG[name]:
            configuration, [complaint] = reading(tmp_path, {name: value})
            assert configuration.enabled is not BY_NAME[name].guards
            off = "memory is off until it is corrected"
            assert complaint.wrong.endswith(off if BY_NAME[name].guards else "the default is used")

    def test_is_as_if_absent_where_it_is_null(self, tmp_path, name):
        value, expected = VALUES[name][0]
        null = {"hosts": {"hermes": {name: None}}}
        assert effect(reading(tmp_path, null)[0], name) == default_of(tmp_path, name)
        assert effect(reading(tmp_path, {**null, name: value})[0], name) == placed(tmp_path, expected)

    def test_is_read_under_its_older_names(self, tmp_path, name):
        [(value, expected), (other, other_expected), *_] = VALUES[name]
        for alias in BY_NAME[name].aliases:
            assert effect(reading(tmp_path, {alias: value})[0], name) == expected
            configuration, _ = reading(tmp_path, {alias: value, name: other})
            assert effect(configuration, name) == other_expected
            configuration, _ = reading(tmp_path, {"hosts": {"hermes": {alias: value}}, name: other})
            assert effect(configuration, name) == expected


def test_the_settings_that_can_lead_elsewhere_are_these():
    guards = {key.name for key in KEYS if key.guards}
    assert guards == {"enabled", "baseUrl", "apiKey", "oauth", "environment", "store", "namespaces"}


@given(st.data())
def test_the_block_wins_over_the_root_the_root_over_the_environment_and_that_over_the_default(data):
    name = data.draw(st.sampled_from(sorted(VALUES)))
    key = BY_NAME[name]
    levels = [HOST, ROOT, *([ENVIRONMENT] if key.variable else [])]
    stated = {level: data.draw(st.sampled_from([(None, None), *VALUES[name]])) for level in levels}
    host, root, variable = (stated.get(level, (None, None))[0] for level in (HOST, ROOT, ENVIRONMENT))
    document = {"hosts": {"hermes": {name: host}, "hermes_other": {name: VALUES[name][0][0]}}, name: root}
    blank = variable is None or not str(variable).strip()
    environment = {} if key.variable is None else {key.variable: "" if blank else str(variable)}
    in_force = [
        expected
        for level, (value, expected) in stated.items()
        if value is not None and not (level == ENVIRONMENT and blank)
    ]
    with tempfile.TemporaryDirectory() as user:
        configuration, _ = reading(user, document, **environment)
        expected = in_force[0] if in_force else default_of(user, name)
        assert effect(configuration, name) == placed(user, expected)


names = st.sampled_from([*BY_NAME, *NOT_NEEDED, "hosts", "defaultHost", "base_url", "hermes", "read", "user"])
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | names,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | names, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(names, junk, max_size=8), st.dictionaries(names, junk, max_size=8))
def test_whatever_a_file_says_a_configuration_comes_of_it(root, block):
    with tempfile.TemporaryDirectory() as user:
        configuration, complaints = reading(
            user, {**root, "hosts": {"hermes": block}, "defaultHost": "hermes"}
        )
        sound(configuration)
        assert configuration.ai_peer != configuration.peer_name
        assert configuration.ai_peer not in configuration.user_peer_aliases.values()
        for complaint in complaints:
            assert len(str(complaint).splitlines()) == 1
            assert str(complaint).isprintable()


@given(junk)
def test_whatever_stands_for_an_object_a_configuration_comes_of_it(value):
    with tempfile.TemporaryDirectory() as user:
        for document in (value, {"hosts": value}, {"hosts": {"hermes": value}}):
            sound(reading(user, document)[0])


def sound(configuration):
    """Every field has the type that it is declared with, and names are such that Honcho takes them."""
    plain = msgspec.to_builtins(configuration, enc_hook=str)
    msgspec.convert(plain, Configuration, dec_hook=lambda _, value: Path(value))
    peers = [configuration.workspace, configuration.ai_peer, *configuration.user_peer_aliases.values()]
    peers += [configuration.peer_name] if configuration.peer_name is not None else []
    for name in peers:
        assert re.fullmatch("[a-zA-Z0-9_-]{1,512}", name)
