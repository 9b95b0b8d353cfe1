"""The commands of `hermes souvenance`, which the host looks for beside the plugin."""

from souvenance.commands import souvenance_command
from souvenance.hermes.setup.host_cli import register_cli

__all__ = ["register_cli", "souvenance_command"]
