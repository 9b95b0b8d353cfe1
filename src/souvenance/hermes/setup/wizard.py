"""The wizard: where memory is, your name, and whether to see what is advanced; Enter is an answer to each."""

from __future__ import annotations

import importlib
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, to_builtins

from souvenance.errors import InvalidInput, Misconfigured, SouvenanceError
from souvenance.hermes.config_files import (
    hold_to_be_readable,
    old_spellings,
    read_configuration,
    root_of,
    write_setting,
)
from souvenance.hermes.configuration import (
    CLOUD,
    TOKENS_PER_CONVERSATION,
    UNUSED_KEY,
    Complaint,
    Configuration,
    peer_name,
    taken,
)
from souvenance.hermes.setup.console import (
    Abandoned,
    Terminal,
    address,
    agreed,
    answered,
    ask_identity,
    chosen,
    is_kept,
    left_behind,
    owner_of,
    shown,
)
from souvenance.hermes.setup.install import install, is_placed, reach
from souvenance.hermes.setup.profiles import (
    DEFAULT,
    PROVIDER,
    Profile,
    nested,
    profile_at,
    provider_in,
    read_settings,
)
from souvenance.hermes.setup.status import Inspect
from souvenance.hermes.sign_in import profile as signin
from souvenance.hermes.sign_in.flows import Signed
from souvenance.hermes.sign_in.profile import How

SignIn = Callable[..., Signed]
"""As `souvenance.hermes.sign_in.profile.sign_in`."""

_TURNED_ON_BY: Mapping[str, list[str]] = tomllib.loads(
    resources.files(__package__).joinpath("gateways.toml").read_text("utf-8")
)

_WITHOUT_PEOPLE = {"local", "webhook", "msgraph_webhook", "homeassistant"}
_OFF = {"", "0", "false", "no", "off"}


def gateways(profile: Profile, environment: Mapping[str, str]) -> list[str]:
    """The names of those that are configured, in Hermes' files or in its environment."""
    said = _said(profile)
    named = {name for name, on in said.items() if on}
    turned_on = {name for name in _TURNED_ON_BY if name not in said and _turned_on(name, environment)}
    return sorted((named | turned_on) - _WITHOUT_PEOPLE)


def _turned_on(name: str, environment: Mapping[str, str]) -> bool:
    return any(
        all(_is_on(environment.get(variable, "")) for variable in variables.split())
        for variables in _TURNED_ON_BY[name]
    )


def _said(profile: Profile) -> dict[str, bool]:
    """What the files say outright about a platform. The later places win, as they do for Hermes."""
    settings = read_settings(profile.settings)
    places = (
        nested(_legacy(profile), ["platforms"]),
        nested(settings, ["gateway", "platforms"]),
        nested(settings, ["platforms"]),
        {name: settings.get(name) for name in _TURNED_ON_BY},
    )
    return {
        name: _is_on(enabled)
        for place in places
        if isinstance(place, Mapping)
        for name in place
        if (enabled := nested(place, [name, "enabled"])) is not None
    }


def _is_on(value: Any) -> bool:
    return str(value).strip().lower() not in _OFF


