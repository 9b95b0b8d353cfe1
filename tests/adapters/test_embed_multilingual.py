"""A multilingual model that a user places in a folder: what is asked in one language is found in another."""

from __future__ import annotations

import json

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from adapters import tiny_model
from contracts.embedder_contract import likeness
from souvenance.adapters.embed.local import folder
from souvenance.config import settings_from
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import open_installation

SAME = [("wie", "is"), ("mein", "my"), ("hund", "dog"), ("heißt", "called"), ("zug", "train"), ("犬", "dog")]
LINES = ("my dog is called Rex", "the train was late again", "we had soup for lunch")


@pytest.fixture
def place(tmp_path):
    """A folder as publishers of multilingual models lay it out: a Unigram tokenizer, and prefixes."""
    return tmp_path / "tiny-multilingual"


@pytest.fixture
def digest(place):
    english = sorted({word for line in LINES for word in line.lower().split()})
    digest = tiny_model.lay_out(place, [*english, "▁"])
    ids = {word: at for at, word in enumerate([*tiny_model.MARKS, *english])}
    pieces = [(word, -1.0) for word in ids]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=1))
    replaced = [normalizers.Replace(foreign, known) for foreign, known in SAME]
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *replaced])
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(place / "tokenizer.json"))
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    (place / "config_sentence_transformers.json").write_text(json.dumps(prompts), "utf-8")
    return digest


def test_words_of_two_languages_lie_in_one_space(place, digest):
    embedder = folder(place, digest)
    [dog, train] = embedder.passages(["dog", "train"])
    asked = embedder.question("Hund")
    assert likeness(asked, dog) > likeness(asked, train)


def found(installation, question):
    call = installation.gate.call
    got = call(o.GET, Credentials(installation.owner_cap), m.Get(query=question, k=1, explain=True))
    [line] = got.lines
    return line.text, "meaning" in line.explanation.signals


@pytest.mark.parametrize("question", ["Wie heißt mein Hund?", "犬 heißt"])
def test_a_line_is_found_by_meaning_in_another_language_once_the_model_is_placed(
    place, digest, tmp_path, question
):
    settings = {"SOUVENANCE_EMBEDDER": f"folder:{place}#{digest}"}
    installation = open_installation(settings_from(settings, str(tmp_path / "data")))
    try:
        for line in LINES:
            installation.gate.call(o.PUT, Credentials(installation.owner_cap), m.Put(text=line))
        assert found(installation, question) == (LINES[0], True)
    finally:
        installation.close()


@pytest.mark.parametrize(
    ("question", "by_meaning"), [("Wie heißt mein Hund?", False), ("Is my Hund called Rex?", True)]
)
def test_the_packaged_model_is_asked_in_english_alone(tmp_path, question, by_meaning):
    installation = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "packaged"}, str(tmp_path)))
    try:
        for line in ("Mein Hund heißt Rex", "Der Zug kam zu spät, das war ärgerlich"):
            installation.gate.call(o.PUT, Credentials(installation.owner_cap), m.Put(text=line))
        assert found(installation, question) == ("Mein Hund heißt Rex", by_meaning)
    finally:
        installation.close()
