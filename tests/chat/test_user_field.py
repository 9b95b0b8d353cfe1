"""OpenAI's own field for who speaks."""

from __future__ import annotations

import pytest

from chat.stage import CREDENTIALS, a_stage, asked


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with a_stage(tmp_path_factory.mktemp("chat") / "home", trusted=True) as found:
        yield found


@pytest.mark.parametrize(
    ("credential", "header", "field", "status", "speaker"),
    [
        ("a cap of everybody", None, "ann", 200, "ann"),
        ("a cap of everybody", "ann", "ann", 200, "ann"),
        ("a cap of everybody", "ann", None, 200, "ann"),
        ("a cap of everybody", "ann", "  ", 200, "ann"),
        ("a cap of everybody", "ann", "bob", 400, None),
        ("a cap of everybody", None, "a\nb", 400, None),
        ("a cap of everybody", None, "\n", 400, None),
        ("a cap of everybody", None, "\x85\x1c", 400, None),
        ("a cap of everybody", None, "a" * 257, 400, None),
        ("a cap of everybody", None, 7, 400, None),
        ("a cap of ann and bob", None, "bob", 200, "bob"),
        ("a cap of ann and bob", None, "carl", 403, None),
        ("ann's own cap", None, "ann", 200, "ann"),
        ("ann's own cap", None, "bob", 403, None),
        ("local", None, "ann", 403, None),
        ("nothing", None, "ann", 401, None),
    ],
)
def test_the_field_user_names_who_speaks(stage, credential, header, field, status, speaker):
    client = stage.client(CREDENTIALS[credential](stage), **({"user_id": header} if header else {}))
    answer = client.post("/chat/completions", json=asked("I like tea.", user=field))
    assert answer.status_code == status, answer.text
    if speaker is not None:
        assert stage.texts(2)[0] == (speaker, "I like tea.")
        assert stage.model.asked[-1].body["user"] == field


def test_a_server_can_be_told_to_take_no_notice_of_it(home):
    with a_stage(home, user_field=False) as stage:
        answer = stage.client(stage.mint("ann")).post(
            "/chat/completions", json=asked("I like tea.", user="x")
        )
        assert answer.status_code == 200
        assert stage.texts(2)[0] == ("ann", "I like tea.")
