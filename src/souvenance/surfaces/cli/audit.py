"""Commands that check: the audit log, and the doctor that looks at everything else."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
import msgspec

from souvenance.decoders import settled
from souvenance.domain import merkle
from souvenance.domain import receipt as receipts
from souvenance.domain.audit import Checkpoint, verify
from souvenance.domain.names import DEFAULT_WORKSPACE
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import BrokenAuditChain, IntegrityError, InvalidInput
from souvenance.files import file_text, others_may, read_regular
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.cli.output import counted, progress, say
from souvenance.surfaces.cli.session import (
    ACCESS,
    EXISTING_FILE,
    OPERATE,
    Command,
    Group,
    Shell,
    mend,
    pass_shell,
)

_PAGE = 1000


@click.group(cls=Group, section=ACCESS)
def audit() -> None:
    """Read and verify the audit log."""


@audit.command("list")
@click.option("--first", type=click.IntRange(0), default=0, show_default=True, help="Start at this row.")
@click.option("--limit", type=click.IntRange(1), help="Print at most this many rows [default: all].")
@pass_shell
def list_(shell: Shell, first: int, limit: int | None) -> None:
    """Print rows of the log. 'verify --rows' reads what --json prints."""
    for row in _rows(shell, first, limit):
        shell.show(row, partial(_row_line, row))


@audit.command("verify")
@click.option("--checkpoint", type=EXISTING_FILE, help="A checkpoint that you saved.")
@click.option("--rows", type=EXISTING_FILE, help="A saved 'audit list --json', instead of the log.")
@click.option("--receipt", type=EXISTING_FILE, help="A receipt that 'forget' wrote.")
@pass_shell
def verify_(shell: Shell, checkpoint: Path | None, rows: Path | None, receipt: Path | None) -> None:
    """Verify the log, and with it a checkpoint or a receipt.

    With --checkpoint, check that the log only grew since. With --receipt, check that the log records the
    deletion, and who signed it. With --rows, only the given files are read, so no signature is checked.
    """
    text = file_text(receipt) if receipt else None
    claimed = receipts.read_unverified(text) if text is not None else None
    saved = _read_checkpoint(checkpoint) if checkpoint else None
    named = shell.workspace if claimed is None else claimed.workspace
    found = _read_rows(rows) if rows else list(_rows(shell, 0, None, named))
    if rows:
        workspace = named or (saved.workspace if saved else DEFAULT_WORKSPACE)
    else:
        workspace = shell.call(o.CHECKPOINT, m.Nothing(), workspace=named).workspace
    every = [row.row(workspace) for row in found]
    now = verify(workspace, every, saved)
    answer = {"ok": True, "workspace": now.workspace, "rows": now.size, "root": now.root.hex()}
    if text is not None and claimed is not None:
        then = Checkpoint(claimed.workspace, claimed.row + 1, bytes.fromhex(claimed.root))
        verify(claimed.workspace, every, then)
        receipts.hold_against(claimed, every[claimed.row].event, every[claimed.row].leaf)
        if not rows:
            shell.call(o.VERIFY_RECEIPT, m.VerifyReceipt(text), workspace=named)
        answer |= {"receipt": claimed, "signature_checked": not rows}
    held = " and the checkpoint holds" if saved else ""
    shell.show(
        answer,
        lambda: [
            f"ok: {counted(now.size, 'row')} linked{held}; root {now.root.hex()}",
            *([] if claimed is None else _receipt_lines(claimed, signed=not rows)),
        ],
    )


def _receipt_lines(receipt: receipts.Receipt, *, signed: bool) -> list[str]:
    what = f"line {receipt.line}" if receipt.line else f"namespaces {', '.join(receipt.namespaces) or 'none'}"
    if receipt.session is not None:
        begin = f" from {what} on" if receipt.line else ""
        what = f"session {receipt.session}{begin}"
    whose = "" if receipt.owner is None else f" of {receipt.owner}"
    done = "deleted" if receipt.moved_to is None else f"moved to {receipt.moved_to}"
    lines = [
        f"the log confirms the receipt: {what}{whose}, {done} by {receipt.actor}"
        f" at {to_datetime(receipt.at):%Y-%m-%d %H:%M:%S} UTC"
        f" ({counted(receipt.lines, 'line')}, {counted(receipt.keys, 'key')}, audit row {receipt.row})",
        f"  checked then: {', '.join(receipt.verified)}",
    ]
    if receipt.pending:
        lines.append(f"  still to be done then: {', '.join(receipt.pending)}")
    return lines if signed else [*lines, "  the signature was not checked: leave --rows out for that"]


@audit.command()
@pass_shell
def checkpoint(shell: Shell) -> None:
    """Print the log's size and root hash. Keep it on another machine."""
    say(msgspec.json.encode(shell.call(o.CHECKPOINT, m.Nothing())).decode())


