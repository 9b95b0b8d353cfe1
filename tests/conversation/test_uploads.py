"""Files whose text becomes messages: text, JSON and PDF, within limits; or a refusal, and nothing stored."""

from __future__ import annotations

import json

import pytest

from adapters import pdfs
from souvenance.domain.limits import Limits
from souvenance.ports.store import TurnQuery

MOST_CHARS = 25_000
MOST_BYTES = Limits().file_bytes


def upload(speaker, content, name="notes.txt", kind="text/plain", session="s", **fields):
    data = {"peer_id": "alice", **fields}
    path = f"/sessions/{session}/messages/upload"
    return speaker.ask("POST", path, files={"file": (name, content, kind)}, data=data)


def refused(answer):
    return answer.status_code, answer.json()["error"]


def test_a_text_file_becomes_a_message_of_its_peer(owner):
    answer = upload(owner, "Grüße aus Tromsø".encode())
    assert answer.status_code == 201
    [said] = answer.json()
    assert (said["content"], said["peer_id"], said["session_id"]) == ("Grüße aus Tromsø", "alice", "s")
    assert owner.messages("s") == [said]
    assert owner.members("s") == ["alice"]


def test_a_json_file_is_kept_as_it_was_written(owner):
    text = '{"name": "Ann",\n "pets": ["Rex"]}'
    upload(owner, text.encode(), "a.json", "application/json")
    assert owner.texts("s") == [text]


def test_a_pdf_s_pages_are_read(owner):
    upload(owner, pdfs.with_pages(["The first page", "The second page"]), "a.pdf", "application/pdf")
    told = "\n".join(owner.texts("s"))
    assert told.index("The first page") < told.index("The second page")


def test_a_long_text_becomes_several_messages_that_together_say_it_all(owner):
    sentences = [f"This is the sentence with the number {number}." for number in range(2000)]
    answer = upload(owner, " ".join(sentences).encode())
    parts = [one["content"] for one in answer.json()]
    assert len(parts) > 2
    assert max(map(len, parts)) <= MOST_CHARS
    assert " ".join(parts).split() == " ".join(sentences).split()
    assert owner.texts("s") == parts


def test_what_a_file_says_is_found_and_nothing_is_concluded_from_it(stage, owner):
    upload(owner, b"My name is Ann. I have a dog called Rex.")
    stage.rest()
    assert owner.search("", "Rex") == ["My name is Ann. I have a dog called Rex."]
    assert owner.held() == []
    assert owner.card() is None


def test_what_a_file_says_takes_the_place_of_nothing_that_was_said(stage, owner):
    owner.say("s", "My name is Ann.")
    upload(owner, b"My name is Mallory.")
    stage.rest()
    assert owner.card() == ["Name: Ann"]


def test_a_file_stays_a_file_in_a_clone_and_when_its_peer_is_deleted(stage, owner):
    upload(owner, b"My name is Ann.")
    made = owner.told("POST", "/sessions/s/clone")["id"]
    assert [one["content"] for one in owner.messages(made)] == ["My name is Ann."]
    with stage.world.store.read() as tx:
        assert {line.kind for line in tx.lines.turns(TurnQuery("w", made))} == {"document"}
    owner.told("DELETE", "/peers/alice", params={"keep_messages": "true"})
    assert owner.texts("s") == ["My name is Ann."]


def test_metadata_time_and_configuration_come_as_fields_of_the_form(stage, owner):
    fields = {
        "metadata": json.dumps({"origin": "mail"}),
        "configuration": json.dumps({"reasoning": {"enabled": False}}),
        "created_at": "2020-02-03T04:05:06Z",
    }
    [said] = upload(owner, b"My name is Ann.", **fields).json()
    assert (said["metadata"], said["created_at"]) == ({"origin": "mail"}, "2020-02-03T04:05:06Z")
    stage.rest()
    assert owner.held() == []


@pytest.mark.parametrize("size", [MOST_BYTES + 1, MOST_BYTES + 200_000, 3 * MOST_BYTES])
def test_a_file_that_is_too_large_is_413(owner, size):
    owner.open("sessions", "s")
    assert refused(upload(owner, b"x" * size)) == (413, "file_too_large")
    assert owner.messages("s") == []


def test_a_file_of_the_largest_size_is_taken(owner):
    answer = upload(owner, b"word " * (MOST_BYTES // 5))
    assert answer.status_code == 201
    assert len(answer.json()) >= MOST_BYTES // MOST_CHARS


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.png", "image/png"),
        ("a.exe", "application/x-msdownload"),
        ("a.zip", "application/zip"),
        ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("a", "application/octet-stream"),
    ],
)
def test_a_file_of_another_kind_is_415(owner, name, kind):
    owner.open("sessions", "s")
    assert refused(upload(owner, b"\x89PNG\r\n\x1a\n\0\0", name, kind)) == (415, "unsupported_type")
    assert owner.messages("s") == []


@pytest.mark.parametrize(
    "content",
    [b"%PDF-1.7\nnot at all", b"%PDF", b"", pdfs.with_pages(["page"])[:80], b"\0" * 5000],
    ids=["no objects", "a head", "nothing", "cut off", "zeros"],
)
def test_a_broken_pdf_is_422(owner, content):
    owner.open("sessions", "s")
    assert refused(upload(owner, content, "a.pdf", "application/pdf")) == (422, "invalid_input")
    assert owner.messages("s") == []


@pytest.mark.parametrize("content", [b"{not json", b'{"a": }', b""], ids=str)
def test_broken_json_is_422(owner, content):
    assert refused(upload(owner, content, "a.json", "application/json")) == (422, "invalid_input")


@pytest.mark.parametrize("content", [b"", b"   \n\n "], ids=["nothing", "blanks"])
def test_a_file_without_a_word_is_422_and_makes_no_message(owner, content):
    owner.open("sessions", "s")
    assert refused(upload(owner, content)) == (422, "invalid_input")
    assert owner.messages("s") == []


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": "{"},
        {"metadata": "[1]"},
        {"configuration": "no"},
        {"created_at": "soon"},
        {"peer_id": "a b"},
    ],
    ids=str,
)
def test_fields_that_can_not_be_read_are_422_and_nothing_is_stored(owner, fields):
    owner.open("sessions", "s")
    assert refused(upload(owner, b"text", **fields)) == (422, "invalid_input")
    assert owner.messages("s") == []


def test_a_form_without_a_file_or_no_form_at_all_is_422(owner):
    path = "/sessions/s/messages/upload"
    assert owner.code("POST", path, data={"peer_id": "alice"}) == (422, "invalid_input")
    assert owner.code("POST", path, {"peer_id": "alice"}) == (422, "invalid_input")
    assert owner.code("POST", path, files={"file": ("a.txt", b"text")}) == (422, "invalid_input")
    broken = {"content": b"--x\r\ngarbage", "headers": {"content-type": "multipart/form-data; boundary=x"}}
    assert owner.code("POST", path, **broken) == (422, "invalid_input")


def test_a_file_is_not_looked_at_for_someone_who_may_not_write(stage):
    nobody = stage.speaker(stage.key(peer_id="zoe"))
    answer = upload(nobody, b"%PDF broken", "a.pdf", "application/pdf")
    assert refused(answer) == (401, "cap_scope_mismatch")
