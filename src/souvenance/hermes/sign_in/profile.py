"""The sign-in of a profile: signing in, storing it in the configuration, and signing out."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from souvenance.errors import InvalidInput, SouvenanceError
from souvenance.hermes.config_files import FILE, default_home, honcho_s_own, read_configuration, write_setting
from souvenance.hermes.configuration import Configuration, taken
from souvenance.hermes.oauth_tokens import OAuthGrant, alone, lock_of
from souvenance.hermes.sign_in import flows
from souvenance.hermes.sign_in.authorization_server import endpoints_of
from souvenance.hermes.sign_in.flows import Code, Signed

How = Literal["browser", "code"]
Say = Callable[[str], object]

CLOUD = "https://api.honcho.dev"
_NEEDED_TO_SHOW = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


class Gone(Struct, frozen=True):
    """How signing out ended."""

    was_signed_in: bool
    file: Path | None = None
    trouble: str = ""
    """Why the server could not revoke the sign-in; empty if it did."""


def server_of(configuration: Configuration, url: str | None = None) -> str:
    """The server to sign in to: the one that is given, else the one that is configured.

    Raises: InvalidInput.
    """
    wanted = taken("baseUrl", url) if url else configuration.url
    if not wanted:
        raise InvalidInput(
            "memory is kept on this machine, where nobody signs in",
            hint="Name the server to sign in to: souvenance login --url URL",
        )
    return str(wanted)


def sign_in(
    url: str,
    configuration: Configuration,
    environment: Mapping[str, str],
    *,
    say: Say,
    how: How = "browser",
    opens: bool = True,
) -> Signed:
    """Sign in to that server. `opens` allows opening a browser; the address is printed anyway.

    Raises: SouvenanceError. Nothing is stored yet.
    """
    endpoints = endpoints_of(url)
    if how == "code":
        return flows.by_code(endpoints, lambda code: _show_code(say, code))

    def show(page: str) -> None:
        opened = opens and open_page(page, environment)
        say("Sign in here, if the page does not open by itself:" if opened else "Open this page to sign in:")
        say(f"  {page}")
        if not opened and endpoints.device:
            say("Without a browser on this machine: souvenance login --device")

    from souvenance.hermes.sign_in.listener import Listener

    with Listener() as listener:
        return flows.by_browser(endpoints, listener, show, **shown(configuration, environment, "hermes-cli"))


def shown(configuration: Configuration, environment: Mapping[str, str], source: str) -> dict[str, str]:
    """What the server's page may say about this program: of this machine, only a path below the home."""
    return {
        "source": source,
        "config_path": _below_home(target_of(configuration), environment),
        "login_hint": configuration.peer_name or "",
    }


def target_of(configuration: Configuration) -> Path:
    """The file that a sign-in is written to."""
    file = configuration.file
    return file if file is not None and file.name == FILE else configuration.home / FILE


def _below_home(path: Path, environment: Mapping[str, str]) -> str:
    user = environment.get("HOME")
    if user and path.is_relative_to(user):
        return f"~/{path.relative_to(user)}"
    return path.name


def _show_code(say: Say, code: Code) -> None:
    say(f"On any device, open {code.verification_uri} and type this code:")
    say(f"  {code.user_code}")
    if code.verification_uri_complete:
        say(f"Or open {code.verification_uri_complete}")


def open_page(page: str, environment: Mapping[str, str]) -> bool:
    """Open a page in the user's browser, unless only a text browser can be there."""
    if sys.platform not in ("darwin", "win32") and not any(map(environment.get, _NEEDED_TO_SHOW)):
        return False
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(page,), name="souvenance-browser", daemon=True).start()
    return True


def consented(signed: Signed) -> dict[str, str]:
    """What the person chose on the consent page, if it is a setting here: peerName and workspace."""
    chosen = {}
    for name in ("peerName", "workspace"):
        with contextlib.suppress(InvalidInput):
            if isinstance(signed.config.get(name), str) and (value := taken(name, signed.config[name])):
                chosen[name] = value
    return chosen


def keep(home: Path, environment: Mapping[str, str], url: str, signed: Signed) -> tuple[Path, Configuration]:
    """Write the sign-in to the profile's block, and revoke the one before it at its server.

    The name that somebody has at the server becomes theirs here if they have none yet; the workspace is the
    one that was allowed. Returns the file, and what is in force then.
    Raises: Misconfigured, StorageUnavailable; the new one is then revoked.
    """
    try:
        file, before, after = _written(home, environment, url, signed)
    except (SouvenanceError, OSError):
        with contextlib.suppress(SouvenanceError):
            flows.revoke(signed.grant)
        raise
    release(before, after)
    return file, after


def _written(
    home: Path, environment: Mapping[str, str], url: str, signed: Signed
) -> tuple[Path, Configuration, Configuration]:
    """The file, and what was in force before and is after."""
    with alone(lock_of(default_home(home, environment))):
        before = read_configuration(home, environment)[0]
        changes: dict[str, Any] = signed.grant.settings()
        if before.base_url != url and (before.base_url or before.environment == "local" or url != CLOUD):
            changes["baseUrl"] = url
        chosen = consented(signed)
        if chosen.get("workspace", before.workspace) != before.workspace:
            changes["workspace"] = chosen["workspace"]
        if not before.peer_name and chosen.get("peerName", before.ai_peer) != before.ai_peer:
            changes["peerName"] = chosen["peerName"]
        file = write_setting(home, before.host, changes, environment=environment)
        return file, before, read_configuration(home, environment)[0]


def release(before: Configuration, after: Configuration) -> None:
    """Revoke a sign-in that was replaced or left, if its server can be reached.

    One that stood in a file of Honcho's is left to Honcho's plugin.
    """
    left, now = OAuthGrant.of(before), OAuthGrant.of(after)
    if (
        honcho_s_own(before)
        or left is None
        or not left.refresh
        or (now is not None and now.since == left.since)
    ):
        return
    with contextlib.suppress(SouvenanceError):
        flows.revoke(left)


def sign_out(home: Path, environment: Mapping[str, str]) -> Gone:
    """Revoke the sign-in at its server, and remove it from the configuration whether that worked or not.

    One that stands in a file of Honcho's is left to Honcho's plugin, and not used here any more.
    Raises: Misconfigured, StorageUnavailable.
    """
    with alone(lock_of(default_home(home, environment))):
        before = read_configuration(home, environment)[0]
        if before.oauth is None:
            return Gone(False)
        grant, theirs = OAuthGrant.of(before), honcho_s_own(before)
        if theirs is not None:
            trouble = f"the sign-in is Honcho's own, and stays in {theirs}"
        else:
            trouble = _revoked(grant, before) if grant is not None and grant.refresh else ""
        file = write_setting(home, before.host, {"apiKey": None, "oauth": None}, environment=environment)
        after = read_configuration(home, environment)[0]
        inherited: dict[str, Any] = {"oauth": {}} if after.oauth else {}
        if after.api_key and after.api_key == before.api_key:
            inherited["apiKey"] = ""
        if inherited:
            file = write_setting(home, before.host, inherited, environment=environment)
    return Gone(True, file, trouble)


def _revoked(grant: OAuthGrant, configuration: Configuration) -> str:
    """Why the server could not revoke the grant; empty if it did."""
    try:
        if not grant.revoke and configuration.url:
            endpoints = endpoints_of(configuration.url)
            same = endpoints.token == grant.endpoint
            grant = replace(grant, revoke=endpoints.revoke if same else "")
        flows.revoke(grant)
    except SouvenanceError as error:
        return error.detail
    return ""
