"""The first turn of a session, before there is one."""

from hermes.stage import Stage
from surfaces.door import serving


def test_it_leaves_no_refusal_in_the_log(tmp_path):
    with serving(tmp_path / "server") as server:
        host = {"apiKey": server.owner_cap, "sessionStrategy": "per-session"}
        stage = Stage(tmp_path, baseUrl=server.url, hosts={"hermes": host})
        stage.tell(stage.provider("s1"), "My sister Mia plays the cello.")
        assert "cello" in stage.recall(stage.provider("s2"), "What does Mia play?")
        auditor = server.client(server.mint("auditor", ["audit"], wid="hermes", peers=["*"]))
        rows = auditor.get("/v1/audit", params={"limit": 1000}).json()["rows"]
        assert "sessions.summaries" in {row["operation"] for row in rows}
        assert {row["outcome"] for row in rows} == {"ok"}
        stage.close()
