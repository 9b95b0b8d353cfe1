"""Uploaded files become text, or are refused with a reason; nothing else happens."""

from __future__ import annotations

import codecs
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters import pdfs
from souvenance.adapters.document_reader import MOST_BYTES, Documents, PdfLimits
from souvenance.errors import FileTooLarge, InvalidInput, SouvenanceError, UnsupportedType

steady = settings(deadline=None, derandomize=True)
documents = Documents(pdf_bounds=PdfLimits(pages=40, characters=2_000, seconds=3))
hurried = Documents(pdf_bounds=PdfLimits(seconds=1))
"""For files that take all the time they are given."""
LETTER = "Olá Łukasz, 你好 🎉"


def refusal(data, media_type="application/pdf", filename=None, kind=InvalidInput, by=documents):
    with pytest.raises(kind) as refused:
        by.read(data, media_type, filename)
    assert type(refused.value) is kind
    return refused.value.detail


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (LETTER.encode(), "text/plain"),
        (LETTER.encode(), "text/markdown; charset=utf-8"),
        (codecs.BOM_UTF8 + LETTER.encode(), "text/plain"),
        (codecs.BOM_UTF16_LE + LETTER.encode("utf-16-le"), "text/plain"),
        (codecs.BOM_UTF16_BE + LETTER.encode("utf-16-be"), "text/plain; charset=utf-8"),
        (codecs.BOM_UTF32_LE + LETTER.encode("utf-32-le"), "text/csv"),
        (codecs.BOM_UTF32_BE + LETTER.encode("utf-32-be"), "TEXT/HTML"),
        (LETTER.encode("gb18030"), 'text/plain; format=flowed; charset="GB18030"'),
        (LETTER.encode(), "text/plain; charset=us-ascii"),
        (LETTER.encode(), "text/plain; charset=unicode_escape"),
        (LETTER.encode(), "text/plain; charset=no-such-thing"),
        ("\0".join(LETTER).encode(), "text/plain"),
    ],
    ids=[
        "utf-8",
        "declared",
        "bom",
        "16le",
        "16be",
        "32le",
        "32be",
        "gb",
        "wrong",
        "refused",
        "unknown",
        "nul",
    ],
)
def test_text_is_decoded_by_its_mark_its_charset_or_as_utf8(data, media_type):
    assert documents.read(data, media_type, None) == LETTER


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"caf\xe9 \x80 5 \x93quoted\x94", "café € 5 “quoted”"),
        (b"half \x81 known", "half � known"),
    ],
)
def test_text_that_is_not_utf8_is_taken_for_windows_1252(data, text):
    assert documents.read(data, "text/plain", "old.txt") == text


def test_bytes_that_are_no_text_in_any_encoding_are_refused():
    assert "not text" in refusal(b"\x89PNG\r\n\x1a\n\x00\x01\xff\xfe", "text/plain")


@pytest.mark.parametrize("data", [b"", b" \n\t ", b"\0\0", codecs.BOM_UTF8])
def test_a_file_without_text_is_refused(data):
    assert "no text" in refusal(data, "text/plain")


@pytest.mark.parametrize(
    "media_type", ["application/json", "application/ld+json", "application/json; charset=utf-8"]
)
def test_json_is_given_back_as_it_was_written(media_type):
    written = '{"b": [1, 2.50, null],\n "a": "Łódź"}\n'
    assert documents.read(written.encode(), media_type, None) == written


@pytest.mark.parametrize(
    "data",
    [b'{"a": 1', b"{'a': 1}", b"[1,]", b"[NaN]", b"{} {}", b"plain", b"\xff\xfe\xfd", b'"\x01"', b"[01]"],
)
def test_what_claims_to_be_json_and_is_not_is_refused(data):
    assert "JSON" in refusal(data, "application/json")


def test_json_nested_beyond_reason_is_refused():
    assert "nested" in refusal(b"[" * 1_000_000, "application/json")


@pytest.mark.parametrize(
    ("media_type", "filename"),
    [
        ("", "notes.txt"),
        ("application/octet-stream", "NOTES.MD"),
        ("application/octet-stream; x=y", "a.b.csv"),
        ("", "data.json"),
        ("text/x-anything", "picture.png"),
        ("application/x-ndjson", None),
    ],
)
def test_the_name_decides_where_the_type_says_nothing(media_type, filename):
    assert documents.read(b'{"a": 1}', media_type, filename) == '{"a": 1}'


@pytest.mark.parametrize(
    ("media_type", "filename"),
    [
        ("image/png", "a.png"),
        ("image/png", "really.txt"),
        ("application/zip", None),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "a.docx"),
        ("", "a.docx"),
        ("", "no suffix"),
        ("", ""),
        ("application/octet-stream", None),
        ("nonsense", None),
        ("multipart/form-data", "a.txt"),
    ],
)
def test_other_kinds_of_files_are_refused_by_name(media_type, filename):
    assert "not read" in refusal(b"some bytes", media_type, filename, UnsupportedType)


