"""Having signed in: what is kept of it, what is shown, and signing out."""

import json
import os
import subprocess
import sys

import pytest
from msgspec.structs import replace

from hermes.authority import TOKEN
from hermes.browser import Browser
from hermes.scene import configured
from processes import PATIENCE_SECONDS
from souvenance.errors import (
    InvalidInput,
    Misconfigured,
)
from souvenance.hermes.config_files import read_configuration, write_setting
from souvenance.hermes.oauth_tokens import OAuthGrant, endpoints_of
from souvenance.hermes.sign_in import profile as signin
from souvenance.hermes.sign_in.flows import by_browser
from souvenance.hermes.sign_in.listener import Listener


def profile(tmp_path, **settings):
    home = tmp_path / ".hermes"
    home.mkdir(exist_ok=True)
    environment = {"HOME": str(tmp_path)}
    if settings:
        write_setting(home, "hermes", settings, environment=environment)
    return home, environment


def read(home, environment):
    return read_configuration(home, environment)[0]


def signed_in(authority, config=None, n=1):
    told = {**TOKEN, "access_token": f"hch-at-{n}", "refresh_token": f"hch-rt-{n}", "config": config}
    authority.says("/oauth/token", (200, told))
    with Listener(0) as listener:
        browser = Browser(authority.url)
        signed = by_browser(endpoints_of(authority.url), listener, browser)
        browser.back()
    return signed


class TestKeeping:
    def test_it_is_in_the_profile_s_block_and_for_its_owner_alone(self, authority, tmp_path):
        home, environment = profile(tmp_path)
        file, after = signin.keep(home, environment, authority.url, signed_in(authority))
        assert file == home / "souvenance.json"
        assert file.stat().st_mode & 0o777 == 0o600
        assert (after.url, after.api_key) == (authority.url, "hch-at-1")
        assert OAuthGrant.of(after).refresh == "hch-rt-1"

    def test_who_one_is_there_one_is_here_unless_one_has_a_name(self, authority, tmp_path):
        chosen = {"peerName": "alice", "workspace": "home"}
        home, environment = profile(tmp_path)
        after = signin.keep(home, environment, authority.url, signed_in(authority, chosen))[1]
        assert (after.peer_name, after.workspace) == ("alice", "home")
        write_setting(home, "hermes", {"peerName": "ann"}, environment=environment)
        after = signin.keep(home, environment, authority.url, signed_in(authority, chosen, 2))[1]
        assert (after.peer_name, after.workspace) == ("ann", "home")

    @pytest.mark.parametrize(
        "config", [None, [], {"peerName": 7}, {"peerName": "", "workspace": ""}, {"x": 1}]
    )
    def test_what_a_server_says_that_is_no_setting_is_passed_over(self, authority, tmp_path, config):
        home, environment = profile(tmp_path)
        after = signin.keep(home, environment, authority.url, signed_in(authority, config))[1]
        assert (after.peer_name, after.workspace) == (None, "hermes")

    def test_what_can_t_be_written_is_taken_back(self, authority, tmp_path):
        home, environment = profile(tmp_path)
        (home / "souvenance.json").write_text("{")
        signed = signed_in(authority)
        with pytest.raises(Misconfigured):
            signin.keep(home, environment, authority.url, signed)
        assert [form["token"] for form in authority.forms("/oauth/revoke")] == ["hch-rt-1"]

    def test_nobody_is_named_like_the_agent(self, authority, tmp_path):
        home, environment = profile(tmp_path)
        after = signin.keep(home, environment, authority.url, signed_in(authority, {"peerName": "hermes"}))[1]
        assert (after.peer_name, after.ai_peer) == (None, "hermes")

    def test_a_sign_in_that_is_replaced_is_taken_back(self, authority, tmp_path):
        home, environment = profile(tmp_path)
        signin.keep(home, environment, authority.url, signed_in(authority))
        signin.keep(home, environment, authority.url, signed_in(authority, n=2))
        assert [form["token"] for form in authority.forms("/oauth/revoke")] == ["hch-rt-1"]

    def test_what_honcho_s_own_plugin_holds_is_left_to_it(self, authority, tmp_path):
        home, environment = profile(tmp_path)
        grant = signed_in(authority).grant
        (home / "honcho.json").write_text(json.dumps({"hosts": {"hermes": grant.settings()}}))
        (home / "honcho.json").chmod(0o600)
        before, [complaint] = read_configuration(home, environment)
        assert (before.enabled, before.oauth, before.api_key) == (False, None, None)
        assert "which only that renews; memory is off" in complaint.wrong
        assert complaint.hint == "Sign in here: souvenance login --url https://api.honcho.dev"
        signin.keep(home, environment, authority.url, signed_in(authority, n=2))
        assert read(home, environment).enabled
        assert authority.forms("/oauth/revoke") == []
        assert "hch-rt-1" in (home / "honcho.json").read_text()

    def test_signing_out_tells_the_server_and_removes_the_tokens(self, authority, tmp_path):
        home, environment = profile(tmp_path)
        signin.keep(home, environment, authority.url, signed_in(authority))
        gone = signin.sign_out(home, environment)
        assert (gone.was_signed_in, gone.trouble) == (True, "")
        assert authority.forms("/oauth/revoke") == [
            {"token": "hch-rt-1", "token_type_hint": "refresh_token", "client_id": "hermes-agent"}
        ]
        text = (home / "souvenance.json").read_text()
        assert "hch-" not in text
        assert read(home, environment).url == authority.url
        assert not signin.sign_out(home, environment).was_signed_in

    def test_a_server_that_can_t_be_told_does_not_keep_anybody_signed_in_here(self, authority, tmp_path):
        home, environment = profile(tmp_path)
        signin.keep(home, environment, authority.url, signed_in(authority))
        authority.says("/oauth/revoke", (503, {}))
        assert "503" in signin.sign_out(home, environment).trouble
        assert read(home, environment).oauth is None

    def test_a_grant_that_does_not_know_where_to_is_taken_back_where_the_server_says(
        self, authority, tmp_path
    ):
        kept = replace(signed_in(authority).grant, revoke="").settings()
        home, environment = profile(tmp_path, baseUrl=authority.url, **kept)
        assert signin.sign_out(home, environment).trouble == ""
        assert len(authority.forms("/oauth/revoke")) == 1

    def test_tokens_that_stand_for_all_hosts_are_not_used_after_signing_out(self, authority, tmp_path):
        home, environment = profile(tmp_path)
        kept = {"baseUrl": authority.url, **signed_in(authority).grant.settings()}
        write_setting(home, "hermes", kept, root=True, environment=environment)
        signin.sign_out(home, environment)
        after = read(home, environment)
        assert (after.oauth or {}, after.api_key or "") == ({}, "")


