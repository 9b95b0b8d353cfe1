"""The files that make a folder in a Hermes home our plugin: they only name what the package holds."""

from __future__ import annotations

from mnemon.version import __version__

MARK = "# Placed by 'mnemon hermes install', which also renews and removes it."
"""The first line of every file that we place, and of no other."""

_INIT = f'''{MARK}
"""Mnemon's memory for this profile: Hermes calls register_memory_provider through `register`."""

from mnemon.plugin import register

__all__ = ["register"]
'''

_CLI = f'''{MARK}
"""The commands of `hermes mnemon`."""

from mnemon.commands import mnemon_command
from mnemon.hermes.setup.door import register_cli

__all__ = ["mnemon_command", "register_cli"]
'''

_MANIFEST = f"""{MARK}
name: mnemon
version: {__version__}
description: "Long-term memory behind a gate: people, sessions and what was said, kept on this machine"
"""

FILES = {"plugin.yaml": _MANIFEST, "cli.py": _CLI, "__init__.py": _INIT}
"""In the order in which they are written: without the last one, the folder is not yet a plugin."""
