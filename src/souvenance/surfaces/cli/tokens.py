"""Commands on caps and keys."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.domain import capability
from souvenance.domain.capability import Confirmation, HolderKey
from souvenance.domain.encoding import b64
from souvenance.errors import InvalidInput
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.cli.options import ACCESS, NAMES, SPAN, Group, pass_shell
from souvenance.surfaces.cli.session import Shell, new_file

Listed = tuple[str, ...]


@click.group("cap", cls=Group, section=ACCESS)
def caps() -> None:
    """Mint, show, narrow and revoke capability tokens (caps)."""


@caps.command()
@click.option("--sub", required=True, help="The peer that the token acts as: whose memory it opens.")
@click.option("--ops", type=NAMES, required=True, help=f"Allowed operations: {', '.join(capability.OPS)}.")
@click.option("--namespaces", type=NAMES, required=True, help="Allowed namespaces, or '*' for all.")
@click.option("--data-class", default="memory", show_default=True, help="The class of data it is good for.")
@click.option("--ttl", type=SPAN, default="1h", show_default=True, help="How long the token is valid.")
@click.option("--wid", default=None, help="The workspace [default: that of your own token].")
@click.option("--peers", type=NAMES, default=(), help="Other peers that the token may act for.")
@click.option("--via", type=NAMES, default=(), help="Peers whose view of those it may read.")
@click.option("--sessions", type=NAMES, default=None, help="Allowed sessions [default: all].")
@click.option("--cnf", default=None, metavar="X", help="Bind the token to this public key.")
@pass_shell
def mint(
    shell: Shell,
    sub: str,
    ops: Listed,
    namespaces: Listed,
    data_class: str,
    ttl: int,
    wid: str | None,
    peers: Listed,
    via: Listed,
    sessions: Listed | None,
    cnf: str | None,
) -> None:
    """Mint a token and print it."""
    holder = Confirmation(HolderKey(cnf)) if cnf else None
    request = m.Mint(sub, ops, namespaces, data_class, ttl, wid, holder, peers, sessions, via)
    shell.makes = True
    answer = shell.call(o.MINT, request)
    shell.show(answer, lambda: answer.cap)


@caps.command()
@click.argument("token", metavar="[CAP]", required=False)
@pass_shell
def show(shell: Shell, token: str | None) -> None:
    """Show what a token says. This does not verify it."""
    shown = token or shell.token()
    blocks, bound = capability.read_unverified(shown)

    def text() -> str:
        last = blocks[-1]
        ancestors = [*(one.jti for one in blocks[0].par), *(block.jti for block in blocks[:-1])]
        return "\n".join(
            [
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
        )

    shell.show({"blocks": blocks, "bound": bound, "kid": capability.key_id(shown)}, text)


@caps.command()
@click.argument("token", metavar="[CAP]", required=False)
@click.option("--sub", default=None, help="The peer that it acts as.")
@click.option("--ops", type=NAMES, default=None, help="Allowed operations.")
@click.option("--namespaces", type=NAMES, default=None, help="Allowed namespaces.")
@click.option("--data-class", default=None, help="The class of data it is good for.")
@click.option("--ttl", type=SPAN, default=None, help="How long the token is valid.")
@click.option("--wid", default=None, help="The workspace.")
@click.option("--peers", type=NAMES, default=None, help="Other peers that it may act for.")
@click.option("--via", type=NAMES, default=None, help="Peers whose view of those it may read.")
@click.option("--sessions", type=NAMES, default=None, help="Allowed sessions.")
@click.option("--cnf", default=None, metavar="X", help="Bind the new token to this public key.")
@pass_shell
def attenuate(
    shell: Shell,
    token: str | None,
    sub: str | None,
    ops: Listed | None,
    namespaces: Listed | None,
    data_class: str | None,
    ttl: int | None,
    wid: str | None,
    peers: Listed | None,
    via: Listed | None,
    sessions: Listed | None,
    cnf: str | None,
) -> None:
    """Derive a narrower token from CAP, offline. Options you leave out keep their values."""
    holder = Confirmation(HolderKey(cnf)) if cnf else None
    request = m.Attenuate(sub, ops, namespaces, data_class, ttl, wid, holder, peers, sessions, via)
    answer = shell.attenuated(token or shell.token(), request)
    shell.show(answer, lambda: answer.cap)


@caps.command()
@click.argument("token", metavar="[CAP]", required=False)
@click.option("--jti", default=None, help="The token with this id, and all derived from it.")
@click.option("--sub", default=None, help="All tokens of this peer so far, and all derived from them.")
@click.option("--kid", default=None, help="All tokens signed by this key, and all derived from them.")
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
    answer = shell.call(o.WHOAMI, m.WhoAmI())
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
        told = (
            f"{answer.compartments} namespaces have a new key, "
            f"{answer.rewrapped} keys are wrapped by a new root key"
        )
        kept = "the old root key stays, as the bucket does not answer: rotate again when it does"
        return f"{told}\n{kept}" if answer.kept else told

    shell.show(answer, text)


def _moment(seconds: int) -> str:
    """The moment as people write it; a cap not verified may name one that no calendar has."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f"{seconds} seconds after 1970"
