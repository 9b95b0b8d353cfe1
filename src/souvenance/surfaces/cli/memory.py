"""Commands on memory itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace as changed
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from souvenance.decoders import UNREADABLE
from souvenance.domain import receipt as receipts
from souvenance.domain.limits import LIST_DEFAULT, LIST_MOST, RECALL_DEFAULT, RECALL_MOST
from souvenance.domain.names import DEFAULT_KIND, DEFAULT_NAMESPACE
from souvenance.domain.trust import named, quoted
from souvenance.errors import InvalidInput
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation import peers
from souvenance.surfaces.cli.output import Record, confirm, counted, new_file, shown, visible, yes_option
from souvenance.surfaces.cli.session import (
    END,
    LINE_ID,
    MOMENT,
    NAMES,
    PEOPLE,
    REMEMBER,
    SPAN,
    Command,
    Shell,
    of_peer,
    pass_shell,
)

_CATCH_UP_SECONDS = 0.2
"""For what was put while no server ran: a question loads the embedder anyway, unlike `put`."""

_namespaces = click.option(
    "--namespaces", "-n", type=NAMES, help="Only these namespaces, separated by commas."
)


receipt_option = click.option(
    "--receipt",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the signed receipt to FILE. FILE must not exist.",
)
_TIMES = "E.g. yesterday, 'last week', 2026-03-01 or 3d."
_UNREAD = "(the text was not shown: the token does not grant 'get', or the line does not open)"


@click.command(cls=Command, section=REMEMBER)
@click.argument("text")
@click.option(
    "--namespace", "-n", default=DEFAULT_NAMESPACE, show_default=True, help="Where to store the line."
)
@click.option("--kind", default=DEFAULT_KIND, show_default=True, help="A label of your choice.")
@click.option("--id", type=LINE_ID, help="An id (ULID) that you choose, so that a retry adds nothing.")
@click.option("--session", help="The session that the line belongs to.")
@click.option("--metadata", default="{}", help="A JSON object. It is stored unencrypted.")
@click.option("--occurred-at", type=MOMENT, help="When it happened [default: now].")
@click.option("--expires-at", type=MOMENT, help="From then on nobody is shown it, and it is removed.")
@click.option("--expires-in", type=SPAN, metavar="TIME", help="The same, so long from now: 12h, 90d.")
@pass_shell
def put(shell: Shell, /, text: str, metadata: str, expires_in: int | None, **fields: Any) -> None:
    """Remember TEXT. Write - to read it from standard input."""
    if expires_in is not None:
        if fields["expires_at"] is not None:
            raise InvalidInput("give --expires-at or --expires-in, not both")
        fields["expires_at"] = datetime.now().astimezone() + timedelta(seconds=expires_in)
    try:
        extra = msgspec.json.decode(metadata, type=dict[str, Any])
    except UNREADABLE as error:
        raise InvalidInput(f"--metadata is not a JSON object: {error}") from None
    said = _standard_input() if text == "-" else text
    shell.makes = True
    answer = shell.call(o.PUT, m.Put(said, metadata=extra, **fields))
    shell.show(answer, lambda: f"{answer.id}{'  (was there already)' if answer.duplicate else ''}")


def _standard_input() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise InvalidInput("standard input is not text in UTF-8") from None


@click.command(cls=Command, section=REMEMBER)
@click.argument("query", required=False)
@_namespaces
@click.option(
    "--limit",
    "-k",
    "k",
    type=click.IntRange(1, RECALL_MOST),
    default=RECALL_DEFAULT,
    show_default=True,
    help=f"How many lines to show, up to {RECALL_MOST}. 'souvenance list' shows all.",
)
@click.option("--since", type=MOMENT, help=f"Only lines stored since then. {_TIMES}")
@click.option("--until", type=END, help="Only lines stored until then. A day counts to its end.")
@click.option("--at", type=MOMENT, help="Answer as if asked then: it decides what 'last week' means.")
@click.option("--floor", is_flag=True, help="Hide weak matches. Shows nothing if nothing fits well.")
@click.option("--explain", is_flag=True, help="Show why each line was found: its signals and scores.")
@of_peer
@pass_shell
def get(shell: Shell, /, **fields: Any) -> None:
    """Find the lines that answer QUERY best. Without QUERY, show the newest."""
    request = m.Get(**fields)
    if request.query and not shell.is_remote:
        shell.installation().catch_up(_CATCH_UP_SECONDS)
    answer = shell.call(o.GET, request)

    def text() -> str:
        if not request.explain:
            return shown(map(_recalled, answer.lines))
        rows = [f"{shown([_recalled(line)])}\n{_explained(line.explanation)}" for line in answer.lines]
        return "\n".join(rows) or shown([])

    shell.show(answer, text)


def _recalled(line: m.RecalledLine) -> Record:
    when = (line.occurred_at or line.created_at).astimezone().date().isoformat()
    text = quoted(named(line.trust), line.text)
    return Record(
        line.id, f"{when}  [{line.namespace}]", text, "" if line.matched else "(newest, not matched)"
    )


def _explained(why: m.Explanation | None) -> str:
    if why is None:
        return ""
    if not why.signals:
        return f"    {why.rank}. {why.by}"
    signals = ", ".join(f"{name} {one.value:.2f} ({one.added:+.2f})" for name, one in why.signals.items())
    compared = "by words alone" if why.space is None else f"meaning in {why.space}"
    return f"    {why.rank}. {why.by} {why.score:.2f}, {compared}: {signals}"


@click.command("list", cls=Command, section=REMEMBER)
@_namespaces
@click.option("--since", type=MOMENT, help=f"Only lines stored since then. {_TIMES}")
@click.option("--cursor", help="Continue after the last page: the value that it printed.")
@click.option(
    "--limit",
    type=click.IntRange(1, LIST_MOST),
    default=LIST_DEFAULT,
    show_default=True,
    help=f"How many lines to show, up to {LIST_MOST}.",
)
@click.option("--history", is_flag=True, help="Show replaced lines too.")
@of_peer
@pass_shell
def list_(shell: Shell, /, **fields: Any) -> None:
    """List lines, oldest first. The text is shown if the token grants 'get'."""
    answer = shell.call(o.LIST, replace(m.List(**fields), texts=shell.grants("get")))

    def rows() -> Iterator[str]:
        yield shown(map(_listed, answer.lines))
        if answer.cursor:
            yield f"more: --cursor {answer.cursor}"

    shell.show(answer, rows)


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _listed(line: m.ListedLine) -> Record:
    about = f"{_minute(line.created_at)}  [{line.namespace}]  {line.kind}"
    said = _UNREAD if line.text is None else quoted(named(line.trust), line.text)
    return Record(line.id, about, said, f"(replaced by {line.invalidated_by})" if line.invalidated_by else "")


@click.command(cls=Command, section=REMEMBER)
@click.argument("line_id", metavar="ID", type=LINE_ID)
@of_peer
@pass_shell
def line(shell: Shell, line_id: str) -> None:
    """Show one line, even if it was replaced."""
    answer = shell.call(o.LINE, m.GetLine(line_id))

    def text() -> str:
        replaced = f"\nreplaced by {answer.invalidated_by}" if answer.invalidated_by else ""
        replaces = f"\nreplaces {answer.supersedes}" if answer.supersedes else ""
        said = visible(quoted(named(answer.trust), answer.text))
        return f"{_minute(answer.created_at)}  [{answer.namespace}]  {said}{replaces}{replaced}"

    shell.show(answer, text)


@click.command(cls=Command, section=PEOPLE)
@_namespaces
@click.option("--as-prompt", is_flag=True, help="Print it as a prompt carries it, without ids.")
@of_peer
@pass_shell
def snapshot(shell: Shell, namespaces: tuple[str, ...] | None, as_prompt: bool) -> None:
    """Show the profile that a system prompt can carry."""
    answer = shell.call(o.SNAPSHOT, m.Snapshot(namespaces))

    def text() -> str:
        profile: str = answer.profile
        if as_prompt or not profile:
            return profile
        rows = [row for row in profile.split("\n") if row.startswith("- ")]
        return shown(Record(line_id, *_entry(row)) for line_id, row in zip(answer.lines, rows, strict=True))

    shell.show(answer, text)


def _entry(row: str) -> tuple[str, str]:
    """Day and namespace of a row of the profile, and what it says."""
    day, namespace, said = row.removeprefix("- ").split(" ", 2)
    return f"{day}  {namespace}", said


@click.command(cls=Command, section=REMEMBER)
@click.argument("line_id", metavar="ID", type=LINE_ID)
@click.argument("text", required=False)
@of_peer
@pass_shell
def correct(shell: Shell, line_id: str, text: str | None) -> None:
    """Replace line ID with TEXT, or mark it as no longer true."""
    answer = shell.call(o.INVALIDATE, m.Invalidate(line_id, text))
    shell.show(answer, lambda: f"{answer.id}  replaces {answer.invalidates}")


@click.command(cls=Command, section=REMEMBER)
@click.argument("id", type=LINE_ID, required=False)
@click.option("--namespace", "-n", help="Erase everything in this namespace.")
@click.option("--owner", help="Erase everything of this owner, or their line ID.")
@of_peer
@click.option("--dry-run", is_flag=True, help="Show what would be erased. Erase nothing.")
@yes_option
@receipt_option
@pass_shell
def forget(shell: Shell, /, dry_run: bool, yes: bool, receipt: Path | None, **what: Any) -> None:
    """Erase a line, a namespace or an owner for good. Shows what will be erased and asks first."""
    request = m.Forget(**what)
    if dry_run or not yes:
        would: m.ForgetAnswer = shell.call(o.FORGET, replace(request, dry_run=True))
        if dry_run:
            shell.show(would, lambda: f"would erase {_extent(would)}\n{_newest(would)}".rstrip())
            return
        confirm_forgetting(would)
    with nullcontext() if receipt is None else new_file(receipt) as file:
        answer: m.ForgetAnswer = shell.call(o.FORGET, request)
        if file is not None:
            file.write(f"{answer.receipt}\n")

    shell.show(answer, lambda: f"{forgot(answer)}{f'; receipt in {receipt}' if receipt else ''}")


def confirm_forgetting(would: m.ForgetAnswer) -> None:
    """Show what would be erased, and ask. Raises: ConfirmationNeeded, click.Abort."""
    confirm(f"erase {_extent(would)} for good", _newest(would))


def forgot(answer: m.ForgetAnswer) -> str:
    scrubbed = "bytes gone" if answer.scrubbed else "bytes go when no other process holds the store"
    row = receipts.read_unverified(answer.receipt).row
    erased = f"{counted(answer.lines, 'line')} and {counted(answer.keys, 'key')}"
    return f"forgot {erased}; {scrubbed}; audit row {row}"


def _extent(would: m.ForgetAnswer) -> str:
    places = f" in {', '.join(would.namespaces)}" if would.namespaces else ""
    return f"{counted(would.lines, 'line')}{places}"


def _newest(would: m.ForgetAnswer) -> str:
    if not would.newest:
        return ""
    rows = shown(
        Record(
            one.id, f"{_minute(one.created_at)}  [{one.namespace}]", _UNREAD if one.text is None else one.text
        )
        for one in would.newest
    )
    return rows if len(would.newest) == would.lines else f"The newest of {would.lines} lines:\n{rows}"


@click.command(cls=Command, section=PEOPLE)
@click.argument("old")
@click.argument("new")
@yes_option
@pass_shell
def rename(shell: Shell, old: str, new: str, yes: bool) -> None:
    """Move the memory of peer OLD to the name NEW.

    If NEW has memory already, the two are merged for good; you are asked first. If a rename is interrupted,
    run it again to finish it.
    """
    workspace = shell.workspace or shell.own_workspace()
    theirs = changed(shell, peer=new)
    if not yes and theirs.call(o.LIST, m.List(limit=1, history=True), workspace=workspace).lines:
        confirm(f"make {old} and {new} one, who can't be told apart afterwards")
    lines = peers.rename(shell.call, workspace, old, new)

    def text() -> str:
        if not lines:
            return f"workspace {workspace}: nothing is remembered of {old}"
        return f"workspace {workspace}: {counted(lines, 'line')} of {old} moved to {new}"

    shell.show({"workspace": workspace, "lines": lines}, text)
