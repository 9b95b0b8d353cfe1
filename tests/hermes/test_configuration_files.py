"""Which file counts, which host's block of it, and when it is read again."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.hermes.config_files import host_of, read_configuration
from souvenance.hermes.host import default_home

PLACES = (
    ".hermes/profiles/coder/souvenance.json",
    ".hermes/souvenance.json",
    ".hermes/profiles/coder/honcho.json",
    ".hermes/honcho.json",
    ".honcho/config.json",
)
OFF = "memory is off until it is corrected"


@pytest.fixture
def user(tmp_path):
    (tmp_path / ".hermes/profiles/coder").mkdir(parents=True)
    (tmp_path / ".honcho").mkdir()
    return tmp_path


def put(path, document):
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    path.chmod(0o600)
    return path


def read(user, profile="default", **environment):
    home = user / ".hermes" if profile == "default" else user / ".hermes/profiles" / profile
    return read_configuration(home, {"HOME": str(user), **environment}, profile)


def test_without_a_file_everything_has_its_default(user):
    configuration, complaints = read(user)
    assert complaints == []
    assert configuration.file is None
    assert configuration.enabled
    assert configuration.url is None
    assert (configuration.workspace, configuration.ai_peer) == ("hermes", "hermes")
    assert configuration.store == user / ".hermes/souvenance"


@pytest.mark.parametrize("first", range(5))
def test_the_first_file_that_exists_counts_alone(user, first):
    for number, place in enumerate(PLACES[first:], first):
        put(user / place, {"workspace": f"w{number}", f"{'peerName' if number > first else 'aiPeer'}": "x"})
    configuration, _ = read(user, "coder")
    assert configuration.file == user / PLACES[first]
    assert configuration.workspace == f"w{first}"
    assert configuration.peer_name is None


def test_the_default_profile_does_not_read_what_is_another_profile_s(user):
    put(user / PLACES[0], {"workspace": "coder"})
    put(user / PLACES[2], {"workspace": "coder"})
    assert read(user)[0].file is None


def test_a_file_of_the_profile_that_another_one_comes_before_is_told(user):
    put(user / ".hermes/souvenance.json", {})
    put(user / ".hermes/profiles/coder/honcho.json", {"workspace": "own"})
    _, [complaint] = read(user, "coder")
    own = user / ".hermes/profiles/coder/honcho.json"
    assert str(complaint) == f"{user}/.hermes/souvenance.json: comes before {own}, which is not read."


@pytest.mark.parametrize(
    ("home", "default"),
    [
        ("{user}/.hermes", "{user}/.hermes"),
        ("{user}/.hermes/profiles/coder", "{user}/.hermes"),
        ("{user}/.hermes/elsewhere/deep", "{user}/.hermes"),
        ("/opt/data", "/opt/data"),
        ("/opt/data/profiles/coder", "/opt/data"),
    ],
)
def test_the_default_home_is_the_host_s(user, home, default):
    found = default_home(Path(home.format(user=user)), {"HOME": str(user)})
    assert found == Path(default.format(user=user))


def test_a_home_of_its_own_reads_nothing_of_the_user_s_hermes(user):
    put(user / ".hermes/honcho.json", {"workspace": "somebody-s"})
    elsewhere = user / "data"
    elsewhere.mkdir()
    assert read_configuration(elsewhere, {"HOME": str(user)})[0].workspace == "hermes"
    assert read_configuration(elsewhere, {})[0].workspace == "hermes"


class TestAFileThatCanNotBeRead:
    """It does not make way for another, whose settings may be somebody else's."""

    @pytest.mark.parametrize(
        ("content", "wrong"),
        [
            (b"", "is not JSON (line 1, column 1)"),
            (b'{"workspace": "a",\n nonsense}', "is not JSON (line 2, column 2)"),
            (b"[]", "must be an object, not a list"),
            (b'"text"', 'must be an object, not "text"'),
            (b"null", "must be an object, not null"),
            (b"\xff\xfe\x00\x01", "is not JSON that can be read"),
            (b"\x00" * 50, "is not JSON (line 1, column 1)"),
            (b'{"a": NaN}', "is not JSON that can be read"),
            (b'{"a": 1e999}', "is not JSON that can be read"),
            (b'{"a": "\\ud800"}', "is not JSON that can be read"),
            (b"[" * 100_000, "is not JSON that can be read"),
            (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "is not JSON that can be read"),
            (b'{"a": ' + b"9" * 10_000 + b"}", "is not JSON that can be read"),
            (b'{"a": "' + b"x" * 1024 * 1024 + b'"}', "has more than 1048576 bytes"),
        ],
        ids=lambda value: str(value[:12]),
    )
    @pytest.mark.parametrize("place", PLACES)
    def test_turns_memory_off(self, user, place, content, wrong):
        (user / place).write_bytes(content)
        for later in PLACES[PLACES.index(place) + 1 :]:
            put(user / later, {"workspace": "somebody-s", "baseUrl": "http://a.example"})
        configuration, [complaint] = read(
            user, "coder", HONCHO_API_KEY="k", HONCHO_BASE_URL="http://b.example"
        )
        assert not configuration.enabled
        assert configuration.url is None
        assert configuration.workspace == configuration.host == "hermes_coder"
        assert str(complaint) == f"{user / place}: {wrong}; {OFF}."

    def test_may_be_a_folder(self, user):
        (user / ".hermes/souvenance.json").mkdir()
        configuration, [complaint] = read(user)
        assert not configuration.enabled
        assert complaint.wrong == f"can't be read: it is not a regular file; {OFF}"

    def test_may_be_a_pipe_that_nobody_writes_to(self, user):
        os.mkfifo(user / ".hermes/souvenance.json")
        configuration, [complaint] = read(user)
        assert not configuration.enabled
        assert complaint.wrong == f"can't be read: it is not a regular file; {OFF}"

    def test_may_be_a_link_to_nothing(self, user):
        (user / ".hermes/souvenance.json").symlink_to(user / "gone")
        put(user / ".hermes/honcho.json", {"workspace": "other"})
        configuration, [complaint] = read(user)
        assert not configuration.enabled
        assert complaint.wrong == f"can't be read: No such file or directory; {OFF}"

    def test_may_be_a_link_to_itself(self, user):
        (user / ".hermes/souvenance.json").symlink_to(user / ".hermes/souvenance.json")
        assert not read(user)[0].enabled

    @pytest.mark.parametrize("hosts", [[], "hermes", 5, {"hermes": []}, {"hermes": "x"}, {"hermes": True}])
    def test_is_also_one_with_a_block_that_can_not(self, user, hosts):
        put(user / ".hermes/souvenance.json", {"workspace": "w", "hosts": hosts})
        configuration, [complaint] = read(user)
        assert not configuration.enabled
        assert complaint.key == ("hosts.hermes" if isinstance(hosts, dict) else "hosts")
        assert complaint.wrong.startswith("must be an object, not ")
        assert complaint.wrong.endswith(OFF)


