"""What a person is told about a configuration that does not work as it is written."""

import json
from pathlib import Path

import pytest

from souvenance.agents.conversation_scope import Flags, Observation
from souvenance.hermes.config_files import read_configuration, write_setting
from souvenance.hermes.configuration import Complaint

OFF = "memory is off until it is corrected"
DEFAULT = "the default is used"
NAME = "1 to 512 of a-z, A-Z, 0-9, '_' and '-'"


@pytest.fixture
def told(tmp_path):
    """What is told about a document, without the file's name."""

    def tell(document, **environment):
        configured(tmp_path, document)
        _, complaints = read_configuration(tmp_path, environment)
        return [str(one).removeprefix(f"{tmp_path / 'souvenance.json'}: ") for one in complaints]

    return tell


def configured(home, document):
    path = home / "souvenance.json"
    path.write_text(json.dumps(document), "utf-8")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"recalMode": "tools"}, 'recalMode is not a setting. Did you mean "recallMode"?'),
        ({"peer_name": "ann"}, 'peer_name is not a setting. Did you mean "peerName"?'),
        ({"baseURL": "x"}, 'baseURL is not a setting. Did you mean "baseUrl"?'),
        ({"pinPeer": True}, 'pinPeer is not a setting. Did you mean "pinUserPeer"?'),
        ({"colour": "red"}, "colour is not a setting."),
        ({"hosts": {"hermes": {"hosts": {}}}}, "hosts.hermes.hosts is not a setting."),
        (
            {"hosts": {"hermes": {"aipeer": "x"}}},
            'hosts.hermes.aipeer is not a setting. Did you mean "aiPeer"?',
        ),
        (
            {"recallMode": "hybird"},
            f'recallMode must be "hybrid", "context" or "tools", not "hybird"; {DEFAULT}. '
            'Did you mean "hybrid"?',
        ),
        (
            {"contextTokens": "many"},
            f'contextTokens must be a whole number, at least 1, or 0 for no limit, not "many"; {DEFAULT}.',
        ),
        (
            {"messageMaxChars": True},
            f"messageMaxChars must be a whole number, at least 20, not true; {DEFAULT}.",
        ),
        ({"timeout": 0}, f"timeout must be seconds, above 0 and at most 3600, not 0; {DEFAULT}."),
        ({"saveMessages": []}, f"saveMessages must be true or false, not a list; {DEFAULT}."),
        (
            {"sessions": "x"},
            f'sessions must be an object of names of sessions by directory, not "x"; {DEFAULT}.',
        ),
        (
            {"workspace": "my work"},
            f'workspace must be {NAME}, not "my work"; {DEFAULT}. Did you mean "my-work"?',
        ),
        ({"workspace": "x" * 600}, f"workspace must be {NAME}, not a long text; {DEFAULT}."),
        (
            {"peerName": "Ann Smith"},
            f'peerName must be spelled "Ann-Smith", and is used so. A name is {NAME}.',
        ),
        (
            {"userPeerAliases": {"7": "山田", "8": None}},
            [
                f"userPeerAliases.7 must be {NAME}, and is left out.",
                f"userPeerAliases.8 must be {NAME}, and is left out.",
            ],
        ),
        (
            {"observation": {"user": {"observeme": False}}},
            'observation must be an object of "user" and "ai", each with "observeMe" and "observeOthers"; '
            f"{DEFAULT}.",
        ),
        ({"enabled": "off"}, f'enabled must be true or false, not "off"; {OFF}.'),
        (
            {"baseUrl": "localhost:8000"},
            f"baseUrl must be an http or https address; {OFF}. For example http://127.0.0.1:8787.",
        ),
        (
            {"environment": "locl"},
            f'environment must be "production" or "local", not "locl"; {OFF}. Did you mean "local"?',
        ),
        (
            {"namespaces": ["Travel"]},
            "namespaces holds \"Travel\", but a namespace must be 1 to 64 of a-z, 0-9, '.', '_', '-', "
            f"beginning with a letter or digit; {OFF}.",
        ),
        (
            {"namespaces": {"reed": []}},
            'namespaces must be a namespace, a list of them, or an object of "read" (a list) and "write" '
            f"(one or null); {OFF}.",
        ),
        ({"pinUserPeer": True}, "pinUserPeer has no effect without peerName. Set peerName too."),
        ({"pinPeerName": True}, "pinPeerName has no effect without peerName. Set peerName too."),
        (
            {"peerName": "ann", "aiPeer": "ann"},
            'aiPeer makes the agent and its owner one peer; the agent is "hermes" instead. '
            "Give aiPeer and peerName two names.",
        ),
        (
            {"peerName": "hermes"},
            'peerName makes the agent and its owner one peer; the agent is "hermes-ai" instead. '
            "Give aiPeer and peerName two names.",
        ),
        (
            {"aiPeer": "bot", "userPeerAliases": {"1": "bot", "2": "ann"}},
            "userPeerAliases.1 would be the same peer as the agent, and is left out.",
        ),
        ({"defaultHost": []}, f"defaultHost must be a string, not a list; {DEFAULT}."),
        ({"queryRewrite": True, "initOnSessionStart": True, "defaultHost": "hermes"}, []),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_it_is_said_what_is_wrong_and_what_was_probably_meant(told, document, text):
    assert told(document) == ([text] if isinstance(text, str) else text)


