"""Every embedder keeps the embedder's contract."""

from __future__ import annotations

import pytest

from adapters import tiny_model
from adapters.embeddings import endpoint
from contracts.embedder_contract import TEXTS, EmbedderContract
from reference.embedder import ReferenceEmbedder
from souvenance.adapters.embed.choice import CentredEmbedder, EndpointEmbedder
from souvenance.adapters.embed.local import folder, packaged

WORDS = sorted({word.strip(".:").lower() for text in TEXTS for word in text.split()} | set("abcdefgh "))


class TestReference(EmbedderContract):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls):
        return ReferenceEmbedder()


class TestPackaged(EmbedderContract):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls):
        embedder = packaged()
        yield embedder
        embedder.close()


class TestFolder(EmbedderContract):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls, tmp_path_factory):
        place = tmp_path_factory.mktemp("tiny")
        yield folder(place, tiny_model.lay_out(place, WORDS))


class TestCentred(EmbedderContract):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls, tmp_path_factory):
        place = tmp_path_factory.mktemp("tiny")
        yield CentredEmbedder(folder(place, tiny_model.lay_out(place, WORDS)))


class TestEndpoint(EmbedderContract):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls):
        with endpoint() as server:
            embedder = EndpointEmbedder(server.url, "words", 64)
            yield embedder
            embedder.close()