@audit.command()
@click.argument("seq", type=click.IntRange(0), required=False)
@click.option("--old", type=click.IntRange(0), help="Prove that the log only grew since it had this size.")
@click.option("--size", type=click.IntRange(0), help="Prove it for this size of the log [default: now].")
@pass_shell
def proof(shell: Shell, seq: int | None, old: int | None, size: int | None) -> None:
    """Prove that row SEQ is in the log, or that the log only grew."""
    answer = shell.call(o.PROOF, m.AuditProof(size, seq, old))
    if not _holds(answer, seq, old):
        raise BrokenAuditChain("the proof does not hold")
    say(msgspec.json.encode(answer).decode())


def _rows(shell: Shell, first: int, limit: int | None, workspace: str | None = None) -> Iterator[m.AuditRow]:
    """The rows that were there when the reading began, page by page."""
    size = shell.call(o.CHECKPOINT, m.Nothing(), workspace=workspace).size
    end = size if limit is None else min(size, first + limit)
    while first < end:
        page = shell.call(o.AUDIT, m.AuditList(first, min(_PAGE, end - first)), workspace=workspace)
        yield from page.rows
        if page.next is None:
            return
        first = page.next


def _holds(answer: m.ProofAnswer, seq: int | None, old: int | None) -> bool:
    path = [bytes.fromhex(step) for step in answer.path]
    root = bytes.fromhex(answer.root)
    if seq is not None:
        return merkle.verify_inclusion(bytes.fromhex(answer.leaf or ""), seq, answer.size, path, root)
    return merkle.verify_consistency(old or 0, bytes.fromhex(answer.old_root or ""), answer.size, root, path)


def _row_line(row: m.AuditRow) -> str:
    places = f"  [{', '.join(row.namespaces)}]" if row.namespaces else ""
    when = f"{to_datetime(row.at):%Y-%m-%d %H:%M:%S}"
    return f"{row.seq:>6}  {when}  {row.actor}  {row.operation}{places}  {row.outcome}"


def _read_checkpoint(path: Path) -> Checkpoint:
    try:
        saved = msgspec.json.decode(file_text(path), type=settled(m.CheckpointAnswer))
        return Checkpoint(saved.workspace, saved.size, bytes.fromhex(saved.root))
    except (msgspec.MsgspecError, ValueError):
        raise InvalidInput(
            f"{path} is not a checkpoint", hint="Save one with 'souvenance audit checkpoint'."
        ) from None


def _read_rows(path: Path) -> list[m.AuditRow]:
    try:
        lines = read_regular(path).splitlines()
        return [msgspec.json.decode(line, type=settled(m.AuditRow)) for line in lines]
    except (OSError, msgspec.MsgspecError) as error:
        raise BrokenAuditChain(f"{path} is not a saved audit log: {error}") from None


@click.command(cls=Command, section=OPERATE)
@click.option("--repair", is_flag=True, help="First copy what is missing between store and bucket.")
@pass_shell
def doctor(shell: Shell, repair: bool) -> None:
    """Check lines, vectors, keys, audit logs and the schema. Exits with 10 if anything is wrong."""
    mended = mend(shell, lambda installation: installation.repairer.repair()) if repair else None
    overview = shell.call(o.COMPARTMENTS, m.Nothing())
    findings = [*_open_to_others(shell.settings.home), *overview.findings]
    findings += [] if mended is None else mended.findings
    lines = rows = 0

    def shown(compartment: m.CompartmentAnswer | None) -> str | None:
        return None if compartment is None else f"{compartment.owner}/{compartment.namespace}"

    with progress("lines", len(overview.compartments), item_show_func=shown) as bar:
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
            found = [row.row(workspace) for row in _rows(shell, 0, None, workspace)]
            rows += verify(workspace, found).size
            findings += shell.call(o.RECONCILE, m.Reconcile(workspace)).findings
        except IntegrityError as error:
            findings.append(f"workspace {workspace!r}: {error.detail}")
    if overview.scrub_pending and not shell.call(o.SCRUB, m.Nothing()).scrubbed:
        findings.append("forgotten bytes can't be scrubbed while another process holds the store")
    result = {"lines": lines, "audit_rows": rows, "findings": findings}
    told = [*findings]
    if mended is not None:
        result |= {"restored": mended.restored, "carried": mended.carried, "removed": mended.removed}
        told.append(
            f"store and bucket agree: {counted(mended.restored, 'line')} restored,"
            f" {counted(mended.carried, 'object')} copied, {mended.removed} of erased lines removed"
        )
    told.append(f"{counted(lines, 'line')} readable, {counted(rows, 'audit row')} verified")
    shell.show(result, lambda: told)
    if findings:
        raise IntegrityError(
            counted(len(findings), "finding"), hint="Keep a copy of the folder before you repair anything."
        )


def _open_to_others(home: Path) -> list[str]:
    return [
        f"{path} is open to other users: chmod {'700' if path.is_dir() else '600'} {path}"
        for path in (home, *sorted(home.iterdir()))
        if path.exists() and others_may(path.stat())
    ]
