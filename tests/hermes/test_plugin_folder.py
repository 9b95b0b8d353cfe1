"""The folder that Hermes installs: its manifest, its panel, its sign-in, and the entry for the catalog."""

from __future__ import annotations

import json
import re
import sys
import tomllib

import pytest
import yaml

from hermes import plugin_folder
from hermes.newer_host import (
    FIRST_TO_INSTALL_IT,
    LEVELS,
    Installer,
    Loader,
    Refused,
    modules,
    numbered,
    profile,
)
from souvenance import plugin
from souvenance.hermes.config_files import read_configuration, write_setting
from souvenance.hermes.configuration import KEYS
from souvenance.hermes.setup.install import FILES
from souvenance.version import __version__

ROOT = plugin_folder.ROOT
FOLDER = plugin_folder.FOLDER
MANIFEST = yaml.safe_load((FOLDER / "plugin.yaml").read_text("utf-8"))
ENTRY = yaml.safe_load((ROOT / "deploy/hermes/plugin-catalog/souvenance.yaml").read_text("utf-8"))
REQUIRES = re.compile(r">=\d+(\.\d+)+\Z")


@pytest.fixture
def home(tmp_path):
    (tmp_path / "souvenance.json").write_text("{}")
    (tmp_path / "souvenance.json").chmod(0o600)
    return tmp_path


def configured(home):
    return read_configuration(home, {})[0]


def chosen(home, **values):
    """What a host that keeps a panel's values writes."""
    (home / "souvenance").mkdir(exist_ok=True)
    (home / "souvenance" / "config.json").write_text(json.dumps(values))


@pytest.fixture
def hosting(monkeypatch):
    def host(level, *, managed=False):
        for name, module in modules(level, managed=managed).items():
            monkeypatch.setitem(sys.modules, name, module)
        plugin._kind.cache_clear()
        return Loader(level)

    yield host
    plugin.RUNTIMES.close()
    plugin._kind.cache_clear()


