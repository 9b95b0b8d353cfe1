"""Souvenance as Hermes' memory: the provider put together, where the host loads it."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from souvenance.errors import InvalidInput, SouvenanceError
from souvenance.hermes.gc_pause import undisturbed

with undisturbed():
    from souvenance.hermes.config_files import read_configuration, stamp_of, write_setting
    from souvenance.hermes.configuration import SHOWN, TASK, Complaint, Configuration, known, shown_default
    from souvenance.hermes.host import ENVIRONMENT, context_thread, directory_now, home_key, home_now
    from souvenance.hermes.profile_runtime import ProfileRuntime, Surroundings
    from souvenance.hermes.provider import Provider
    from souvenance.hermes_backends import inspect, runtime_of, state_files_of

_LAST_FLUSH_SECONDS = 2.0
_LAST_FLUSH_ELSEWHERE = 0.3
"""For a server: the end of a process waits for none that is silent."""

_WHERE_AND_HOW = attrgetter(
    "store", "url", "timeout", "host_model", "host_model_calls_per_day", "host_model_tokens_per_day"
)
"""Settings that a runtime is made with."""


def register(ctx: Any) -> None:
    ctx.register_memory_provider(provider())
    offer_task = getattr(ctx, "register_auxiliary_task", None)
    if offer_task is not None:  # Hermes 0.20 and newer lets people choose another model for it.
        offer_task(
            TASK,
            display_name="Souvenance memory",
            description="Reads finished conversations and notes what they tell about you.",
        )


def start_sign_in() -> dict[str, Any]:
    """What a desktop asks for, for the profile of its request."""
    from souvenance.hermes.sign_in.profile import start

    return start(home_now())


def sign_in_status() -> dict[str, Any]:
    from souvenance.hermes.sign_in.profile import status

    return status(home_now())


def provider() -> Any:
    """A provider of the host's own kind: what newer hosts add to that has the host's defaults."""
    return _kind()(_SURROUNDINGS)


@cache
def _kind() -> Callable[[Surroundings], Any]:
    from agent.memory_provider import MemoryProvider  # type: ignore[import-not-found]

    class SouvenanceProvider(Provider, MemoryProvider):  # type: ignore[misc]
        def post_setup(self, hermes_home: str, config: dict[str, Any], **more: Any) -> None:
            """The wizard, as `hermes memory setup souvenance` starts it."""
            from souvenance.hermes.setup.wizard import post_setup

            post_setup(hermes_home, config, environment=ENVIRONMENT, inspect=inspect)

        def get_desktop_config(self, *, hermes_home: str, **more: Any) -> dict[str, Any]:
            return _shown_in_panel(Path(hermes_home))

        def handle_desktop_config_action(
            self, action: str, payload: dict[str, Any], *, hermes_home: str, **more: Any
        ) -> dict[str, Any]:
            try:
                return _done_in_panel(action, payload, Path(hermes_home))
            except (SouvenanceError, ValueError) as error:
                hint = getattr(error, "hint", "")
                return {"ok": False, "message": f"{error}. {hint}".rstrip(" .") + "."}

    return SouvenanceProvider


def _shown_in_panel(home: Path) -> dict[str, Any]:
    """What is in force, as Hermes' own panel shows it where a host asks the provider: as texts, and of a
    secret only whether there is one."""
    from souvenance.hermes.setup.profiles import environment_of, profile_at

    configuration, _ = read_configuration(home, environment_of(profile_at(home), ENVIRONMENT))
    values, is_set = {}, {}
    for key in map(known, SHOWN):
        value = configuration.value(key.name)
        is_set[key.name] = value is not None and value != shown_default(key)
        value = shown_default(key) if value is None else value
        text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
        values[key.name] = "" if key.secret else text.removesuffix(".0")
    return {"values": values, "is_set": is_set}


def _done_in_panel(action: str, payload: dict[str, Any], home: Path) -> dict[str, Any]:
    """Do what a button of the panel asks for. Raises: SouvenanceError; ValueError."""
    from souvenance.hermes.setup.profiles import environment_of, profile_at

    environment = environment_of(profile_at(home), ENVIRONMENT)
    configuration, complaints = read_configuration(home, environment)
    if action == "save":
        before = _shown_in_panel(home)["values"]
        given = payload.get("values", payload).items()
        changes = {name: text or None for name, text in given if name in SHOWN and text != before[name]}
        file = write_setting(home, configuration.host, changes, environment=environment)
        return {"ok": True, "message": f"Written to {file}."}
    if action == "check":
        found = inspect(configuration, environment)
        wrong = [str(one) for one in complaints if one.switches_off] or [found.detail] * (
            found.reachable is False
        )
        where = configuration.url or configuration.store
        return {"ok": not wrong, "message": " ".join(wrong) or f"Memory answers: {where}."}
    if action == "connect":
        from souvenance.hermes.sign_in.profile import start

        state = start(home)
        return {"ok": state["state"] != "error", "message": state["detail"], "url": state["url"]}
    raise InvalidInput(f"there is no action {action!r}", hint="Known: save, check, connect.")


class Runtimes:
    """The runtimes of a process: one for each profile, made anew when its backend changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, tuple[tuple[Any, ...], ProfileRuntime]] = {}
        atexit.register(self.close)

    def get(self, configuration: Configuration) -> ProfileRuntime:
        # A sign-in changes its token by itself; what it was given for stays.
        kept = configuration.oauth or {}
        key = (kept.get("tokenEndpoint"), kept.get("signedInAt")) if kept else configuration.api_key
        kind = (key, *_WHERE_AND_HOW(configuration))
        home = home_key(configuration.home)
        with self._lock:
            found = self._open.get(home)
            if found is not None and found[0] == kind:
                return found[1]
            runtime = runtime_of(configuration)
            self._open[home] = (kind, runtime)
        if found is not None:
            found[1].leave()
            context_thread(found[1].close, "souvenance-closing").start()
        return runtime

    def close(self) -> None:
        """Give what waits a last chance; the rest is in the write queue for the next process."""
        with self._lock:
            runtimes = [runtime for _, runtime in self._open.values()]
            self._open.clear()
        for runtime in runtimes:
            runtime.flush(_LAST_FLUSH_SECONDS if runtime.near else _LAST_FLUSH_ELSEWHERE)
            runtime.close()


_read: dict[tuple[str, str], tuple[Any, tuple[Configuration, list[Complaint]]]] = {}


def _configuration(home: Path, profile: str) -> tuple[Configuration, list[Complaint]]:
    """As it is in force. A gateway asks with every message, so it is read again only after a change."""
    stamp, key = stamp_of(home, ENVIRONMENT), (home_key(home), profile)
    if key not in _read or _read[key][0] != stamp:
        _read[key] = stamp, read_configuration(home, ENVIRONMENT, profile)
    return _read[key][1]


RUNTIMES = Runtimes()
_SURROUNDINGS = Surroundings(
    home=home_now,
    directory=directory_now,
    configuration=_configuration,
    runtime=RUNTIMES.get,
    state_files=state_files_of,
)
