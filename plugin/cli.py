# Placed by 'souvenance hermes install', which also renews and removes it.
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
