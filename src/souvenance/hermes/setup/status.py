"""The state of memory in a profile: what is configured, what is used, and whether memory answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from souvenance.domain.model_budget import Spent
from souvenance.hermes.backend_health import BackendHealth
from souvenance.hermes.config_files import block_name, block_of, read_configuration, root_of
from souvenance.hermes.configuration import KEYS, NOT_NEEDED, Configuration, ModelChoice
from souvenance.hermes.host import HostConversation
from souvenance.hermes.identity import identify, session_name
from souvenance.hermes.oauth_tokens import OAuthGrant
from souvenance.hermes.setup.console import SECRETS, address, masked, plain, shown
from souvenance.hermes.setup.install import is_placed
from souvenance.hermes.setup.profiles import DEFAULT, HermesInstallation, provider_in
from souvenance.ports.write_queue import WriteQueueStatus


class Findings(Struct, frozen=True, kw_only=True):
    reachable: bool | None = None
    """Whether memory answers; None if there is nothing yet that could."""
    detail: str = ""
    """What it said of itself, or why it does not answer."""
    health: BackendHealth | None = None
    """How it did for the Hermes that used it last; None if that is not known."""
    write_queue: WriteQueueStatus | None = None
    """What waits to be written; None if that is not known."""
    delay: str = ""
    """Why that waited when it was last tried."""
    unwritable: str = ""
    """Why what is said can't be kept until it is written; empty if it can."""
    sign_in: str = ""
    """Why the sign-in could not be renewed; empty if it could, or did not have to be."""
    model_configured: bool = False
    """Whether the settings of the store name a model."""
    spent: Spent = Spent()
    """What a model cost today in the store on this machine."""
    model_trouble: str = ""
    """What was wrong with the model when it was last asked in this profile; empty if all went well."""


Inspect = Callable[[Configuration, Mapping[str, str]], Findings]
"""Gets the environment as Hermes sees it too. Raises nothing. Makes no store, no session, no file; a sign-in
that ends is renewed."""


_LEAST_TOKENS = 5_000
"""With less left no call is made: each is booked with the longest reply that it may get."""


def model_of(configuration: Configuration, findings: Findings) -> tuple[str, str]:
    """Which model reads finished conversations, in words; and what went wrong when it was last asked."""
    # The server may also be the one that serves the store on this machine.
    choice = configuration.model_choice(configured=findings.model_configured)
    choice = "server" if "://" in findings.detail else choice
    trouble = findings.model_trouble if choice in ("hermes", "settings") else ""
    return _model(choice, configuration, findings.spent), trouble


def _model(choice: ModelChoice, configuration: Configuration, spent: Spent) -> str:
    match choice:
        case "server":
            return "the server's own, if it has one; Hermes' model is not used"
        case "settings":
            today = f"{spent.calls_today:,} calls and {spent.tokens_today:,} tokens today"
            return f"on: the one that model_base_url names, in the background; {today}"
        case "declined":
            return "off: you chose quotes only (souvenance hermes setup --host-model switches it on)"
        case "not asked":
            return "off: you were not asked yet, so quotes only (run: hermes memory setup souvenance)"
    calls, tokens = configuration.host_model_calls_per_day, configuration.host_model_tokens_per_day
    today = (
        f"{spent.calls_today:,} of {calls:,} calls and "
        f"{spent.tokens_today:,} of {tokens:,} tokens spent today"
    )
    left = tokens - spent.tokens_today
    if spent.calls_today >= calls or left < _LEAST_TOKENS:
        return f"on: Hermes' own, but today's budget is spent; quotes only until midnight UTC ({today})"
    more = f"{calls - spent.calls_today:,} calls and {left:,} tokens left"
    return f"on: Hermes' own, in the background; {today}, {more}"


_OTHERS = {
    "just-me": "everyone who writes through a gateway is you",
    "pooled": "some ids belong to known people; everyone else has a memory of their own",
    "per-user": "everyone who writes through a gateway has a memory of their own",
}

