"""The commands: `souvenance hermes …`, and the same ones as `hermes souvenance …`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from souvenance.errors import InvalidInput
from souvenance.files import file_text
from souvenance.hermes.config_files import block_of, read_configuration, root_of, write_setting
from souvenance.hermes.configuration import Complaint, Configuration, known, taken
from souvenance.hermes.identity import agent_peer
from souvenance.hermes.oauth_tokens import OAuthGrant
from souvenance.hermes.setup import wizard
from souvenance.hermes.setup.console import (
    Abandoned,
    Carried,
    Carry,
    Terminal,
    address,
    alias,
    left_behind,
    owner_of,
    shown,
)
from souvenance.hermes.setup.install import install as place
from souvenance.hermes.setup.install import reach
from souvenance.hermes.setup.install import uninstall as take_away
from souvenance.hermes.setup.profiles import (
    DEFAULT,
    HermesInstallation,
    choose_provider,
    environment_of,
    find_installation,
    provider_in,
)
from souvenance.hermes.setup.profiles import sync as synced
from souvenance.hermes.setup.status import Inspect, lines, report
from souvenance.hermes.sign_in import profile as signin

_HOW: Mapping[str | None, signin.How] = {"browser": "browser", "device": "code"}
Inspector = Callable[[Configuration], tuple[str, str]]
"""The server whose pages show the memory, and a link that signs in there once. Raises: SouvenanceError."""
_OTHERS_OPTIONS = ("home", "url", "cap", "workspace", "holder_key")
"""What the group above takes and these commands have no use for."""


@dataclass
class CommandContext:
    home: str | None = None
    profile: str | None = None
    json: bool = False
    inspect: Inspect | None = None
    carry: Any = None
    inspector: Any = None
    """A `Carry` and an `Inspector`."""
    shell: Callable[[], Any] | None = None
    """Makes what commands on memory itself reach it by."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def installation(self) -> HermesInstallation:
        return find_installation(self.environment, self.home, self.profile)

    @property
    def surroundings(self) -> dict[str, str]:
        return environment_of(self.installation.current, self.environment)

    def read(self) -> tuple[Configuration, list[Complaint]]:
        profile = self.installation.current
        return read_configuration(profile.home, self.surroundings, profile.name)

    def configuration(self) -> Configuration:
        return self.read()[0]

    def say(self, text: str) -> None:
        """Tell how it goes meanwhile; beside the answer, if that is for a program."""
        click.echo(text, err=self.json)

    def show(self, answer: Any, text: Iterable[str]) -> None:
        """Print an answer, and end quietly if the reader is gone."""
        printed = msgspec.json.encode(answer, enc_hook=str).decode() if self.json else "\n".join(text)
        try:
            click.echo(printed)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(0) from None


def settle(ctx: click.Context, command_context: CommandContext) -> None:
    """Take over the options of the group above. Raises: UsageError for those that are of no use here."""
    above = ctx.parent.obj if ctx.parent is not None else None
    if isinstance(above, CommandContext):
        return
    if any(getattr(above, name, None) for name in _OTHERS_OPTIONS):
        raise click.UsageError("These commands take their options after their name, such as --home.", ctx)
    command_context.json = command_context.json or bool(getattr(above, "json", False))


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if param.name is not None and value not in (None, False):
        setattr(ctx.ensure_object(CommandContext), param.name, value)


