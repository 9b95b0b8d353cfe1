"""Settings come from options, the environment and a file; `config show` says from where."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from souvenance.config import settings_from
from souvenance.errors import Misconfigured
from souvenance.settings import FILE, HIDDEN, SETTINGS
from surfaces.door import souvenance

PAGE = Path(__file__).parents[2] / "docs/reference/settings.md"


@pytest.fixture
def file(home):
    """Writes the settings file of the data folder."""

    def write(text: str, mode: int = 0o600) -> Path:
        home.mkdir(mode=0o700, exist_ok=True)
        path = home / FILE
        path.write_text(text)
        path.chmod(mode)
        return path

    return write


def shown(*arguments: str, **more):
    found = souvenance("config", "show", "--json", *arguments, **more).json()
    return {one["name"]: (one["value"], one["source"]) for one in found}


def test_a_file_in_the_data_folder_sets_what_it_names(home, file):
    file('index_mb = 7\nmetrics = true\nembedder = "none"\nchat_base_url = "http://host/v1"\nline_bytes = 9')
    found = settings_from({}, str(home))
    assert (found.index_mb, found.telemetry.metrics, found.embedder.choice) == (7, True, "none")
    assert (found.chat.upstreams[0].url, found.limits.line_bytes) == ("http://host/v1", 9)


def test_an_option_wins_over_the_environment_that_over_the_file_and_that_over_the_default(home, file):
    path = file('url = "http://file"\nlog = "off"\nindex_mb = 7')
    environment = {"SOUVENANCE_URL": "http://environment", "SOUVENANCE_LOG": "json"}
    found = {one.name: one for one in settings_from(environment, str(home), url="http://option").shown()}
    assert [(found[name].value, found[name].source) for name in ("url", "log", "index_mb", "vectors")] == [
        ("http://option", "--url"),
        ("json", "SOUVENANCE_LOG"),
        ("7", str(path)),
        ("auto", "default"),
    ]


@pytest.mark.parametrize("named", ["--config", "SOUVENANCE_CONFIG"])
def test_another_file_can_be_named(home, file, tmp_path, named):
    file("index_mb = 7")
    other = tmp_path / "other.toml"
    other.write_text("index_mb = 8")
    if named == "--config":
        found = shown("--config", str(other), home=home)
    else:
        found = shown(home=home, settings={named: str(other)})
    assert found["index_mb"] == ("8", str(other))
    assert found["config"] == (str(other), named)


def test_config_show_prints_a_table_of_every_setting(home):
    rows = souvenance("config", "show", home=home).out.splitlines()
    assert rows[0].split() == ["setting", "value", "from"]
    assert [row.split()[0] for row in rows[1:]] == list(SETTINGS)


def test_secrets_are_hidden_and_names_of_files_are_not(home, file):
    file('model_api_key = "hush-1"\nstore = "postgresql://me:hush-2@host/db"\nembedder_api_key = "@/key"')
    settings = {"SOUVENANCE_CAP": "hush-3", "SOUVENANCE_WEBHOOK_SECRET": "hush-4"}
    for arguments in ((), ("--json",)):
        told = souvenance("config", "show", *arguments, home=home, settings=settings).out
        assert "hush" not in told
    found = shown(home=home, settings=settings)
    assert {found[name][0] for name in ("model_api_key", "store", "cap", "webhook_secret")} == {HIDDEN}
    assert found["embedder_api_key"][0] == "@/key"


def test_every_setting_that_holds_a_key_is_secret():
    named = {name for name in SETTINGS if re.search(r"key|secret|cap$|store$", name)}
    assert named == {name for name, one in SETTINGS.items() if one.secret}


@pytest.mark.parametrize(
    ("text", "told", "hint"),
    [
        ("index_md = 7", "index_md is not a setting", "Did you mean index_mb?"),
        ("qqq = 7", "qqq is not a setting", "'souvenance config show' lists all settings."),
        ("[model]\nname = 'x'", "model is not a setting", ""),
        ("index_mb = 'x'", "index_mb must be a whole number above 0, not 'x'", ""),
        ("index_mb = 1.5", "index_mb must be text, a whole number, true or false", ""),
        ("metrics = 'yes'", "metrics must be 0 or 1, not 'yes'", ""),
        ("log = 'loud'", "log must be one of text, requests, json, off, not 'loud'", ""),
        ("public_url = 'http://far'", "public_url must begin with https://", "Put TLS"),
        ("home = '/else'", "home can't be set in a file", "Use --home or SOUVENANCE_HOME."),
    ],
)
def test_what_is_wrong_in_the_file_is_told_by_file_and_key(home, file, text, told, hint):
    path = file(text)
    refused = souvenance("config", "show", "--json", home=home, exit_code=11).complaint()
    assert refused["error"] == "misconfigured"
    assert refused["detail"] == f"{path}: {told}"
    assert hint in refused["hint"]


def test_a_file_that_is_not_toml_is_told(home, file):
    path = file("index_mb 7")
    with pytest.raises(Misconfigured, match=f"{path} is not TOML"):
        settings_from({}, str(home))


def test_a_named_file_that_is_missing_is_told(home):
    refused = souvenance("status", "--config", "/no/such.toml", home=home, exit_code=11)
    assert refused.err.startswith("misconfigured: /no/such.toml can't be read")


def test_a_secret_in_a_file_that_others_can_read_is_refused(home, file):
    file('model_api_key = "k"', mode=0o644)
    refused = souvenance("config", "show", home=home, exit_code=11)
    assert "open to other users" in refused.err
    assert "chmod 600" in refused.err
    file("index_mb = 7", mode=0o644)
    assert shown(home=home)["index_mb"][0] == "7"


def test_a_file_that_others_can_change_or_own_is_refused(home, file):
    path = file('url = "http://elsewhere"', mode=0o622)
    assert "can be changed by other users" in souvenance("config", "show", home=home, exit_code=11).err
    if os.geteuid() == 0:
        path.chmod(0o644)
        os.chown(path, 12345, -1)
        assert "belongs to another user" in souvenance("config", "show", home=home, exit_code=11).err


def test_an_error_of_the_environment_is_not_told_as_one_of_the_file(home, file):
    file('embedder = "none"')
    with pytest.raises(Misconfigured, match=r"^SOUVENANCE_EMBEDDER_DIMENSIONS must"):
        settings_from({"SOUVENANCE_EMBEDDER_DIMENSIONS": "many"}, str(home))


def test_an_unknown_variable_suggests_the_one_that_was_meant(home):
    refused = souvenance("config", "show", home=home, settings={"SOUVENANCE_INDEX_MD": "7"}, exit_code=11)
    assert "SOUVENANCE_INDEX_MD is not a setting" in refused.err
    assert "Did you mean SOUVENANCE_INDEX_MB?" in refused.err


def test_a_token_in_the_file_is_the_one_that_is_used(home, file):
    souvenance("put", "hello", home=home)
    file('cap = "junk"')
    assert souvenance("get", "hello", home=home, exit_code=4).err.startswith("cap_malformed: ")


def test_the_example_on_the_page_is_a_settings_file(home, file):
    file(re.search(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.S)[1])
    assert settings_from({}, str(home)).index_mb == 512


def test_the_defaults_that_are_shown_are_those_that_hold(home):
    numbers = {one.variable: one.default for one in SETTINGS.values() if one.default.isdigit()}
    found, told = settings_from({}, str(home)), settings_from(numbers, str(home))
    assert told.index_mb == found.index_mb
    assert (told.limits, told.chat) == (found.limits, found.chat)
    assert (told.model, told.telemetry) == (found.model, found.telemetry)
    assert SETTINGS["log"].default == found.telemetry.log


def test_check_says_that_settings_can_be_used_and_makes_nothing(home):
    assert souvenance("config", "check", home=home).out == "ok: 2 settings given, the others by default\n"
    assert not home.exists()


def test_check_names_every_secret_file_that_can_t_be_read(home, tmp_path):
    key = tmp_path / "key"
    key.write_text("k")
    key.chmod(0o644)
    settings = {
        "SOUVENANCE_WEBHOOK_SECRET": "s",
        "SOUVENANCE_MODEL_API_KEY": f"@{key}",
        "SOUVENANCE_CHAT_BASE_URL": "http://127.0.0.1:1/v1",
        "SOUVENANCE_CHAT_API_KEY": f"@{tmp_path}/none",
    }
    failed = souvenance("config", "check", home=home, settings=settings, exit_code=11)
    assert f"{key} is open to other users" in failed.err and f"{tmp_path}/none is missing" in failed.err


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"SOUVENANCE_EMBEDDER": "/models/mine"}, "SOUVENANCE_EMBEDDER can't be '/models/mine'"),
        ({"SOUVENANCE_EMBEDDER": f"folder:/no/such#{'0' * 64}"}, "/no/such has no model.onnx"),
        ({"SOUVENANCE_EMBEDDER": "endpoint"}, "needs SOUVENANCE_EMBEDDER_BASE_URL"),
        ({"SOUVENANCE_OBJECTS": "s4://bucket"}, "SOUVENANCE_OBJECTS names neither a bucket nor a folder"),
        ({"SOUVENANCE_OBJECTS": "s3://bucket?zone=1"}, "SOUVENANCE_OBJECTS does not know 'zone'"),
    ],
)
def test_check_names_an_embedder_and_a_bucket_that_no_server_could_use(home, settings, told):
    assert told in souvenance("config", "check", home=home, settings=settings, exit_code=11).err
    assert not home.exists()


def test_check_makes_no_folder_for_objects(home, tmp_path):
    place = tmp_path / "objects"
    souvenance("config", "check", home=home, settings={"SOUVENANCE_OBJECTS": f"file://{place}"})
    assert not place.exists()


def test_check_refuses_a_bad_setting_as_every_command_does(home):
    failed = souvenance("config", "check", home=home, settings={"SOUVENANCE_LOG": "loud"}, exit_code=11)
    assert "SOUVENANCE_LOG" in failed.err
