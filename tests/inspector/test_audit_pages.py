"""The pages of the audit log, in a real browser with JavaScript switched off."""

from __future__ import annotations

import json
import sqlite3
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from inspector.conftest import link_of
from inspector.scenes import OFF, csrf_of, put, say
from souvenance.domain.timestamps import to_datetime
from surfaces.door import serving


def test_the_audit_log_is_filtered_verified_and_held_against_a_checkpoint(server, window):
    put(server, "something to find in the log")
    page = window(accept_downloads=True, **OFF)
    page.goto(f"{server.url}/inspect/audit?w=default")
    with page.expect_download() as began:
        page.get_by_role("button", name="Download a checkpoint").click()
    saved = Path(began.value.path())
    page.get_by_label("What", exact=True).fill("stored a line")
    page.get_by_label("Who", exact=True).fill("owner")
    page.get_by_label("Outcome").select_option("allowed")
    page.get_by_role("button", name="Filter").click()
    rows = page.locator(".log tbody tr")
    expect(rows.first).to_contain_text("stored a line")
    assert all("stored a line" in row for row in rows.all_inner_texts())
    page.get_by_label("A checkpoint that you saved").set_input_files(saved)
    page.get_by_role("button", name="Verify the log").click()
    expect(page.get_by_role("heading", name="The log holds")).to_be_visible()
    expect(page.locator("main")).to_contain_text("are those of your checkpoint")
    page.get_by_role("link", name="Back to the log").click()
    page.get_by_text("Paste it instead").click()
    page.get_by_label("What is in the file").fill(saved.read_text())
    page.get_by_role("button", name="Verify the log").click()
    expect(page.locator("main")).to_contain_text("are those of your checkpoint")


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (b"not a checkpoint", "this is not a checkpoint"),
        (b"\xff\xfe\x00", "this is not a checkpoint"),
        (b"x" * 200_000, "larger than"),
    ],
    ids=["text", "bytes", "too large"],
)
def test_a_file_that_is_no_checkpoint_is_refused(server, visitor, sent, told):
    client = visitor()
    form = {"csrf": csrf_of(client), "w": "default"}
    answer = client.post("/inspect/audit/verify", data=form, files={"file": ("saved.json", sent)})
    assert answer.status_code in (400, 413)
    assert told in answer.text


@pytest.mark.parametrize("sent", [b"not a receipt", b"\xff\xfe\x00", b"e30.e30.e30"], ids=ascii)
def test_a_file_that_is_no_receipt_is_refused(server, visitor, sent):
    client = visitor()
    form = {"csrf": csrf_of(client)}
    answer = client.post("/inspect/audit/receipt", data=form, files={"file": ("receipt.jws", sent)})
    assert answer.status_code == 400
    assert "receipt" in answer.text


def test_a_receipt_that_somebody_altered_is_refused(server, visitor):
    client = visitor()
    line = put(server, "to be forgotten")
    receipt = server.owner.post("/v1/memory/forget", json={"id": line}).json()["receipt"]
    form = {"csrf": csrf_of(client)}
    for text, status in ((receipt, 200), (receipt[:-8] + "A" * 8, 400)):
        file = {"file": ("receipt.jws", text.encode())}
        assert client.post("/inspect/audit/receipt", data=form, files=file).status_code == status


def test_a_checkpoint_of_another_log_does_not_hold(server, visitor):
    client = visitor()
    form = {"csrf": csrf_of(client), "w": "default"}
    told = client.post("/inspect/audit/checkpoint", data=form).json()
    other = json.dumps({**told, "root": "00" * 32}).encode()
    answer = client.post("/inspect/audit/verify", data=form, files={"file": ("saved.json", other)})
    assert "The log does not hold" in answer.text


