"""Which embedder the settings ask for, how that is told, and those of fastembed.

fastembed fetches a model's weights when it is first used.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import Any

from souvenance.adapters.embed.endpoint import Rest
from souvenance.adapters.embed.local import INSTALL, failures, installed, keep_quiet, packaged, packed
from souvenance.adapters.private_files import secret_of
from souvenance.domain.embedding import AUTO, NONE, EmbedderSettings
from souvenance.errors import Misconfigured, Unavailable
from souvenance.extras import install
from souvenance.ports.embedder import Embedder

_RUNTIME = ("onnxruntime", "tokenizers")
_MODULES = {
    "packaged": _RUNTIME,
    "folder": _RUNTIME,
    "fastembed": ("fastembed",),
    "endpoint": ("httpx",),
}
"""What each kind of embedder imports when it is first used."""

_BY_WORDS = "none: search is by words alone"
_CHOICES = "auto, none, packaged, folder:PATH#SHA256, fastembed:MODEL, endpoint"


def choose(settings: EmbedderSettings) -> Embedder | None:
    """The embedder, with nothing loaded yet; None if there is to be none. Raises: Misconfigured."""
    kind, colon, name = settings.choice.partition(":")
    match kind + colon, name:
        case ("none", _):
            return None
        case ("auto", _):
            return packaged() if installed() else None
        case ("packaged", _):
            return packaged()
        case ("endpoint", _):
            return _endpoint(settings)
        case ("folder:", name) if name:
            from souvenance.adapters.embed.local import folder_named

            return folder_named(name)
        case ("fastembed:", name) if name:
            return FastEmbedder(name)
        case _:
            raise Misconfigured(
                f"SOUVENANCE_EMBEDDER can't be {settings.choice!r}", hint=f"It is one of: {_CHOICES}."
            )


def load(settings: EmbedderSettings) -> None:
    """Import what the embedder runs on, in this thread; no weights are read.

    Two threads that import modules such as numpy and onnxruntime at once may each see the other's half
    loaded. What can't be imported is told by the first vector that is asked for.
    """
    kind, _, _ = settings.choice.partition(":")
    if kind == AUTO:
        kind = "packaged" if installed() else NONE
    keep_quiet()
    with suppress(ImportError):
        for module in _MODULES.get(kind, ()):
            import_module(module)


def describe(settings: EmbedderSettings) -> str:
    """One line for people. Raises: Misconfigured."""
    embedder = choose(settings)
    if embedder is not None:
        return embedder.description
    return (
        f"{_BY_WORDS}; {INSTALL}" if settings.choice == AUTO else f"{_BY_WORDS} (SOUVENANCE_EMBEDDER={NONE})"
    )


def _endpoint(settings: EmbedderSettings) -> Embedder:
    base_url, model, dimensions = settings.base_url, settings.model, settings.dimensions
    if base_url is None or model is None or dimensions is None:
        missing = [
            f"SOUVENANCE_EMBEDDER_{name}"
            for name, value in (("BASE_URL", base_url), ("MODEL", model), ("DIMENSIONS", dimensions))
            if value is None
        ]
        raise Misconfigured(f"an embeddings endpoint needs {missing[0]}")
    if find_spec("httpx") is None:
        raise Misconfigured("what speaks HTTP is not installed", hint=f"{install('client')}.")
    from souvenance.adapters.embed.endpoint import EndpointEmbedder

    key = None if settings.api_key is None else secret_of(settings.api_key)
    return EndpointEmbedder(base_url, model, dimensions, api_key=key)


_REST_SECONDS = 60.0
_MOST_CHARACTERS = 8192


class FastEmbedder:
    """An `Embedder`. `options` are those of fastembed's `TextEmbedding`."""

    def __init__(self, model: str, **options: Any) -> None:
        """Raises: Misconfigured if fastembed is not installed."""
        if find_spec("fastembed") is None:
            raise Misconfigured("fastembed is not installed", hint=f"{install('fastembed')}.")
        self._model = model
        self._options = options
        self._rest = Rest(_REST_SECONDS)
        self._lock = Lock()
        self._loaded: Any = None

    @property
    def space(self) -> str:
        """Names fastembed's minor version too: they have changed how a model's tokens are pooled."""
        from importlib.metadata import version

        return f"fastembed/{'.'.join(version('fastembed').split('.')[:2])}/{self._model}"

    @property
    def dimensions(self) -> int:
        keep_quiet()
        from fastembed import TextEmbedding

        try:
            return int(TextEmbedding.get_embedding_size(self._model))
        except ValueError as error:
            raise Misconfigured(
                f"fastembed has no model {self._model!r}",
                hint="See fastembed's TextEmbedding.list_supported_models().",
            ) from error

    @property
    def description(self) -> str:
        return f"{self._model}, by fastembed"

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """Raises: Unavailable, Misconfigured."""
        return _packed(self._ready().passage_embed([_begun(text) for text in texts], batch_size=1))

    def question(self, text: str) -> bytes:
        """Raises: Unavailable, Misconfigured."""
        return _packed(self._ready().query_embed(_begun(text)))[0]

    def close(self) -> None:
        self._loaded = None

    def _ready(self) -> Any:
        with self._lock:
            if self._loaded is None:
                with self._rest.between():
                    self._loaded = self._load()
            return self._loaded

    def _load(self) -> Any:
        keep_quiet()
        from fastembed import TextEmbedding

        dimensions = self.dimensions
        expected: tuple[type[Exception], ...] = (ValueError, OSError, RuntimeError, *failures())
        try:
            return TextEmbedding(self._model, threads=1, **self._options)
        except expected as error:
            raise Unavailable(
                f"fastembed can't load {self._model} ({dimensions} dimensions): {error}",
                hint="It fetches the weights when a model is first used: connect this machine once.",
            ) from error


def _packed(found: Any) -> list[bytes]:
    try:
        return [packed(values.tolist()) for values in found]
    except ValueError as error:
        raise Misconfigured(f"the model gives no vector: {error}") from error


def _begun(text: str) -> str:
    return text[:_MOST_CHARACTERS].encode("utf-8", "replace").decode()
