"""What the user took back is no longer remembered, whatever the host says next."""

import pytest

from hermes.hostdb import keep_transcript
from hermes.stage import Stage

TEA, KIM, ROME = "I like green tea.", "My secret love is Kim.", "I live in Rome."


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.close()


def of_user(*texts):
    return [{"role": "user", "content": text} for text in texts]


def talk(stage, provider, *texts, session="s1"):
    """Turn after turn, with what the host tells along."""
    for count, text in enumerate(texts, 1):
        provider.on_turn_start(count, text)
        stage.tell(provider, text, f"Answer {count}.", session, of_user(*texts[:count]))


def a_talk(stage, *texts, **told):
    provider = stage.provider(**told)
    talk(stage, provider, *texts)
    return provider


def undo(provider, session="s1"):
    provider.on_session_switch(session, parent_session_id="", reset=False, rewound=True)


def remembered(stage):
    stage.flush()
    return [text for texts in stage.sessions().values() for _, text in texts]


def goes_on(provider):
    provider.sync_turn("Good night.", "", session_id="s1", messages=of_user(TEA, "Good night."))


def goes_on_by_itself(provider):
    provider.sync_turn("Good night.", "", session_id="s1")


NEXT = {
    "a turn": goes_on,
    "a turn with nothing told along": goes_on_by_itself,
    "the end": lambda provider: provider.on_session_end(of_user(TEA)),
    "the end, with what was there before": lambda provider: provider.on_session_end(of_user(TEA, KIM)),
    "the end, with nothing told along": lambda provider: provider.on_session_end([]),
    "a new session": lambda provider: provider.on_session_switch("s2", parent_session_id="s1", reset=True),
    "another session": lambda provider: provider.on_session_switch("s2", reason="resume"),
    "a branch": lambda provider: provider.on_session_switch("s2", reason="branch"),
    "a compression": lambda provider: provider.on_pre_compress(of_user(TEA, ROME)),
    "the end of the process": lambda provider: provider.shutdown(),
}


@pytest.mark.parametrize("following", NEXT.values(), ids=NEXT.keys())
def test_it_is_forgotten_with_whatever_comes_next(stage, following):
    provider = a_talk(stage, TEA, KIM)
    undo(provider)
    following(provider)
    assert [text for text in remembered(stage) if text != "Good night."] == [TEA, "Answer 1."]


def test_of_two_equal_messages_the_later_is_forgotten(stage):
    provider = a_talk(stage, "Yes, do it.", "Yes, do it.")
    undo(provider)
    stage.tell(provider, "No.", "", messages=of_user("Yes, do it.", "No."))
    assert remembered(stage) == ["Yes, do it.", "Answer 1.", "No."]


def test_what_is_said_again_after_an_undo_stays(stage):
    provider = a_talk(stage, TEA, KIM)
    undo(provider)
    stage.tell(provider, KIM, "Once more.", messages=of_user(TEA, KIM))
    provider.on_session_end(of_user(TEA, KIM))
    assert remembered(stage) == [TEA, "Answer 1.", KIM, "Once more."]


ON_TELEGRAM = {"platform": "telegram", "user_id": "77", "gateway_session_key": "agent:main:telegram:dm:77"}


@pytest.mark.parametrize("told", [{}, ON_TELEGRAM], ids=["here", "on a gateway"])
def test_of_an_answer_that_was_tried_again_the_last_is_kept_though_the_host_tells_nobody(stage, told):
    provider = a_talk(stage, TEA, "Write a poem.", **told)
    for answer in ("A second.", "A third."):
        stage.tell(provider, "Write a poem.", answer, "s1", of_user(TEA, "Write a poem."))
    stage.tell(provider, ROME, "", "s1", of_user(TEA, "Write a poem.", ROME))
    assert remembered(stage) == [TEA, "Answer 1.", "Write a poem.", "A third.", ROME]


def test_what_is_said_twice_and_answered_twice_is_kept_twice(stage):
    provider = a_talk(stage, TEA, "Go on.", "Go on.")
    stage.tell(provider, "Go on.", "Answer 4.", "s1", of_user(TEA, "Go on.", "Go on.", "Go on."))
    assert remembered(stage).count("Go on.") == 3


def test_a_turn_that_was_never_written_is_undone_without_loss(stage):
    provider = a_talk(stage, TEA, ROME)
    undo(provider)
    stage.tell(provider, "Good night.", "", messages=of_user(TEA, ROME, "Good night."))
    assert TEA in remembered(stage)
    assert ROME in remembered(stage)