class HermesCommand(click.Command):
    """A command that takes the common options too, but for those that mean nothing to it."""

    def __init__(self, *args: Any, without: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(option for option in common_options() if not {*option.opts} & {*without})


def common_options() -> list[click.Option]:
    def option(*names: str, **kwargs: Any) -> click.Option:
        return click.Option(list(names), expose_value=False, callback=_remember, **kwargs)

    return [
        option("--home", metavar="DIR", help="Hermes' folder (HERMES_HOME, else ~/.hermes)."),
        option("--profile", metavar="NAME", help="The profile, if not the active one."),
        option("--json", is_flag=True, help="Answer in JSON."),
    ]


pass_command_context = click.make_pass_decorator(CommandContext, ensure=True)


def hermes_group(
    inspect: Inspect | None,
    carry: Carry,
    inspector: Inspector,
    shell: Callable[[], Any] | None = None,
    on_memory: Sequence[click.Command] = (),
) -> click.Group:
    """All the commands. `inspect` finds out how memory is; without it, status says less. `carry` moves memory
    to another name, `inspector` links to its pages. The commands `on_memory` itself use a `shell`."""

    @click.group("hermes", context_settings={"help_option_names": ["-h", "--help"]})
    @click.pass_context
    def hermes(ctx: click.Context) -> None:
        """Set up and inspect memory in Hermes Agent."""
        command_context = ctx.ensure_object(CommandContext)
        command_context.inspect, command_context.carry = inspect, carry
        command_context.inspector, command_context.shell = inspector, shell
        settle(ctx, command_context)

    hermes.params.extend(common_options())
    everyday = (status, open_, enable, disable, set_, peer, map_, sync)
    for command in (install, setup, login, logout, *everyday, *on_memory):
        hermes.add_command(command)
    return hermes


@click.command(cls=HermesCommand, without=["--profile"])
@click.option("--profile", "profiles", metavar="NAME", multiple=True, help="Only this profile; repeatable.")
@click.option("--uninstall", is_flag=True, help="Take the plugin away again.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@pass_command_context
def install(
    command_context: CommandContext, profiles: tuple[str, ...], uninstall: bool, dry_run: bool
) -> None:
    """Install the plugin in every profile of Hermes. You can repeat it safely."""
    installation = find_installation(
        command_context.environment, command_context.home, command_context.profile, new=not uninstall
    )
    chosen = installation.chosen(profiles or ([command_context.profile] if command_context.profile else []))
    steps = (take_away if uninstall else place)(chosen, dry_run=dry_run)
    names = {step.profile for step in steps if uninstall and step.outcome == "removed"}
    still = [one for one in chosen if one.name in names and provider_in(one.settings) == "souvenance"]
    found = None if uninstall else reach(command_context.environment)

    def text() -> Iterable[str]:
        would = "would be " if dry_run else ""
        for step in steps:
            done = step.outcome in ("already in place", "not there")
            yield f"{step.profile}: {step.outcome if done else would + step.outcome} ({step.folder})"
        for one in still:
            yield f"{one.name} still names souvenance as its memory. Run: hermes{one.chosen} memory off"
        if found is not None and found.advice:
            yield f"warning: {found.advice}"
        if not uninstall and not dry_run:
            first = next((one for one in chosen if provider_in(one.settings) != "souvenance"), None)
            if first is not None:
                yield f"Next: hermes{first.chosen} memory setup souvenance"

    command_context.show({"steps": steps, "dry_run": dry_run, "reach": found}, text())


@click.command(cls=HermesCommand, without=["--json"])
@click.option("--embedded", "where", flag_value="embedded", help="Keep memory on this machine.")
@click.option("--cloud", "where", flag_value="cloud", help="Keep memory in Honcho's cloud.")
@click.option("--url", metavar="URL", help="Keep memory on this server, Souvenance's or Honcho's.")
@click.option("--api-key-file", metavar="FILE", help="Where the server's key is; - for standard input.")
@click.option("--api-key-env", metavar="VARIABLE", help="The variable that holds the server's key.")
@click.option("--login", "sign_in", type=click.Choice(["browser", "device"]), help="Sign in to the server.")
@click.option("--peer", metavar="NAME", help="Your name.")
@click.option("--ai", metavar="NAME", help="The agent's name.")
@click.option("--alias", "alias_", metavar="ID[=PEER]", multiple=True, help="Whose id that is; repeatable.")
@click.option("--set", "set_", metavar="NAME=VALUE", multiple=True, help="Any setting; repeatable.")
@click.option(
    "--host-model/--no-host-model", default=None, help="Let Hermes' own model read finished conversations."
)
@click.option("--yes", is_flag=True, help="No questions asked. Options you leave out keep their values.")
@pass_command_context
def setup(command_context: CommandContext, /, yes: bool, **options: Any) -> None:
    """Set up memory. Asks two questions, or takes options. Places the plugin too."""
    profile = find_installation(
        command_context.environment, command_context.home, command_context.profile, new=True
    ).current

    try:
        wizard.set_up(
            profile,
            Terminal(answers=not yes),
            environment=environment_of(profile, command_context.environment),
            activate=partial(choose_provider, profile.settings, "souvenance"),
            given=_given(command_context, options),
            inspect=command_context.inspect,
            sign_in=signin.sign_in,
        )
    except Abandoned:
        raise click.Abort from None


def _given(command_context: CommandContext, options: Mapping[str, Any]) -> wizard.WizardAnswers:
    """Raises: InvalidInput."""
    names = {"peer": "peerName", "ai": "aiPeer", "host_model": "hostModel"}
    if options["where"] and options["url"]:
        raise click.UsageError(f"--url and --{options['where']} exclude each other")
    settings = {
        name: taken(name, options[option]) for option, name in names.items() if options[option] is not None
    }
    settings |= {name: taken(name, value) for name, value in map(_setting, options["set_"])}
    if options["alias_"]:
        now = command_context.configuration()
        owner = settings.get("peerName") or now.peer_name or ""
        if not owner and any("=" not in one for one in options["alias_"]):
            hint = "Give --peer too, or --alias ID=PEER."
            raise InvalidInput("--alias ID needs to know your name", hint=hint)
        led = dict(alias(one, owner) for one in options["alias_"])
        settings["userPeerAliases"] = {**now.user_peer_aliases, **led}
    return wizard.WizardAnswers(
        connection=options["where"],
        url=taken("baseUrl", options["url"]) if options["url"] else None,
        api_key=_api_key(command_context, options),
        sign_in=_HOW.get(options["sign_in"]),
        settings=settings,
    )


def _setting(text: str) -> tuple[str, Any]:
    """NAME=VALUE, where a list or an object is in JSON. Raises: InvalidInput."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise InvalidInput(f"{text!r} is not NAME=VALUE", hint="For example --set contextTokens=800.")
    with suppress(ValueError, InvalidInput):
        plain = json.loads(value)
        taken(name, plain)
        return name, plain
    return name, value


def _api_key(command_context: CommandContext, options: Mapping[str, Any]) -> str | None:
    if (file := options["api_key_file"]) is not None:
        key = taken("apiKey", sys.stdin.read() if file == "-" else file_text(file))
    elif options["api_key_env"] is not None:
        key = taken("apiKey", command_context.surroundings.get(options["api_key_env"], ""))
    else:
        return None
    if not key:
        raise InvalidInput("there is no key where one was said to be", hint="Name what holds it.")
    return str(key)


@click.command(cls=HermesCommand)
@pass_command_context
def status(command_context: CommandContext) -> None:
    """Show the state of memory in this profile. Changes nothing."""
    found = report(
        command_context.installation, command_context.surroundings, Path.cwd(), command_context.inspect
    )
    command_context.show(found, lines(found))


@click.command("open", cls=HermesCommand)
@click.option("--print", "printed", is_flag=True, help="Print the link. Don't open a browser.")
@pass_command_context
def open_(command_context: CommandContext, printed: bool) -> None:
    """Open the pages that show what is remembered, signed in.

    A server must be running. The link works once, within a minute.
    """
    server, link = command_context.inspector(command_context.configuration())
    opened = not printed and not command_context.json and click.launch(link) == 0
    command_context.show({"url": link}, [f"opened {address(server)} in your browser" if opened else link])


@click.command(cls=HermesCommand)
@pass_command_context
def enable(command_context: CommandContext) -> None:
    """Switch memory on in this profile."""
    _change(command_context, {"enabled": True})


@click.command(cls=HermesCommand)
@pass_command_context
def disable(command_context: CommandContext) -> None:
    """Switch memory off in this profile. What is remembered stays."""
    _change(command_context, {"enabled": False})


@click.command("set", cls=HermesCommand)
@click.argument("settings", metavar="NAME[=VALUE]...", nargs=-1, required=True)
@pass_command_context
def set_(command_context: CommandContext, settings: tuple[str, ...]) -> None:
    """Change settings of this profile. Without a value, show them.

    A list or an object is given in JSON. An empty value stands for the default.
    """
    given = dict(_setting(one) for one in settings if "=" in one)
    names = [known(one).name for one in settings if "=" not in one]
    if given and names:
        raise click.UsageError("Some have a value and some have none: change settings, or show them.")
    if given:
        _change(command_context, given)
    else:
        _tell(command_context, *names)


@click.command(cls=HermesCommand)
@click.option("--user", metavar="NAME", help="Your name.")
@click.option("--ai", metavar="NAME", help="The agent's name.")
@click.option("--carry", metavar="OLD", help="Take along what is remembered of you under that name.")
@click.option("--carry-ai", metavar="OLD", help="Take along what the agent knows under that name.")
@pass_command_context
def peer(
    command_context: CommandContext, user: str | None, ai: str | None, carry: str | None, carry_ai: str | None
) -> None:
    """Name yourself and the agent. Without options, show the names.

    Memory is kept by name: what is remembered so far stays with the names of so far, unless it is carried
    along. If that is stopped midway, run the same again.
    """
    wanted = {"peerName": user, "aiPeer": ai}
    given: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    if not given and carry is None and carry_ai is None:
        _tell(command_context, *wanted)
        return
    before = command_context.configuration()
    named = replace(
        before,
        peer_name=taken("peerName", user) if user is not None else before.peer_name,
        ai_peer=taken("aiPeer", ai) if ai is not None else before.ai_peer,
    )
    moves = ((carry, owner_of(named)), (carry_ai, agent_peer(named)))
    environment = command_context.surroundings
    carried = [command_context.carry(before, old, new, environment) for old, new in moves if old is not None]
    led = {one: owner_of(named) for one, peer in before.user_peer_aliases.items() if peer == carry}
    if led:
        given["userPeerAliases"] = {**before.user_peer_aliases, **led}
    _change(command_context, given, carried)


@click.command("map", cls=HermesCommand)
@click.argument("name", required=False)
@click.option("--remove", is_flag=True, help="Let the strategy name this directory's session again.")
@pass_command_context
def map_(command_context: CommandContext, name: str | None, remove: bool) -> None:
    """Name the session of this directory. Without NAME, list all."""
    if name and remove:
        raise click.UsageError("NAME and --remove exclude each other")
    before, here = command_context.configuration(), str(Path.cwd())
    if not name and not remove:
        named = [f"{directory}: {session}" for directory, session in before.sessions.items()]
        command_context.show({"sessions": before.sessions}, named or ["No directory has a name of its own."])
        return
    if remove and here not in before.sessions:
        command_context.show({"sessions": before.sessions}, [f"{here} has no name of its own."])
        return
    sessions = {directory: session for directory, session in before.sessions.items() if directory != here}
    sessions |= taken("sessions", {here: name}) if name else {}
    own = "sessions" in (block_of(root_of(before.file), before.host) or {})
    file = write_setting(
        before.home,
        before.host,
        {"sessions": sessions},
        root=not own,
        environment=command_context.surroundings,
    )
    said = f"{here}: {name}" if name else f"{here} has no name of its own any more"
    command_context.show({"file": file, "sessions": sessions}, [said, f"in {file}"])


@click.command(cls=HermesCommand)
@pass_command_context
def sync(command_context: CommandContext) -> None:
    """Copy the default profile's settings to every profile. Each gets an agent of its own."""
    installation = command_context.installation
    done = synced(installation, command_context.environment)

    def text() -> Iterator[str]:
        for one in done:
            yield f"{one.profile}: {one.outcome} ({one.file}, block {one.host})"
        for one in done:
            if one.signs_in:
                yield f"Next: souvenance login --profile {one.profile} (a sign-in is for one profile alone)"
        for profile in installation.chosen([one.profile for one in done]):
            if done and provider_in(profile.settings) != "souvenance":
                yield f"Next: hermes{profile.chosen} config set memory.provider souvenance"
        if not done:
            yield "There is no profile but the default one."

    command_context.show({"profiles": done}, text())


def _tell(command_context: CommandContext, *names: str, carried: Sequence[Carried] = ()) -> None:
    now = command_context.configuration()
    values = {name: now.value(name) for name in names}
    rows = [f"{name}: {shown(name, value)}" for name, value in values.items()]
    for one in carried:
        rows.extend(one.sentences())
    command_context.show({**values, "carried": carried} if carried else values, rows)


def _change(
    command_context: CommandContext, given: Mapping[str, Any], carried: Sequence[Carried] = ()
) -> None:
    """Write settings, and say what changed and where, and what was carried along before."""
    before = command_context.configuration()
    meant = {name: taken(name, value) for name, value in given.items()}
    if all(before.value(name) == value for name, value in meant.items()):
        _tell(command_context, *given, carried=carried)
        return
    file = write_setting(before.home, before.host, given, environment=command_context.surroundings)
    after, complaints = command_context.read()
    current = command_context.installation.current.name
    profile = "" if current == DEFAULT else f" --profile {current}"
    stays = list(left_behind(before, after, profile, [one.old for one in carried]))
    values = {name: (before.value(name), after.value(name)) for name in given}

    def text() -> Iterator[str]:
        for name, (old, new) in values.items():
            yield f"{name}: {shown(name, old)} -> {shown(name, new)}"
        yield f"in {file}, for {before.host}"
        for one in carried:
            yield from one.sentences()
        yield from stays
        yield from (f"warning: {complaint}" for complaint in complaints)

    changed: dict[str, Any] = {name: new for name, (_, new) in values.items()}
    changed |= {"stays": stays} if stays else {}
    changed |= {"carried": carried} if carried else {}
    command_context.show(
        {"file": file, "host": before.host, **changed, "complaints": list(map(str, complaints))}, text()
    )


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
        _signed_in(server, after, complaints, signin.consented(signed), signed.grant),
    )


def _signed_in(
    server: str, after: Configuration, complaints: list[str], chosen: dict[str, str], grant: OAuthGrant
) -> Iterator[str]:
    name = after.peer_name or "nobody by name"
    yield f"Signed in to {address(server)}, workspace {after.workspace}, as {name}."
    yield f"OAuth ({grant.standing(int(time.time()))}); it is renewed by itself."
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
