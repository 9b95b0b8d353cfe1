"""The commands of a Hermes profile on what it remembers: show, correct, forget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from souvenance.agents.recalled import USER
from souvenance.errors import NotFound
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.hermes.identity import agent_peer
from souvenance.hermes.setup.commands import CommandContext, HermesCommand, pass_command_context
from souvenance.hermes.setup.console import is_kept, owner_of
from souvenance.hermes.told import ToldRemark, told
from souvenance.hermes_backends import asked, reached
from souvenance.surfaces.cli import memory
from souvenance.surfaces.cli.options import LINE_ID
from souvenance.surfaces.cli.output import Record, shown, yes_option
from souvenance.surfaces.cli.session import Shell

_NOTHING = "Nothing is remembered yet. Start a conversation and tell it something: hermes"
_NO_MATCH = "Memory adds nothing to that message."


@click.command(cls=HermesCommand)
@click.argument("message", required=False)
@pass_command_context
def show(command_context: CommandContext, message: str | None) -> None:
    """Show what memory tells Hermes now, with ids. With MESSAGE, what it adds to that message."""
    configuration = command_context.configuration()
    found = asked(configuration, lambda memory: told(memory, configuration, message or ""))
    answer = {"message": message, "told": found or []}
    nothing = _NO_MATCH if found is not None and message else _NOTHING
    command_context.show(answer, _sections(found) if found else [nothing])


def _sections(found: list[ToldRemark]) -> Iterator[str]:
    for heading, remarks in groupby(found, lambda one: one.heading):
        yield f"{heading}:"
        yield shown(
            Record(one.id or "(no id)", ", ".join(filter(None, (one.day, one.origin))), one.text)
            for one in remarks
        )


@click.command(cls=HermesCommand)
@click.argument("id", type=LINE_ID)
@click.option("--dry-run", is_flag=True, help="Show what would be erased. Erase nothing.")
@yes_option
@click.option(
    "--receipt",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the signed receipt to FILE. FILE must not exist.",
)
@pass_command_context
def forget(command_context: CommandContext, /, **what: Any) -> None:
    """Erase a line for good, with what was concluded from it alone. Shows what goes and asks first."""
    with _holding(command_context, what["id"]) as shell, click.Context(memory.forget, obj=shell) as ctx:
        ctx.forward(memory.forget, **what)


@click.command(cls=HermesCommand)
@click.argument("id", type=LINE_ID)
@click.argument("text")
@yes_option
@pass_command_context
def correct(command_context: CommandContext, id: str, text: str, yes: bool) -> None:
    """Replace line ID by TEXT. Erases what was concluded from it too. Shows what goes and asks first."""
    configuration = command_context.configuration()
    with _holding(command_context, id) as shell:
        if not yes:
            memory.confirm_forgetting(shell, m.Forget(id=id))
        note = asked(configuration, lambda memory: memory.conclude(USER, text))
        gone: m.ForgetAnswer = shell.call(o.FORGET, m.Forget(id=id))
    answer = {"id": note.id if note else None, "text": text, "forgot": gone}
    command_context.show(answer, [f"{answer['id']}  replaces {id}", memory.forgot(gone)])


@contextmanager
def _holding(command_context: CommandContext, line_id: str) -> Iterator[Shell]:
    """The commands' way to the memory of the one who has the line: the owner, or else the agent.

    Raises: NotFound, and other SouvenanceErrors.
    """
    configuration = command_context.configuration()
    none = NotFound("there is no such line", hint="'hermes souvenance show' shows the ids.")
    if command_context.shell is None or (configuration.url is None and not is_kept(configuration)):
        raise none
    shell: Shell = command_context.shell()
    shell.settings, shell.workspace = reached(configuration), configuration.workspace
    shell.json = command_context.json
    try:
        for shell.peer in (owner_of(configuration), agent_peer(configuration)):
            with suppress(NotFound):
                shell.call(o.FORGET, m.Forget(id=line_id, dry_run=True))
                break
        else:
            raise none
        yield shell
    finally:
        shell.close()
