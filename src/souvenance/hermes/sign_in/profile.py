"""The sign-in of a profile: signing in, storing it in the configuration, and signing out.

A desktop shell signs in through Hermes' own web server, at `/api/memory/providers/<name>/oauth/start` and
`…/status`. Newer hosts find `oauth_flow.py` in the plugin's folder, which calls `start` and `status`. 0.19
looks among its own providers alone. It has no endpoint to disconnect.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from souvenance.errors import InvalidInput, SouvenanceError
from souvenance.hermes.config_files import FILE, read_configuration, write_setting
from souvenance.hermes.configuration import Configuration, taken
from souvenance.hermes.host import ENVIRONMENT, context_thread, default_home, home_key, user_home
from souvenance.hermes.oauth_tokens import OAuthGrant, alone, endpoints_of, plain_url
from souvenance.hermes.setup.profiles import environment_of, profile_at
from souvenance.hermes.sign_in import flows
from souvenance.hermes.sign_in.flows import Code, Signed

if TYPE_CHECKING:
    from souvenance.hermes.sign_in.listener import Listener

How = Literal["browser", "code"]
Say = Callable[[str], object]

_NEEDED_TO_SHOW = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


class Gone(Struct, frozen=True):
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

    with _listener() as listener:
        return flows.by_browser(endpoints, listener, show, **shown(configuration, environment, "hermes-cli"))


def _listener() -> Listener:
    from souvenance.hermes.sign_in.listener import Listener  # With a web server, which takes a while to load.

    return Listener()


def shown(configuration: Configuration, environment: Mapping[str, str], source: str) -> dict[str, str]:
    """What the server's page may say about this program: of this machine, only a path below the home."""
    return {
        "source": source,
        "config_path": _below_home(target_of(configuration), environment),
        "login_hint": configuration.peer_name or "",
    }


def target_of(configuration: Configuration) -> Path:
    file = configuration.file
    return file if file is not None and file.name == FILE else configuration.home / FILE


def _below_home(path: Path, environment: Mapping[str, str]) -> str:
    user = user_home(environment)
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
    with alone(default_home(home, environment)):
        before = read_configuration(home, environment)[0]
        changes: dict[str, Any] = signed.grant.settings()
        if before.url != url:
            changes["baseUrl"] = url
        chosen = consented(signed)
        if chosen.get("workspace", before.workspace) != before.workspace:
            changes["workspace"] = chosen["workspace"]
        if not before.peer_name and chosen.get("peerName", before.ai_peer) != before.ai_peer:
            changes["peerName"] = chosen["peerName"]
        file = write_setting(home, before.host, changes, environment=environment)
        return file, before, read_configuration(home, environment)[0]


def release(before: Configuration, after: Configuration) -> None:
    """Revoke a sign-in that was replaced or left, if its server can be reached."""
    left, now = OAuthGrant.of(before), OAuthGrant.of(after)
    if left is None or not left.refresh or (now is not None and now.since == left.since):
        return
    with contextlib.suppress(SouvenanceError):
        flows.revoke(left)


def sign_out(home: Path, environment: Mapping[str, str]) -> Gone:
    """Revoke the sign-in at its server, and remove it from the configuration whether that worked or not.

    Raises: Misconfigured, StorageUnavailable.
    """
    with alone(default_home(home, environment)):
        before = read_configuration(home, environment)[0]
        if before.oauth is None:
            return Gone(False)
        grant = OAuthGrant.of(before)
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
            grant = replace(grant, revoke=endpoints.revoke if endpoints.token == grant.endpoint else "")
        flows.revoke(grant)
    except SouvenanceError as error:
        return error.detail
    return ""


SOURCE = "hermes-desktop"

State = Literal["idle", "pending", "connected", "error"]


class _Try(Struct):
    state: State = "pending"
    detail: str = "the sign-in waits in a browser"
    url: str = ""
    """The page to sign in at, while the sign-in waits for it."""

    def failed(self, error: Exception) -> None:
        self.state, self.detail = "error", str(error)
        if isinstance(error, SouvenanceError):
            self.detail = f"{error.code}: {error.detail}. {error.hint}".rstrip()


_tries: dict[str, _Try] = {}
"""By home."""
_lock = threading.Lock()


def start(home: Path, open_url: Callable[[str], object] | None = None) -> dict[str, Any]:
    """Start to sign the profile in, unless a sign-in is under way, and return the state.

    The profile is read here, because the thread outlives the request that asks for it.
    """
    with _lock:
        found = _tries.get(home_key(home))
        if found is None or found.state != "pending":
            environment = environment_of(profile_at(home), ENVIRONMENT)
            _tries[home_key(home)] = found = _Try()
            try:
                configuration = read_configuration(home, environment)[0]
                show = open_url or (lambda page: open_page(page, environment))
                work = (found, server_of(configuration), configuration, environment, show)
                context_thread(lambda: _run(*work), "souvenance-connect").start()
            except (SouvenanceError, OSError) as error:
                found.failed(error)
    return status(home)


def _run(
    found: _Try,
    server: str,
    configuration: Configuration,
    environment: Mapping[str, str],
    open_url: Callable[[str], object],
) -> None:
    def show(page: str) -> None:
        found.url = page
        open_url(page)

    try:
        with _listener() as listener:
            about = shown(configuration, environment, SOURCE)
            signed = flows.by_browser(endpoints_of(server), listener, show, **about)
        keep(configuration.home, environment, server, signed)
        found.state, found.detail = "connected", f"signed in to {plain_url(server)}"
    except (SouvenanceError, OSError) as error:
        found.failed(error)
    finally:
        found.url = ""


def status(home: Path) -> dict[str, Any]:
    """The state of the profile's sign-in, in the words of the host's shell."""
    found = _tries.get(home_key(home), _Try("idle", ""))
    configuration = read_configuration(home, environment_of(profile_at(home), ENVIRONMENT))[0]
    auth = "oauth" if configuration.oauth is not None else "apikey" if configuration.api_key else None
    return {
        "state": "idle" if found.state == "connected" and auth is None else found.state,
        "detail": found.detail,
        "connected": auth is not None,
        "auth": auth,
        "url": found.url,
    }