def test_a_file_may_be_as_large_as_the_limit_and_not_a_byte_larger():
    assert documents.read(b"a" * MOST_BYTES, "text/plain", None) == "a" * MOST_BYTES
    assert str(MOST_BYTES) in refusal(b"a" * (MOST_BYTES + 1), "text/plain", kind=FileTooLarge)


@given(
    st.binary(), st.sampled_from(["text/plain", "application/json", "", "text/x; charset=utf-16"]), st.text()
)
@steady
def test_any_bytes_are_read_or_refused(data, media_type, filename):
    try:
        text = documents.read(data, media_type, filename)
    except SouvenanceError:
        return
    assert text.strip()
    assert "\0" not in text
    text.encode()


@pytest.mark.parametrize(
    ("media_type", "filename"),
    [("application/pdf", None), ("application/octet-stream", "a.pdf"), ("", None), ("text/plain", "a.txt")],
)
def test_the_pages_of_a_pdf_are_read_in_order(media_type, filename):
    made = pdfs.with_pages(["Hello from Lisbon", "Second page"])
    assert documents.read(made, media_type, filename) == "Hello from Lisbon\n\nSecond page"


def test_a_packed_page_is_read():
    assert documents.read(pdfs.with_pages(["Packed"], packed=True), "application/pdf", None) == "Packed"


def test_a_pdf_that_needs_a_password_is_refused():
    assert "password" in refusal(pdfs.locked("secret"))


def test_a_pdf_that_anybody_may_open_is_read():
    assert "painting" in documents.read(pdfs.locked(""), "application/pdf", None)


def test_a_script_in_a_pdf_is_neither_run_nor_read():
    assert documents.read(pdfs.with_script(), "application/pdf", None) == "An innocent page."


def test_a_pdf_has_at_most_so_many_pages():
    assert documents.read(pdfs.many_pages(40), "application/pdf", None).count("Again.") == 40
    assert "more than 40 pages" in refusal(pdfs.many_pages(41))


def test_a_pdf_has_at_most_so_many_characters():
    assert "more than 2000 characters" in refusal(pdfs.with_pages(["x" * 900] * 3))


@pytest.mark.parametrize(
    "data",
    [pdfs.one_page(pdfs.stream(b"0 0 9 9 re f")), pdfs.with_pages(["Hello"]).replace(b"/Kids", b"/Kinds")],
    ids=["a picture", "no pages"],
)
def test_a_pdf_without_text_is_refused(data):
    assert "no text" in refusal(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"%PDF-1.7",
        b"%PDF-1.7\n" + b"\xff\0" * 500,
        b"no PDF at all",
        pdfs.with_pages(["Hello"])[:-200],
        pdfs.looping_tree(),
    ],
    ids=["empty", "head only", "rubbish", "text", "cut off", "looping tree"],
)
def test_a_damaged_pdf_is_refused(data):
    assert refusal(data).startswith("the PDF is damaged")


@pytest.mark.parametrize(
    ("made", "size", "by"),
    [(pdfs.inflating, 60, hurried), (pdfs.inflating, 200, documents), (pdfs.doubling_tree, 30, documents)],
    ids=["large once unpacked", "huge once unpacked", "2^30 pages"],
)
def test_a_pdf_that_asks_for_too_much_is_refused_and_harms_nobody(made, size, by):
    data = made(size)
    assert len(data) < MOST_BYTES
    assert refusal(data, by=by) in (
        "the PDF takes too long to read",
        "the PDF takes too much time or memory to read",
    )


@pytest.mark.parametrize(
    "data",
    [pdfs.doubling_forms(30), pdfs.looping_form(), pdfs.nested(200_000)],
    ids=["2^30 forms", "looping form", "nested"],
)
def test_a_page_that_never_ends_comes_to_an_end(data):
    refusal(data, by=hurried)


@pytest.mark.parametrize("tenth", range(1, 10))
def test_a_pdf_cut_off_anywhere_is_read_or_refused(tenth):
    made = pdfs.with_pages(["Hello", "there"], packed=True)
    try:
        assert "Hello" in documents.read(made[: len(made) * tenth // 10], "application/pdf", None)
    except InvalidInput as refused:
        assert refused.detail.startswith("the PDF")


def test_reading_text_loads_no_pdf_library():
    script = (
        "import sys\n"
        "from souvenance.adapters.document_reader import Documents\n"
        "Documents().read(b'text', 'text/plain', None)\n"
        "print({'pypdf', 'numpy', 'cryptography'} & set(sys.modules))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"
