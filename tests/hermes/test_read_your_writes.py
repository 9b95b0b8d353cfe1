"""What was just written is found by Hermes' next request, by its meaning: nothing is flushed in between.
The packaged embedder is loaded."""

from __future__ import annotations

import pytest

from hermes.stage import PATIENCE_SECONDS, Stage
from processes import until
from souvenance.core import embedding_space
from surfaces.test_read_your_writes import ASKED, BESIDES, SAID

BEFORE = "The kitten sleeps on the sofa"


def searched(provider, question):
    return provider.handle_tool_call("souvenance_search", {"query": question})


@pytest.fixture
def stage(tmp_path, monkeypatch):
    """A line of long ago is found by its meaning: so the embedder is there. A busy machine may take longer
    for a vector than a question waits."""
    monkeypatch.setattr(embedding_space, "_SOON_SECONDS", PATIENCE_SECONDS)
    found = Stage(tmp_path)
    provider = found.provider("before")
    found.tell(provider, BEFORE)
    until(lambda: BEFORE in searched(provider, "where is the young cat?"))
    yield found
    found.close()


def say(provider):
    for text in (*BESIDES, SAID):
        provider.sync_turn(text, "I see.", session_id="")


@pytest.mark.parametrize("session", ["same", "next"])
def test_a_turn_is_recalled_in_the_next(stage, session):
    provider = stage.provider("same")
    say(provider)
    asking = provider if session == "same" else stage.provider(session)
    assert SAID in stage.recall(asking, ASKED, turn=4)


def test_a_turn_is_found_by_the_tool_at_once(stage):
    provider = stage.provider("same")
    say(provider)
    assert SAID in searched(provider, ASKED)


def test_what_one_tool_noted_another_finds(stage):
    provider = stage.provider("same")
    for text in (*BESIDES, SAID):
        provider.handle_tool_call("souvenance_conclude", {"conclusion": text})
    assert SAID in stage.recall(provider, ASKED)
