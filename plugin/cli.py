# Placed by 'souvenance hermes install', which also renews and removes it.
"""The commands of `hermes souvenance`, which are loaded when one is run."""

import argparse
from contextlib import suppress
from importlib import import_module


def _register(ctx: object) -> None:
    from souvenance.plugin import register

    register(ctx)


# Hermes loads this file before the package, and shows the package to other threads already. A thread that
# asks for memory in that moment would get none. So this file imports nothing slow before this line.
with suppress(ImportError, ValueError):
    vars(import_module(__package__ or "")).setdefault("register", _register)


def register_cli(subparser: argparse.ArgumentParser) -> None:
    """Take every argument as it comes, options and `--help` too: our own commands read them."""
    subparser.prefix_chars = "\0"
    subparser.add_argument("arguments", nargs=argparse.REMAINDER)


def souvenance_command(args: object) -> None:
    from souvenance.commands import souvenance_command

    souvenance_command(args)
