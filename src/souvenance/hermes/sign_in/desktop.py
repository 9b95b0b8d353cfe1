"""Signing in from a desktop shell: it runs in the background, reports its state, and can be undone.

Hermes' own web server offers this at `/api/memory/providers/<name>/oauth/start` and `…/status`. It looks for
a module `plugins.memory.<name>.oauth_flow`, where only providers that come with Hermes are; `offer` puts ours
there, in the process of that web server and as soon as it has loaded the provider. It has no endpoint to
disconnect.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from souvenance.errors import SouvenanceError
from souvenance.hermes.config_files import read_configuration
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.setup.profiles import environment_of, profile_at
from souvenance.hermes.sign_in import flows
from souvenance.hermes.sign_in import profile as signin
from souvenance.hermes.sign_in.authorization_server import endpoints_of, plain_url
from souvenance.hermes.sign_in.listener import Listener

SOURCE = "hermes-desktop"
ROUTER = "hermes_cli.memory_oauth"
"""The module of Hermes that dispatches to the flows of providers; loaded by its web server alone."""
_FLOW = "plugins.memory.souvenance.oauth_flow"

State = Literal["idle", "pending", "connected", "error"]


class _Try:
    """One sign-in in the background."""

    def __init__(self, home: Path, configuration: Configuration, environment: dict[str, str]) -> None:
        self.state: State = "pending"
        self.detail = "the sign-in waits in a browser"
        self.url = ""
        self._home = home
        self._configuration = configuration
        self._environment = environment
        self._listener = Listener()
        self._given_up = False

    def begin(self, open_url: Callable[[str], object]) -> None:
        """Start the sign-in in a thread. Raises: InvalidInput if there is no server."""
        try:
            server = signin.server_of(self._configuration)
        except SouvenanceError:
            self._listener.close()
            raise
        threading.Thread(
            target=self._run, args=(server, open_url), name="souvenance-connect", daemon=True
        ).start()

    def give_up(self) -> None:
        self._given_up = True
        self._listener.give_up()

    def _run(self, server: str, open_url: Callable[[str], object]) -> None:
        def show(page: str) -> None:
            self.url = page
            open_url(page)

        try:
            with self._listener:
                endpoints = endpoints_of(server)
                shown = signin.shown(self._configuration, self._environment, SOURCE)
                signed = flows.by_browser(endpoints, self._listener, show, **shown)
            signin.keep(self._home, self._environment, server, signed)
            self.state, self.detail = "connected", f"signed in to {plain_url(server)}"
        except (SouvenanceError, OSError) as error:
            self.detail = _words(error)
            self.state = "idle" if self._given_up else "error"
        finally:
            self.url = ""


_tries: dict[Path, _Try] = {}
_lock = threading.Lock()


def start(home: Path, open_url: Callable[[str], object] | None = None) -> dict[str, Any]:
    """Start to sign the profile in, unless a sign-in is under way, and return the state.

    The profile is read here, because the thread outlives the request that asks for it.
    """
    with _lock:
        found = _tries.get(home)
        if found is None or found.state != "pending":
            environment = environment_of(profile_at(home), os.environ)
            configuration = read_configuration(home, environment)[0]
            _tries[home] = found = _Try(home, configuration, environment)
            try:
                found.begin(open_url or (lambda page: signin.open_page(page, environment)))
            except (SouvenanceError, OSError) as error:
                found.state, found.detail = "error", _words(error)
    return status(home)


def status(home: Path) -> dict[str, Any]:
    """The state of the profile's sign-in, in the words of the host's shell.

    `url` is the page to sign in at, while the sign-in waits for it.
    """
    found = _tries.get(home)
    configuration = read_configuration(home, environment_of(profile_at(home), os.environ))[0]
    auth = "oauth" if configuration.oauth is not None else "apikey" if configuration.api_key else None
    state: State = "idle" if found is None or (found.state == "connected" and auth is None) else found.state
    return {
        "state": state,
        "detail": "" if found is None else found.detail,
        "connected": auth is not None,
        "auth": auth,
        "url": "" if found is None else found.url,
    }


def disconnect(home: Path) -> dict[str, Any]:
    """Give up a sign-in that is under way, and sign the profile out. Raises: SouvenanceError."""
    with _lock:
        found = _tries.pop(home, None)
    if found is not None:
        found.give_up()
    signin.sign_out(home, environment_of(profile_at(home), os.environ))
    return status(home)


def offer(home: Callable[[], Path]) -> None:
    """Make these known to the host's web server; `home` gives the home of the profile of a request."""
    flow = ModuleType(_FLOW, __doc__)
    flow.start_loopback_flow_background = lambda: start(home())  # type: ignore[attr-defined]
    flow.get_flow_status = lambda: status(home())  # type: ignore[attr-defined]
    flow.disconnect = lambda: disconnect(home())  # type: ignore[attr-defined]
    sys.modules[_FLOW] = flow


def _words(error: Exception) -> str:
    if isinstance(error, SouvenanceError):
        return f"{error.code}: {error.detail}. {error.hint}".rstrip()
    return str(error)
