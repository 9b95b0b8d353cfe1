"""Commands on memory itself."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

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
from souvenance.surfaces.cli.confirm import confirm, yes_option
from souvenance.surfaces.cli.options import END, LINE_ID, MOMENT, NAMES, PEOPLE, REMEMBER, Command, pass_shell
from souvenance.surfaces.cli.session import Shell, new_file

_INDENT = "    "
_LEAST_WIDTH = 20
_WIDE = ("W", "F")
_NO_WIDTH = ("Mn", "Me", "Cf")
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""What turns the order of characters around."""


class Record(NamedTuple):
    """A line of memory as it is shown."""

    id: str
    about: str
    """When it was, where it lies, and of what kind it is."""
    text: str
    note: str = ""


def shown(records: Iterable[Record]) -> str:
    """All of them, or that there are none."""
    drawn = _for_terminal if sys.stdout.isatty() else _for_program
    return "\n".join(map(drawn, records)) or "(nothing)"


def visible(text: str) -> str:
    """The text without what a terminal would obey: control characters are written out."""
    return "".join(one if one in "\n\t" or not _commands(one) else f"\\u{ord(one):04x}" for one in text)


def faint(text: str) -> str:
    """Less bright, where there is colour."""
    return _styled(text, dim=True)


def _for_program(record: Record) -> str:
    said = " ".join(visible(record.text).split())
    return "  ".join(part for part in (record.id, record.about, said, record.note) if part)


def _for_terminal(record: Record) -> str:
    head = f"{_styled(record.id, fg='yellow')}  {_styled(record.about, fg='cyan')}"
    note = f"  {faint(record.note)}" if record.note else ""
    width = max(_LEAST_WIDTH, shutil.get_terminal_size().columns - len(_INDENT))
    said = visible(record.text).expandtabs(4).splitlines()
    rows = (row for paragraph in said for row in _wrapped(paragraph, width))
    return "\n".join([head + note, *(f"{_INDENT}{row}" for row in rows)])


def _wrapped(paragraph: str, width: int) -> Iterator[str]:
    """Rows of at most so many cells; a word that is longer is cut."""
    row = ""
    for word in paragraph.split():
        if row and _cells(row) + 1 + _cells(word) <= width:
            row = f"{row} {word}"
            continue
        if row:
            yield row
        *full, row = _cut(word, width)
        yield from full
    yield row


def _cut(word: str, width: int) -> list[str]:
    parts = [""]
    for one in word:
        if _cells(parts[-1]) + _cells(one) > width:
            parts.append("")
        parts[-1] += one
    return parts


