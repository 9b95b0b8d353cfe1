"""A model of the user's own, in a folder that is laid out as sentence-transformers does it.

- `model.onnx`, named by its SHA-256.
- `tokenizer.json`; or `vocab.txt`, if it is that of an uncased BERT.
- `1_Pooling/config.json`, if there is one, says whether the mean of all tokens counts or the first.
- `config_sentence_transformers.json`, if there is one, says what a question and a passage begin with.
"""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct, field

from souvenance.adapters.embed.local import (
    MOST_TOKENS,
    LocalEmbedder,
    Prompts,
    cut_off,
    readable,
    verified,
    wordpieces,
)
from souvenance.adapters.embed.packaged import INSTALL, runs
from souvenance.decoders import settled
from souvenance.errors import Misconfigured

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from souvenance.adapters.embed.local import Network, Pooling

_SHA256 = 64
_HEX = frozenset("0123456789abcdef")
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
        raise Misconfigured("what runs models is not installed", hint=f"{INSTALL}.")
    model = place / "model.onnx"
    if not model.is_file():
        raise Misconfigured(f"{place} has no model.onnx")
    tokenizer = next((place / name for name in _TOKENIZERS if (place / name).is_file()), None)
    if tokenizer is None:
        raise Misconfigured(f"{place} has neither {' nor '.join(_TOKENIZERS)}")
    content = readable(tokenizer)
    pooling = _pooling(_settings(place / _POOLING, _Pooling))
    prompts = _settings(place / _PROMPTS, _Prompts).prompts
    used = Prompts(
        passage=prompts.get("passage", prompts.get("document", "")), question=prompts.get("query", "")
    )
    depends = msgspec.json.encode((sha256, hashlib.sha256(content).hexdigest(), pooling, used, MOST_TOKENS))
    return LocalEmbedder(
        place.resolve().name,
        f"folder/{hashlib.sha256(depends).hexdigest()[:32]}",
        partial(_network, model, sha256, tokenizer.name, content, pooling),
        origin="from a folder",
        prompts=used,
    )


def _network(model: Path, sha256: str, tokenizer: str, content: bytes, pooling: Pooling) -> Network:
    from souvenance.adapters.embed.local import Network

    weights = verified(model, sha256)
    try:
        made = _TOKENIZERS[tokenizer](content)
    except ValueError as error:
        raise Misconfigured(f"{tokenizer} can't be used: {error}") from error
    return Network(weights, made, pooling=pooling)


def _whole(content: bytes) -> Tokenizer:
    from tokenizers import Tokenizer

    return cut_off(Tokenizer.from_buffer(content))


def _pieces(content: bytes) -> Tokenizer:
    return wordpieces(content.decode())


_TOKENIZERS = {"tokenizer.json": _whole, "vocab.txt": _pieces}


def _settings(path: Path, kind: type[_T]) -> _T:
    """What a file says; the defaults if there is none."""
    content = readable(path) if path.exists() else b"{}"
    try:
        return msgspec.json.decode(content, type=settled(kind))
    except msgspec.MsgspecError as error:
        raise Misconfigured(f"{path} can't be read: {error}") from error


def _pooling(told: _Pooling) -> Pooling:
    if told.first:
        return "first"
    if told.mean:
        return "mean"
    raise Misconfigured("the model pools its tokens in a way that is not known here")
