"""The models of fastembed, which fetches a model's weights when it is first used."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from threading import Lock
from typing import Any

from souvenance.adapters.embed.endpoint import Rest
from souvenance.adapters.embed.local import failures, keep_quiet, packed
from souvenance.errors import Misconfigured, Unavailable
from souvenance.extras import install

INSTALL = install("fastembed")
_REST_SECONDS = 60.0
_MOST_CHARACTERS = 8192


class FastEmbedder:
    """An `Embedder`. `options` are those of fastembed's `TextEmbedding`."""

    def __init__(self, model: str, **options: Any) -> None:
        """Raises: Misconfigured if fastembed is not installed."""
        if find_spec("fastembed") is None:
            raise Misconfigured("fastembed is not installed", hint=f"{INSTALL}.")
        self._model = model
        self._options = options
        self._rest = Rest(_REST_SECONDS)
        self._lock = Lock()
        self._loaded: Any = None

    @property
    def space(self) -> str:
        """Names fastembed's minor version too: they have changed how a model's tokens are pooled."""
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