class TestTheManifest:
    def test_it_is_of_the_second_version_and_of_this_release(self):
        assert (MANIFEST["manifest_version"], MANIFEST["api_version"]) == (2, 1)
        assert (MANIFEST["name"], MANIFEST["version"]) == ("souvenance", __version__)
        assert REQUIRES.match(MANIFEST["requires_hermes"])
        assert (
            MANIFEST["license"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license"]
        )

    def test_it_names_the_tools_that_the_model_is_offered(self, stage):
        assert MANIFEST["provides_tools"] == [tool["name"] for tool in stage.provider().get_tool_schemas()]

    def test_it_names_hooks_that_the_provider_has(self):
        assert all(callable(getattr(plugin.Provider, name)) for name in MANIFEST["hooks"])

    def test_it_asks_for_no_power_over_the_host(self):
        assert (MANIFEST["capabilities"], MANIFEST["provides_hooks"], MANIFEST["requires_env"]) == (
            [],
            [],
            [],
        )

    def test_the_package_is_pinned_to_this_release_and_exempt_from_the_quarantine(self):
        project = tomllib.loads((FOLDER / "pyproject.toml").read_text("utf-8"))
        assert project["project"]["dependencies"] == [f"souvenance[hermes]=={__version__}"]
        assert project["project"]["version"] == __version__
        assert project["tool"]["uv"]["exclude-newer-package"] == {"souvenance": False}


class TestTheCatalog:
    def test_the_entry_says_what_the_manifest_says(self):
        for name in ("name", "version", "description"):
            assert ENTRY[name] == MANIFEST[name]
        assert ENTRY["repo"] == MANIFEST["homepage"]
        for name, declared in ENTRY["capabilities"].items():
            assert declared == MANIFEST.get(name, [])

    def test_it_is_for_hosts_that_have_a_catalog_and_read_this_manifest(self):
        assert ENTRY["requires_hermes"] == f">={'.'.join(map(str, FIRST_TO_INSTALL_IT))}"

    def test_it_leads_to_the_folder_and_to_pictures_that_are_there(self):
        assert (ROOT / ENTRY["subdir"] / "plugin.yaml").is_file()
        assert (ROOT / ENTRY["subdir"] / ENTRY["readme"]).is_file()
        for address in (ENTRY["image"], *ENTRY["screenshots"], ENTRY["docs_url"]):
            assert (ROOT / address.partition("/main/")[2]).is_file()

    def test_the_commit_is_left_to_the_release(self):
        assert re.fullmatch("0{40}", ENTRY["sha"])
        assert (ENTRY["category"], ENTRY["tier"]) == ("memory", "community")


def targets(page):
    """What a page leads to, by itself or on the web."""
    found = re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8"))
    return [one for one in found if ":" not in one], [one for one in found if ":" in one]


@pytest.mark.parametrize("page", ["plugin/README.md", "plugin/after-install.md", "deploy/hermes/README.md"])
def test_a_page_leads_only_to_what_is_there(page):
    beside, elsewhere = targets(ROOT / page)
    for target in beside:
        assert (ROOT / page).parent.joinpath(target).exists(), target
    for address in elsewhere:
        assert (ROOT / address.removeprefix(f"{MANIFEST['homepage']}/blob/main/")).is_file(), address


class TestTheWholeFolder:
    def test_it_has_what_the_package_has_and_its_pages_and_nothing_else(self):
        files = [path for path in FOLDER.rglob("*") if path.is_file() and path.suffix != ".pyc"]
        found = {path.relative_to(FOLDER).as_posix(): path for path in files}
        assert found.keys() == {*FILES, *plugin_folder.WRITTEN_HERE}
        assert {name: found[name].read_text("utf-8") for name in FILES} == FILES

    def test_its_pages_need_nothing_outside_of_it(self):
        for page in FOLDER.glob("*.md"):
            for target in targets(page)[0]:
                assert (FOLDER / target).resolve().is_relative_to(FOLDER.resolve()), target

    def test_its_pictures_are_those_of_the_docs_and_all_of_them_are_shown(self):
        shown = {target for target in targets(FOLDER / "README.md")[0] if target.endswith(".png")}
        assert shown == {*plugin_folder.PICTURES}
        for name in shown:
            assert (FOLDER / name).read_bytes() == (ROOT / "docs" / name).read_bytes(), (
                "Run: cd tests && python -m hermes.plugin_folder"
            )


RELEASES = ("0.19.0", "0.20.1", "0.20.5", "0.21.0", "0.21.3", "0.21.4", "0.21.5", "0.22.0")
KEY = "HERMES_SOUVENANCE_API_KEY"
WAY = re.compile(r"^\| (\d+\.\d+\.\d+) (?:to (\d+\.\d+\.\d+)|and newer) \| (.+) \|$", re.M)


@pytest.mark.parametrize("page", ["plugin/README.md", "docs/howto/remember-in-hermes.md"])
@pytest.mark.parametrize("version", RELEASES)
def test_the_pages_name_the_way_that_works_for_each_release(tmp_path, page, version):
    ways = WAY.findall((ROOT / page).read_text("utf-8"))
    of = [way for first, last, way in ways if numbered(first) <= numbered(version) <= numbered(last or "99")]
    assert len(of) == 1
    try:
        Installer(version).install(FOLDER, tmp_path)
    except Refused:
        assert "pip install" in of[0] and "plugins" not in of[0]
    else:
        assert "hermes plugins install" in of[0] and "pip install" not in of[0]


def test_nobody_is_told_to_use_pip_where_the_host_installed_the_folder():
    assert "pip" not in (FOLDER / "after-install.md").read_text("utf-8")


class TestThePanel:
    def test_its_fields_are_those_of_our_configuration(self):
        assert plugin_folder.PANEL.read_text("utf-8") == plugin_folder.panel(), (
            "Run: cd tests && python -m hermes.plugin_folder"
        )

    @pytest.mark.parametrize("level", LEVELS)
    def test_the_host_reads_it_by_itself_in_groups(self, hosting, level):
        schema = hosting(level).config_schema(FOLDER)
        assert (schema.name, schema.storage) == ("souvenance", "flat_json")
        sections = {key.name: key.section for key in KEYS}
        assert {field.key: field.group for field in schema.fields}.items() <= sections.items()
        assert {field.key for field in schema.fields if field.inline} >= {"peerName", "baseUrl"}
        [secret] = [field for field in schema.fields if field.kind == "secret"]
        assert (secret.env_key, secret.env_fallbacks) == (KEY, ("HONCHO_API_KEY",))

    @pytest.mark.parametrize("server", ["http://127.0.0.1:8787", "https://memory.example.com"])
    def test_a_key_that_is_typed_there_is_for_the_server_that_is_named_there(self, home, server):
        """The host keeps it in the environment, where keys lie about that are meant for others."""
        chosen(home, baseUrl=server)
        found, complaints = read_configuration(home, {KEY: "typed", "HONCHO_API_KEY": "left-over"})
        assert (found.url, found.api_key, complaints) == (server, "typed", [])

    def test_a_key_that_is_typed_there_without_a_server_sends_nothing_anywhere(self, home):
        found, [complaint] = read_configuration(home, {KEY: "typed"})
        assert (found.url, found.api_key) == (None, None)
        assert str(complaint).startswith(f"environment: {KEY} is not used")

    def test_what_is_chosen_there_counts(self, home):
        chosen(home, recallMode="tools", contextTokens=300, saveMessages=False, peerName="ann")
        found = configured(home)
        assert (found.recall_mode, found.context_tokens) == ("tools", 300)
        assert (found.save_messages, found.peer_name) == (False, "ann")

    def test_what_it_shows_without_a_choice_changes_nothing(self, hosting, home):
        write_setting(home, "hermes", {"recallMode": "tools", "saveMessages": False, "hostModel": True})
        untouched = {}
        for field in hosting("0.21").config_schema(FOLDER).fields:
            read = json.loads if field.kind in ("bool", "number") and field.default else str
            untouched[field.key] = read(field.default)
        before = configured(home)
        chosen(home, **untouched)
        assert configured(home) == before

    def test_a_command_after_it_counts_and_is_shown_there(self, home):
        chosen(home, recallMode="tools", peerName="ann")
        write_setting(
            home, "hermes", {"recallMode": "context", "sessionStrategy": "global", "peerName": None}
        )
        assert configured(home).recall_mode == "context"
        assert json.loads((home / "souvenance/config.json").read_text()) == {"recallMode": "context"}

    @pytest.mark.parametrize("content", ["", "[]", "nonsense", '{"recallMode": null}'])
    def test_a_file_that_says_nothing_changes_nothing(self, home, content):
        before = configured(home)
        chosen(home)
        (home / "souvenance/config.json").write_text(content)
        assert configured(home) == before

    def test_a_wrong_choice_is_complained_about(self, home):
        chosen(home, contextTokens="many")
        assert ["contextTokens" in str(one) for one in read_configuration(home, {})[1]] == [True]

    def test_memory_is_kept_in_a_folder_in_which_the_host_wrote_first(self, stage):
        chosen(stage.home, contextTokens=900)
        stage.tell(stage.provider("s1"), "My cat is called Nero.")
        assert "Nero" in stage.recall(stage.provider("s2"), "What is my cat called?")


class TestThePanelThatAsksTheProvider:
    """Of hosts that know `PROVIDER_SETUP_API_VERSION`."""

    @pytest.fixture
    def panel(self, hosting, home):
        loader = hosting("0.21", managed=True)
        self.schema = loader.config_schema(FOLDER)
        provider = plugin.provider()

        def press(action, **values):
            return provider.handle_desktop_config_action(action, {"values": values}, hermes_home=str(home))

        self.shown = lambda: provider.get_desktop_config(hermes_home=str(home))
        return press

    def test_it_has_a_check_and_a_sign_in(self, panel):
        assert self.schema.storage == "provider_managed"
        assert [one.name for one in self.schema.actions] == ["check", "connect"]
        assert (self.schema.submit_action, self.schema.status_action) == ("save", "check")

    def test_what_is_saved_is_in_our_own_file_and_shown_again(self, panel, home):
        assert panel("save", **{**self.shown()["values"], "peerName": "ann", "recallWait": "2"})["ok"]
        assert (configured(home).peer_name, configured(home).recall_wait) == ("ann", 2.0)
        assert list(json.loads((home / "souvenance.json").read_text())["hosts"]["hermes"]) == [
            "peerName",
            "recallWait",
        ]
        assert self.shown()["values"]["recallWait"] == "2"
        assert panel("save", peerName="")["ok"]
        assert configured(home).peer_name is None

    def test_a_secret_is_never_shown(self, panel, home):
        panel("save", baseUrl="https://memory.example.com", apiKey="secret-of-ann")
        shown = self.shown()
        assert (shown["values"]["apiKey"], shown["is_set"]["apiKey"]) == ("", True)
        assert "secret-of-ann" not in json.dumps(shown)

    @pytest.mark.parametrize(
        "action, values, wrong",
        [
            ("save", {"contextTokens": "many"}, "contextTokens"),
            ("save", {"baseUrl": "http://[::1"}, "baseUrl"),
            ("save", {"baseUrl": "http://memory.example:port"}, "baseUrl"),
            ("save", {"peerName": "\ud800"}, "peerName"),
            ("save", {"recallWait": "1e999"}, "recallWait"),
            ("dance", {}, "no action"),
        ],
    )
    def test_a_wrong_value_is_refused_in_words_and_changes_nothing(self, panel, home, action, values, wrong):
        before = self.shown()
        told = panel(action, **values)
        assert not told["ok"]
        assert wrong in told["message"]
        assert json.loads(json.dumps(told)) == told
        assert self.shown() == before

    @pytest.mark.parametrize(
        "content",
        ["{", "[]", '{"contextTokens": "many"}', '{"baseUrl": "http://[::1"}', '{"store": "\\u0000"}'],
    )
    def test_settings_that_are_wrong_are_told_in_words_by_the_check(self, panel, home, content):
        (home / "souvenance.json").write_text(content)
        told = panel("check")
        assert told["message"] and json.loads(json.dumps(told)) == told
        assert told["ok"] == ("many" in content)
        assert self.shown()["values"].keys() == self.shown()["is_set"].keys()

    def test_a_folder_that_can_not_be_written_is_told_in_words(self, panel, home):
        (home / "souvenance.json").unlink()
        (home / "souvenance.json").mkdir()
        told = panel("save", peerName="ann")
        assert not told["ok"] and "souvenance.json" in told["message"]

    def test_the_check_says_whether_memory_answers(self, panel):
        assert panel("check")["ok"]
        panel("save", baseUrl="http://127.0.0.1:9")
        told = panel("check")
        assert not told["ok"] and told["message"]

    def test_signing_in_needs_a_server(self, panel):
        told = panel("connect")
        assert not told["ok"] and "on this machine" in told["message"]


def test_a_desktop_finds_the_sign_in_of_the_profile_that_it_asks_for(hosting, tmp_path, authority):
    loader = hosting("0.21")
    homes = {name: tmp_path / name for name in ("here", "there")}
    for name, home in homes.items():
        home.mkdir()
        url = {"baseUrl": authority.url} if name == "there" else {}
        (home / "souvenance.json").write_text(json.dumps(url))
    flow = loader.import_provider_module(FOLDER, "oauth_flow")
    with profile(homes["here"]):
        assert flow.start_loopback_flow_background()["state"] == "error"
    with profile(homes["there"]):
        assert flow.get_flow_status() == {
            "state": "idle",
            "detail": "",
            "connected": False,
            "auth": None,
            "url": "",
        }


def test_every_file_of_the_folder_is_thin():
    for file in FOLDER.glob("*.py"):
        assert len(file.read_text("utf-8").splitlines()) <= 110, file