def test_the_audit_log_is_filtered_by_day_and_by_what_was_refused(server, visitor):
    token = server.mint("judy", ["list"], ["personal"], wid="default")
    client = visitor(token)
    assert client.get("/inspect/audit").status_code == 403
    owner = visitor()
    refused = owner.get("/inspect/audit", params={"w": "default", "actor": "judy", "outcome": "refused"})
    assert "refused: the token does not grant it" in refused.text
    past = owner.get("/inspect/audit", params={"w": "default", "until": "2020-01-01"})
    assert "No row matches" in past.text
    assert owner.get("/inspect/audit", params={"since": "someday"}).status_code == 400


def test_the_audit_log_is_filtered_by_the_minute(server, visitor):
    put(server, "the kettle is new")
    rows = server.owner.get("/v1/audit").json()["rows"]
    row = next(one for one in rows if one["operation"] == "memory.put")
    moment = to_datetime(row["at"])
    client = visitor()
    for minutes, found in ((0, True), (-1, False)):
        at = f"{moment + timedelta(minutes=minutes):%Y-%m-%dT%H:%M}"
        asked = {"w": "default", "operation": "memory.put", "since": at, "until": at}
        page = client.get("/inspect/audit", params=asked).text
        assert (f'<td class="number">{row["seq"]}</td>' in page) == found
        assert f'value="{at}"' in page


def test_the_whole_log_can_be_downloaded(server, visitor):
    client = visitor()
    answer = client.post("/inspect/audit/log", data={"csrf": csrf_of(client), "w": "default"})
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert [row["seq"] for row in rows] == list(range(len(rows)))
    assert "attachment" in answer.headers["content-disposition"]


def test_a_row_says_whose_lines_it_is_about_and_in_which_session(server, visitor):
    [said] = say(server, "keel", ("otto", "The keel is oak."))
    made = {"sub": "olive", "ops": ["get"], "namespaces_allowed": ["work"], "wid": "home"}
    server.owner.post("/v1/caps", json=made).raise_for_status()
    client = visitor()
    form = {"csrf": csrf_of(client)}
    address = f"/inspect/home/sessions/keel/messages/{said}/forget"
    for sure in ({}, {"sure": "yes"}):
        assert client.post(address, data={**form, **sure}).status_code == 200
    rows = client.get("/inspect/audit", params={"w": "home"}).text
    assert "stored messages of otto in the session keel" in rows
    assert "forgot a message of otto" in rows
    assert "only previewed: forgot a message" in rows
    assert "made a token for olive" in client.get("/inspect/audit").text


def test_signing_in_and_out_have_rows(server, visitor):
    client = visitor(server.mint("petra", ["get", "list", "audit"], wid="home"))
    client.post("/inspect/sign-out", data={"csrf": csrf_of(client)})
    rows = visitor().get("/inspect/audit", params={"w": "home", "actor": "petra"}).text
    assert "signed in to the pages" in rows
    assert "signed out of the pages" in rows


def test_a_log_that_somebody_altered_does_not_hold(tmp_path):
    with serving(tmp_path / "home", SOUVENANCE_EMBEDDER="none") as server:
        put(server, "a note")
        with sqlite3.connect(server.home / "souvenance.db") as store:
            store.execute("UPDATE audit SET actor = 'nobody' WHERE operation = 'memory.put'")
        store.close()
        with httpx.Client(base_url=server.url, trust_env=False, follow_redirects=True) as client:
            client.get(link_of(server))
            answer = client.post("/inspect/audit/verify", data={"csrf": csrf_of(client), "w": "default"})
    assert "The log does not hold" in answer.text
    assert "was altered" in answer.text
    assert "souvenance doctor" in answer.text


def test_who_sees_a_part_of_the_log_is_not_told_that_it_is_broken(server, visitor):
    token = server.mint("kim", ["get", "list", "audit"], ["personal"], wid="default")
    client = visitor(token)
    shown = client.get("/inspect/audit")
    assert shown.status_code == 200
    assert "only the whole can be verified" in shown.text
    for button in ("Verify the log", "Download the log"):
        assert button not in shown.text
        assert button in visitor().get("/inspect/audit").text
    answer = client.post("/inspect/audit/verify", data={"csrf": csrf_of(client)})
    assert answer.status_code == 403
    assert "only a part of the log" in answer.text