class TestShown:
    def test_the_server_is_shown_no_more_of_a_path_than_what_is_below_the_home(self, tmp_path):
        home = tmp_path / ".hermes"
        told = signin.shown(configured(home=home, peer_name="ann"), {"HOME": str(tmp_path)}, "hermes-cli")
        assert told == {
            "source": "hermes-cli",
            "config_path": "~/.hermes/souvenance.json",
            "login_hint": "ann",
        }
        assert (
            signin.shown(configured(home=home), {"HOME": "/elsewhere"}, "x")["config_path"]
            == "souvenance.json"
        )

    def test_without_a_screen_no_browser_is_opened(self, monkeypatch):
        monkeypatch.setattr("sys.platform", "linux")
        assert not signin.open_page("http://127.0.0.1", {})

    def test_memory_on_this_machine_needs_no_sign_in(self):
        with pytest.raises(InvalidInput, match="where nobody signs in"):
            signin.server_of(configured())
        assert signin.server_of(configured(), "https://a.example/v3") == "https://a.example"


def test_http_is_loaded_by_nobody_who_does_not_sign_in():
    asked = (
        "import sys, souvenance.hermes.setup.commands;"
        "print([one for one in ('httpx', 'http.server', 'webbrowser') if one in sys.modules])"
    )
    told = subprocess.run(
        [sys.executable, "-c", asked],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        env=os.environ,
    )
    assert told.stdout.strip() == "[]", told