def _legacy(profile: Profile) -> Any:
    try:
        return json.loads((profile.home / "gateway.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None


Connection = Literal["embedded", "server", "cloud"]

_NAME = "souvenance"
_NONE = {"baseUrl": "", "apiKey": "", "oauth": {}, "environment": ""}
"""What is written to override an inherited value with none."""
_Means = Literal["browser", "code", "key"]
_MEANS: dict[str, tuple[_Means, str]] = {
    "1": ("browser", "by signing in, in a browser on this machine"),
    "2": ("code", "by signing in on another device, with a code"),
    "3": ("key", "by a key, or not at all"),
}


_MODEL = {
    True: (
        "\nHermes' own model will read finished conversations in the background and note what they tell about"
        " you.\nThat costs {}. You can switch it off under Advanced."
    ),
    False: "\nHermes' own model is off: memory shows quotes only. You can switch it on under Advanced.",
}
_THROUGH_A_GATEWAY = {
    True: "Everyone who writes through {} is you. You can change that under Advanced.",
    False: "Everyone who writes through {} has a memory of their own. Under Advanced you can say who is you.",
}
"""The wizard says what holds now, and then asks whether to change it."""


class WizardAnswers(Struct, frozen=True, kw_only=True):
    """What is already decided, and is not asked."""

    connection: Connection | None = None
    url: str | None = None
    api_key: str | None = None
    sign_in: How | None = None
    """How to sign in to the server; None to ask, or for a key."""
    settings: Mapping[str, Any] = {}
    """By the names of the settings."""


def set_up(
    profile: Profile,
    console: Terminal,
    *,
    environment: Mapping[str, str],
    activate: Callable[[], bool],
    given: WizardAnswers | None = None,
    inspect: Inspect | None = None,
    sign_in: SignIn | None = None,
) -> None:
    """Ask what is not given, write the answers, and make this the memory of the profile.

    `environment` is as Hermes sees it. `activate` makes Hermes use it, and returns whether that changed
    anything. Without `sign_in` a server gets a key.
    Raises: Abandoned if nobody answered to the end, and SouvenanceError. A sign-in is stored at once, all
    else at the end.
    """
    hold_to_be_readable(profile.home, environment)
    before, complaints = read_configuration(profile.home, environment, profile.name)
    for complaint in complaints:
        console.say(f"warning: {complaint}")
    if not console.interactive:
        console.say("No questions asked. Options you leave out keep their values.")
    unused = next((one.key for one in complaints if one.wrong == UNUSED_KEY[0]), "")
    wizard = _Wizard(profile, console, environment, given or WizardAnswers(), sign_in, before, unused)
    try:
        wanted = wizard.wanted()
    except Abandoned:
        signed_in = wizard.now is not before
        console.say(f"\n{'You are signed in. Nothing else' if signed_in else 'Nothing'} was changed.")
        raise
    wizard.write(wanted)
    after = read_configuration(profile.home, environment, profile.name)[0]
    signin.release(wizard.now, after)
    for stays in left_behind(before, after, "" if profile.name == DEFAULT else f" --profile {profile.name}"):
        console.say(stays)
    wizard.place()
    try:
        if activate():
            console.say(f"\nHermes now uses it, by {profile.settings}.")
    except SouvenanceError as error:
        console.say(f"\n{error.detail}.\n  {error.hint}")
    wizard.show_next(inspect, heard=complaints)


def post_setup(
    hermes_home: str,
    config: dict[str, Any],
    *,
    environment: Mapping[str, str],
    inspect: Inspect | None = None,
    console: Terminal | None = None,
) -> None:
    """The wizard as Hermes starts it, with Hermes' settings."""
    profile = profile_at(Path(hermes_home))
    console = console or Terminal()

    def activate() -> bool:
        if provider_in(profile.settings) == _NAME:
            return False
        section, key = PROVIDER
        if not isinstance(config.get(section), dict):
            config[section] = {}
        config[section][key] = _NAME
        importlib.import_module("hermes_cli.config").save_config(config)
        if provider_in(profile.settings) != _NAME:
            raise Misconfigured(
                "Hermes did not save its settings",
                hint=f"Run: hermes config set {'.'.join(PROVIDER)} {_NAME}",
            )
        return True

    try:
        set_up(
            profile,
            console,
            environment=environment,
            activate=activate,
            inspect=inspect,
            sign_in=signin.sign_in,
        )
    except Abandoned:
        return
    except SouvenanceError as error:
        console.say(f"\n{error.code}: {error.detail}")
        if error.hint:
            console.say(f"  {error.hint}")


@dataclass
class _Wizard:
    profile: Profile
    console: Terminal
    environment: Mapping[str, str]
    given: WizardAnswers
    sign_in: SignIn | None
    now: Configuration
    """What is configured; read again after a sign-in."""
    unused_key: str
    """The name of a key that lies about, is not used, and may be meant for the cloud; or nothing."""

    def wanted(self) -> dict[str, Any]:
        given = self.given
        wanted = self._connection()
        local = wanted.keys() >= _NONE.keys() and not any(wanted.values())
        known = owner_of(self.now) if local and is_kept(self.now) else _user(self.environment)
        peer = given.settings.get("peerName") or answered(
            self.console, "Your name", self.now.peer_name or known, partial(taken, "peerName")
        )
        wanted |= {"namespaces": self.now.namespaces, **given.settings}
        wanted |= {"peerName": peer, "aiPeer": self._ai_peer(peer)}
        return wanted | (self._advanced(peer, local=local) if self.console.interactive else {})

    def _advanced(self, peer: str, *, local: bool) -> dict[str, Any]:
        """The other settings: as the wizard says, unless the person asks for each question."""
        console, now, given = self.console, self.now, self.given.settings
        platforms = gateways(self.profile, self.environment)
        platforms = [] if given.keys() & {"pinUserPeer", "userPeerAliases"} else platforms
        model = {"hostModel": now.host_model is not False} if local and "hostModel" not in given else {}
        if model:
            console.say(_MODEL[model["hostModel"]].format(self._cost()))
        if platforms:
            console.say(f"\n{_THROUGH_A_GATEWAY[now.pin_user_peer].format(', '.join(platforms))}")
        if not agreed(console, "Advanced?", default=False):
            return model
        if model:
            console.say(f"\nHermes' own model costs {self._cost()}. Without it, memory shows quotes only.")
            model["hostModel"] = agreed(console, "Use Hermes' own model", default=model["hostModel"])
        wanted = model | ask_identity(console, now, peer, platforms)
        if "aiPeer" not in given:
            usual = self._ai_peer(peer)
            wanted["aiPeer"] = answered(console, "The agent's name", usual, partial(_other_than, peer))
        return wanted

    def _cost(self) -> str:
        most = self.now.host_model_tokens_per_day
        return f"about {TOKENS_PER_CONVERSATION:,} tokens a conversation, and never more than {most:,} a day"

    def _ai_peer(self, peer: str) -> str:
        """Raises: InvalidInput."""
        name = str(self.given.settings.get("aiPeer") or self.now.ai_peer)
        if name != peer:
            return name
        return _other_than(peer, name) if "aiPeer" in self.given.settings else f"{name}-ai"

    def _connection(self) -> dict[str, Any]:
        console, now, given = self.console, self.now, self.given
        present: Connection = "embedded" if now.url is None else "cloud" if now.url == CLOUD else "server"
        where = given.connection or ("server" if given.url else None)
        if where is None:
            choices: dict[str, tuple[Connection, str]] = {
                "1": ("embedded", f"on this machine, in {now.store}: no server, no key"),
                "2": ("server", "on a server: Souvenance's, or a Honcho of your own"),
                "3": ("cloud", "in Honcho's cloud"),
            }
            where = chosen(console, "Where is memory kept?", choices, present)
        if where == "embedded":
            chose = console.interactive or given.connection is not None
            key = "" if self.unused_key and chose else None
            return {"baseUrl": None, "apiKey": key, "oauth": None, "environment": None}
        usual = now.url if present == "server" and now.url else "http://127.0.0.1:8787"
        url = CLOUD if where == "cloud" else given.url
        url = url or answered(console, "Its URL", usual, partial(taken, "baseUrl"), shown=address(usual))
        known = now.url == url and bool(now.api_key or now.oauth)
        if self._signed_in(url, known=known):
            return {}
        return {"baseUrl": url, "environment": None, **self._api_key(url, known=known)}

    def _signed_in(self, url: str, *, known: bool) -> bool:
        """Whether the person signed in to that server now. The sign-in is then stored.

        `known`: there is a sign-in to it, or a key for it.
        Raises: Abandoned; SouvenanceError if nobody is there to choose another way.
        """
        how, keyed = self.given.sign_in, self.given.api_key is not None
        if how is not None and keyed:
            raise InvalidInput("a sign-in and a key exclude each other", hint="Give one of them.")
        if self.sign_in is None or keyed or (how is None and not self.console.interactive):
            return False
        default: _Means = "key" if known or url != CLOUD else "browser"
        if known and self.now.oauth:
            self.console.say("\nThere is a sign-in already; Enter and Enter keep it.")
        while True:
            means: _Means = how if how else chosen(self.console, "How does it know you?", _MEANS, default)
            if means == "key":
                return False
            try:
                signed = self.sign_in(url, self.now, self.environment, say=self.console.say, how=means)
                self.now = signin.keep(self.profile.home, self.environment, url, signed)[1]
            except KeyboardInterrupt:
                raise Abandoned from None
            except SouvenanceError as error:
                if not self.console.interactive or how is not None:
                    raise
                self.console.say(f"  {error.code}: {error.detail}. {error.hint}".rstrip())
                default = "key"
            else:
                self.console.say("  Signed in.")
                return True

    def _api_key(self, url: str, *, known: bool) -> dict[str, str | None]:
        """The key to send; nothing to keep the present one, or to use the one that lies about."""
        console, needed, unused = self.console, url == CLOUD, self.unused_key and url == CLOUD
        none: dict[str, str | None] = {"apiKey": "" if self.unused_key else None, "oauth": None}
        none = {} if known or unused else none
        if self.given.api_key is not None:
            return {"apiKey": self.given.api_key, "oauth": None}
        if not console.interactive:
            if needed and none:
                raise InvalidInput("Honcho's cloud needs a key", hint="Give --api-key-file or --api-key-env.")
            return none
        enter = f"Enter takes {unused}" if unused else "Enter keeps the present one"
        if none:
            enter = "needed" if needed else "Enter for none"

        def read(text: str) -> dict[str, str | None]:
            key = taken("apiKey", text)
            if not key and needed and none:
                raise InvalidInput("Honcho's cloud needs a key", hint="Its dashboard makes one.")
            return {"apiKey": key, "oauth": None} if key else none

        return answered(console, f"Its key, which is not shown ({enter})", "", read, hidden=True)

    def write(self, wanted: Mapping[str, Any]) -> None:
        now, home = self.now, self.profile.home
        changes = {
            name: to_builtins(value)
            for name, value in wanted.items()
            if now.value(name) != value or (not now.enabled and name in (*_NONE, "namespaces"))
        }
        if not now.enabled:
            changes["enabled"] = True
        if not changes and not old_spellings(root_of(now.file), now.host):
            self.console.say(f"\nAll of that is already so{f', in {now.file}' if now.file else ''}.")
            return
        file = write_setting(home, now.host, changes, environment=self.environment)
        after, _ = read_configuration(home, self.environment, self.profile.name)
        inherited = {
            name: _NONE[name]
            for name, value in changes.items()
            if value is None and (after.value(name) or not after.enabled)
        }
        if inherited:
            file = write_setting(home, now.host, inherited, environment=self.environment)
        self.console.say(f"\nWritten to {file}, for {now.host}:")
        for name, value in changes.items():
            self.console.say(f"  {name}: {shown(name, value)}")

    def place(self) -> None:
        """Put the plugin where Hermes looks. Says what is in the way, and if Hermes can't import it."""
        console = self.console
        if is_placed(self.profile):
            return
        try:
            [step] = install([self.profile])
        except SouvenanceError as error:
            console.say(f"\nwarning: the plugin is not placed: {error.detail}. {error.hint}".rstrip())
        else:
            console.say(f"\nPlaced the plugin in {step.folder}.")
            if advice := reach(self.environment).advice:
                console.say(f"warning: {advice}")

    def show_next(self, inspect: Inspect | None, heard: Sequence[Complaint]) -> None:
        profile, console = self.profile, self.console
        after, complaints = read_configuration(profile.home, self.environment, profile.name)
        for complaint in complaints:
            if complaint not in heard:
                console.say(f"warning: {complaint}")
        if inspect is not None and after.url is not None:
            found = inspect(after, self.environment)
            does = "answers" if found.reachable else "does not answer"
            console.say(f"\n{address(after.url)} {does}. {found.detail}".rstrip())
        console.say(f"\nStart a new conversation and tell it something: hermes{profile.chosen}")


def _other_than(peer: str, text: str) -> str:
    """A name for the agent. Raises: InvalidInput."""
    name: str = taken("aiPeer", text)
    if name == peer:
        raise InvalidInput(f"{name!r} is your own name, and the agent must have another one", hint="")
    return name


def _user(environment: Mapping[str, str]) -> str:
    """The login name on this machine, if it can be a peer's name."""
    login = environment.get("USER") or environment.get("LOGNAME") or environment.get("USERNAME") or ""
    return peer_name(login) if any(map(str.isascii, filter(str.isalnum, login))) else "owner"