@pytest.mark.parametrize("secret", ["two words", "zeile\nzwei", 12345, ["key-abc"]])
def test_no_complaint_tells_a_key(told, secret):
    for document in ({"apiKey": secret}, {"oauth": secret}, {"baseUrl": f"ftp://ann:{secret}@a.example"}):
        [text] = told(document)
        assert str(secret) not in text
    [text] = told({}, HONCHO_API_KEY="two words")
    assert text.startswith("environment: HONCHO_API_KEY must be a string of visible ASCII characters")


def test_a_variable_is_named_as_the_environment_s(told):
    [text] = told({}, HONCHO_TIMEOUT="soon")
    assert (
        text
        == f'environment: HONCHO_TIMEOUT must be seconds, above 0 and at most 3600, not "soon"; {DEFAULT}.'
    )


def test_an_empty_variable_is_none(told):
    assert told({}, HONCHO_TIMEOUT=" ", HONCHO_BASE_URL="", HERMES_HONCHO_HOST=" ") == []


def test_two_spellings_that_would_be_one_peer_are_never_one_person(tmp_path):
    aliases = {"1": "ann.b", "2": "ann-b", "3": "Ann B", "4": "Ann B", "5": "cleo"}
    configured(tmp_path, {"peerName": "Ann B", "userPeerAliases": aliases})
    configuration, complaints = read_configuration(tmp_path, {})
    assert configuration.peer_name == "Ann-B"
    assert configuration.user_peer_aliases == {"2": "ann-b", "3": "Ann-B", "4": "Ann-B", "5": "cleo"}
    [complaint] = [one for one in complaints if "same peer" in one.wrong]
    assert complaint.key == "userPeerAliases.1"
    assert complaint.wrong == 'would be the same peer as another name, "ann-b", and is left out'


def test_flags_that_are_not_given_are_those_of_the_mode(tmp_path):
    observation = {"user": {"observeOthers": True}, "ai": {}}
    configured(tmp_path, {"observationMode": "unified", "observation": observation})
    configuration, complaints = read_configuration(tmp_path, {})
    assert configuration.observation == Observation(Flags(True, True), Flags(False, True))
    assert complaints == []


