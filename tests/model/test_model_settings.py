"""Which model is asked for what is told by settings; without them nothing of it is even loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from souvenance.config import ModelEndpoint, settings_from
from souvenance.domain.model_budget import Allowance
from souvenance.errors import Misconfigured
from souvenance.settings import VARIABLES

URL = "http://127.0.0.1:9/v1"
COMMON = {"SOUVENANCE_MODEL_BASE_URL": URL, "SOUVENANCE_MODEL_NAME": "one", "SOUVENANCE_MODEL_API_KEY": "k"}


def model(**named):
    return settings_from(
        {**COMMON, **{f"SOUVENANCE_MODEL_{name}": value for name, value in named.items()}}
    ).model


def test_without_settings_there_is_no_model():
    assert settings_from({}).model.endpoints == {}


def test_one_endpoint_serves_every_task():
    assert model().endpoints == dict.fromkeys(
        ("derive", "summarise", "answer"), ModelEndpoint(URL, "one", "k")
    )


def test_a_task_may_have_a_model_of_its_own():
    found = model(ANSWER_NAME="large").endpoints
    assert (found["answer"].name, found["answer"].key, found["derive"].name) == ("large", "k", "one")


def test_a_task_may_go_without_a_model():
    assert set(model(DERIVE_BASE_URL="off").endpoints) == {"summarise", "answer"}


def test_a_key_is_for_the_address_that_it_was_given_for():
    found = model(ANSWER_BASE_URL="http://127.0.0.1:10/v1").endpoints["answer"]
    assert (found.url, found.name, found.key) == ("http://127.0.0.1:10/v1", "one", None)
    assert (
        model(ANSWER_BASE_URL="http://127.0.0.1:10/v1", ANSWER_API_KEY="own").endpoints["answer"].key == "own"
    )


def test_one_task_alone_may_have_a_model():
    environment = {"SOUVENANCE_MODEL_ANSWER_BASE_URL": URL, "SOUVENANCE_MODEL_ANSWER_NAME": "one"}
    assert set(settings_from(environment).model.endpoints) == {"answer"}


def test_budgets_are_settings_and_a_workspaces_is_the_whole_unless_it_is_told():
    found = model(CALLS_PER_HOUR="7", TOKENS_PER_DAY="900", WORKSPACE_CALLS_PER_HOUR="3")
    assert found.whole == Allowance(calls_per_hour=7, tokens_per_day=900)
    assert found.each == Allowance(calls_per_hour=3, tokens_per_day=900)


@pytest.mark.parametrize(
    "wrong",
    [
        {"NAME": ""},
        {"BASE_URL": "ftp://127.0.0.1/v1"},
        {"BASE_URL": "127.0.0.1:9"},
        {"BASE_URL": "http://user:secret@127.0.0.1/v1"},
        {"BASE_URL": "http://127.0.0.1/v1?key=secret"},
        {"CALLS_PER_HOUR": "0"},
        {"TOKENS_PER_DAY": "many"},
        {"TIMEOUT_SECONDS": "-1"},
        {"CONTEXT_TOKENS": "1.5"},
    ],
    ids=str,
)
def test_a_wrong_setting_is_told(wrong):
    with pytest.raises(Misconfigured) as raised:
        model(**wrong)
    assert "secret" not in raised.value.detail


def test_every_setting_of_a_model_is_known():
    assert sum(name.startswith("SOUVENANCE_MODEL_") for name in VARIABLES) == 24
    with pytest.raises(Misconfigured):
        settings_from({"SOUVENANCE_MODEL_NAMES": "one"})


OPEN = """
import sys
from souvenance import open_installation, settings_from
house = open_installation(settings_from(eval(sys.argv[2]), sys.argv[1]))
print(house.gate.reasoner, "httpx" in sys.modules, "souvenance.adapters.model" in sys.modules)
house.close()
"""


@pytest.mark.parametrize(
    ("environment", "told"),
    [({}, "quotes False False"), (COMMON, "model one True True")],
    ids=["none", "one"],
)
def test_what_speaks_to_a_model_is_loaded_only_for_one(tmp_path, environment, told):
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(tmp_path / "home"), repr(environment)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == told


def test_a_key_may_stand_in_a_file_that_is_the_owners_alone(tmp_path):
    file = tmp_path / "key"
    file.write_text("k\n")
    environment = {**COMMON, "SOUVENANCE_MODEL_API_KEY": f"@{file}"}
    for mode, fails in ((0o600, False), (0o644, True)):
        file.chmod(mode)
        done = subprocess.run(
            [sys.executable, "-c", OPEN, str(tmp_path / f"home{mode}"), repr(environment)],
            capture_output=True,
            text=True,
        )
        assert ("Misconfigured" in done.stderr) is fails
