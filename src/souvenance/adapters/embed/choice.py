"""Which embedder the settings ask for, and how that is told."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec

from souvenance.adapters.embed.local import INSTALL, installed, keep_quiet, packaged
from souvenance.adapters.private_files import secret_of
from souvenance.domain.embedding import AUTO, NONE, EmbedderSettings
from souvenance.errors import Misconfigured
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
            from souvenance.adapters.embed.fastembed_models import FastEmbedder

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