def test_a_gateway_that_tells_of_no_undo_has_it_forgotten_with_the_next_turn(stage):
    told = {"platform": "telegram", "user_id": "77", "gateway_session_key": "agent:main:telegram:dm:77"}
    a_talk(stage, TEA, KIM, **told)
    keep_transcript(stage, (TEA, 1, 0), (KIM, 0, 0))
    stage.tell(stage.provider(**told), ROME, "", "s1", of_user(TEA, ROME))
    assert remembered(stage) == [TEA, "Answer 1.", ROME]


def test_what_was_undone_on_a_gateway_is_forgotten_before_anybody_of_that_home_is_told_more(stage):
    told = {"platform": "telegram", "user_id": "77", "gateway_session_key": "agent:main:telegram:dm:77"}
    a_talk(stage, TEA, KIM, **told)
    keep_transcript(stage, (TEA, 1, 0), (KIM, 0, 0))
    elsewhere = stage.provider("s2", **(told | {"gateway_session_key": "agent:main:telegram:group:5"}))
    assert "Kim" not in stage.recall(elsewhere, "Who is my secret love?")
    assert remembered(stage) == [TEA, "Answer 1."]


ANYTHING = {
    "a turn of another": lambda provider: provider.sync_turn("", "", session_id="s2"),
    "the end of another": lambda provider: provider.on_session_end([]),
    "another that goes": lambda provider: provider.shutdown(),
}


@pytest.mark.parametrize("anything", ANYTHING.values(), ids=ANYTHING.keys())
def test_what_was_undone_on_a_gateway_is_forgotten_with_whatever_happens_next_in_its_process(stage, anything):
    told = {"platform": "telegram", "user_id": "77", "gateway_session_key": "agent:main:telegram:dm:77"}
    a_talk(stage, TEA, KIM, **told)
    keep_transcript(stage, (TEA, 1, 0), (KIM, 0, 0))
    anything(stage.provider("s2"))
    assert remembered(stage) == [TEA, "Answer 1."]


def test_a_chat_that_goes_on_while_others_are_looked_through_loses_nothing(stage):
    a_talk(stage, TEA, KIM)
    keep_transcript(stage, ("Undone long ago.", 0, 0), (TEA, 1, 0), (KIM, 1, 0), ("Being said.", 1, 0))
    stage.recall(stage.provider("s2"), "Who is my secret love?")
    stage.tell(stage.provider(), "Being said.", "", "s1", of_user(TEA, KIM, "Being said."))
    assert remembered(stage) == [TEA, "Answer 1.", KIM, "Answer 2.", "Being said."]


def test_what_a_gateway_has_compressed_without_a_word_is_not_taken_for_undone(stage):
    told = {"platform": "telegram", "user_id": "77", "gateway_session_key": "agent:main:telegram:dm:77"}
    a_talk(stage, TEA, KIM, **told)
    keep_transcript(stage, (TEA, 1, 0), ("Something undone before.", 0, 0), (KIM, 0, 1))
    stage.tell(stage.provider(**told), ROME, "", "s1", of_user(TEA, ROME))
    assert KIM in remembered(stage)


def test_two_talks_over_http_that_begin_alike_take_nothing_from_each_other(stage):
    told = {"platform": "api_server", "gateway_session_key": "user:42"}
    a_talk(stage, TEA, KIM, **told)
    stage.tell(stage.provider(**told), ROME, "", "s1", of_user(TEA, ROME))
    assert KIM in remembered(stage)


def test_what_was_compressed_is_not_taken_for_undone(stage):
    provider = a_talk(stage, TEA, ROME, KIM)
    provider.on_session_switch("s1", parent_session_id="s1", reason="compression")
    undo(provider)
    stage.tell(provider, "Good night.", "", messages=of_user("[Summary: tea]", ROME, "Good night."))
    assert remembered(stage) == [TEA, "Answer 1.", ROME, "Answer 2.", "Good night."]


def test_what_was_said_before_a_compression_can_be_undone_after_it(stage):
    provider = a_talk(stage, TEA, KIM)
    provider.on_session_switch("s2", parent_session_id="s1", reason="compression")
    undo(provider, "s2")
    stage.tell(provider, "Good night.", "", "s2", of_user("[Summary]", TEA, "Good night."))
    assert remembered(stage) == [TEA, "Answer 1.", "Good night."]


