"""A transcript that goes on: what was said under X-Hermes-Session-Id stands in for what a client left out."""

from __future__ import annotations

from chat.stage import MODEL, a_stage


def roles(stage):
    return [
        (one["role"], one["content"].partition("\n\n<memory-context>")[0])
        for one in stage.model.asked[-1].messages
    ]


def post(stage, cap, *messages, transcript="t-1", user="ann", **more):
    client = stage.client(cap, user_id=user, session_id=transcript)
    return client.post("/chat/completions", json={"model": MODEL, "messages": list(messages), **more})


def test_the_turns_so_far_come_before_the_new_message_and_after_the_instructions(stage, front):
    stage.say(front, "My cat is called Minka.", "A fine name.", user="ann", transcript="t-1")
    stage.say(front, "She is seven.", "Quite a cat.", user="ann", transcript="t-1")
    post(
        stage,
        front,
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How old is she?"},
    )
    assert roles(stage) == [
        ("system", "Be brief."),
        ("user", "My cat is called Minka."),
        ("assistant", "A fine name."),
        ("user", "She is seven."),
        ("assistant", "Quite a cat."),
        ("user", "How old is she?"),
    ]
    fence = stage.heard().partition("<memory-context>")[2]
    assert "Minka" not in fence, "it is before the model already"


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
    post(stage, front, {"role": "user", "content": "hello there"}, transcript="t-2")
    assert roles(stage) == [("user", "hello there")]
    stage.say(front, "hello there", user="ann", key="k-1", transcript="t-1")
    assert roles(stage) == [("user", "hello there")]


def test_without_a_transcript_s_name_nothing_stands_in(stage, front):
    stage.say(front, "My cat is called Minka.", user="ann", key="k-1")
    stage.texts(2)
    stage.say(front, "hello there", user="ann", key="k-1")
    assert roles(stage) == [("user", "hello there")]


def test_a_cap_that_may_not_read_continues_with_nothing(stage):
    stage.say(stage.mint("ann"), "My cat is called Minka.", transcript="t-1")
    stage.texts(2)
    stage.say(stage.mint("ann", ops=("chat", "put")), "hello there", transcript="t-1")
    assert roles(stage) == [("user", "hello there")]


def test_a_long_text_comes_back_in_one_piece_and_the_budget_holds(home):
    with a_stage(home, transcript_tokens=30_000) as stage:
        front = stage.front()
        long = " ".join(f"word{number}" for number in range(5_000))
        stage.say(front, long, "Long.", user="ann", transcript="t-1")
        stage.texts(3)
        stage.say(front, "hello there", user="ann", transcript="t-1")
        assert roles(stage) == [("user", long), ("assistant", "Long."), ("user", "hello there")]
    with a_stage(home.with_name("other"), transcript_tokens=10) as stage:
        front = stage.front()
        stage.say(
            front, "My cat is called Minka and she is rather old by now.", "Ok.", user="ann", transcript="t-1"
        )
        stage.texts(2)
        stage.say(front, "hello there", user="ann", transcript="t-1")
        assert roles(stage)[-2:] == [("assistant", "Ok."), ("user", "hello there")]
        assert len(roles(stage)) == 2


def test_a_turn_that_is_still_being_written_is_waited_for(stage, front):
    for number in range(10):
        stage.say(front, f"Number {number}.", user="ann", transcript="t-1")
        assert len(roles(stage)) == 2 * number + 1
