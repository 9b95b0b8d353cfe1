"""Commands on the installation: init, serve, work, status, config, completion."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue

import click
from click.shell_completion import get_completion_class

from souvenance.config import Settings
from souvenance.domain import capability
from souvenance.domain.embedding import NONE, PGVECTOR, SEALED
from souvenance.domain.names import mint_command
from souvenance.errors import CapOpMismatch, SouvenanceError, Unauthenticated
from souvenance.extras import importing
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.cli.output import counted, say, table
from souvenance.surfaces.cli.session import OPERATE, Command, Group, Shell, listens, pass_shell
from souvenance.surfaces.open_memory import OpenMemory

DEFAULT_PORT = 8787
_VECTORS = {
    SEALED: "sealed like the text",
    PGVECTOR: "unencrypted in pgvector: a reader of the database can tell much of the text",
    NONE: "not kept",
}


@click.command(cls=Command, section=OPERATE)
@click.option("--rebind", is_flag=True, help="Switch the folder to the store and bucket in the settings.")
@pass_shell
def init(shell: Shell, rebind: bool) -> None:
    """Create the data folder, its keys and the owner's token. Renews an expired owner token."""
    shell.makes = True
    installation = shell.installation(rebind=rebind)
    try:
        shell.call(o.WHOAMI, m.Nothing())
    except Unauthenticated:
        shell.renew()
    result = {
        "home": str(shell.settings.home),
        "made": installation.made,
        "owner_cap": str(shell.settings.owner_cap),
    }
    shell.show(
        result,
        lambda: f"{'made' if installation.made else 'ready'}: {result['home']} (owner's cap in owner.cap)",
    )


@click.command(cls=Command, section=OPERATE)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@listens
@click.option(
    "--trust-loopback",
    is_flag=True,
    help="Accept 'Bearer local' from programs on this machine as the owner's token.",
)
@pass_shell
def serve(
    shell: Shell,
    host: str,
    port: int,
    allow_remote: bool,
    host_name: tuple[str, ...],
    trust_loopback: bool,
) -> None:
    """Serve the memory over HTTP until Ctrl-C."""
    with importing("serve", "the HTTP server"):
        from souvenance.surfaces.http.server import Address, doors_of
        from souvenance.surfaces.http.server import serve as run

    shell.makes = True
    settings, memory = shell.settings, shell.installation()
    run(
        memory,
        settings,
        Address(host, port, allow_remote, host_name),
        lambda url: _greet(url, settings, memory.made, trusting=trust_loopback),
        doors=doors_of(memory, settings, _ServedFiles(shell)),
        trusting=trust_loopback,
    )


def _greet(url: str, settings: Settings, made: bool, *, trusting: bool) -> None:
    home = settings.home
    new = " (new: only you can read its keys and the owner's cap)" if made else ""
    say(f"Souvenance serves {home}{new} at {url}")
    say(
        f'Use it: curl {url}/v1/memory/get -H "Authorization: Bearer $(cat {home}/owner.cap)" '
        """-d '{"query": "where am I going this weekend?"}'"""
    )
    say(f'Honcho\'s clients: Honcho(base_url="{url}", api_key=open("{home}/owner.cap").read().strip())')
    say("In a browser: souvenance open")
    if settings.chat.upstreams:
        say(f"OpenAI's clients: base_url={url}/v1. The chat door is on and forwards {settings.chat.forwards}")
    if trusting:
        say("Trusting this machine: any program on it that sends 'Authorization: Bearer local' is the owner.")


class _ServedFiles:
    """What the inspector's page about data needs of this invocation."""

    def __init__(self, shell: Shell) -> None:
        self._settings = shell.settings
        self.transfers = shell.transfers
        self.home = shell.settings.home

    def back_up(self, target: Path, *, recipients: Sequence[str]) -> None:
        self.transfers.back_up(
            self._settings, target, recipients=recipients, with_keys=False, allow_empty=True
        )


@click.command(cls=Command, section=OPERATE)
@pass_shell
def status(shell: Shell) -> None:
    """Show what is stored, where and for whom."""
    try:
        answer = shell.call(o.STATUS, m.Nothing())
    except CapOpMismatch as error:
        said = capability.read_unverified(shell.token())[0][-1]
        names = {"sub": [said.sub], "peers": said.peers, "via": said.via, "wid": [said.wid]}
        line = mint_command(**names, ops=(*said.ops, "list"), namespaces=said.namespaces_allowed)
        raise CapOpMismatch(error.detail, hint=f"For a token that may ask, mint: {line}") from error

    def rows() -> Iterator[str]:
        where = shell.settings.url or shell.settings.where
        yield f"{where}: workspace {answer.workspace}, owner {answer.owner}"
        yield from (f"  {one.namespace:<20} {counted(one.lines, 'line', 8)}" for one in answer.namespaces)
        if answer.audit_rows is not None:
            yield f"  audit log            {counted(answer.audit_rows, 'row', 8)}"
        yield from _recall(answer)
        if answer.conclusions:
            yield f"  known of peers       {counted(answer.conclusions, 'conclusion', 8)}"
        if answer.model is not None:
            yield from _model(answer.reasoner, answer.model)
        if answer.unfinished_imports:
            yield (
                f"  unfinished imports   {answer.unfinished_imports:>8}: run 'souvenance import' again"
                " with the same file"
            )
        if answer.uncarried:
            yield f"  not in the bucket    {counted(answer.uncarried, 'object', 8)}: copied when it answers"
        if answer.scrub_pending:
            yield "  forgotten bytes wait to be scrubbed: run 'souvenance doctor'"

    shell.show(answer, rows)


