# Placed by 'mnemon hermes install', which also renews and removes it.
"""The commands of `hermes mnemon`, which are loaded when one is run."""

from argparse import ArgumentParser


def register_cli(subparser: ArgumentParser) -> None:
    from mnemon.hermes.setup.door import register_cli

    register_cli(subparser)


def mnemon_command(args: object) -> None:
    from mnemon.commands import mnemon_command

    mnemon_command(args)
