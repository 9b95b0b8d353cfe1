"""The files that make a folder in a Hermes home our plugin: they only name what the package holds."""

from __future__ import annotations

from souvenance.version import __version__

MARK = "# Placed by 'souvenance hermes install', which also renews and removes it."
"""The first line of every file that we place, and of no other."""

_INIT = f'''{MARK}
"""Souvenance's memory for this profile: Hermes calls register_memory_provider through `register`."""


def register(ctx: object) -> None:
    # Whoever else asks Hermes for memory while the package is loaded waits for it here. Loaded above, it
    # would leave them without: Hermes takes a module that is not whole yet for one that has no provider.
    from souvenance.plugin import register

    register(ctx)
'''

_CLI = f'''{MARK}
"""The commands of `hermes souvenance`, which are loaded when one is run."""

import sys
from typing import Any


def _register(ctx: object) -> None:
    from souvenance.plugin import register

    register(ctx)


# Hermes loads this file before the package itself, which it has for others already: whoever asks it for
# memory meanwhile would go without. So nothing that takes time to load stands above.
if __package__ in sys.modules:
    vars(sys.modules[__package__]).setdefault("register", _register)


def register_cli(subparser: Any) -> None:
    from souvenance.hermes.setup.host_cli import register_cli

    register_cli(subparser)


def souvenance_command(args: object) -> None:
    from souvenance.commands import souvenance_command

    souvenance_command(args)
'''

_MANIFEST = f"""{MARK}
name: souvenance
version: {__version__}
description: "Long-term memory behind a gate: people, sessions and what was said, kept on this machine"
"""

FILES = {"plugin.yaml": _MANIFEST, "cli.py": _CLI, "__init__.py": _INIT}
"""In the order in which they are written: without the last one, the folder is not yet a plugin."""