def _cells(text: str) -> int:
    """How many cells of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(one) in _NO_WIDTH else 1 + (unicodedata.east_asian_width(one) in _WIDE)
        for one in text
    )


def _commands(one: str) -> bool:
    return unicodedata.category(one) in ("Cc", "Cs") or one in _DIRECTIONS


def _styled(text: str, fg: str | None = None, *, dim: bool | None = None) -> str:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain else click.style(text, fg=fg, dim=dim)


_CATCH_UP_SECONDS = 0.2
"""For what was put while no server ran: a question loads the embedder anyway, unlike `put`."""

_namespaces = click.option(
    "--namespaces", "-n", type=NAMES, default=None, help="Only these namespaces, separated by commas."
)


_TIMES = "E.g. yesterday, 'last week', 2026-03-01 or 3d."
_UNREAD = "(the text was not shown: the token does not grant 'get', or the line does not open)"


def _of_peer(command: Callable[..., None]) -> Callable[..., None]:
    return click.option("--peer", metavar="NAME", help="Use this peer's memory instead of your own.")(command)


@click.command(cls=Command, section=REMEMBER)
@click.argument("text")
@click.option(
    "--namespace", "-n", default=DEFAULT_NAMESPACE, show_default=True, help="Where to store the line."
)
@click.option("--kind", default=DEFAULT_KIND, show_default=True, help="A label of your choice.")
@click.option(
    "--id",
    "line_id",
    type=LINE_ID,
    default=None,
    help="An id (ULID) that you choose, so that a retry adds nothing.",
)
@click.option("--session", default=None, help="The session that the line belongs to.")
@click.option("--metadata", default="{}", help="A JSON object. It is stored unencrypted.")
@click.option("--occurred-at", type=MOMENT, default=None, help="When it happened [default: now].")
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
    """Remember TEXT. Write - to read it from standard input."""
    try:
        extra = msgspec.json.decode(metadata, type=dict[str, Any])
    except UNREADABLE as error:
        raise InvalidInput(f"--metadata is not a JSON object: {error}") from None
    said = _standard_input() if text == "-" else text
    shell.makes = True
    request = m.Put(
        said, namespace, line_id, kind=kind, session=session, metadata=extra, occurred_at=occurred_at
    )
    answer = shell.call(o.PUT, request)
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
@_of_peer
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
    peer: str | None,
) -> None:
    """Find the lines that answer QUERY best. Without QUERY, show the newest."""
    shell.peer = peer
    if query and not shell.is_remote:
        shell.installation().catch_up(_CATCH_UP_SECONDS)
    answer = shell.call(o.GET, m.Get(query, namespaces, k, since, until, at, floor, explain))

    def text() -> str:
        if not explain:
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
    signals = ", ".join(f"{name} {_signal(one)}" for name, one in why.signals.items())
    compared = "by words alone" if why.space is None else f"meaning in {why.space}"
    return f"    {why.rank}. {why.by} {why.score:.2f}, {compared}: {signals}"


def _signal(one: m.Signal) -> str:
    rank = "" if one.rank is None else f", rank {one.rank}"
    return f"{one.value:.2f} ({one.added:+.2f}{rank})"


@click.command("list", cls=Command, section=REMEMBER)
@_namespaces
@click.option("--since", type=MOMENT, help=f"Only lines stored since then. {_TIMES}")
@click.option("--cursor", default=None, help="Continue after the last page: the value that it printed.")
@click.option(
    "--limit",
    type=click.IntRange(1, LIST_MOST),
    default=LIST_DEFAULT,
    show_default=True,
    help=f"How many lines to show, up to {LIST_MOST}.",
)
@click.option("--history", is_flag=True, help="Show replaced lines too.")
@_of_peer
@pass_shell
def list_(
    shell: Shell,
    namespaces: tuple[str, ...] | None,
    since: datetime | None,
    cursor: str | None,
    limit: int,
    history: bool,
    peer: str | None,
) -> None:
    """List lines, oldest first. The text is shown if the token grants 'get'."""
    shell.peer = peer
    request = m.List(namespaces, since, cursor, limit, history)
    answer = shell.call(o.LIST, replace(request, texts=shell.grants("get")))

    def text() -> str:
        rows = [shown(map(_listed, answer.lines))]
        if answer.cursor:
            rows.append(f"more: --cursor {answer.cursor}")
        return "\n".join(rows)

    shell.show(answer, text)


def _listed(line: m.ListedLine) -> Record:
    about = f"{line.created_at.astimezone():%Y-%m-%d %H:%M}  [{line.namespace}]  {line.kind}"
    said = _UNREAD if line.text is None else quoted(named(line.trust), line.text)
    return Record(line.id, about, said, f"(replaced by {line.invalidated_by})" if line.invalidated_by else "")


@click.command(cls=Command, section=REMEMBER)
@click.argument("line_id", metavar="ID", type=LINE_ID)
@_of_peer
@pass_shell
def line(shell: Shell, line_id: str, peer: str | None) -> None:
    """Show one line, even if it was replaced."""
    shell.peer = peer
    answer = shell.call(o.LINE, m.GetLine(line_id))

    def text() -> str:
        replaced = f"\nreplaced by {answer.invalidated_by}" if answer.invalidated_by else ""
        replaces = f"\nreplaces {answer.supersedes}" if answer.supersedes else ""
        when = f"{answer.created_at.astimezone():%Y-%m-%d %H:%M}"
        said = visible(quoted(named(answer.trust), answer.text))
        return f"{when}  [{answer.namespace}]  {said}{replaces}{replaced}"

    shell.show(answer, text)


@click.command(cls=Command, section=PEOPLE)
@_namespaces
@click.option("--as-prompt", is_flag=True, help="Print it as a prompt carries it, without ids.")
@_of_peer
@pass_shell
def snapshot(shell: Shell, namespaces: tuple[str, ...] | None, as_prompt: bool, peer: str | None) -> None:
    """Show the profile that a system prompt can carry."""
    shell.peer = peer
    answer = shell.call(o.SNAPSHOT, m.Snapshot(namespaces))

    def text() -> str:
        profile: str = answer.profile.rstrip("\n")
        if as_prompt or not profile:
            return profile
        told = zip(answer.lines, profile.split("\n"), strict=True)
        return shown(Record(line_id, *_entry(row)) for line_id, row in told)

    shell.show(answer, text)


def _entry(row: str) -> tuple[str, str]:
    """Day and namespace of a row of the profile, and what it says."""
    day, namespace, said = row.removeprefix("- ").split(" ", 2)
    return f"{day}  {namespace}", said


@click.command(cls=Command, section=REMEMBER)
@click.argument("line_id", metavar="ID", type=LINE_ID)
@click.argument("text", required=False)
@_of_peer
@pass_shell
def correct(shell: Shell, line_id: str, text: str | None, peer: str | None) -> None:
    """Replace line ID with TEXT, or mark it as no longer true."""
    shell.peer = peer
    answer = shell.call(o.INVALIDATE, m.Invalidate(line_id, text))
    shell.show(answer, lambda: f"{answer.id}  replaces {answer.invalidates}")


@click.command(cls=Command, section=REMEMBER)
@click.argument("line_id", metavar="ID", type=LINE_ID, required=False)
@click.option("--namespace", "-n", default=None, help="Erase everything in this namespace.")
@click.option("--owner", default=None, help="Erase everything of this owner.")
@_of_peer
@click.option("--dry-run", is_flag=True, help="Show what would be erased. Erase nothing.")
@yes_option
@click.option(
    "--receipt",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the signed receipt to FILE. FILE must not exist.",
)
@pass_shell
def forget(
    shell: Shell,
    line_id: str | None,
    namespace: str | None,
    owner: str | None,
    peer: str | None,
    dry_run: bool,
    yes: bool,
    receipt: Path | None,
) -> None:
    """Erase a line, a namespace or an owner for good. Shows what will be erased and asks first."""
    shell.peer = peer
    request = m.Forget(line_id, namespace, owner)
    if dry_run or not yes:
        would: m.ForgetAnswer = shell.call(o.FORGET, replace(request, dry_run=True))
        if dry_run:
            shell.show(would, lambda: f"would erase {_extent(would)}\n{_newest(would)}".rstrip())
            return
        confirm(f"erase {_extent(would)} for good", _newest(would))
    with _receipt(receipt) as file:
        answer: m.ForgetAnswer = shell.call(o.FORGET, request)
        if file is not None:
            file.write(f"{answer.receipt}\n")

    def text() -> str:
        scrubbed = "bytes gone" if answer.scrubbed else "bytes go when no other process holds the store"
        row = receipts.read_unverified(answer.receipt).row
        kept = f"; receipt in {receipt}" if receipt else ""
        return f"forgot {answer.lines} lines and {answer.keys} keys; {scrubbed}; audit row {row}{kept}"

    shell.show(answer, text)


def _extent(would: m.ForgetAnswer) -> str:
    places = f" in {', '.join(would.namespaces)}" if would.namespaces else ""
    return f"{would.lines} {'line' if would.lines == 1 else 'lines'}{places}"


def _newest(would: m.ForgetAnswer) -> str:
    if not would.newest:
        return ""
    rows = shown(
        Record(
            one.id,
            f"{one.created_at.astimezone():%Y-%m-%d %H:%M}  [{one.namespace}]",
            _UNREAD if one.text is None else one.text,
        )
        for one in would.newest
    )
    return rows if len(would.newest) == would.lines else f"The newest of {would.lines} lines:\n{rows}"


@contextmanager
def _receipt(path: Path | None) -> Iterator[IO[str] | None]:
    """The file that the receipt goes to, made before anything is deleted; gone again if nothing is."""
    if path is None:
        yield None
        return
    with new_file(path) as file:
        yield file
