"""What the dashboard's tab and the desktop's pane are answered: of one profile's owner, through the gate."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from hermes.host_fake import SharedHost
from hermes.plugin_folder import FOLDER, PANE, pane
from hermes.stage import Stage
from souvenance.gate.conversation.conclusions import LIST_CONCLUSIONS, ListConclusions
from souvenance.gate.messages import AuditList
from souvenance.gate.operations import AUDIT
from souvenance.hermes_dashboard import answered
from souvenance.installation import open_installation
from souvenance.surfaces.cli.session import Shell
from surfaces.door import serving

SAID = ("I live in Porto.", "I moved to Lisbon, near the river.", "<img src=x onerror=alert(1)> was my test.")
NOTED = "Ann walks to work."


@pytest.fixture(scope="module")
def remembered(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("told"))
    provider = stage.provider("s1")
    for said in SAID:
        stage.tell(provider, said)
    provider.handle_tool_call("souvenance_conclude", {"conclusion": NOTED})
    provider.shutdown()
    stage.close()
    return stage.home


@pytest.fixture
def home(tmp_path, monkeypatch, remembered):
    home = tmp_path / "home"
    shutil.copytree(remembered, home)
    monkeypatch.setenv("HERMES_HOME", str(home))
    return home


def told(work, **given):
    status, content = answered(work, given)
    assert status == 200, content
    return content


def refused(work, **given):
    status, content = answered(work, given)
    assert set(content) == {"code", "detail", "hint"}
    return status, content["code"]


def card(page, observer="hermes"):
    [found] = [one for one in page["cards"] if one["observer"] == observer]
    return found


def facts(page):
    return [one["text"] for one in card(page)["facts"]]


def asked_by_owner(home, operation, request):
    shell = Shell(open_installation, None, home=str(home / "souvenance"), workspace="hermes")
    try:
        return shell.call(operation, request)
    finally:
        shell.close()


def log(home):
    return asked_by_owner(home, AUDIT, AuditList(0, 1000)).rows


def concluded(home):
    return asked_by_owner(home, LIST_CONCLUSIONS, ListConclusions(workspace_id="hermes", size=100)).items


class TestThePerson:
    def test_the_page_has_the_owner_s_facts_with_what_they_replaced_and_the_conclusions(self, home):
        page = told("person")
        assert (page["profile"], page["person"], page["agent"]) == ("default", "ann", "hermes")
        [living] = [one for one in card(page)["facts"] if one["text"].startswith("Home: Lisbon")]
        assert [old["value"] for old in living["earlier"]] == ["Porto"]
        assert NOTED in [one["content"] for one in card(page)["conclusions"]]
        assert [one["name"] for one in page["known"]["sessions"]] == [living["session"]]

    def test_a_fact_is_corrected_added_and_taken_off(self, home):
        [before] = [one for one in facts(told("person")) if one.startswith("Home:")]
        told("card", observer="hermes", before=before, after="Home: Faro")
        told("card", observer="hermes", after="Boat: Argo")
        assert {"Home: Faro", "Boat: Argo"} <= set(facts(told("person")))
        told("card", observer="hermes", before="Boat: Argo")
        assert "Boat: Argo" not in facts(told("person"))

    def test_a_conclusion_is_forgotten(self, home):
        [noted] = [one for one in card(told("person"))["conclusions"] if one["content"] == NOTED]
        told("forget", id=noted["id"])
        assert NOTED not in [one["content"] for one in card(told("person"))["conclusions"]]
        assert refused("forget", id=noted["id"]) == (404, "not_found")

    def test_the_gate_s_log_has_every_request_with_a_token_of_the_owner_alone(self, home):
        before = len(log(home))
        told("person")
        told("card", observer="hermes", after="Boat: Argo")
        made = log(home)[before:]
        assert {"inspect.facts", "inspect.person", "conclusions.list", "inspect.amend"} <= {
            row.operation for row in made
        }
        assert {row.actor for row in made if row.operation.startswith("inspect.")} == {"ann"}

    def test_nobody_is_told_anything_before_something_is_kept(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HERMES_HOME", str(tmp_path))
        assert (told("person")["person"], told("person")["cards"]) == ("", [])
        assert told("recall", message="Where do I live?")["text"] == ""
        assert refused("forget", id="01ARZ3NDEKTSV4RRFFQ69G5FAV") == (404, "not_found")
        assert not (tmp_path / "souvenance").exists()


class TestTheRecallLab:
    def test_it_shows_the_very_text_and_why_the_rest_is_left_out(self, home):
        tried = told("recall", message="Where do I live?")
        assert "I moved to Lisbon" in tried["text"]
        assert tried["tokens"] < tried["budget"] == 1200
        [moved] = [one for one in tried["messages"] if one["text"] == SAID[1]]
        assert moved["left_out"] == "" and moved["signals"]
        assert all(one["left_out"] in ("", *tried["why"]) for one in tried["messages"])

    def test_a_small_budget_leaves_out_what_does_not_fit(self, home):
        tried = told("recall", message="Where do I live?", tokens=60)
        assert tried["budget"] == 60
        assert tried["tokens"] < told("recall", message="Where do I live?")["tokens"]
        assert "budget" in [one["left_out"] for one in tried["messages"]]


class TestRefusals:
    @pytest.mark.parametrize(
        ("work", "given"),
        [
            ("recall", {"message": ""}),
            ("recall", {"message": "x" * 4001}),
            ("recall", {"message": "a", "tokens": 0}),
            ("recall", {"message": ["a"]}),
            ("recall", {}),
            ("person", {"peer": "bob"}),
            ("card", {"observer": "hermes"}),
            ("forget", {}),
        ],
    )
    def test_what_can_t_be_read_is_named(self, home, work, given):
        assert refused(work, **given) == (400, "invalid_input")

    def test_nobody_else_is_written_about(self, home):
        assert refused("card", observer="bob", after="Boat: Argo") == (403, "cap_scope_mismatch")

    def test_what_somebody_else_concluded_is_not_forgotten(self, home):
        stage = Stage(home.parent)
        bob = stage.provider("s9", "telegram", user_id="7", user_name="bob")
        stage.tell(bob, "I live in Oslo.")
        stage.close()
        oslo = [one for one in concluded(home) if "Oslo" in one.content and one.observer_id == "hermes"]
        [theirs] = oslo
        assert theirs.observed_id != "ann"
        assert "Oslo" not in json.dumps(told("person"))
        assert refused("forget", id=theirs.id) == (404, "not_found")
        assert "Oslo" not in json.dumps(told("recall", message="Who lives in Oslo?"))

    def test_a_configuration_that_does_not_work_says_what_to_do(self, home):
        (home / "souvenance.json").write_text("{")
        assert refused("person") == (500, "misconfigured")


class TestProfiles:
    def test_each_request_reads_the_profile_in_whose_turn_it_comes(self, monkeypatch, tmp_path, remembered):
        host = SharedHost(tmp_path / "launched").offer(monkeypatch)
        first, second = tmp_path / "profiles/first", tmp_path / "profiles/second"
        shutil.copytree(remembered, first)
        second.mkdir(parents=True)
        (second / "souvenance.json").write_text(json.dumps({"peerName": "eve"}))
        with host.turn(first):
            assert (told("person")["profile"], told("person")["person"]) == ("first", "ann")
        with host.turn(second):
            assert (told("person")["profile"], told("person")["person"]) == ("second", "")
            assert "Lisbon" not in json.dumps(told("recall", message="Where do I live?"))

    def test_a_process_of_the_plugin_s_own_gives_the_same_in_plain_data(self, home):
        script = "import json; from souvenance.hermes_dashboard import answered as ask; "
        script += "print(json.dumps(ask('person', {})))"
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert json.loads(ran.stdout) == json.loads(json.dumps([200, told("person")]))


def test_the_pane_is_the_tab():
    assert PANE.read_text("utf-8") == pane(), "Run: cd tests && python -m hermes.plugin_folder"
    imported = [line for line in pane().splitlines() if line.startswith("import ")]
    assert imported == ['import * as React from "react";']


def test_the_tab_s_files_are_those_that_its_manifest_names():
    manifest = json.loads((FOLDER / "dashboard/manifest.json").read_text("utf-8"))
    assert manifest["name"] == "souvenance"
    assert all((FOLDER / "dashboard" / manifest[name]).is_file() for name in ("entry", "api"))


class TestAServer:
    @pytest.fixture
    def far(self, tmp_path, monkeypatch):
        """A profile whose memory is on a server."""

        def profile(**settings):
            monkeypatch.setenv("HERMES_HOME", str(tmp_path))
            (tmp_path / "souvenance.json").write_text(
                json.dumps({"peerName": "ann", "hosts": {"hermes": settings}})
            )
            (tmp_path / "souvenance.json").chmod(0o600)

        return profile

    def test_honcho_s_shows_what_its_api_has_and_leaves_facts_to_be_changed_there(self, far, honcho):
        honcho.state("hermes", "ann", "Ann goes to Chengdu on May 25.")
        honcho.state("hermes", "bob", "Bob lives in Oslo.")
        honcho.of().cards["hermes", "ann"] = ["Lives in Porto."]
        far(baseUrl=honcho.url)
        page = told("person")
        assert (page["where"], page["editable"], page["known"]) == (honcho.url, False, None)
        assert facts(page) == ["Lives in Porto."]
        [noted] = card(page)["conclusions"]
        assert "May 25" in noted["content"] and "Oslo" not in json.dumps(page)
        tried = told("recall", message="When do I go to Chengdu?")
        assert "May 25" in tried["text"]
        assert (tried["tokens"], tried["messages"]) == (None, [])
        assert refused("card", observer="hermes", after="Boat: Argo") == (501, "unsupported")
        told("forget", id=noted["id"])
        assert card(told("person"))["conclusions"] == []

    def test_our_own_explains_its_search_too(self, far, remembered, tmp_path):
        shutil.copytree(remembered / "souvenance", tmp_path / "data")
        with serving(tmp_path / "data") as server:
            cap = (tmp_path / "data/owner.cap").read_text().strip()
            far(baseUrl=server.url, apiKey=cap, workspace="hermes")
            assert NOTED in json.dumps(told("person"))
            tried = told("recall", message="Where do I live?")
        assert SAID[1] in [one["text"] for one in tried["messages"] if not one["left_out"]]

    def test_one_that_does_not_answer_is_named(self, far):
        far(baseUrl="http://127.0.0.1:9", timeout=1)
        assert refused("recall", message="Where do I live?")[0] == 503
