"""Files that were cut off, bent or made to hurt: each is refused by name, and nothing of it is kept."""

import json
import struct
import zipfile

import pytest

from importers.exports import ANN, NOW, conversation, said, written
from souvenance.adapters.importers import recognised
from souvenance.adapters.importers.json_files import ChatGPT, Jsonl, Mem0
from souvenance.commands import DataTransfers
from souvenance.domain.imports import ImportedMessage
from souvenance.errors import ImportUnreadable, ImportUnrecognised

TALK = conversation(said("hello"), said("hi", "assistant"))
FINE = json.dumps([TALK]).encode()


def with_time(time):
    return json.dumps([conversation(said("x", at=7))]).replace('"create_time": 7', f'"create_time": {time}')


BAD_EXPORTS = {
    "cut off": FINE[: len(FINE) // 2],
    "cut off after an element": FINE[:-1],
    "not JSON": b"[{'mapping': {}}]",
    "a number": b"7",
    "a list of lists": b"[[[]]]",
    "mapping is a list": json.dumps([{**TALK, "mapping": []}]).encode(),
    "a node is a text": json.dumps([{**TALK, "mapping": {"m0": "x"}}]).encode(),
    "parts are a text": json.dumps(
        [conversation(said("", content={"content_type": "text", "parts": "x"}))]
    ).encode(),
    "no id": json.dumps([{**TALK, "id": None, "conversation_id": None}]).encode(),
    "current_node leads nowhere": json.dumps([{**TALK, "current_node": "gone"}]).encode(),
    "a gigantic number": with_time("1" + "0" * 400).encode(),
    "a time after the end of time": with_time("1e18").encode(),
    "a time that is no number": with_time("NaN").encode(),
    "not UTF-8": FINE.replace(b"hello", b"\xff\xfe"),
    "nested without end": b"[" + b'{"mapping":' * 100_000,
    "nested deep": b"[" + b'{"mapping":{"a":' * 5_000 + b"1" + b"}}" * 5_000 + b"]",
}


@pytest.mark.parametrize("content", BAD_EXPORTS.values(), ids=BAD_EXPORTS)
def test_a_bad_export_is_refused_by_name(tmp_path, content):
    path = written(tmp_path / "conversations.json", content)
    with pytest.raises(ImportUnreadable) as caught:
        list(ChatGPT(path, ANN).records())
    assert caught.value.detail.startswith("conversations.json")
    caught.value.detail.encode()


def test_a_time_in_the_future_is_refused_before_anything_is_written(tmp_path, mine):
    later = NOW.timestamp() + 3 * 24 * 3600
    path = written(tmp_path / "conversations.json", [TALK, conversation(said("x", at=later), id="b")])
    with pytest.raises(ImportUnreadable, match="conversation 2, message m0: its time lies in the future"):
        mine.look_through(ChatGPT(path, ANN))
    assert mine.sessions() == []


def test_metadata_that_cannot_be_kept_is_refused_with_its_line(tmp_path, mine):
    huge = '{"role": "user", "content": "x", "metadata": {"n": 1' + "0" * 30 + "}}"
    deep = '{"role": "user", "content": "x", "metadata": ' + '{"a":' * 20 + "1" + "}" * 21
    for line in (huge, deep):
        path = written(tmp_path / "a.jsonl", b'{"role": "user", "content": "fine"}\n' + line.encode())
        with pytest.raises(ImportUnreadable, match=r"a\.jsonl, line 2: "):
            mine.look_through(Jsonl(path, ANN))


def test_nul_and_halves_of_characters_are_replaced_and_that_is_noted(tmp_path, mine):
    raw = FINE.replace(b"hello", rb"he\u0000l\ud800lo")
    path = written(tmp_path / "conversations.json", raw)
    first = next(one for one in ChatGPT(path, ANN).records() if isinstance(one, ImportedMessage))
    assert first.text == "he\ufffdl\ufffdlo"
    assert first.origin["mended"] is True
    mine.take(ChatGPT(path, ANN))
    stored = mine.messages("chatgpt-8f3a2b1c-0000-4000-8000-000000000001")[0]
    assert stored.content == "he\ufffdl\ufffdlo" and stored.metadata["imported"]["mended"] is True


def test_memories_of_wrong_types_are_refused(tmp_path):
    for value in ([{"memory": 7}], {"results": [{"memory": "x", "user_id": 7}]}, {"results": {}}, ["x"]):
        with pytest.raises(ImportUnreadable, match=r"memories\.json"):
            list(Mem0(written(tmp_path / "memories.json", value), ANN).records())


def zipped(path, members, **how):
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "name", ["../conversations.json", "/etc/conversations.json", "a/../../x.json", "..\\x.json", "C:\\x.json"]
)
def test_an_archive_whose_names_lead_out_of_it_is_refused(tmp_path, name):
    path = zipped(tmp_path / "export.zip", {"conversations.json": FINE, name: FINE})
    with pytest.raises(ImportUnreadable, match="leads out of it"):
        ChatGPT(path, ANN)


