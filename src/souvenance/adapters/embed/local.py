"""An embedder on a network in this process, loaded by the first vector that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from souvenance.adapters.embed.onnx_network import Network


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
        self._name = name
        self._space = space
        self._load = load
        self._origin = origin
        self._dimensions = dimensions
        self._prompts = prompts or Prompts()
        self._lock = Lock()
        self._network: Network | None = None

    @property
    def space(self) -> str:
        return self._space

    @property
    def dimensions(self) -> int:
        return self._loaded().dimensions if self._dimensions is None else self._dimensions

    @property
    def description(self) -> str:
        size = "" if self._dimensions is None else f", {self._dimensions} dimensions"
        return f"{self._name}{size}, {self._origin}"

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        network = self._loaded()
        return [network.vector(self._prompts.passage + text) for text in texts]

    def question(self, text: str) -> bytes:
        return self._loaded().vector(self._prompts.question + text)

    def close(self) -> None:
        self._network = None

    def _loaded(self) -> Network:
        network = self._network
        if network is None:
            with self._lock:
                if self._network is None:
                    self._network = self._load()
                network = self._network
        return network
