"""A transcript that goes on: what was said under X-Hermes-Session-Id stands in for what a client left out."""

from __future__ import annotations

from chat.stage import MODEL, a_stage


def roles(stage):
    return [
        (one["role"], one["content"].partition("\n\n<memory-context>")[0])
        for one in stage.model.asked[-1].messages
    ]


def so_far(stage):
    """What the frame says of the conversation so far."""
    return stage.heard().partition("This conversation so far:\n")[2].partition("\n</memory-context>")[0]


def post(stage, cap, *messages, transcript="t-1", user="ann", **more):
    client = stage.client(cap, user_id=user, session_id=transcript)
    return client.post("/chat/completions", json={"model": MODEL, "messages": list(messages), **more})


def test_the_turns_so_far_stand_in_the_frame_of_the_new_message(stage, front):
    stage.say(front, "My cat is called Minka.", "A fine name.", user="ann", transcript="t-1")
    stage.say(front, "She is seven.", "Quite a cat.", user="ann", transcript="t-1")
    post(
        stage,
        front,
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How old is she?"},
    )
    assert roles(stage) == [("system", "Be brief."), ("user", "How old is she?")]
    assert so_far(stage).splitlines() == [
        "- The user said: My cat is called Minka.",
        "- The assistant said: A fine name.",
        "- The user said: She is seven.",
        "- The assistant said: Quite a cat.",
    ]
    assert stage.heard().count("Minka") == 1, "nothing is told twice"


def test_a_text_of_several_lines_keeps_them(stage, front):
    program = "Here:\n\ndef answer():\n    return 42"
    stage.say(front, "Write a program.", program, user="ann", transcript="t-1")
    answer = stage.say(front, "Make it shorter.", user="ann", transcript="t-1")
    assert so_far(stage).splitlines() == [
        "- The user said: Write a program.",
        "- The assistant said: Here:",
        "- … def answer():",
        "- …     return 42",
    ]
    assert answer.headers["x-souvenance-recalled"] == "0", "what was said so far is not counted"


def test_a_client_that_sends_the_turns_itself_gets_none_of_them_twice(stage, front):
    stage.say(front, "My cat is called Minka.", "A fine name.", user="ann", transcript="t-1")
    post(
        stage,
        front,
        {"role": "user", "content": "My cat is called Minka."},
        {"role": "assistant", "content": "A fine name."},
        {"role": "user", "content": "Is my cat called Minka, then?"},
    )
    assert len(roles(stage)) == 3
    assert "memory-context" not in stage.heard()


def test_a_transcript_is_of_one_person_and_one_key(stage, front):
    stage.say(front, "My cat is called Minka.", user="ann", transcript="t-1")
    stage.texts(2)
    post(stage, front, {"role": "user", "content": "hello there"}, user="bob")
    assert roles(stage) == [("user", "hello there")]
    assert so_far(stage) == ""
    post(stage, front, {"role": "user", "content": "hello there"}, transcript="t-2")
    assert roles(stage) == [("user", "hello there")]
    assert so_far(stage) == ""
    stage.say(front, "hello there", user="ann", key="k-1", transcript="t-1")
    assert roles(stage) == [("user", "hello there")]
    assert so_far(stage) == ""


def test_without_a_transcript_s_name_nothing_stands_in(stage, front):
    stage.say(front, "My cat is called Minka.", user="ann", key="k-1")
    stage.texts(2)
    stage.say(front, "hello there", user="ann", key="k-1")
    assert roles(stage) == [("user", "hello there")]
    assert so_far(stage) == ""


def test_a_cap_that_may_not_read_continues_with_nothing(stage):
    stage.say(stage.mint("ann"), "My cat is called Minka.", transcript="t-1")
    stage.texts(2)
    stage.say(stage.mint("ann", ops=("chat", "put")), "hello there", transcript="t-1")
    assert roles(stage) == [("user", "hello there")]
    assert so_far(stage) == ""


def test_a_long_text_comes_back_in_one_piece_and_the_budget_holds(home):
    with a_stage(home, transcript_tokens=30_000) as stage:
        front = stage.front()
        long = " ".join(f"word{number}" for number in range(5_000))
        stage.say(front, long, "Long.", user="ann", transcript="t-1")
        stage.texts(3)
        stage.say(front, "hello there", user="ann", transcript="t-1")
        assert so_far(stage) == f"- The user said: {long}\n- The assistant said: Long."
    with a_stage(home.with_name("other"), transcript_tokens=10) as stage:
        front = stage.front()
        stage.say(
            front, "My cat is called Minka and she is rather old by now.", "Ok.", user="ann", transcript="t-1"
        )
        stage.texts(2)
        stage.say(front, "hello there", user="ann", transcript="t-1")
        assert so_far(stage) == "- The assistant said: Ok."


def test_a_turn_that_is_still_being_written_is_waited_for(stage, front):
    for number in range(10):
        stage.say(front, f"Number {number}.", user="ann", transcript="t-1")
        assert so_far(stage).count("The user said: ") == number
