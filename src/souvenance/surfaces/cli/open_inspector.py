"""The command that opens the inspector in a browser, signed in."""

from __future__ import annotations

import click

from souvenance.errors import Unavailable
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.cli.session import REMEMBER, Command, Shell, pass_shell

_SECONDS = 10


@click.command("open", cls=Command, section=REMEMBER)
@click.option("--print", "printed", is_flag=True, help="Print the link. Don't open a browser.")
@pass_shell
def open_(shell: Shell, printed: bool) -> None:
    """Open the pages that show what is remembered, signed in.

    A server must be running. The link works once, within a minute.
    """
    shell.call(o.WHOAMI, m.Nothing())
    server = shell.settings.url or shell.installation().served_at()
    if server is None:
        raise Unavailable("no server is running for this data folder", hint="Run 'souvenance serve' first.")
    link = link_to(server, shell.token())
    opened = not printed and not shell.json and click.launch(link) == 0
    shell.show({"url": link}, lambda: f"opened {server} in your browser" if opened else link)


def link_to(server: str, token: str) -> str:
    """A link that signs in with this token. Raises: Unavailable."""
    import httpx

    try:
        answer = httpx.post(
            f"{server}/inspect/links",
            headers={"authorization": f"Bearer {token}"},
            timeout=_SECONDS,
            trust_env=False,
        )
    except httpx.HTTPError as error:
        raise Unavailable(f"the server at {server} does not answer: {error}") from None
    if answer.status_code != 201:
        raise Unavailable(f"the server at {server} gave no link: {answer.text[:200]}")
    return f"{server}{answer.json()['path']}"