@click.group("config", cls=Group, section=OPERATE)
def config() -> None:
    """Show and check the settings."""


@config.command("show")
@pass_shell
def show_config(shell: Shell) -> None:
    """Show each setting, its value and where it comes from. Secrets are hidden."""
    settings = shell.settings.shown()
    rows = [("setting", "value", "from"), *((one.name, one.value, one.source) for one in settings)]
    shell.show(settings, lambda: table(rows))


@config.command("check")
@pass_shell
def check_config(shell: Shell) -> None:
    """Check that each setting can be used.

    That is its name, its value, the file of a secret, and the extra that it needs.
    """
    settings = shell.settings
    found = list(shell.transfers.complaints(settings))
    if found:
        for one in found[1:]:
            click.echo(f"{one.code}: {one.detail}\n  {one.hint}", err=True)
        raise found[0]
    given = len(settings.given)
    shell.show(
        {"given": given, "ok": True}, lambda: f"ok: {counted(given, 'setting')} given, the others by default"
    )


@click.command(cls=Command, section=OPERATE)
@click.argument("name", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@pass_shell
def completion(shell: Shell, name: str) -> None:
    """Print the completion script for SHELL.

    For bash: eval "$(souvenance completion bash)"
    """
    kind = get_completion_class(name)
    root = click.get_current_context().find_root().command
    if kind is None:
        raise SouvenanceError(f"no completion for {name}")
    say(kind(root, {}, "souvenance", "_SOUVENANCE_COMPLETE").source())


def _recall(answer: m.StatusAnswer) -> Iterator[str]:
    """What meanings are compared by, what waits for that, and what is wrong with it."""
    yield f"  embedder             {answer.embedder}"
    yield f"  vectors              {_VECTORS.get(answer.vectors, answer.vectors)}"
    if answer.renewing:
        yield f"  to be reindexed      {counted(answer.renewing, 'line', 8)}"
    if answer.waiting:
        yield (
            f"  without a vector     {counted(answer.waiting, 'line', 8)}: found by words until"
            " 'souvenance get', 'souvenance serve' or 'souvenance reindex' makes it"
        )
    if answer.embedder_trouble:
        yield f"  embedder problem     {answer.embedder_trouble}"


def _model(reasoner: str, model: m.ModelStatus) -> Iterator[str]:
    yield f"  reasoner             {reasoner} ({', '.join(model.tasks)})"
    for name, left in (("left", model.left), ("workspace,", model.left_here)):
        if left is not None:
            hour, today = f"{name} this hour", f"{name} today"
            yield f"  {hour:<20} {left.calls_this_hour:>8} calls, {left.tokens_this_hour} tokens"
            yield f"  {today:<20} {left.calls_today:>8} calls, {left.tokens_today} tokens"
    if model.trouble:
        yield f"  without the model    {model.trouble}"


_GREETING = "Souvenance works. Stop it with Ctrl-C."


@click.command(cls=Command, section=OPERATE)
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Serve /health, /ready and /metrics on this port."
)
@listens
@pass_shell
def work(shell: Shell, port: int | None, host: str, allow_remote: bool, host_name: Sequence[str]) -> None:
    """Run a background worker until Ctrl-C. It finishes the job it is doing first."""
    shell.makes = True
    installation = shell.installation()
    if port is None:
        _work(installation)
        return
    with importing("serve", "the HTTP server"):
        from souvenance.surfaces.http.server import Address
        from souvenance.surfaces.http.server import serve as run

    run(
        installation,
        shell.settings,
        Address(host, port, allow_remote, host_name),
        lambda url: say(f"{_GREETING} How it goes: {url}/health"),
        serving=False,
    )


def _work(installation: OpenMemory) -> None:
    signals: SimpleQueue[int] = SimpleQueue()  # An event could hang: two signals may come upon each other.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: signals.put(number))
    with installation.working():
        say(_GREETING)
        signals.get()
    say("Souvenance stopped.")
