"""fastembed: which models it has, and what is said where it can't fetch one."""

from __future__ import annotations

import pytest

from souvenance.adapters.embed.choice import FastEmbedder, choose
from souvenance.domain.embedding import EmbedderSettings
from souvenance.errors import Misconfigured, Unavailable

MODEL = "BAAI/bge-small-en-v1.5"


def test_it_is_chosen_by_the_name_of_its_model():
    embedder = choose(EmbedderSettings(f"fastembed:{MODEL}"))
    assert embedder.description == f"{MODEL}, by fastembed"
    assert embedder.dimensions == 384


def test_its_space_names_the_model_and_the_version():
    kind, version, model = FastEmbedder(MODEL).space.split("/", 2)
    assert (kind, model) == ("fastembed", MODEL)
    assert len(version.split(".")) == 2


def test_a_model_that_it_does_not_have_is_misconfigured():
    embedder = FastEmbedder("nobody/nothing")
    with pytest.raises(Misconfigured, match="nobody/nothing"):
        _ = embedder.dimensions
    with pytest.raises(Misconfigured):
        embedder.question("hello")


def test_weights_that_can_not_be_fetched_are_unavailable_and_not_tried_again_at_once(tmp_path):
    embedder = FastEmbedder(MODEL, cache_dir=str(tmp_path), local_files_only=True)
    with pytest.raises(Unavailable, match=MODEL) as first:
        embedder.question("hello")
    assert "connect this machine" in first.value.hint
    with pytest.raises(Unavailable) as second:
        embedder.passages(["hello"])
    assert second.value.__cause__ is None


def test_weights_that_are_broken_are_unavailable(tmp_path):
    (tmp_path / "model_optimized.onnx").write_bytes(b"broken")
    with pytest.raises(Unavailable):
        FastEmbedder(MODEL, specific_model_path=str(tmp_path)).question("hello")