class TestAKeyForAServerNearBy:
    """It may be the key of another server, which this one must not learn."""

    NEAR = (
        "http://localhost:8000",
        "http://127.0.0.1",
        "http://[::1]:8000",
        "http://192.168.2.112:8000",
        "http://10.1.2.3",
        "http://172.16.0.1",
        "http://100.64.1.2",
        "http://169.254.1.1",
        "http://[fd00::1]",
    )

    @pytest.mark.parametrize("url", NEAR)
    def test_is_sent_only_from_the_host_s_block(self, tmp_path, url):
        configured(tmp_path, {"baseUrl": url, "apiKey": "cloud"})
        configuration, [complaint] = read_configuration(tmp_path, {})
        assert configuration.api_key is None
        assert configuration.base_url == url
        assert complaint.key == "apiKey"
        assert complaint.hint == "If it is meant for that server, move it to hosts.hermes.apiKey."
        configured(tmp_path, {"baseUrl": url, "apiKey": "cloud", "hosts": {"hermes": {"apiKey": "own"}}})
        configuration, complaints = read_configuration(tmp_path, {})
        assert configuration.api_key == "own"
        assert complaints == []

    def test_is_not_taken_from_the_environment(self, tmp_path):
        configured(tmp_path, {})
        configuration, [complaint] = read_configuration(
            tmp_path, {"HONCHO_API_KEY": "cloud", "HONCHO_BASE_URL": "http://localhost:8000/v3"}
        )
        assert (configuration.api_key, configuration.url) == (None, "http://localhost:8000")
        assert str(complaint).startswith(
            "environment: HONCHO_API_KEY is not sent to a baseUrl on this machine"
        )

    @pytest.mark.parametrize("url", ["https://memory.example", "http://8.8.8.8", "http://172.32.0.1"])
    def test_does_not_matter_elsewhere(self, tmp_path, url):
        configured(tmp_path, {"baseUrl": url, "apiKey": "k"})
        assert read_configuration(tmp_path, {})[0].api_key == "k"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o606, 0o660])
@pytest.mark.parametrize(
    "document", [{"apiKey": "k"}, {"hosts": {"other": {"apiKey": "k"}}}, {"oauth": {"refreshToken": "r"}}]
)
def test_a_file_with_a_key_that_others_can_open_is_told(tmp_path, document, mode):
    path = configured(tmp_path, document)
    path.chmod(mode)
    configuration, [complaint] = read_configuration(tmp_path, {})
    assert configuration.enabled
    assert str(complaint) == (
        f"{path}: holds a key, and others on this machine can open it. Run: chmod 600 {path}"
    )


def test_a_file_without_a_key_may_be_open_to_others(tmp_path):
    configured(tmp_path, {"peerName": "ann", "apiKey": ""}).chmod(0o644)
    assert read_configuration(tmp_path, {})[1] == []


def test_in_the_file_that_other_programs_share_only_likely_mistakes_are_told(tmp_path):
    shared = tmp_path / ".honcho/config.json"
    shared.parent.mkdir()
    home = tmp_path / ".hermes"
    document = {"claudeCode": {}, "logging": True, "peernam": "x", "hosts": {"hermes": {"theirs": 1}}}
    shared.write_text(json.dumps(document), "utf-8")
    _, complaints = read_configuration(home, {"HOME": str(tmp_path)})
    assert [one.key for one in complaints] == ["hosts.hermes.theirs", "peernam"]


def test_a_file_full_of_mistakes_is_told_in_a_few_lines(told):
    texts = told({f"key{number}": number for number in range(50_000)})
    assert len(texts) == 31
    assert texts[-1] == "has more that does not work."


def test_every_complaint_is_one_line_whatever_the_key_is_called(told):
    [text, long] = told({"a\nb\x1b[31m": 1, "x" * 5000: 1})
    assert text == r"a\nb\x1b[31m is not a setting."
    assert len(long) < 250


def test_a_complaint_about_a_file_names_the_file_alone():
    assert str(Complaint(Path("/a/b"), "", "is wrong")) == "/a/b: is wrong."


def shared(folder, document):
    """The home of a profile without a file, beside what other programs share."""
    file = folder / ".honcho/config.json"
    file.parent.mkdir()
    file.write_text(json.dumps(document), "utf-8")
    file.chmod(0o600)
    return folder / ".hermes"


