"""The first turn of a session, before there is one."""

import pytest

from hermes.honcho_fake import LONGEST_HANG
from hermes.stage import PATIENCE_SECONDS, Stage
from hermes.theatre import QUESTION, WAIT, timed
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


@pytest.mark.parametrize("answers", [True, False], ids=["a server that answers", "a server that hangs"])
def test_in_a_cold_process_it_has_its_memory_within_the_wait_or_says_that_it_has_none(
    theatre, honcho, caplog, answers
):
    wait = PATIENCE_SECONDS if answers else WAIT
    theatre.configure(baseUrl=honcho.url, recallWait=wait)
    if not answers:
        honcho.hang()
    said, told = [], []
    provider = theatre.anew().provider(warning_callback=said.append)
    took = timed(lambda: told.append(theatre.recall(provider, QUESTION)))
    theatre.recall(provider, QUESTION, 2)
    assert took <= (wait if answers else LONGEST_HANG / 10)
    assert ("May 25" in told[0]) == answers
    missed = "Memory did not answer within 0.15 s; this turn goes without it."
    assert said == ([] if answers else [missed])
    assert (missed in caplog.text) == (not answers)


def test_that_memory_was_not_there_in_time_is_said_once_to_each_person(theatre, honcho, caplog):
    """Over HTTP the host makes a provider for every request."""
    theatre.configure(baseUrl=honcho.url, recallWait=WAIT)
    honcho.hang()
    theatre.stop_the_clock()
    said = []
    for turn, person in enumerate(("ann", "bob", "ann", "bob"), 1):
        key = {"platform": "api_server", "gateway_session_key": f"user:{person}"}
        theatre.recall(
            theatre.provider(warning_callback=lambda text, whom=person: said.append(whom), **key),
            QUESTION,
            turn,
        )
    assert said == ["ann", "bob"]
    assert caplog.text.count("this turn goes without it") == 2
