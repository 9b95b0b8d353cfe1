"""Commands on sign-ins: which programs were let in, and ending that."""

from __future__ import annotations

from datetime import datetime

import click

from souvenance.gate import sign_ins as s
from souvenance.surfaces.cli.options import ACCESS, Group, pass_shell
from souvenance.surfaces.cli.session import Shell

_COLUMNS = ("id", "program", "client", "workspace", "peer", "access", "since", "until", "last used")


@click.group("sign-ins", cls=Group, section=ACCESS, invoke_without_command=True)
@click.pass_context
def signins(context: click.Context) -> None:
    """List the programs that signed in, or end a sign-in."""
    if context.invoked_subcommand is None:
        context.invoke(list_)


@signins.command("list")
@pass_shell
def list_(shell: Shell) -> None:
    """List the programs that signed in, newest first."""
    answer: s.SignInsAnswer = shell.call(s.LIST, s.ListSignIns())
    shell.show(answer, lambda: _table([_COLUMNS, *map(_row, answer.sign_ins)] if answer.sign_ins else []))


@signins.command()
@click.argument("id")
@pass_shell
def end(shell: Shell, id: str) -> None:
    """End the sign-in ID. Its tokens stop working at once."""
    answer: s.Withdrawn = shell.call(s.WITHDRAW, s.Withdraw(id))
    shell.show(answer, lambda: f"ended {answer.id}: {answer.client} has to ask again")


def _row(one: s.SignInAnswer) -> tuple[str, ...]:
    peer = f"{one.peer} and everyone" if one.everyone else one.peer
    used = "never" if one.last_used is None else _moment(one.last_used)
    moments = (_moment(one.since), _moment(one.until), used)
    return (one.id, _plain(one.name), _plain(one.client), one.workspace, peer, one.access, *moments)


def _table(rows: list[tuple[str, ...]]) -> str:
    """The rows with their columns under each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    told = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
    return "\n".join(told)


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _plain(name: str) -> str:
    """What a program calls itself, on one line and without what a terminal would obey."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in name)
