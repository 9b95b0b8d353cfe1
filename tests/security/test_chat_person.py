"""At the chat door nobody is told what somebody else said, by default."""

from __future__ import annotations

import re
import shlex

import openai
import pytest

from chat.stage import MODEL, a_stage
from surfaces.door import souvenance

PILLS = "I take sertraline pills every morning."
QUESTION = "Which pills do I take every morning?"


@pytest.fixture
def stage(home):
    with a_stage(home) as found:
        yield found


def client(stage, cap, **headers):
    return openai.OpenAI(
        base_url=f"{stage.url}/v1", api_key=cap, default_headers=headers or None, max_retries=0
    )


def ask(client, text, **more):
    answer = client.chat.completions.with_raw_response.create(
        model=MODEL, messages=[{"role": "user", "content": text}], **more
    )
    return answer.headers["x-souvenance-memory"]


def test_a_front_end_that_names_nobody_tells_bob_nothing_of_anna(stage, caplog):
    with client(stage, stage.front()) as front:
        assert ask(front, PILLS) == "no-person-named"
        assert ask(front, QUESTION) == "no-person-named"
    assert stage.heard() == QUESTION
    assert not stage._exists("default")
    said = [one.getMessage() for one in caplog.records if "names nobody" in one.getMessage()]
    assert len(said) == 1


def test_a_token_of_two_people_names_one_of_them_too(stage):
    with client(stage, stage.mint("front", peers=("anna", "bob"))) as front:
        assert ask(front, PILLS) == "no-person-named"
        assert ask(front, PILLS, user="anna") == "read-write"


def test_the_field_user_tells_anna_from_bob(stage):
    with client(stage, stage.front()) as front:
        assert ask(front, PILLS, user="anna") == "read-write"
        stage.texts(2)
        ask(front, QUESTION, user="bob")
        assert "sertraline" not in stage.heard()
        ask(front, QUESTION, user="anna")
        assert PILLS in stage.heard()


def test_a_token_of_one_person_is_that_person(stage):
    with client(stage, stage.mint("anna", peers=("anna",))) as anna:
        assert ask(anna, PILLS) == "read-write"
    assert stage.texts(2)[0] == ("anna", PILLS)


def test_a_header_and_a_field_that_differ_are_refused(stage):
    with client(stage, stage.front(), **{"X-Hermes-User-Id": "anna"}) as front:
        assert ask(front, PILLS) == "read-write"
        assert ask(front, PILLS, user="anna") == "read-write"
        with pytest.raises(openai.BadRequestError) as refused:
            ask(front, PILLS, user="bob")
    assert refused.value.code == "invalid_input"
    assert "Send one of them" in str(refused.value)


@pytest.mark.parametrize(
    ("ops", "told"),
    [
        (("chat", "put", "get"), "read-write"),
        (("chat", "get"), "read-only"),
        (("chat", "put"), "write-only"),
        (("chat",), "no-rights"),
    ],
)
def test_the_answer_says_what_memory_did(stage, ops, told):
    with client(stage, stage.mint("anna", ops=ops)) as anna:
        assert ask(anna, PILLS) == told


@pytest.mark.parametrize(
    ("ops", "lacks"),
    [(("chat", "get"), "'put'"), (("chat", "put"), "'get'"), (("chat",), "'get' and 'put'")],
)
def test_what_a_token_lacks_is_named_once_with_the_command_that_mints_the_right_one(
    stage, home, caplog, ops, lacks
):
    with client(stage, stage.mint("anna", ops=ops)) as anna:
        for _ in range(3):
            ask(anna, PILLS)
    [said] = [one.getMessage() for one in caplog.records if "does not grant" in one.getMessage()]
    assert f"does not grant {lacks}. " in said
    line = re.search(r"souvenance (cap mint .*) \(", said)[1]
    minted = souvenance(*shlex.split(line), home=home).out.strip()
    with client(stage, minted) as anna:
        assert ask(anna, PILLS) == "read-write"
