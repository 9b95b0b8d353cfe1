"""The host's environment with programs that start fast: libraries, Souvenance and most of Hermes are loaded.

What of Hermes reads its home while it is loaded, each command loads itself.
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
    "souvenance.surfaces.cli.main",
)


_PACKAGES = ("agent", "gateway", "hermes_cli", "tools")


@contextmanager
def quick_environment(place: Path, environment: Path) -> Iterator[Path]:
    """One like that environment, while its programs can be run."""
    real = environment / "bin"
    [site] = environment.glob("lib/python*/site-packages")
    own = [
        f"{package}.{file.stem}" for package in _PACKAGES for file in sorted((site / package).glob("*.py"))
    ]
    entries = {"hermes": "hermes_cli.main:main", "souvenance": "souvenance.commands:main"}
    loaded = (*_LOADED, *own, "model_tools")
    with quick_programs(place, real, entries, loaded=loaded, unread="HERMES_HOME") as programs:
        yield programs.parent