_TOLD_ANYWAY = {"baseUrl", "apiKey", "oauth", "environment", "peerName", "aiPeer", "workspace", "store"}


class ConfigLocation(Struct, frozen=True):
    profile: str
    placed: bool
    provider: str


class Report(Findings, frozen=True, kw_only=True):
    profile: str
    home: Path
    host: str
    file: Path | None
    enabled: bool
    places: list[ConfigLocation]
    url: str | None
    """The server; None for the store on this machine."""
    store: Path
    key: str
    model: str
    """In words."""
    identity: str
    """Who those are that write through a gateway: a key of `_OTHERS`."""
    session: str | None
    """What is said in this directory belongs to; None if every run has its own."""
    settings: dict[str, Any]
    """Every setting as it counts."""
    changed: list[str]
    """Those that are not the default."""
    not_needed: list[str]
    complaints: list[str]


def report(
    installation: HermesInstallation,
    environment: Mapping[str, str],
    directory: Path,
    inspect: Inspect | None = None,
) -> Report:
    """Look at everything, and change nothing. `environment` is as Hermes sees it."""
    profile = installation.current
    configuration, complaints = read_configuration(profile.home, environment, profile.name)
    findings = Findings()
    if inspect is not None:
        findings = inspect(configuration, environment)
        # A sign-in may have been renewed by looking.
        configuration, complaints = read_configuration(profile.home, environment, profile.name)
    model, trouble = model_of(configuration, findings)
    return Report(
        **asdict(replace(findings, model_trouble=trouble)),
        profile=profile.name,
        home=profile.home,
        host=block_name(root_of(configuration.file), configuration.host),
        file=configuration.file,
        enabled=configuration.enabled,
        places=[
            ConfigLocation(one.name, is_placed(one), provider_in(one.settings))
            for one in installation.profiles()
        ],
        url=address(configuration.url) if configuration.url else None,
        store=configuration.store,
        key=_key(configuration),
        model=model,
        identity=_identity(configuration),
        session=_session(configuration, directory),
        settings=_settings(configuration),
        changed=_changed(configuration),
        not_needed=_not_needed(configuration),
        complaints=[str(complaint) for complaint in complaints],
    )


def _settings(configuration: Configuration) -> dict[str, Any]:
    found = {key.name: getattr(configuration, key.attribute, None) for key in KEYS}
    hidden = {name: shown(name, found[name]) for name in (*SECRETS, "baseUrl") if found[name] is not None}
    return found | hidden


def _changed(configuration: Configuration) -> list[str]:
    """Those that have a default of their own and are not it."""
    return [
        key.name
        for key in KEYS
        if key.name not in (*_TOLD_ANYWAY, "observationMode")
        and getattr(configuration, key.attribute) != key.default
    ]


def _not_needed(configuration: Configuration) -> list[str]:
    root = root_of(configuration.file)
    said = {*root, *(block_of(root, configuration.host) or ())}
    return [name for name in NOT_NEEDED if name in said]


def _identity(configuration: Configuration) -> str:
    if configuration.pin_user_peer:
        return "just-me"
    return "pooled" if configuration.user_peer_aliases else "per-user"


def _key(configuration: Configuration) -> str:
    if configuration.oauth is not None:
        grant = OAuthGrant.of(configuration)
        return f"OAuth ({grant.standing(int(time.time()))})" if grant else "OAuth, which can't be renewed"
    return masked(configuration.api_key) if configuration.api_key else "none"


def _session(configuration: Configuration, directory: Path) -> str | None:
    if configuration.session_strategy == "per-session":
        return None
    here = HostConversation(session_id="", home=configuration.home, directory=directory)
    return session_name(configuration, here, identify(configuration, here))


def lines(found: Report) -> Iterator[str]:
    yield f"Souvenance for Hermes, profile {found.profile} in {found.home}"
    yield from (f"  {name:<12}{text}" for name, text in _rows(found))
    if found.changed:
        yield "  not the default:"
        yield from (f"    {name}: {shown(name, found.settings[name])}" for name in found.changed)
    yield from (f"  {name} is not needed here" for name in found.not_needed)
    yield from (f"warning: {complaint}" for complaint in found.complaints)
    yield from _next(found)


