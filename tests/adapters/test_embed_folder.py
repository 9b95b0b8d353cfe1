"""A model of the user's own: named by its digest, read as its folder says."""

from __future__ import annotations

import json

import pytest

from adapters import tiny_model
from contracts.embedder_contract import likeness
from souvenance.adapters.embed.choice import choose
from souvenance.adapters.embed.local import folder
from souvenance.domain.embedding import EmbedderSettings
from souvenance.errors import Misconfigured, Tampered

WORDS = ["tea", "milk", "query", "passage", ":", "i", "like"]


@pytest.fixture
def place(tmp_path):
    return tmp_path / "tiny-model"


@pytest.fixture
def digest(place):
    return tiny_model.lay_out(place, WORDS)


def write(path, told):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(told if isinstance(told, str) else json.dumps(told), "utf-8")


def test_a_folder_is_chosen_by_its_path_and_the_digest_of_its_model(place, digest):
    embedder = choose(EmbedderSettings(f"folder:{place}#{digest.upper()}"))
    assert embedder.description == "tiny-model, from a folder"
    assert embedder.dimensions == tiny_model.DIMENSIONS
    assert len(embedder.question("tea")) == 4 * tiny_model.DIMENSIONS


@pytest.mark.parametrize("name", ["{place}", "{place}#", "{place}#abc", "#{digest}", "{place}#" + "g" * 64])
def test_a_folder_without_a_digest_is_refused(place, digest, name):
    with pytest.raises(Misconfigured) as caught:
        choose(EmbedderSettings("folder:" + name.format(place=place, digest=digest)))
    assert "sha256sum" in caught.value.hint


def test_a_model_with_another_digest_is_refused_before_it_is_loaded(place, digest):
    embedder = folder(place, digest)
    content = bytearray((place / "model.onnx").read_bytes())
    content[-1] ^= 1
    (place / "model.onnx").write_bytes(content)
    with pytest.raises(Tampered) as caught:
        embedder.question("tea")
    assert digest in caught.value.detail


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_what_is_missing_is_named_at_the_start(place, digest, missing):
    (place / missing).unlink()
    with pytest.raises(Misconfigured) as caught:
        folder(place, digest)
    assert missing in caught.value.detail


def test_the_first_token_counts_where_the_model_was_trained_so(place, digest):
    mean = folder(place, digest)
    write(
        place / "1_Pooling" / "config.json",
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False, "word_embedding_dimension": 16},
    )
    first = folder(place, digest)
    assert first.question("tea") == first.question("milk")
    assert mean.question("tea") != mean.question("milk")
    assert first.space != mean.space


def test_a_question_and_a_passage_begin_as_the_model_was_trained(place, digest):
    plain = folder(place, digest)
    write(
        place / "config_sentence_transformers.json", {"prompts": {"query": "query: ", "passage": "passage: "}}
    )
    prompted = folder(place, digest)
    assert prompted.question("tea") == plain.question("query: tea")
    assert prompted.passages(["tea"]) == plain.passages(["passage: tea"])
    assert prompted.space != plain.space


def test_another_vocabulary_is_another_space(place, digest):
    before = folder(place, digest).space
    assert folder(place, digest).space == before
    tiny_model.lay_out(place, [*WORDS[1:], WORDS[0]])
    assert folder(place, digest).space != before


def test_a_folder_by_another_name_is_the_same_space(place, digest):
    before = folder(place, digest).space
    moved = place.rename(place.with_name("moved"))
    assert folder(moved, digest).space == before


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("1_Pooling/config.json", "not json"),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": "yes"}),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": True}),
        ("config_sentence_transformers.json", {"prompts": 5}),
    ],
)
def test_settings_that_are_not_understood_are_refused(place, digest, name, told):
    write(place / name, told)
    with pytest.raises(Misconfigured):
        folder(place, digest)


def test_a_tokenizer_that_is_none_is_refused(place, digest):
    (place / "tokenizer.json").write_text("{}")
    with pytest.raises(Misconfigured, match=r"tokenizer\.json"):
        folder(place, digest).question("tea")


def test_a_model_that_wants_more_than_text_is_refused(place):
    digest = tiny_model.lay_out(place, WORDS, wants="pixel_values")
    with pytest.raises(Misconfigured, match="pixel_values"):
        folder(place, digest).question("tea")


def test_what_is_no_model_is_refused(place, digest):
    from hashlib import sha256

    (place / "model.onnx").write_bytes(b"no model")
    with pytest.raises(Misconfigured, match="can't be run"):
        folder(place, sha256(b"no model").hexdigest()).question("tea")


def test_shared_words_make_texts_alike(place, digest):
    embedder = folder(place, digest)
    tea, milk = embedder.passages(["i like tea", "milk"])
    assert likeness(embedder.question("tea"), tea) > likeness(embedder.question("tea"), milk)
