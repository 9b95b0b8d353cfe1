"""The commands of a Hermes profile on what it remembers: show, correct, forget; and what memory adds to a new
conversation, with the line that each part comes from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import Any

import click
from msgspec import Struct

from souvenance.agents import injection
from souvenance.agents.gated_memory import GatedMemory
from souvenance.agents.notes import Remark
from souvenance.agents.recalled import AI, USER, Known
from souvenance.agents.text_budget import MORE
from souvenance.agents.transcript import clean
from souvenance.domain.frame import defuse
from souvenance.errors import NotFound
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.host import local_now
from souvenance.hermes.identity import agent_peer
from souvenance.hermes.recall import NO_LIMIT
from souvenance.hermes.setup.commands import CommandContext, HermesCommand, pass_command_context
from souvenance.hermes.setup.console import is_kept, owner_of
from souvenance.hermes_backends import asked, reached
from souvenance.surfaces.cli import memory
from souvenance.surfaces.cli.output import Record, shown, yes_option
from souvenance.surfaces.cli.session import LINE_ID, Shell

_NOTHING = "Nothing is remembered yet. Start a conversation and tell it something: hermes"
_NO_MATCH = "Memory adds nothing to that message."
_ALIKE = 5


class ToldRemark(Struct, frozen=True):
    heading: str
    id: str
    """The id of its line, which can be corrected or forgotten; empty if there is none."""
    day: str
    origin: str
    text: str


def told(memory: GatedMemory, configuration: Configuration, message: str) -> list[ToldRemark]:
    """What memory adds to the message; without one, what a new conversation gets. Raises: SouvenanceError."""
    known, tokens = memory.known(message), configuration.context_tokens or NO_LIMIT
    sections = injection.sections(known, message, local_now(), tokens=tokens)
    lines = list(_lines(memory, known, message)) if sections else []
    return [
        ToldRemark(heading.rstrip(":"), _line_of(one, lines), one.day, one.origin, one.text)
        for heading, remarks in sections
        for one in remarks
    ]


def _line_of(remark: Remark, lines: list[tuple[str, str]]) -> str:
    """The id of the first line with that text, as a whole or in the part that is shown."""
    part = remark.text.removeprefix("… ").removesuffix(MORE)
    whole = (line for line, text in lines if text == remark.text)
    return next(whole, next((line for line, text in lines if part in text), ""))


def _lines(memory: GatedMemory, known: Known, message: str) -> Iterator[tuple[str, str]]:
    """Ids of lines, with their text as shown. A conclusion from one message has the id of that message."""
    for passage in known.passages:
        found = [passage] if passage.id else memory.search(passage.text, USER, _ALIKE)
        yield from ((one.id, _shown(one.text)) for one in found if one.text == passage.text)
    yield from ((line, _shown(fact)) for fact, line in memory.card_sources(USER))
    for peer in (USER, AI):
        for query in dict.fromkeys((message or None, None)):
            for note in memory.conclusions(peer, query):
                [source] = note.source_ids if note.source_ids and len(note.source_ids) == 1 else [note.id]
                yield source, _shown(note.content)


def _shown(text: str) -> str:
    return defuse(clean(text))


@click.command(cls=HermesCommand)
@click.argument("message", required=False)
@pass_command_context
def show(command_context: CommandContext, message: str | None) -> None:
    """Show what memory tells Hermes now, with ids. With MESSAGE, what it adds to that message."""
    configuration = command_context.configuration()
    environment = command_context.surroundings
    found = asked(configuration, environment, lambda memory: told(memory, configuration, message or ""))
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
@memory.receipt_option
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
    configuration, environment = command_context.configuration(), command_context.surroundings
    with _holding(command_context, id) as shell:
        if not yes:
            memory.confirm_forgetting(shell.call(o.FORGET, m.Forget(id=id, dry_run=True)))
        note = asked(configuration, environment, lambda memory: memory.conclude(USER, text))
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
    shell.settings = reached(configuration, command_context.surroundings)
    shell.workspace, shell.json = configuration.workspace, command_context.json
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
