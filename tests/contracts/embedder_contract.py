"""The embedder's contract as tests, for any implementation of `souvenance.ports.embedder`.

    class TestMyEmbedder(EmbedderContract):
        @pytest.fixture(scope="class")
        @classmethod
        def embedder(cls) -> Iterator[Embedder]:
            embedder = MyEmbedder()
            yield embedder
            embedder.close()

One is enough for all the tests: what is heavy is loaded once.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.threads import often_interrupted
from souvenance.ports.embedder import MOST_AT_ONCE, Embedder

TEXTS = [
    "I am going to Lisbon with my sister this weekend.",
    "The build failed again: connection refused on port 5432.",
    "She plays the cello in a small orchestra.",
]
HOSTILE = [
    "",
    " \n\t ",
    "\x00",
    "\ud800",
    "[CLS] [SEP] [PAD] [UNK] [MASK]",
    "<|endoftext|>",
    "日本語のテキスト、東京へ行きます。",
    "한국어 문장",
    "👩‍👩‍👧‍👦🇵🇹",
    "e\u0301" * 50,
    "a" * 70_000,
    "word " * 14_000,
    " " * 70_000 + "end",
]
_NEAR = 1e-4
_EXAMPLES = 25


def components(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def likeness(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(components(one), components(other), strict=True))


class EmbedderContract:
    """What every embedder promises. Override `embedder`, which is used by several tests."""

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> Iterator[Embedder]:
        raise NotImplementedError("override the fixture 'embedder'")

    def test_its_space_and_its_description_are_one_line_and_stay(self, embedder: Embedder) -> None:
        for told in (embedder.space, embedder.description):
            assert told.strip() == told != ""
            assert len(told.splitlines()) == 1
        before = embedder.space
        embedder.question("hello")
        assert embedder.space == before

    def test_a_vector_has_its_dimensions_and_length_1(self, embedder: Embedder) -> None:
        for vector in (*embedder.passages(TEXTS), embedder.question(TEXTS[0])):
            assert len(components(vector)) == embedder.dimensions
            assert math.hypot(*components(vector)) == pytest.approx(1, abs=1e-5)

    def test_the_same_text_gives_the_same_vector_whatever_is_beside_it(self, embedder: Embedder) -> None:
        alone = [embedder.passages([text])[0] for text in TEXTS]
        together = embedder.passages([*TEXTS, "word " * 400, *reversed(TEXTS)])
        for one, other in zip([*alone, *reversed(alone)], [*together[:3], *together[4:]], strict=True):
            assert likeness(one, other) == pytest.approx(1, abs=_NEAR)

    def test_what_is_asked_in_the_words_of_a_text_is_nearest_to_it(self, embedder: Embedder) -> None:
        passages = embedder.passages(TEXTS)
        for at, text in enumerate(TEXTS):
            near = [likeness(embedder.question(text), passage) for passage in passages]
            assert near.index(max(near)) == at

    def test_no_texts_have_no_vectors(self, embedder: Embedder) -> None:
        assert embedder.passages([]) == []

    def test_it_takes_as_many_texts_as_it_may_be_given(self, embedder: Embedder) -> None:
        texts = [f"text {number}" for number in range(MOST_AT_ONCE)]
        found = embedder.passages(texts)
        assert len(found) == MOST_AT_ONCE
        assert likeness(found[200], embedder.passages([texts[200]])[0]) == pytest.approx(1, abs=_NEAR)

    def test_a_text_without_end_is_read_from_its_beginning(self, embedder: Embedder) -> None:
        begun = "the cat sat on the mat. " * 1000
        one, other = embedder.passages([begun + "completely different", begun + "quantum chromodynamics"])
        assert likeness(one, other) > 0.99

    @pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
    def test_any_text_has_a_vector(self, embedder: Embedder, text: str) -> None:
        for vector in (*embedder.passages([text]), embedder.question(text)):
            assert len(components(vector)) == embedder.dimensions
            assert math.hypot(*components(vector)) == pytest.approx(1, abs=1e-5)

    @settings(
        max_examples=_EXAMPLES,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.differing_executors],
    )
    @given(text=st.text(st.characters(codec=None), max_size=60))
    def test_any_generated_text_has_a_vector(self, embedder: Embedder, text: str) -> None:
        assert math.hypot(*components(embedder.question(text))) == pytest.approx(1, abs=1e-5)

    def test_many_threads_may_ask_at_once(self, embedder: Embedder) -> None:
        alone = embedder.passages(TEXTS)
        with often_interrupted(), ThreadPoolExecutor(6) as pool:
            found = list(pool.map(lambda number: embedder.passages([TEXTS[number % 3]])[0], range(24)))
        for number, vector in enumerate(found):
            assert likeness(vector, alone[number % 3]) == pytest.approx(1, abs=_NEAR)