def test_it_is_forgotten_where_what_is_written_is_not_read(stage):
    stage.configure(namespaces={"read": ["travel"], "write": "personal"})
    provider = a_talk(stage, TEA, KIM)
    undo(provider)
    provider.on_session_end(of_user(TEA))
    assert remembered(stage) == [TEA, "Answer 1."]


def test_that_what_can_t_be_found_again_stays_is_said(stage, caplog):
    stage.configure(namespaces={"read": ["travel"], "write": "personal"})
    provider = stage.provider()
    provider.on_memory_write("add", "user", "Drinks green tea.")
    provider.on_memory_write("replace", "user", "Drinks coffee.", {"old_text": "green tea"})
    stage.flush()
    assert "what was replaced stays" in caplog.text


def test_what_several_undone_turns_were_is_read_in_the_host_s_transcript(stage):
    provider = a_talk(stage, TEA, KIM, ROME)
    keep_transcript(stage, (TEA, 1, 0), (KIM, 0, 0), (ROME, 0, 0))
    undo(provider)
    assert remembered(stage) == [TEA, "Answer 1."]
    provider.on_session_end(of_user(TEA, KIM, ROME))
    provider.shutdown()
    assert remembered(stage) == [TEA, "Answer 1."]


@pytest.mark.parametrize("rows", [[(TEA, 1, 0), (KIM, 1, 0)], [(TEA, 0, 1), (KIM, 1, 0)]])
def test_a_transcript_that_knows_of_no_undo_tells_nothing(stage, rows):
    provider = a_talk(stage, TEA, KIM)
    keep_transcript(stage, *rows)
    undo(provider)
    provider.on_session_end(of_user(TEA, KIM))
    assert remembered(stage) == [TEA, "Answer 1."]


def test_a_transcript_of_another_make_is_left_alone(stage):
    provider = a_talk(stage, TEA, KIM)
    (stage.home / "state.db").write_text("not a database")
    undo(provider)
    provider.on_session_end(of_user(TEA, KIM))
    assert remembered(stage) == [TEA, "Answer 1."]


def test_what_another_process_wrote_is_forgotten_when_it_is_undone(stage):
    a_talk(stage, TEA, KIM)
    undo(stage.anew().provider())
    stage.provider().on_session_end(of_user(TEA))
    assert remembered(stage) == [TEA, "Answer 1."]


def test_what_was_said_is_not_in_what_the_next_process_is_left(stage):
    a_talk(stage, TEA, KIM)
    (note,) = (stage.home / "souvenance" / "transcripts").iterdir()
    assert b"Kim" not in note.read_bytes()


@pytest.mark.parametrize("rows, left", [([(TEA, 1, 0), (KIM, 0, 0)], 1), ([(TEA, 1, 0)], 2)])
def test_in_a_resumed_talk_the_host_s_transcript_says_whether_a_turn_was_undone_or_lost(stage, rows, left):
    a_talk(stage, TEA, KIM)
    keep_transcript(stage, *rows)
    provider = stage.anew().provider()
    provider.on_turn_start(2, ROME)
    stage.tell(provider, ROME, "", "s1", of_user(TEA, ROME))
    assert len([text for text in remembered(stage) if text in (TEA, KIM)]) == left


def test_the_only_turn_of_a_conversation_leaves_no_empty_session_behind(stage):
    stage.configure(sessionStrategy="per-session")
    provider = a_talk(stage, KIM)
    undo(provider)
    provider.on_session_end([])
    stage.flush()
    assert stage.sessions() == {}


def test_a_session_in_which_something_was_noted_stays_when_its_only_turn_is_undone(stage):
    provider = a_talk(stage, KIM)
    provider.handle_tool_call("souvenance_conclude", {"conclusion": "Plays the viola."})
    undo(provider)
    provider.on_session_end([])
    stage.flush()
    assert "viola" in provider.handle_tool_call("souvenance_conclude", {"list": True})


def test_a_fact_noted_where_nothing_is_saved_leaves_no_empty_session_behind(stage):
    stage.configure(saveMessages=False)
    provider = stage.provider()
    provider.handle_tool_call("souvenance_conclude", {"conclusion": "Plays the viola."})
    provider.on_memory_write("add", "user", "Drinks green tea.")
    provider.sync_turn(TEA, "Fine.")
    stage.flush()
    assert stage.sessions() == {}
    assert "viola" in stage.provider("s2").handle_tool_call("souvenance_conclude", {"list": True})
