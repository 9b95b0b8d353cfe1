"""`souvenance demo --fill` fills an empty data folder with the same believable memory each time."""

from __future__ import annotations

import re

import httpx

from inspector.conftest import link_of
from processes import run_souvenance, until
from souvenance.domain.names import DEFAULT_WORKSPACE
from surfaces.door import serving


def test_an_empty_folder_gets_people_agents_sessions_and_a_log_with_a_refusal(home):
    here = f"souvenance --home {home}"
    assert run_souvenance("--home", str(home), "demo", "--fill", home=home).stdout.splitlines() == [
        "stored 166 messages in 64 sessions, 7 notes and 4 tokens",
        f"See them: {here} serve, then {here} open in another terminal",
    ]
    with serving(home) as server:
        place = f"/v3/workspaces/{DEFAULT_WORKSPACE}"
        peers = server.owner.post(f"{place}/peers/list", json={}).json()["items"]
        assert {one["id"] for one in peers} == {"ann", "ben", "layla", "yuki", "hermes", "travel-agent"}
        card = server.owner.get(f"{place}/peers/ann/card").json()["peer_card"]
        assert {"Home: Porto", "Allergy: penicillin"} <= set(card)
        rows = server.owner.get("/v1/audit", params={"first": 0, "limit": 1000}).json()["rows"]
        assert ("travel-agent", "namespace_denied") in {(row["actor"], row["outcome"]) for row in rows}
        found = server.owner.post("/v1/memory/get", json={"query": "boiler pressure"}).json()["lines"]
        assert found[0]["text"] == "boiler pressure should be 1.8 bar, the plumber says"
        summed_up = server.owner.get(f"{place}/sessions/azores-plan/summaries").json()
        assert summed_up["short_summary"]["content"]
        queue = server.owner.get(f"{place}/queue/status").json()
        assert queue["pending_work_units"] == 0
        with httpx.Client(base_url=server.url, trust_env=False, follow_redirects=True) as client:
            client.get(link_of(server))
            assert "1 failed" in client.get("/").text
            assert len(re.findall("<bdi>ann</bdi></strong>", client.get("/inspect/access").text)) == 2
            work = client.get("/inspect/work").text
            assert "it was not delivered (the receiver answered 410), after 1 try" in work
            retry = re.search(r'action="(/inspect/work/jobs/\d+/retry)"', work)[1]
            csrf = re.search(r'name="csrf" value="([^"]+)"', work)[1]
            assert client.post(retry, data={"csrf": csrf}).status_code == 200
            until(lambda: "No job failed for good." in client.get("/inspect/work").text)


def test_a_folder_with_memory_is_left_as_it_is(home):
    run_souvenance("put", "mine", home=home)
    refused = run_souvenance("demo", "--fill", home=home, exit_code=7)
    assert "has memory already" in refused.stderr
    listed = run_souvenance("list", home=home).stdout
    assert len(re.findall(r"mine", listed)) == 1


def test_a_server_is_not_filled(home):
    refused = run_souvenance("--url", "http://127.0.0.1:9", "demo", "--fill", home=home, exit_code=3)
    assert "data folder" in refused.stderr
