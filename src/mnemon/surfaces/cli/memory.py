"""Commands on memory itself."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

import click
import msgspec

from mnemon.domain import receipt as receipts
from mnemon.domain.names import DEFAULT_KIND, DEFAULT_NAMESPACE
from mnemon.domain.shapes import UNREADABLE
from mnemon.domain.trust import named, quoted
from mnemon.errors import InvalidInput
from mnemon.gate import messages as m
from mnemon.gate import operations as o
from mnemon.surfaces.cli.options import MOMENT, NAMES, Command, pass_shell
from mnemon.surfaces.cli.shell import Shell

_CATCH_UP_SECONDS = 0.2
"""For what was put while no server ran: a question loads the embedder anyway, unlike `put`."""

_namespaces = click.option(
    "--namespaces", "-n", type=NAMES, default=None, help="Only these, separated by commas."
)


@click.command(cls=Command)
@click.argument("text")
@click.option("--namespace", "-n", default=DEFAULT_NAMESPACE, show_default=True)
@click.option("--kind", default=DEFAULT_KIND, show_default=True)
@click.option("--id", "line_id", default=None, help="A ULID of your own, to retry safely.")
@click.option("--session", default=None, help="The conversation it belongs to.")
@click.option("--metadata", default="{}", help="A JSON object; it is not sealed.")
@click.option("--occurred-at", type=MOMENT, default=None, help="When it happened, if not now.")
@pass_shell
def put(
    shell: Shell,
    text: str,
    namespace: str,
    kind: str,
    line_id: str | None,
    session: str | None,
    metadata: str,
    occurred_at: datetime | None,
) -> None:
    """Remember TEXT ('-' reads it from standard input)."""
    try:
        extra = msgspec.json.decode(metadata, type=dict[str, Any])
    except UNREADABLE as error:
        raise InvalidInput(f"--metadata is not a JSON object: {error}") from None
    said = _standard_input() if text == "-" else text
    shell.makes = True
    request = m.Put(said, namespace, line_id, kind, session, extra, occurred_at)
    answer = shell.call(o.PUT, request)
    shell.show(answer, lambda: f"{answer.id}{'  (was there already)' if answer.duplicate else ''}")


def _standard_input() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise InvalidInput("standard input is not text in UTF-8") from None


@click.command(cls=Command)
@click.argument("query", required=False)
@_namespaces
@click.option("-k", type=click.IntRange(1, 20), default=5, show_default=True, help="At most so many lines.")
@click.option("--since", type=MOMENT, default=None)
@click.option("--until", type=MOMENT, default=None)
@click.option("--at", type=MOMENT, default=None, help="When it is asked, if not now.")
@click.option("--floor", is_flag=True, help="Only what is relevant enough to be shown unasked.")
@click.option("--explain", is_flag=True, help="Say of each line why it came.")
@pass_shell
def get(
    shell: Shell,
    query: str | None,
    namespaces: tuple[str, ...] | None,
    k: int,
    since: datetime | None,
    until: datetime | None,
    at: datetime | None,
    floor: bool,
    explain: bool,
) -> None:
    """Recall the lines that answer QUERY best, or the newest."""
    if query and not shell.is_remote:
        shell.house().catch_up(_CATCH_UP_SECONDS)
    answer = shell.call(o.GET, m.Get(query, namespaces, k, since, until, at, floor, explain))
    shell.show(answer, lambda: "\n".join(map(_recalled, answer.lines)) or "(nothing)")


def _recalled(line: m.RecalledLine) -> str:
    when = (line.occurred_at or line.created_at).astimezone().date().isoformat()
    text = quoted(named(line.trust), line.text)
    told = f"{when}  [{line.namespace}]  {text}{'' if line.matched else '   (newest, not matched)'}"
    return told if line.explanation is None else f"{told}\n{_explained(line.explanation)}"


def _explained(why: m.Explanation) -> str:
    if not why.signals:
        return f"    {why.rank}. {why.by}"
    signals = ", ".join(f"{name} {_signal(one)}" for name, one in why.signals.items())
    compared = "by words alone" if why.space is None else f"meaning in {why.space}"
    return f"    {why.rank}. {why.by} {why.score:.2f}, {compared}: {signals}"


def _signal(one: m.Signal) -> str:
    rank = "" if one.rank is None else f", rank {one.rank}"
    return f"{one.value:.2f} ({one.added:+.2f}{rank})"


@click.command("list", cls=Command)
@_namespaces
@click.option("--since", type=MOMENT, default=None)
@click.option("--cursor", default=None, help="Go on where the last page ended.")
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True)
@click.option("--history", is_flag=True, help="Show replaced lines too.")
@pass_shell
def list_(
    shell: Shell,
    namespaces: tuple[str, ...] | None,
    since: datetime | None,
    cursor: str | None,
    limit: int,
    history: bool,
) -> None:
    """List lines without their text, oldest first."""
    answer = shell.call(o.LIST, m.List(namespaces, since, cursor, limit, history))

    def text() -> str:
        rows = [
            f"{line.id}  {line.created_at.astimezone():%Y-%m-%d %H:%M}  [{line.namespace}]  {line.kind}"
            + (f"  replaced by {line.invalidated_by}" if line.invalidated_by else "")
            for line in answer.lines
        ]
        if answer.cursor:
            rows.append(f"more: --cursor {answer.cursor}")
        return "\n".join(rows) or "(nothing)"

    shell.show(answer, text)


@click.command(cls=Command)
@click.argument("line_id", metavar="ID")
@pass_shell
def line(shell: Shell, line_id: str) -> None:
    """Read one line, also one that was replaced."""
    answer = shell.call(o.LINE, m.GetLine(line_id))

    def text() -> str:
        replaced = f"\nreplaced by {answer.invalidated_by}" if answer.invalidated_by else ""
        replaces = f"\nreplaces {answer.supersedes}" if answer.supersedes else ""
        when = f"{answer.created_at.astimezone():%Y-%m-%d %H:%M}"
        said = quoted(named(answer.trust), answer.text)
        return f"{when}  [{answer.namespace}]  {said}{replaces}{replaced}"

    shell.show(answer, text)


@click.command(cls=Command)
@_namespaces
@pass_shell
def snapshot(shell: Shell, namespaces: tuple[str, ...] | None) -> None:
    """Print the profile that a system prompt may carry whole."""
    answer = shell.call(o.SNAPSHOT, m.Snapshot(namespaces))
    shell.show(answer, lambda: answer.profile.rstrip("\n"))


@click.command(cls=Command)
@click.argument("line_id", metavar="ID")
@click.argument("text", required=False)
@pass_shell
def correct(shell: Shell, line_id: str, text: str | None) -> None:
    """Replace the line ID with TEXT, or without it mark the line as no longer true."""
    answer = shell.call(o.INVALIDATE, m.Invalidate(line_id, text))
    shell.show(answer, lambda: f"{answer.id}  replaces {answer.invalidates}")


@click.command(cls=Command)
@click.argument("line_id", metavar="ID", required=False)
@click.option("--namespace", "-n", default=None, help="Everything in this namespace.")
@click.option("--owner", default=None, help="Everything of this owner.")
@pass_shell
def forget(shell: Shell, line_id: str | None, namespace: str | None, owner: str | None) -> None:
    """Erase a line, a namespace or an owner for good."""
    answer = shell.call(o.FORGET, m.Forget(line_id, namespace, owner))

    def text() -> str:
        scrubbed = "bytes gone" if answer.scrubbed else "bytes go when no other process holds the store"
        row = receipts.read_unverified(answer.receipt).row
        return f"forgot {answer.lines} lines and {answer.keys} keys; {scrubbed}; audit row {row}"

    shell.show(answer, text)
