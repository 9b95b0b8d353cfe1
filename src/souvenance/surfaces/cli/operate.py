"""Commands on the installation: init, serve, work, status, doctor, config, completion."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from souvenance.domain.embedding import NONE, PGVECTOR, SEALED
from souvenance.errors import IntegrityError, InvalidInput, SouvenanceError, Unauthenticated
from souvenance.files import others_may
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.cli.audit import verify_log
from souvenance.surfaces.cli.options import OPERATE, Command, Group, listens, pass_shell
from souvenance.surfaces.cli.output import progress, say, table
from souvenance.surfaces.cli.session import OpenMemory, Shell, what_serves
from souvenance.surfaces.cli.store import mend

if TYPE_CHECKING:
    from souvenance.gate.replication import RepairReport

DEFAULT_PORT = 8787
_VECTORS = {
    SEALED: "sealed like the text",
    PGVECTOR: "unencrypted in pgvector: a reader of the database can tell much of the text",
    NONE: "not kept",
}


@click.command(cls=Command, section=OPERATE)
@click.option(
    "--rebind",
    is_flag=True,
    help="Switch the folder to the store and bucket in the settings.",
)
@pass_shell
def init(shell: Shell, rebind: bool) -> None:
    """Create the data folder, its keys and the owner's token. Renews an expired owner token."""
    shell.makes = True
    installation = shell.installation(rebind=rebind)
    try:
        shell.call(o.WHOAMI, m.WhoAmI())
    except Unauthenticated:
        shell.renew()
    told = {
        "home": str(shell.settings.home),
        "made": installation.made,
        "owner_cap": str(shell.settings.owner_cap),
    }
    shell.show(
        told, lambda: f"{'made' if installation.made else 'ready'}: {told['home']} (owner's cap in owner.cap)"
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
    with what_serves():
        from souvenance.surfaces.http.server import Address, doors_of
        from souvenance.surfaces.http.server import serve as run

    shell.makes = True
    settings, installation = shell.settings, shell.installation()
    doors = doors_of(
        settings.chat,
        installation.sign_ins,
        installation.browser_sessions,
        _ServedFiles(shell),
        owner_cap=installation.owner_cap,
        public_url=settings.public_url,
        key=installation.key,
    )
    run(
        installation.gate,
        Address(host, port, allow_remote, host_name),
        installation,
        settings.telemetry,
        home=settings.home,
        made=installation.made,
        trusted=installation.owner_cap if trust_loopback else None,
        doors=doors,
    )


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
    answer = shell.call(o.STATUS, m.Status())

    def text() -> str:
        where = shell.server or shell.settings.where
        rows = [f"{where}: workspace {answer.workspace}, owner {answer.owner}"]
        rows += [
            f"  {compartment.namespace:<20} {compartment.lines:>8} lines" for compartment in answer.namespaces
        ]
        if answer.audit_rows is not None:
            rows.append(f"  audit log            {answer.audit_rows:>8} rows")
        rows += [*_recall(answer), *_knowledge(answer.knowledge)]
        if answer.model is not None:
            rows += _model(answer.reasoner, answer.model)
        if answer.unfinished_imports:
            rows.append(
                f"  unfinished imports   {answer.unfinished_imports:>8}: run 'souvenance import' again"
                " with the same file"
            )
        if answer.uncarried:
            rows.append(f"  not in the bucket    {answer.uncarried:>8} objects: copied when it answers")
        if answer.scrub_pending:
            rows.append("  forgotten bytes wait to be scrubbed: run 'souvenance doctor'")
        return "\n".join(rows)

    shell.show(answer, text)


@click.command(cls=Command, section=OPERATE)
@click.option("--repair", is_flag=True, help="First copy what is missing between store and bucket.")
@click.option("--deep", is_flag=True, help="With --repair: read every object and fix wrong ones.")
@pass_shell
def doctor(shell: Shell, repair: bool, deep: bool) -> None:
    """Check lines, vectors, keys, audit logs and the schema. Exits with 10 if anything is wrong."""
    if deep and not repair:
        raise InvalidInput("--deep says how to repair", hint="Add --repair, or leave --deep out.")
    mended = mend(shell, lambda installation: installation.repair(deep=deep)) if repair else None
    overview = shell.call(o.COMPARTMENTS, m.Compartments())
    findings = [*_open_to_others(shell.settings.home), *overview.findings]
    findings += [] if mended is None else mended.findings
    lines = rows = 0
    with progress("lines", len(overview.compartments), item_show_func=_compartment_name) as bar:
        for compartment in overview.compartments:
            bar.update(1, compartment)
            try:
                seen = shell.call(
                    o.EXAMINE, m.Examine(compartment.workspace, compartment.owner, compartment.namespace)
                )
                lines += seen.lines
                findings += seen.findings
            except IntegrityError as error:
                findings.append(
                    f"namespace {compartment.namespace!r} of {compartment.owner!r}: {error.detail}"
                )
    for workspace in overview.workspaces:
        try:
            rows += verify_log(shell, workspace)
            findings += shell.call(o.RECONCILE, m.Reconcile(workspace)).findings
        except IntegrityError as error:
            findings.append(f"workspace {workspace!r}: {error.detail}")
    if overview.scrub_pending and not shell.call(o.SCRUB, m.Scrub()).scrubbed:
        findings.append("forgotten bytes can't be scrubbed while another process holds the store")
    told = {"lines": lines, "audit_rows": rows, "findings": findings}
    if mended is not None:
        told |= {"restored": mended.restored, "carried": mended.carried, "removed": mended.removed}
        told |= {"renewed": mended.renewed} if deep else {}
    shell.show(
        told,
        lambda: "\n".join(
            [
                *findings,
                *_mending(mended, deep=deep),
                f"{lines} lines readable, {rows} audit rows verified",
            ],
        ),
    )
    if findings:
        raise IntegrityError(
            f"{len(findings)} findings", hint="Keep a copy of the folder before you repair anything."
        )


@click.group("config", cls=Group, section=OPERATE)
def config() -> None:
    """Show the settings."""


@config.command("show")
@pass_shell
def show_config(shell: Shell) -> None:
    """Show each setting, its value and where it comes from. Secrets are hidden."""
    settings = shell.settings.shown()
    rows = [("setting", "value", "from"), *((one.name, one.value, one.source) for one in settings)]
    shell.show(settings, lambda: table(rows))


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


def _mending(mended: RepairReport | None, *, deep: bool) -> list[str]:
    if mended is None:
        return []
    return [
        f"store and bucket agree: {mended.restored} lines restored, {mended.carried} objects copied,"
        f" {mended.removed} of erased lines removed" + (f", {mended.renewed} corrected" if deep else "")
    ]


def _recall(told: m.StatusAnswer) -> list[str]:
    """What meanings are compared by, what waits for that, and what is wrong with it."""
    kept = _VECTORS.get(told.vectors, told.vectors)
    rows = [f"  embedder             {told.embedder}", f"  vectors              {kept}"]
    if told.renewing:
        rows.append(f"  to be reindexed      {told.renewing:>8} lines")
    if told.waiting:
        rows.append(
            f"  without a vector     {told.waiting:>8} lines: found by words until 'souvenance get',"
            " 'souvenance serve' or 'souvenance reindex' makes it"
        )
    return [*rows, f"  embedder problem     {told.embedder_trouble}"] if told.embedder_trouble else rows


def _knowledge(told: m.KnowledgeStatus | None) -> list[str]:
    """What is known of peers, and what the next dream does with it."""
    if told is None:
        return ["  known of peers       something of it can't be opened: run 'souvenance doctor'"]
    if not told.conclusions:
        return []
    more = "" if told.whole else " and more"
    rows = [
        f"  known of peers       {told.conclusions:>8} conclusions{more} ({told.outdated} outdated,"
        f" {told.quoted} quoted, {told.reasoned} by dreams), {told.card_lines} lines on cards"
    ]
    if told.duplicates:
        rows.append(f"  said twice           {told.duplicates:>8} conclusions: the next dream merges them")
    return rows


def _model(reasoner: str, told: m.ModelStatus) -> list[str]:
    """Who reasons, what is left for it, and what is wrong with it."""
    rows = [f"  reasoner             {reasoner} ({', '.join(told.tasks)})"]
    for name, left in (("left", told.left), ("workspace,", told.left_here)):
        if left is not None:
            hour, today = f"{name} this hour", f"{name} today"
            rows.append(f"  {hour:<20} {left.calls_this_hour:>8} calls, {left.tokens_this_hour} tokens")
            rows.append(f"  {today:<20} {left.calls_today:>8} calls, {left.tokens_today} tokens")
    return [*rows, f"  without the model    {told.trouble}"] if told.trouble else rows


def _compartment_name(compartment: m.CompartmentAnswer | None) -> str | None:
    return None if compartment is None else f"{compartment.owner}/{compartment.namespace}"


def _open_to_others(home: Path) -> list[str]:
    return [
        f"{path} is open to other users: chmod {'700' if path.is_dir() else '600'} {path}"
        for path in (home, *sorted(home.iterdir()))
        if path.exists() and others_may(path.stat())
    ]


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
    with what_serves():
        from souvenance.surfaces.http.server import Address, tell

    tell(
        installation.gate,
        Address(host, port, allow_remote, host_name),
        installation,
        shell.settings.telemetry,
        greet=lambda url: say(f"{_GREETING} How it goes: {url}/health"),
    )


def _work(installation: OpenMemory) -> None:
    told: SimpleQueue[int] = SimpleQueue()  # An event could hang: two signals may come upon each other.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: told.put(number))
    with installation.working():
        say(_GREETING)
        told.get()
    say("Souvenance stopped.")
