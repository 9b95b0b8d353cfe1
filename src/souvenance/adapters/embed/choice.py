"""Which embedder the settings ask for, and the one that is not local: any endpoint that speaks OpenAI's
`/v1/embeddings`.

An endpoint's texts are cut by their characters, as
nobody here knows how the model counts. One that refuses a batch is asked for each text alone, and for less of
a text that it refuses alone. The number of dimensions is asked for only if the model's own is another: many
endpoints refuse to be asked.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from math import fsum, hypot
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from souvenance.adapters.embed import local
from souvenance.adapters.private_files import secret_of
from souvenance.decoders import decoded
from souvenance.domain.embedding import AUTO, NONE, EmbedderSettings
from souvenance.domain.upstream import below, is_address
from souvenance.errors import Misconfigured, Unavailable
from souvenance.extras import install
from souvenance.ports.embedder import Embedder

if TYPE_CHECKING:
    import httpx


_RUNTIME = ("onnxruntime", "tokenizers")
_MODULES = {
    "packaged": _RUNTIME,
    "folder": _RUNTIME,
    "endpoint": ("httpx",),
}
"""What each kind of embedder imports when it is first used."""

_CHOICES = "auto, none, packaged, folder:PATH#SHA256, endpoint"


def choose(settings: EmbedderSettings) -> Embedder | None:
    """The embedder, with nothing loaded yet; None if there is to be none. Raises: Misconfigured.

    All but the packaged one are centred: ranking learned its weights from that one.
    """
    kind, colon, name = settings.choice.partition(":")
    match kind + colon, name:
        case ("none", _):
            return None
        case ("auto", _):
            return local.packaged() if local.installed() else None
        case ("packaged", _):
            return local.packaged()
        case ("endpoint", _):
            return CentredEmbedder(_endpoint(settings))
        case ("folder:", name) if name:
            return CentredEmbedder(local.folder_named(name))
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
        kind = "packaged" if local.installed() else NONE
    local.keep_quiet()
    with suppress(ImportError):
        for module in _MODULES.get(kind, ()):
            import_module(module)


def describe(settings: EmbedderSettings) -> str:
    """One line for people. Raises: Misconfigured."""
    embedder = choose(settings)
    if embedder is not None:
        return embedder.description
    why = f"; {local.INSTALL}" if settings.choice == AUTO else f" (SOUVENANCE_EMBEDDER={NONE})"
    return f"none: search is by words alone{why}"


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
        raise Misconfigured("httpx is not installed", hint=f"{install('client')}.")
    key = None if settings.api_key is None else secret_of(settings.api_key)
    return EndpointEmbedder(base_url, model, dimensions, api_key=key)


PASSAGES_SECONDS = 60.0
QUESTION_SECONDS = 5.0

_CONNECT_SECONDS = 5.0
_AT_ONCE = 32
_CUTS = (8000, 2000, 500)
_MOST_BYTES_EACH = 128 * 1024
_FOR_NOW = {408, 409, 425, 429}
_TOO_MUCH = {400, 413, 422}
_JSON = {"content-type": "application/json"}


class _Embedding(Struct):
    embedding: list[float]
    index: int | None = None


class _Embeddings(Struct):
    data: list[_Embedding]


class _EndpointRefused(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"the embeddings endpoint answered {status}")
        self.status = status


class EndpointEmbedder:
    """An `Embedder`. `base_url` is what `/embeddings` is added to."""

    def __init__(
        self,
        base_url: str,
        model: str,
        dimensions: int,
        *,
        api_key: str | None = None,
        passages_seconds: float = PASSAGES_SECONDS,
        question_seconds: float = QUESTION_SECONDS,
    ) -> None:
        """Raises: Misconfigured if that is no address."""
        if not is_address(base_url):
            raise Misconfigured(
                "SOUVENANCE_EMBEDDER_BASE_URL must be like https://host/v1",
                hint="A key has a variable of its own.",
            )
        self._url = base_url.rstrip("/")
        self._model = model
        self.dimensions = dimensions
        self.description = f"{model}, {dimensions} dimensions, at {urlsplit(self._url).netloc}"
        self.space = f"endpoint/{sha256(self._url.encode()).hexdigest()[:12]}/{model}/{dimensions}"
        """Identifies the endpoint without its address, since `explain` shows it to users."""
        self._key = api_key
        self._passages_seconds = passages_seconds
        self._question_seconds = question_seconds
        self._lock = Lock()
        self._client: httpx.Client | None = None
        self._asks_for_dimensions = False

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """Raises: Unavailable, Misconfigured."""
        found: list[bytes] = []
        for at in range(0, len(texts), _AT_ONCE):
            found += self._vectors(texts[at : at + _AT_ONCE], self._passages_seconds)
        return found

    def question(self, text: str) -> bytes:
        """Raises: Unavailable, Misconfigured."""
        return self._vectors([text], self._question_seconds)[0]

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _vectors(self, texts: Sequence[str], seconds: float) -> list[bytes]:
        try:
            return self._batch([_cut(text, _CUTS[0]) for text in texts], seconds)
        except _EndpointRefused as refused:
            if refused.status not in _TOO_MUCH:
                raise _misconfigured(refused) from None
        return [self._alone(text, seconds) for text in texts]

    def _alone(self, text: str, seconds: float) -> bytes:
        """One vector, of as much of the text as the endpoint takes."""
        for characters in _CUTS:
            try:
                return self._batch([_cut(text, characters)], seconds)[0]
            except _EndpointRefused as refused:
                last = refused
        raise _misconfigured(last)

    def _batch(self, texts: list[str], seconds: float) -> list[bytes]:
        """Raises: _EndpointRefused, Unavailable, Misconfigured."""
        asks = self._asks_for_dimensions
        found = self._asked(texts, seconds, asks=asks)
        if not asks and any(len(values) != self.dimensions for values in found):
            found = self._asked(texts, seconds, asks=True)
            self._asks_for_dimensions = True
        for values in found:
            if len(values) != self.dimensions:
                raise Misconfigured(
                    f"the embeddings endpoint gives {len(values)} dimensions, not {self.dimensions}",
                    hint="Set SOUVENANCE_EMBEDDER_DIMENSIONS to what the model gives.",
                )
        try:
            return [local.packed(values) for values in found]
        except ValueError:
            raise Unavailable(
                "the embeddings endpoint answered with something that is not a vector"
            ) from None

    def _asked(self, texts: list[str], seconds: float, *, asks: bool) -> list[list[float]]:
        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if asks:
            body["dimensions"] = self.dimensions
        content = self._post(msgspec.json.encode(body), seconds, len(texts) * _MOST_BYTES_EACH)
        fault = Unavailable("the embeddings endpoint's answer can't be read")
        items = decoded(content, _Embeddings, fault).data
        order = [at if item.index is None else item.index for at, item in enumerate(items)]
        if sorted(order) != list(range(len(texts))):
            raise Unavailable("the embeddings endpoint answered for other texts")
        return [values for _, values in sorted(zip(order, (item.embedding for item in items), strict=True))]

    def _post(self, content: bytes, seconds: float, most: int) -> bytes:
        """The body of the answer. Raises: _EndpointRefused, Unavailable."""
        import httpx

        from souvenance.http_client import bounded

        end = time.monotonic() + seconds
        timeout = httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        url = below(self._url, "/embeddings")
        try:
            with self._connected().stream(
                "POST", url, content=content, headers=_JSON, timeout=timeout
            ) as response:
                status = response.status_code
                if status >= 500 or status in _FOR_NOW:
                    raise Unavailable(f"the embeddings endpoint answered {status}")
                if status != 200:
                    raise _EndpointRefused(status)
                chunks = bounded(
                    response, most, end, lambda why: Unavailable(f"the embeddings endpoint failed: {why}")
                )
                return b"".join(chunks)
        except httpx.TimeoutException:
            raise Unavailable("the embeddings endpoint did not answer in time") from None
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise Unavailable(f"the embeddings endpoint can't be reached: {reason}") from error

    def _connected(self) -> httpx.Client:
        from souvenance.http_client import client

        with self._lock:
            if self._client is None:
                self._client = client(self._url, self._key)
            return self._client


def _misconfigured(refused: _EndpointRefused) -> Misconfigured:
    return Misconfigured(
        str(refused),
        hint="Check SOUVENANCE_EMBEDDER_BASE_URL, SOUVENANCE_EMBEDDER_API_KEY and SOUVENANCE_EMBEDDER_MODEL.",
    )


def _cut(text: str, characters: int) -> str:
    """The beginning; a space if there is nothing, as many endpoints refuse that."""
    return local.begun(text, characters).strip() or " "


_TEXTS, _WORDS = 32, 8
_LEAST_LEFT = 1e-3
"""A vector that is nearly the mean itself stays as it is."""


class CentredEmbedder:
    """Vectors of another `Embedder` without what all vectors of its model have in common.

    In many models unrelated texts lie almost as near each other as related ones. Ranking weighs nearness as
    it is, and learned its weights where unrelated texts lie apart. So the mean of some vectors is taken off
    each: of texts that mean nothing together, made of words from all over a vocabulary.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.description = embedder.description
        self._lock = Lock()
        self._mean: list[float] | None = None

    @property
    def space(self) -> str:
        return f"{self._embedder.space}/centred"

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        mean = self._measured()
        return [_without(mean, vector) for vector in self._embedder.passages(texts)]

    def question(self, text: str) -> bytes:
        return _without(self._measured(), self._embedder.question(text))

    def close(self) -> None:
        self._embedder.close()

    def _measured(self) -> list[float]:
        with self._lock:
            if self._mean is None:
                vectors = [array("f", vector) for vector in self._embedder.passages(_meaningless())]
                self._mean = [fsum(values) / len(vectors) for values in zip(*vectors, strict=True)]
            return self._mean


def _meaningless() -> list[str]:
    words = [word for word in local.vocabulary().split() if word.isalpha()]
    step = len(words) // (_TEXTS * _WORDS)
    return [" ".join(words[at * step :: _TEXTS * step][:_WORDS]) for at in range(_TEXTS)]


def _without(mean: Sequence[float], vector: bytes) -> bytes:
    left = [value - common for value, common in zip(array("f", vector), mean, strict=True)]
    return local.packed(left) if hypot(*left) > _LEAST_LEFT else vector