def test_a_zip_bomb_is_refused_before_it_is_read(tmp_path):
    bomb = b"[" + b" " * (80 * 1024 * 1024) + b"]"
    path = zipped(tmp_path / "b.zip", {"conversations.json": bomb}, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 200_000
    with pytest.raises(ImportUnreadable, match="more than 200 times"):
        list(ChatGPT(path, ANN).records())


def test_an_archive_that_lies_about_a_size_or_is_damaged_is_refused(tmp_path):
    path = zipped(tmp_path / "e.zip", {"conversations.json": FINE * 20}, compression=zipfile.ZIP_DEFLATED)
    whole = path.read_bytes()
    directory = whole.rindex(b"PK\x01\x02")
    lying = whole[: directory + 24] + struct.pack("<I", 40) + whole[directory + 28 :]
    damaged = whole[:80] + bytes([whole[80] ^ 255, whole[81] ^ 255]) + whole[82:]
    for content in (lying, damaged, whole[: len(whole) // 2], b"PK\x03\x04 and nothing more"):
        with pytest.raises(ImportUnreadable):
            list(ChatGPT(written(tmp_path / "bad.zip", content), ANN).records())


def test_an_encrypted_member_is_refused(tmp_path):
    path = zipped(tmp_path / "e.zip", {"conversations.json": FINE})
    raw = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + offset] |= 1
    with pytest.raises(ImportUnreadable, match="encrypted"):
        list(ChatGPT(written(tmp_path / "e.zip", bytes(raw)), ANN).records())


def test_a_zip_of_something_else_is_not_taken_for_an_export(tmp_path):
    path = zipped(tmp_path / "photos.zip", {"a.jpg": b"x"})
    with pytest.raises(ImportUnrecognised):
        DataTransfers().open_source(str(path), None, ANN)
    with pytest.raises(ImportUnreadable, match=r"no conversations\.json"):
        DataTransfers().open_source(str(path), "chatgpt", ANN)


@pytest.mark.parametrize(
    ("name", "content"),
    [("x.json", b"{}"), ("x.json", b'[{"a": 1}]'), ("x.json", b"[]"), ("x.txt", b"hello"), ("x", b"")],
)
def test_what_can_only_be_guessed_is_asked_for(tmp_path, name, content):
    with pytest.raises(ImportUnrecognised) as caught:
        DataTransfers().open_source(str(written(tmp_path / name, content)), None, ANN)
    assert "--from" in caught.value.hint


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"", "x.json is empty"),
        (b"{", "x.json: Input data was truncated"),
        (FINE[:-9], "x.json ends in the middle of element"),
        (FINE.decode().encode("utf-16"), "x.json: it is not text in UTF-8"),
        (FINE.replace(b"hello", b"h\xe9llo"), "x.json: it is not text in UTF-8"),
    ],
    ids=["empty", "cut off", "cut off in an array", "UTF-16", "Latin-1"],
)
def test_of_json_that_cannot_be_read_it_is_said_why_without_asking_what_it_is(tmp_path, content, wrong):
    with pytest.raises(ImportUnreadable, match=wrong):
        recognised(str(written(tmp_path / "x.json", content)))


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("conversations.json", FINE, "chatgpt"),
        ("one.json", json.dumps(TALK).encode(), "chatgpt"),
        ("m.json", b'[{"id": "1", "memory": "x"}]', "mem0"),
        ("m.json", b'{"results": []}', "mem0"),
        ("x.JSONL", b"", "jsonl"),
        ("MEMORY.md", b"", "markdown"),
    ],
)
def test_what_can_be_told_is_told(tmp_path, name, content, kind):
    assert DataTransfers().open_source(str(written(tmp_path / name, content)), None, ANN).kind == kind


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ImportUnreadable, match="No such file"):
        DataTransfers().open_source(str(tmp_path / "gone.json"), None, ANN)
