"""Commands on access: capability tokens (caps), keys and sign-ins."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.domain import capability
from souvenance.domain.capability import Confirmation, HolderKey
from souvenance.domain.encoding import b64
from souvenance.errors import InvalidInput
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate import sign_ins as s
from souvenance.surfaces.cli.output import counted, new_file, one_line, table
from souvenance.surfaces.cli.session import ACCESS, NAMES, SPAN, Group, Shell, pass_shell


@click.group("cap", cls=Group, section=ACCESS)
def caps() -> None:
    """Mint, show, narrow and revoke capability tokens (caps)."""


_REQUIRED = object()
_CLAIMS: tuple[tuple[str, str, Any, Any, str], ...] = (
    ("--sub", "sub", str, _REQUIRED, "The peer that the token acts as: whose memory it opens."),
    ("--ops", "ops", NAMES, _REQUIRED, f"Allowed operations: {', '.join(capability.OPS)}."),
    ("--namespaces", "namespaces_allowed", NAMES, _REQUIRED, "Allowed namespaces, or '*' for all."),
    ("--data-class", "data_class", str, "memory", "The class of data it is good for."),
    ("--ttl", "ttl_seconds", SPAN, "1h", "How long the token is valid."),
    ("--wid", "wid", str, None, "The workspace [default: that of your own token]."),
    ("--peers", "peers", NAMES, (), "Other peers that the token may act for."),
    ("--via", "via", NAMES, (), "Peers whose view of those it may read."),
    ("--sessions", "sessions", NAMES, None, "Allowed sessions [default: all]."),
)
"""What a token says: option, field, type, what it is if nobody says so, and meaning."""


def _claims(*, new: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options for what a token says. To narrow one, all of them may be left out."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        command = click.option("--cnf", metavar="X", help="Bind the token to this public key.")(command)
        for option, field, kind, default, meaning in reversed(_CLAIMS):
            how: dict[str, Any] = {"help": meaning if new else re.sub(r" \[.*\]", "", meaning)}
            if new and default is _REQUIRED:
                how["required"] = True
            elif new:
                how |= {"default": default, "show_default": isinstance(default, str)}
            command = click.option(option, field, type=kind, **how)(command)
        return command

    return add


def _bound_to(key: str | None) -> Confirmation | None:
    return Confirmation(HolderKey(key)) if key else None


@caps.command()
@_claims(new=True)
@pass_shell
def mint(shell: Shell, /, cnf: str | None, **claims: Any) -> None:
    """Mint a token and print it."""
    shell.makes = True
    answer = shell.call(o.MINT, m.Mint(**claims, cnf=_bound_to(cnf)))
    shell.show(answer, lambda: answer.cap)


@caps.command()
@click.argument("token", metavar="[CAP]", required=False)
@pass_shell
def show(shell: Shell, token: str | None) -> None:
    """Show what a token says. This does not verify it."""
    shown = token or shell.token()
    blocks, bound = capability.read_unverified(shown)

    def rows() -> list[str]:
        last = blocks[-1]
        ancestors = [*(one.jti for one in blocks[0].par), *(block.jti for block in blocks[:-1])]
        return [
            f"actor       {last.sub}",
            f"workspace   {last.wid}",
            f"operations  {', '.join(last.ops) or '(none)'}",
            f"namespaces  {', '.join(last.namespaces_allowed) or '(none)'}",
            f"data class  {last.data_class}",
            f"sessions    {'any' if last.sessions is None else ', '.join(last.sessions) or '(none)'}",
            f"until       {_moment(last.exp)}",
            f"id          {last.jti}",
            f"made from   {', '.join(ancestors) or '(the first)'}",
            f"signed by   {capability.key_id(shown)}",
            f"holder      {'bound to a key' if bound else 'bearer'}",
        ]

    shell.show({"blocks": blocks, "bound": bound, "kid": capability.key_id(shown)}, rows)


@caps.command()
@click.argument("token", metavar="[CAP]", required=False)
@_claims(new=False)
@pass_shell
def attenuate(shell: Shell, /, token: str | None, cnf: str | None, **claims: Any) -> None:
    """Derive a narrower token from CAP, offline. Options you leave out keep their values."""
    answer = shell.attenuated(token or shell.token(), m.Attenuate(**claims, cnf=_bound_to(cnf)))
    shell.show(answer, lambda: answer.cap)


@caps.command()
@click.argument("token", metavar="[CAP]", required=False)
@click.option("--jti", help="The token with this id, and all derived from it.")
@click.option("--sub", help="All tokens of this peer so far, and all derived from them.")
@click.option("--kid", help="All tokens signed by this key, and all derived from them.")
@pass_shell
def revoke(shell: Shell, token: str | None, jti: str | None, sub: str | None, kid: str | None) -> None:
    """Revoke a token, or all tokens of a peer or a signing key.

    Tokens derived from a revoked token are revoked too.
    """
    if token is not None:
        if jti is not None:
            raise InvalidInput("give either a cap or --jti")
        jti = capability.read_unverified(token)[0][-1].jti
    answer = shell.call(o.REVOKE, m.Revoke(jti, sub, kid))
    shell.show(answer, lambda: f"revoked {answer.kind} {answer.revoked}")


@caps.command()
@pass_shell
def whoami(shell: Shell) -> None:
    """Show what your token grants, as the gate sees it."""
    answer = shell.call(o.WHOAMI, m.Nothing())
    shell.show(answer, lambda: msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())


@caps.command("holder-key")
@click.argument("file", type=click.Path(dir_okay=False, writable=True))
@pass_shell
def holder_key(shell: Shell, file: str) -> None:
    """Create a key pair to bind tokens to.

    The private key goes to FILE (for --holder-key). The public key is printed (for --cnf).
    """
    key = Ed25519PrivateKey.generate()
    with new_file(Path(file)) as made:
        made.write(b64(key.private_bytes_raw()) + "\n")
    public = HolderKey.of(key.public_key())
    shell.show(public, lambda: public.x)


@click.group("key", cls=Group, section=ACCESS)
def keys() -> None:
    """Rotate keys."""


@keys.command()
@click.option("--signing", is_flag=True, help="Rotate the key that signs tokens instead.")
@pass_shell
def rotate(shell: Shell, signing: bool) -> None:
    """Re-encrypt all keys under a new root key. New lines get new keys."""
    answer = shell.call(o.ROTATE, m.RotateKeys(signing))

    def text() -> str:
        if signing:
            return f"caps are now signed by {answer.kid}; revoke the old key to end its caps"
        summary = (
            f"new keys for {counted(answer.compartments, 'namespace')},"
            f" {counted(answer.rewrapped, 'key')} wrapped by a new root key"
        )
        kept = "the old root key was kept because the bucket does not answer: rotate again when it does"
        return f"{summary}\n{kept}" if answer.kept else summary

    shell.show(answer, text)


def _moment(seconds: int) -> str:
    """The moment as people write it; a cap not verified may name one that no calendar has."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f"{seconds} seconds after 1970"


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
    answer: s.SignInsAnswer = shell.call(s.LIST, m.Nothing())
    shell.show(answer, lambda: table([_COLUMNS, *map(_row, answer.sign_ins)] if answer.sign_ins else []))


@signins.command()
@click.argument("id")
@pass_shell
def end(shell: Shell, id: str) -> None:
    """End the sign-in ID. Its tokens stop working at once."""
    answer: s.Withdrawn = shell.call(s.WITHDRAW, s.Withdraw(id))
    shell.show(answer, lambda: f"ended {answer.id}: {answer.client} has to ask again")


def _row(one: s.SignInAnswer) -> tuple[str, ...]:
    peer = f"{one.peer} and everyone" if one.everyone else one.peer
    used = "never" if one.last_used is None else _minute(one.last_used)
    moments = (_minute(one.since), _minute(one.until), used)
    return (one.id, one_line(one.name), one_line(one.client), one.workspace, peer, one.access, *moments)


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