def test_a_mark_at_the_beginning_of_the_file_does_no_harm(user):
    (user / ".hermes/honcho.json").write_bytes(b'\xef\xbb\xbf{"workspace": "w"}')
    configuration, complaints = read(user)
    assert configuration.workspace == "w"
    assert complaints == []


def test_a_linked_file_is_read(user):
    put(user / "dotfiles.json", {"workspace": "w"})
    (user / ".hermes/souvenance.json").symlink_to(user / "dotfiles.json")
    assert read(user)[0].workspace == "w"


@given(st.binary(max_size=200))
def test_no_content_of_a_file_is_too_much(content):
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "souvenance.json").write_bytes(content)
        configuration, complaints = read_configuration(Path(home), {})
        assert configuration.enabled or complaints


class TestTheHost:
    @pytest.mark.parametrize(
        ("profile", "host"),
        [
            ("default", "hermes"),
            ("custom", "hermes"),
            ("", "hermes"),
            ("coder", "hermes_coder"),
            ("a b.c", "hermes_a_b_c"),
            ("...", "hermes_profile"),
        ],
    )
    def test_has_its_key_from_the_profile(self, profile, host):
        assert host_of(profile) == host

    def test_of_a_home_in_profiles_is_that_profile_s(self, user):
        configuration, _ = read_configuration(user / ".hermes/profiles/coder", {"HOME": str(user)})
        assert configuration.host == "hermes_coder"

    def test_may_be_named_by_the_environment(self, user):
        put(user / ".hermes/souvenance.json", {"hosts": {"laptop": {"workspace": "w"}}, "defaultHost": "x"})
        for profile in ("default", "coder"):
            configuration, _ = read(user, profile, HERMES_HONCHO_HOST=" laptop ")
            assert (configuration.host, configuration.workspace) == ("laptop", "w")

    def test_may_be_named_by_the_file_for_the_default_profile_alone(self, user):
        blocks = {"local": {"workspace": "w"}, "hermes": {"workspace": "no"}}
        put(user / ".hermes/souvenance.json", {"hosts": blocks, "defaultHost": " local "})
        assert read(user)[0].host == "local"
        assert read(user)[0].workspace == "w"
        assert read(user, "coder")[0].host == "hermes_coder"

    def test_is_the_profile_s_if_the_file_names_none(self, user):
        put(user / ".hermes/souvenance.json", {"defaultHost": " "})
        assert read(user) == (read(user)[0], [])
        assert read(user)[0].host == "hermes"
        put(user / ".hermes/souvenance.json", {"defaultHost": 5})
        configuration, [complaint] = read(user)
        assert configuration.host == "hermes"
        assert complaint.key == "defaultHost"

    def test_has_a_block_of_an_older_spelling_until_it_has_one_of_the_new(self, user):
        hosts = {"hermes.coder": {"aiPeer": "old", "recalMode": 1}}
        put(user / ".hermes/honcho.json", {"hosts": hosts})
        configuration, [complaint] = read(user, "coder")
        assert configuration.ai_peer == "old"
        assert complaint.key == "hosts.hermes.coder.recalMode"
        put(user / ".hermes/honcho.json", {"hosts": {**hosts, "hermes_coder": {}}})
        assert read(user, "coder")[0].ai_peer == "hermes_coder"

    def test_of_any_name_gives_a_workspace_that_honcho_takes(self, user):
        one, _ = read(user, HERMES_HONCHO_HOST="my laptop")
        other, _ = read(user, HERMES_HONCHO_HOST="my.laptop")
        assert one.workspace.startswith("my-laptop-")
        assert one.workspace != other.workspace

    def test_has_no_say_in_the_blocks_of_others(self, user):
        put(user / ".hermes/souvenance.json", {"hosts": {"cursor": {"nonsense": 1}, "obsidian": []}})
        assert read(user)[1] == []
