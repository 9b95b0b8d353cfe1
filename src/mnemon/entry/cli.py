"""The commands of `hermes mnemon`, which the host looks for beside the plugin."""

from mnemon.commands import mnemon_command
from mnemon.hermes.setup.door import register_cli

__all__ = ["mnemon_command", "register_cli"]
