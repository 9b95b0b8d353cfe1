"""What the model has before it is not given to it again as memory; what has left its window is."""

import pytest

from hermes.hostdb import keep_injected, keep_transcript
from souvenance.agents.transcript import CONTINUED

TRIP, DRAWER = "The flight to Chengdu is on May 25.", "My socks are in the drawer."
"""Nothing is noted from them: what a note tells is not told again as it was said."""
QUESTION = "When do I fly to Chengdu?"
EARLIER = "Said earlier"


def talk(stage, *texts, session="s1", platform="cli", **told):
    provider = stage.provider(session, platform, **told)
    for text in texts:
        stage.tell(provider, text, "I see.", session)


def passages(told):
    """The lines that are recalled as they were said, without what was answered."""
    said = [line.split(": ", 1)[1] for line in told.partition(EARLIER)[2].splitlines()[1:]]
    return [text for text in said if text != "I see."]


def resumed(stage, turn, session="s1", platform="cli", **told):
    return passages(stage.recall(stage.anew().provider(session, platform, **told), QUESTION, turn))


def test_a_chat_resumed_by_another_process_is_not_told_what_it_holds_already(stage):
    talk(stage, TRIP)
    assert resumed(stage, 2) == [TRIP]
    keep_transcript(stage, (TRIP, 1, 0))
    assert resumed(stage, 2) == []


@pytest.mark.parametrize("anew", [True, False])
def test_what_a_compression_took_out_of_the_window_comes_back(stage, anew):
    talk(stage, TRIP)
    keep_transcript(stage, (TRIP, 0, 1), ("[Summary: a journey.]", 1, 0))
    provider = (stage.anew() if anew else stage).provider()
    assert passages(stage.recall(provider, QUESTION, 3)) == [TRIP]


def test_what_was_said_in_another_chat_comes(stage):
    talk(stage, TRIP)
    keep_transcript(stage, (TRIP, 1, 0))
    keep_transcript(stage, (DRAWER, 1, 0), session="s2")
    assert resumed(stage, 2, "s2") == [TRIP]


def test_a_branch_is_not_told_what_it_took_along(stage):
    stage.configure(sessionStrategy="per-session")
    talk(stage, TRIP)
    keep_transcript(stage, (TRIP, 1, 0), session="s2")
    assert resumed(stage, 2, "s2") == []


def test_what_the_assistant_said_is_not_told_it_again(stage):
    answer = "You fly to Chengdu on May 25, from Rome."
    stage.tell(stage.provider(), "Look at my tickets.", answer, "s1")
    keep_transcript(stage, ("Look at my tickets.", 1, 0))
    assert answer in resumed(stage, 2)
    keep_transcript(stage, (answer, 1, 0), role="assistant")
    assert resumed(stage, 2) == []


def test_over_http_a_talk_that_begins_like_another_is_told_what_was_said_in_that_one(stage):
    told = {"platform": "api_server", "gateway_session_key": "user:42"}
    talk(stage, "Good morning.", TRIP, **told)
    keep_transcript(stage, ("Good morning.", 1, 0), (TRIP, 1, 0))
    assert resumed(stage, 3, **told) == []
    assert TRIP in resumed(stage, 1, **told)


def test_of_a_long_message_and_of_one_with_a_secret_each_piece_is_known_again(stage):
    stage.configure(messageMaxChars=200)
    long = f"{TRIP} {'And so on. ' * 30} {QUESTION} {'And on. ' * 30} My password is hunter2hunter2! {TRIP}"
    talk(stage, long)
    said = [text for texts in stage.sessions().values() for _, text in texts]
    assert [text for text in said if text.startswith(CONTINUED)]
    assert [text for text in said if "[redacted" in text]
    assert resumed(stage, 2)
    keep_transcript(stage, (long, 1, 0))
    assert resumed(stage, 2) == []


def test_content_in_parts_is_read_as_the_host_keeps_it(stage):
    talk(stage, TRIP)
    keep_transcript(stage, (f'\x00json:[{{"type": "text", "text": "{TRIP}"}}]', 1, 0))
    assert resumed(stage, 2) == []


def test_the_compressor_is_not_told_what_it_is_to_compress(stage):
    talk(stage, TRIP)
    keep_transcript(stage, (TRIP, 1, 0), (QUESTION, 1, 0))
    provider = stage.anew().provider()
    provider.on_turn_start(2, QUESTION)
    told = provider.on_pre_compress([{"role": "user", "content": QUESTION}])
    assert passages(told) == []


VIOLA = "Ann plays the viola."


@pytest.fixture
def noted(stage):
    stage.provider("s0").handle_tool_call("souvenance_conclude", {"conclusion": VIOLA})
    return stage.recall(stage.provider("s1"), "Which instrument do I play?", 1)


def test_a_noted_fact_is_told_once_while_the_model_has_it_before_it(stage, noted):
    assert VIOLA in noted
    keep_injected(stage, noted)
    assert stage.recall(stage.provider("s1"), "Which instrument do I play?", 2) == ""


def test_it_is_told_again_once_it_left_the_window_and_in_another_conversation(stage, noted):
    keep_injected(stage, noted, active=0)
    keep_injected(stage, "nothing", session="s1")
    keep_injected(stage, noted, session="s2")
    assert VIOLA in stage.recall(stage.provider("s1"), "Which instrument do I play?", 3)


QUESTION_HEARD = "Which instrument do I play?"


def noted_over_http(stage, session):
    """A session over HTTP in which the fact was told in its first turn."""
    told = {"platform": "api_server", "gateway_session_key": "user:42"}
    provider = stage.provider(session, **told)
    provider.handle_tool_call("souvenance_conclude", {"conclusion": VIOLA})
    keep_injected(stage, stage.recall(provider, QUESTION_HEARD), session=session)
    return lambda turn: stage.recall(stage.provider(session, **told), QUESTION_HEARD, turn)


def test_over_http_it_is_told_once_in_a_session_whose_history_the_host_keeps(stage):
    asked = noted_over_http(stage, "my-talk")
    assert asked(2) == ""


def test_it_is_told_again_to_callers_who_send_their_history_without_it(stage):
    asked = noted_over_http(stage, "api-0123456789abcdef")
    assert VIOLA in asked(2)


def test_it_is_told_again_once_a_turn_shows_that_a_caller_who_names_the_session_sends_the_history(stage):
    asked = noted_over_http(stage, "my-run")
    assert asked(2) == ""
    told = {"platform": "api_server", "gateway_session_key": "user:42"}
    history = [{"role": "user", "content": text} for text in ("Hello.", QUESTION_HEARD)]
    stage.tell(stage.provider("my-run", **told), QUESTION_HEARD, session="my-run", messages=history)
    assert VIOLA in asked(3)
