"""The commands of `hermes souvenance`, which are loaded when one is run."""

import argparse


def register_cli(subparser: argparse.ArgumentParser) -> None:
    """Take every argument as it comes, options and `--help` too: our own commands read them."""
    subparser.prefix_chars = "\0"
    subparser.add_argument("arguments", nargs=argparse.REMAINDER)


def souvenance_command(args: object) -> None:
    from souvenance.commands import souvenance_command

    souvenance_command(args)
