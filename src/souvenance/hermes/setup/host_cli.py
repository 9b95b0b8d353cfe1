"""The host's own command line: it only hands over what stands behind `hermes souvenance`."""

from __future__ import annotations

import argparse


def register_cli(subparser: argparse.ArgumentParser) -> None:
    """Take every argument as it comes, options and `--help` too: our own commands read them."""
    subparser.prefix_chars = "\0"
    subparser.add_argument("arguments", nargs=argparse.REMAINDER)
