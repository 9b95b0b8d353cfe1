"""A model whose vectors have much in common: that is taken off, so that unrelated texts lie apart."""

from __future__ import annotations

import struct

import pytest

from adapters import tiny_model
from adapters.embeddings import endpoint
from contracts.embedder_contract import TEXTS, components, likeness
from reference.embedder import ReferenceEmbedder
from souvenance.adapters.embed.choice import CentredEmbedder, choose
from souvenance.adapters.embed.local import packed
from souvenance.domain.embedding import EmbedderSettings
from souvenance.errors import Misconfigured


class Crowded(ReferenceEmbedder):
    """All its vectors point nearly the same way, as those of many models do."""

    def question(self, text):
        return packed([value + 0.5 for value in components(super().question(text))])


class Constant(ReferenceEmbedder):
    def question(self, text):
        return struct.pack("<64f", 1.0, *[0.0] * 63)


def test_unrelated_texts_lie_apart_and_the_same_text_where_it_was():
    question, (answer, other, _) = "going to Lisbon with my sister", TEXTS
    crowded, centred = Crowded(), CentredEmbedder(Crowded())
    assert likeness(crowded.question(question), crowded.passages([other])[0]) > 0.9
    assert likeness(centred.question(question), centred.passages([other])[0]) < 0.3
    assert likeness(centred.question(question), centred.passages([answer])[0]) > 0.5
    assert likeness(centred.question(question), centred.passages([question])[0]) == pytest.approx(1)


def test_where_nothing_is_left_the_vector_stays_as_it_is():
    assert CentredEmbedder(Constant()).question("tea") == Constant().question("tea")


def test_it_is_a_space_of_its_own_and_described_as_what_is_centred():
    assert CentredEmbedder(Crowded()).space != Crowded().space
    assert CentredEmbedder(Crowded()).description == Crowded().description


def test_what_all_have_in_common_is_asked_for_once():
    with endpoint() as server:
        embedder = choose(EmbedderSettings("endpoint", base_url=server.url, model="words", dimensions=64))
        try:
            for text in TEXTS:
                embedder.question(text)
        finally:
            embedder.close()
    assert [len(body["input"]) for _, _, body in server.asked] == [32, 1, 1, 1]


def test_an_endpoint_that_refused_is_asked_again():
    with endpoint() as server:
        server.scripts.append(lambda body: (404, {}))
        embedder = choose(EmbedderSettings("endpoint", base_url=server.url, model="words", dimensions=64))
        try:
            with pytest.raises(Misconfigured, match="404"):
                embedder.question("tea")
            assert embedder.question("tea")
        finally:
            embedder.close()


def test_a_model_of_one_s_own_is_centred_and_the_packaged_one_is_not(tmp_path):
    digest = tiny_model.lay_out(tmp_path / "own", ["tea", "milk"])
    assert isinstance(choose(EmbedderSettings(f"folder:{tmp_path / 'own'}#{digest}")), CentredEmbedder)
    assert not isinstance(choose(EmbedderSettings("packaged")), CentredEmbedder)
