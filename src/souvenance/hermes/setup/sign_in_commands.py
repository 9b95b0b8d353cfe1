"""The commands to sign in and out: `souvenance login` and `souvenance logout`."""

from __future__ import annotations

import time
from collections.abc import Iterator

import click

from souvenance.hermes.configuration import Configuration
from souvenance.hermes.oauth_tokens import OAuthGrant
from souvenance.hermes.setup.command_context import (
    CommandContext,
    HermesCommand,
    pass_command_context,
    settle,
)
from souvenance.hermes.setup.display import address
from souvenance.hermes.sign_in import profile as signin


@click.command(cls=HermesCommand)
@click.option("--url", metavar="URL", help="The server to sign in to [default: the configured one].")
@click.option("--device", is_flag=True, help="Sign in with a code on another device.")
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening a browser.")
@pass_command_context
@click.pass_context
def login(
    ctx: click.Context, command_context: CommandContext, url: str | None, device: bool, no_browser: bool
) -> None:
    """Sign in to a server for this profile of Hermes. The sign-in renews itself."""
    settle(ctx, command_context)
    configuration, surroundings = command_context.configuration(), command_context.surroundings
    server = signin.server_of(configuration, url)
    signed = signin.sign_in(
        server,
        configuration,
        surroundings,
        say=command_context.say,
        how="code" if device else "browser",
        opens=not no_browser,
    )
    file, after = signin.keep(configuration.home, surroundings, server, signed)
    command_context.show(
        {
            "url": address(server),
            "file": file,
            "host": after.host,
            "workspace": after.workspace,
            "peer": after.peer_name,
            "client": signed.grant.client,
            "expires_at": signed.grant.expires_at,
            "shortfalls": (complaints := [str(one) for one in command_context.read()[1]]),
        },
        _told(server, after, complaints, signin.consented(signed), signed.grant),
    )


def _told(
    server: str, after: Configuration, complaints: list[str], chosen: dict[str, str], grant: OAuthGrant
) -> Iterator[str]:
    name = after.peer_name or "nobody by name"
    yield f"Signed in to {address(server)}, workspace {after.workspace}, as {name}."
    yield f"OAuth ({standing(grant, int(time.time()))}); it is renewed by itself."
    yield f"in {signin.target_of(after)}, for {after.host}"
    yield from (f"warning: {complaint}" for complaint in complaints)
    named = chosen.get("peerName")
    if named and named != after.peer_name:
        yield f"There you are {named}, and here {name}. To be the same: souvenance hermes peer --user {named}"


@click.command(cls=HermesCommand)
@pass_command_context
@click.pass_context
def logout(ctx: click.Context, command_context: CommandContext) -> None:
    """Sign out of the server and remove this profile's tokens."""
    settle(ctx, command_context)
    gone = signin.sign_out(command_context.installation.current.home, command_context.surroundings)
    after = command_context.configuration()

    def text() -> Iterator[str]:
        if not gone.was_signed_in:
            yield "Nobody is signed in."
            return
        yield f"Signed out. The tokens are no longer in {gone.file}."
        if gone.trouble:
            yield f"warning: the server was not told: {gone.trouble}"
        if after.url is None:
            yield f"Memory is now kept on this machine, in {after.store}."

    command_context.show(
        {"signed_out": gone.was_signed_in, "file": gone.file, "trouble": gone.trouble}, text()
    )


def standing(grant: OAuthGrant, now: int) -> str:
    """How a sign-in stands: by which client, and for how long its token holds."""
    left = grant.expires_at - now
    if grant.ended:
        held = f"ended: {grant.ended}; sign in again: souvenance login"
    elif left > 0:
        held = f"valid for {max(1, round(left / 60))} min"
    else:
        held = "ran out; it is renewed with the next request"
    cut = "; a renewal was cut off" if grant.spending and not grant.ended else ""
    return f"{grant.client}, {held}{cut}"
