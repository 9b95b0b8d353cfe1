"""JSON arrays of any size, split into their elements in little memory."""

import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.adapters.importers import source_files as module
from souvenance.adapters.importers.source_files import elements
from souvenance.errors import ImportUnreadable

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


class Trickle(io.RawIOBase):
    """A file that gives a few bytes at a time, whatever is asked for."""

    def __init__(self, content, step):
        self._content = content
        self._step = step
        self._at = 0

    def read(self, size=-1):
        chunk = self._content[self._at : self._at + self._step]
        self._at += len(chunk)
        return chunk


def split(content, step=1 << 20):
    return list(elements(Trickle(content, step), "file"))


@given(st.lists(JSON), st.integers(1, 7), st.booleans(), st.sampled_from([None, 1]))
def test_an_array_comes_apart_into_its_elements_wherever_the_reading_stops(values, step, ascii_only, indent):
    content = json.dumps(values, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    assert [json.loads(one) for one in split(b"\xef\xbb\xbf" * (step > 3) + content, step)] == values


@given(st.lists(JSON, min_size=1), st.data())
def test_an_array_that_was_cut_off_is_never_taken_for_a_whole_one(values, data):
    content = json.dumps(values).encode()
    end = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(ImportUnreadable):
        split(content[:end])


@given(st.binary(max_size=60))
def test_bytes_are_split_or_refused(content):
    try:
        split(b"[" + content, 3)
    except ImportUnreadable as error:
        assert error.detail.startswith("file")


@pytest.mark.parametrize("content", [b"", b" \n\t ", b"\xef\xbb\xbf"])
def test_an_empty_file_is_said_to_be_empty(content):
    with pytest.raises(ImportUnreadable, match="empty"):
        split(content)


def test_an_array_ends_with_its_own_bracket():
    assert split(b"[]") == []
    with pytest.raises(ImportUnreadable, match="does not end as its array began"):
        split(b"[}")


def test_what_follows_the_array_is_refused():
    assert split(b"[1] \n ") == [b"1"]
    with pytest.raises(ImportUnreadable, match="goes on after"):
        split(b"[1] [2]")


def test_a_file_that_is_no_array_is_one_element_up_to_the_bound():
    assert split(b' {"a": 1}') == [b'{"a": 1}']
    with pytest.raises(ImportUnreadable, match="no JSON array"):
        list(elements(io.BytesIO(b'{"a": "' + b"x" * 100 + b'"}'), "file", most=50))


def test_an_element_beyond_the_bound_is_refused_before_it_is_read_whole():
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size=-1):
            self.given += 1
            return b'["' if self.given == 1 else b"x" * 1000

    endless = Endless()
    with pytest.raises(ImportUnreadable, match="element 1 is larger than 5000 bytes"):
        list(elements(endless, "file", most=5000))
    assert endless.given < 10


def test_memory_is_that_of_an_element_and_not_of_the_file(monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 16 * 1024)
    element = b'{"text": "' + b"words and words " * 600 + b'"},'

    class Long(io.RawIOBase):
        left = 2000

        def read(self, size=-1):
            self.left -= 1
            if self.left == 1999:
                return b"[" + element
            return element if self.left > 0 else b"1]" if self.left == 0 else b""

    tracemalloc.start()
    try:
        count = sum(1 for _ in elements(Long(), "file"))
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert count == 2000
