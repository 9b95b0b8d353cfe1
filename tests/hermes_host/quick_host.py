"""The host's environment with programs that start fast: libraries and Souvenance are loaded already.

Every module of Hermes itself is loaded by each command, as it reads its home while it is loaded. The API
server and whatever is on a terminal are the real program, in a process of its own from the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quick_programs import quick_programs

_LOADED = (
    "click",
    "croniter",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "cryptography.hazmat.primitives.ciphers.aead",
    "cryptography.x509",
    "dotenv",
    "httpcore",
    "httpx",
    "msgspec",
    "numpy",
    "openai",
    "openai.lib.streaming",
    "openai.resources",
    "pydantic",
    "requests",
    "rich.console",
    "rich.markdown",
    "rich.panel",
    "rich.table",
    "websockets",
    "yaml",
    "souvenance.adapters.index.ranked",
    "souvenance.adapters.write_queue",
    "souvenance.commands",
    "souvenance.gate.worker",
    "souvenance.hermes.profile_runtime",
    "souvenance.hermes.setup.commands",
    "souvenance.installation",
    "souvenance.plugin",
)


@contextmanager
def quick_environment(environment: Path) -> Iterator[Path]:
    """One like that environment, while its programs can be run."""
    real = environment / "bin"
    entries = {"hermes": "hermes_cli.main:main", "souvenance": "souvenance.commands:main"}
    with quick_programs(real, entries, loaded=_LOADED, anew=("gateway", "serve")) as programs:
        python = programs / "python"
        python.write_text(f'#!/bin/sh\nexec "{real / "python"}" "$@"\n')
        python.chmod(0o755)
        yield programs.parent