class TestAKeyWithoutAnAddress:
    def test_in_the_environment_sends_nothing_anywhere_and_is_told(self, tmp_path):
        configured(tmp_path, {})
        configuration, [complaint] = read_configuration(tmp_path, {"HONCHO_API_KEY": "left-over"})
        assert (configuration.url, configuration.api_key, configuration.enabled) == (None, None, True)
        assert str(complaint) == (
            "environment: HONCHO_API_KEY is not used: nothing says which server it is for, so memory stays "
            "on this machine. Choose: souvenance hermes setup --cloud, or souvenance hermes setup --embedded"
        )

    def test_without_any_file_too(self, tmp_path):
        assert read_configuration(tmp_path, {"HONCHO_API_KEY": "left-over"})[0].url is None

    @pytest.mark.parametrize(
        ("document", "more", "url"),
        [
            ({"baseUrl": "https://memory.example"}, {}, "https://memory.example"),
            ({}, {"HONCHO_BASE_URL": "https://memory.example"}, "https://memory.example"),
            ({"environment": "production"}, {}, "https://api.honcho.dev"),
            ({}, {"HONCHO_ENVIRONMENT": "production"}, "https://api.honcho.dev"),
        ],
    )
    def test_is_used_where_something_names_its_server(self, tmp_path, document, more, url):
        configured(tmp_path, document)
        configuration, complaints = read_configuration(tmp_path, {"HONCHO_API_KEY": "meant", **more})
        assert (configuration.url, configuration.api_key, complaints) == (url, "meant", [])

    def test_in_the_file_is_honcho_s_cloud_as_honcho_s_plugin_means_it(self, tmp_path):
        configured(tmp_path, {"apiKey": "meant"})
        assert read_configuration(tmp_path, {})[0].url == "https://api.honcho.dev"

    def test_in_a_file_that_other_programs_share_is_theirs(self, tmp_path):
        home = shared(tmp_path, {"apiKey": "left-over"})
        configuration, [complaint] = read_configuration(home, {"HOME": str(tmp_path)})
        assert (configuration.url, configuration.api_key, configuration.enabled) == (None, None, True)
        file = tmp_path / ".honcho/config.json"
        assert str(complaint).startswith(f"{file}: apiKey is not used: nothing says which server it is for")

    @pytest.mark.parametrize(
        "document",
        [
            {"apiKey": "meant", "environment": "production"},
            {"apiKey": "meant", "hosts": {"hermes": {"environment": "production"}}},
            {"hosts": {"hermes": {"apiKey": "meant"}}},
        ],
    )
    def test_in_a_shared_file_is_used_where_it_names_the_server_or_hermes(self, tmp_path, document):
        home = shared(tmp_path, document)
        configuration, complaints = read_configuration(home, {"HOME": str(tmp_path)})
        assert (configuration.url, complaints) == ("https://api.honcho.dev", [])

    def test_is_not_taken_for_ours_when_another_setting_is_written(self, tmp_path):
        home, environment = shared(tmp_path, {"apiKey": "left-over"}), {"HOME": str(tmp_path)}
        write_setting(home, "hermes", {"contextTokens": 9}, environment=environment)
        assert read_configuration(home, environment)[0].url is None

    def test_is_no_longer_told_once_the_file_says_that_there_is_none(self, told):
        assert told({"apiKey": ""}, HONCHO_API_KEY="left-over") == []


@pytest.mark.parametrize("named", [{"environment": "production"}, {"baseUrl": "https://api.honcho.dev"}])
def test_honcho_s_cloud_without_a_key_is_off_so_that_nothing_is_sent_there(tmp_path, named):
    configured(tmp_path, named)
    configuration, [complaint] = read_configuration(tmp_path, {})
    assert (configuration.url, configuration.enabled) == ("https://api.honcho.dev", False)
    assert "there is no key for it" in str(complaint)
