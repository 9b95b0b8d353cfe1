# Placed by 'mnemon hermes install', which also renews and removes it.
"""The commands of `hermes mnemon`."""

from mnemon.commands import mnemon_command
from mnemon.hermes.setup.door import register_cli

__all__ = ["mnemon_command", "register_cli"]