def _next(found: Report) -> Iterator[str]:
    """What is missing for Hermes to use this memory."""
    here = next((place for place in found.places if place.profile == found.profile), None)
    without = [one.profile for one in found.places if one.provider == "souvenance" and not one.placed]
    if without:
        yield f"Without memory, for the plugin is not placed there: {', '.join(without)}"
    if without or here is None or not here.placed:
        yield "Next: souvenance hermes install"
    elif here.provider != "souvenance":
        profile = "" if here.profile == DEFAULT else f" -p {here.profile}"
        yield f"Next: hermes{profile} memory setup souvenance"


def _verdict(found: Report) -> str:
    """Whether memory works, and if not, where it is said what to do."""
    here = next((place for place in found.places if place.profile == found.profile), None)
    if not found.enabled:
        correct = "correct what the warning below says, and it is on again"
        return f"off: {correct if found.complaints else 'souvenance hermes enable switches it on'}"
    if here is None or not here.placed or here.provider != "souvenance":
        return "on, but Hermes does not use it yet: see 'Next' below"
    if found.reachable is False:
        return "on, but it does not answer: see 'answers' below"
    if found.unwritable:
        return "on, but nothing new is kept: see 'write queue' below"
    if found.write_queue is not None and found.write_queue.waiting and found.delay:
        return "on, but what was said waits to be written: see 'not written' below"
    return "on, and it works" if found.reachable else "on, and nothing is remembered yet"


def _rows(found: Report) -> Iterator[tuple[str, str]]:
    settings = found.settings
    yield "memory", _verdict(found)
    placed = ", ".join(one.profile for one in found.places if one.placed)
    yield "plugin", f"placed in {placed or 'no profile'}"
    yield "provider", "; ".join(f"{place.profile}: {place.provider or 'none'}" for place in found.places)
    yield "file", f"{found.file}, block {found.host}" if found.file else "none: every setting is the default"
    to_be_made = "" if found.store.is_dir() else ", which is made with the first memory"
    yield "kept", found.url or f"{found.store}{to_be_made}"
    if found.reachable is not None:
        yield "answers", " ".join(filter(None, ("yes" if found.reachable else "no:", found.detail)))
    elif found.detail:
        yield "answers", found.detail
    yield "model", found.model
    if found.model_trouble:
        yield "trouble", found.model_trouble
    if found.url:
        yield "key", found.key
    if found.sign_in:
        yield "sign-in", f"could not be renewed: {found.sign_in}"
    yield "workspace", plain(settings["workspace"])
    yield "you", settings["peerName"] or "nobody by name"
    yield "others", f"{found.identity}: {_OTHERS[found.identity]}"
    yield "agent", plain(settings["aiPeer"])
    yield "session", found.session or "a new one in every run"
    reads = ", ".join(settings["namespaces"].read) or "nothing"
    yield "namespaces", f"reads {reads}, writes to {settings['namespaces'].write or 'none'}"
    if found.write_queue is not None:
        yield "write queue", _write_queue(found.write_queue)
        if found.delay and found.write_queue.waiting:
            yield "not written", found.delay
    if found.unwritable:
        yield "write queue", f"can't be used, so nothing that is said is kept: {found.unwritable}"
    if found.health is not None:
        since = datetime.fromtimestamp(found.health.since / 1000, UTC)
        silent = (
            f"no answer since {since:%Y-%m-%d %H:%M} UTC, so turns go without memory: {found.health.error}"
        )
        yield "in chats", "it answered the last time" if found.health.ok else silent


def _write_queue(standing: WriteQueueStatus) -> str:
    counts = f"{standing.waiting} waiting, {standing.set_aside} set aside"
    return f"{counts}; {standing.other_key} sealed with another key" if standing.other_key else counts
