"""Asking before something is gone for good."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from souvenance.errors import ConfirmationNeeded

yes_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--yes", "-y", is_flag=True, help="Do not ask for confirmation. Scripts need this."
)


def confirm(what: str, details: str = "") -> None:
    """Ask on the terminal whether to do that; `details` are shown first.

    Raises: ConfirmationNeeded if nobody can be asked, click.Abort if the answer is no.
    """
    if not sys.stdin.isatty():
        raise ConfirmationNeeded(f"{what} needs a yes, and there is no terminal to ask on")
    if details:
        click.echo(details, err=True)
    if not click.confirm(f"{what[:1].upper()}{what[1:]}?", err=True):
        click.echo("Nothing was changed.", err=True)
        raise click.Abort
