"""The backends of a Hermes profile: how they are put together, opened and inspected."""

from __future__ import annotations

import dataclasses
import logging
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from souvenance.adapters.private_files import names_in, read_private
from souvenance.adapters.processes import served_at
from souvenance.adapters.system_clock import SystemClock, SystemEntropy
from souvenance.adapters.write_queue import SealedWriteQueue
from souvenance.config import HostProgram, ModelEndpoint, ModelSettings, Settings, settings_from
from souvenance.domain.model_budget import Allowance, Spent
from souvenance.errors import (
    Misconfigured,
    NotFound,
    ServerUnreachable,
    SouvenanceError,
    Unavailable,
    Unsupported,
)
from souvenance.files import is_mine, others_may
from souvenance.gate.conversation.context import READ_CARD, ReadCard
from souvenance.hermes.config_files import HOST_VARIABLE
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.host import ENVIRONMENT, HostConversation, default_home, local_zone
from souvenance.hermes.identity import identify, scope_of
from souvenance.hermes.profile_runtime import CALLS_AT_ONCE, Backend, ProfileRuntime, TurnsUnderWay
from souvenance.hermes.state_files import DELAY, MODEL_TROUBLE, StateFiles
from souvenance.ports.model import ANSWER, DERIVE, TASKS
from souvenance.settings import SETTINGS

if TYPE_CHECKING:
    from souvenance.agents.conversation_scope import ConversationScope
    from souvenance.agents.gated_memory import GatedMemory
    from souvenance.hermes.oauth_tokens import Upkeep
    from souvenance.hermes.setup.console import Carried
    from souvenance.hermes.setup.status import Findings

_LOOK_SECONDS = 3.0
_CARRY_SECONDS = 60.0
_FLUSH_SECONDS = 5.0
_FIRST_QUESTION_SECONDS = 1.0
"""How long the work behind the requests lets the host's first question go first."""

_NO_MODEL = {SETTINGS[f"model_{task}_base_url"].variable: "off" for task in TASKS}
_KEYS = (".key", ".cap", ".secret")

_log = logging.getLogger("souvenance.hermes")
_T = TypeVar("_T")


def _folder_of(configuration: Configuration) -> Path:
    """Where the provider of a profile keeps what is its own, wherever memory is."""
    return configuration.home / "souvenance"


def _queue_of(configuration: Configuration) -> Path:
    return _folder_of(configuration) / "write-queue"


def state_files_of(configuration: Configuration) -> StateFiles:
    """Beside the store, so that profiles which share one know of each other; else with the profile."""
    return StateFiles(configuration.store if configuration.url is None else _folder_of(configuration))


def runtime_of(
    configuration: Configuration, environment: Mapping[str, str] = ENVIRONMENT, *, asks_model: bool = True
) -> ProfileRuntime:
    _close_to_others(_queue_of(configuration))
    token, turns = cache(lambda: _token(configuration)), TurnsUnderWay()
    working = turns if asks_model else None
    return ProfileRuntime(
        open_backend=lambda: open_backend(configuration, lambda: token()(), working, environment),
        write_queue=SealedWriteQueue(_queue_of(configuration)),
        now=SystemClock().now,
        state_files=state_files_of(configuration),
        turns=turns,
        load=lambda: _load(configuration),
    )


def _load(configuration: Configuration) -> None:
    """What opening the backend and asking for the first time would load."""
    import souvenance.hermes.delivery

    if configuration.url is None:
        import souvenance.adapters.index.ranked
        import souvenance.installation
    else:
        import souvenance.surfaces.http.client  # noqa: F401


def open_backend(
    configuration: Configuration,
    token: Callable[[], str] | None = None,
    turns: TurnsUnderWay | None = None,
    environment: Mapping[str, str] = ENVIRONMENT,
) -> Backend:
    """The backend of the configured server, of the server of the store's folder if one runs, or of the store.

    `token` gives what a configured server is shown, if not what the configuration says. With `turns` the
    model of the configuration works in the background of a store; without, that work is left to others.
    Raises: SouvenanceError.
    """
    if configuration.url is not None:
        backend = _remote(configuration.url, token or _token(configuration), configuration.timeout)
        if configuration.namespaces.need_a_gate and not backend.tokens.capped:
            backend.close()
            raise Misconfigured(
                "only the gate of a Souvenance keeps namespaces apart, and apiKey is no cap of one",
                hint="Leave namespaces out, or give a cap of the Souvenance at baseUrl as apiKey.",
            )
        return backend
    url = served_at(configuration.store)
    if url is not None:
        owner_cap = _owner_cap(configuration)
        backend = _remote(url, lambda: owner_cap, configuration.timeout)
        backend.found = True
        return backend
    settings, trouble = _settings(configuration, environment)
    settings = replace(settings, zone=local_zone())
    if trouble:
        _log.warning("souvenance: the model can't be used: %s", trouble)
        return _embedded(settings)
    return _embedded(_with_model(configuration, settings, turns))


def _owner_cap(configuration: Configuration) -> str:
    """The owner's token of the store on this machine. Raises: SouvenanceError."""
    return read_private(Settings(configuration.store).owner_cap).strip()


def inspector(configuration: Configuration) -> tuple[str, str]:
    """The server whose pages show this memory, and a link that signs in there once. Raises: Unavailable if no
    server runs; SouvenanceError."""
    from souvenance.surfaces.cli.open_inspector import link_to

    if configuration.url is not None:
        return configuration.url, link_to(configuration.url, _token(configuration)())
    server = served_at(configuration.store)
    if server is None:
        hint = f"Run 'souvenance --home {configuration.store} serve' first."
        raise Unavailable("no server is running for this memory", hint=hint)
    return server, link_to(server, _owner_cap(configuration))


def _settings(configuration: Configuration, environment: Mapping[str, str]) -> tuple[Settings, str]:
    """The settings of the store as a server has them, by the environment and `souvenance.toml` in its folder;
    and why the model that they name can't be used, which costs no memory. Raises: Misconfigured."""
    home = str(configuration.store)
    try:
        return settings_from(environment, home), ""
    except Misconfigured as error:
        return settings_from({**environment, **_NO_MODEL}, home), error.detail


def _with_model(configuration: Configuration, settings: Settings, turns: TurnsUnderWay | None) -> Settings:
    """The settings with the model that works in the background, and the turns that go before its work.

    A model never answers a question here: a turn would wait for it.
    """
    given, settings = settings.model, replace(settings, model=ModelSettings())
    chosen = configuration.model_choice(configured=DERIVE in given.endpoints)
    if chosen not in ("settings", "hermes"):
        return settings
    if turns is None:
        return replace(settings, host=HostProgram(lambda: True))
    if chosen == "settings":
        endpoints = {task: one for task, one in given.endpoints.items() if task != ANSWER}
        return replace(settings, model=replace(given, endpoints=endpoints), host=HostProgram(turns.busy))
    from souvenance.hermes.host_model import MISSING, NAME, URL, HostModel, offered

    call, note = offered(), partial(state_files_of(configuration).note_trouble, MODEL_TROUBLE)
    if call is None:
        note(MISSING)
        return settings
    budget = budget_of(configuration)
    asked = replace(given, endpoints={DERIVE: ModelEndpoint(URL, NAME)}, whole=budget, each=budget)
    return replace(settings, model=asked, host=HostProgram(turns.busy, HostModel(call, turns, note)))


def budget_of(configuration: Configuration) -> Allowance:
    calls, tokens = configuration.host_model_calls_per_day, configuration.host_model_tokens_per_day
    return Allowance(calls, calls, tokens, tokens)


def inspect(configuration: Configuration, environment: Mapping[str, str] = ENVIRONMENT) -> Findings:
    """The state of memory, found outside of any conversation."""
    from souvenance.hermes.setup.status import Findings

    standing, unwritable = None, ""
    try:
        standing = SealedWriteQueue(_queue_of(configuration)).standing()
    except SouvenanceError as error:
        unwritable = f"{error.code}: {error.detail}."
    upkeep = _upkeep(configuration) if configuration.oauth is not None else None
    reachable, detail = _looked_at(configuration, environment, upkeep.token if upkeep else None)
    state_files = state_files_of(configuration)
    spent, trouble = _spent(configuration)
    configured, unusable = _named_model(configuration, environment)
    return Findings(
        reachable=reachable,
        detail=detail,
        health=state_files.health(),
        write_queue=standing,
        delay=state_files.trouble(DELAY),
        unwritable=unwritable,
        sign_in=upkeep.trouble if upkeep else "",
        model_configured=configured,
        spent=spent,
        model_trouble=unusable or trouble or state_files.trouble(MODEL_TROUBLE),
    )


def _spent(configuration: Configuration) -> tuple[Spent, str]:
    from souvenance.adapters.model.calls import ModelBudget

    budget = budget_of(configuration)
    file = Settings(configuration.store).model_spend
    spending = ModelBudget(file, whole=budget, each=budget, now=SystemClock().now)
    try:
        return spending.spent(configuration.workspace)[0], ""
    except SouvenanceError as error:
        return Spent(), error.detail


def carry(configuration: Configuration, old: str, new: str, environment: Mapping[str, str]) -> Carried:
    """Move the memory of one name to another, after the write queue is empty. Raises: SouvenanceError;
    Unsupported by a server that is not Souvenance's."""
    from souvenance.gate.conversation.peers import rename
    from souvenance.hermes.setup.console import Carried

    if not _is_made(configuration, environment) and not _queue_of(configuration).exists():
        return Carried(old, new, 0)
    patient = dataclasses.replace(configuration, timeout=max(configuration.timeout, _CARRY_SECONDS))
    runtime = runtime_of(patient, environment, asks_model=False)
    try:
        runtime.flush(_CARRY_SECONDS)
        backend, workspace = runtime.backend(), configuration.workspace
        cap = backend.tokens.whole(workspace)
        lines = rename(lambda operation, asked: backend.gate.call(operation, cap, asked), workspace, old, new)
        standing = runtime.standing()
    except (NotFound, Unsupported):
        raise Unsupported(
            f"the server at {configuration.url} can't rename a peer: Honcho's API has no way to",
            hint="Nothing was changed. Move its memory here with 'souvenance import', and rename it here.",
        ) from None
    finally:
        runtime.close()
    state_files, files = state_files_of(configuration), ("files", workspace)
    if state_files.was(*files, old):
        with state_files.once(*files, new):
            pass  # The host's own files were taken over under the other name already.
    return Carried(old, new, lines, standing.waiting)


def asked(
    configuration: Configuration, environment: Mapping[str, str], question: Callable[[GatedMemory], _T]
) -> _T | None:
    """What memory answers about the owner in a new conversation, after the write queue is empty; None where
    nothing is kept yet. Raises: SouvenanceError."""
    if not _is_made(configuration, environment) and not _queue_of(configuration).exists():
        return None
    scope = _owner_scope(configuration)
    with closing(runtime_of(configuration, environment, asks_model=False)) as runtime:
        runtime.flush(_FLUSH_SECONDS)
        return runtime.ask_and_wait(scope, question, _CARRY_SECONDS)


@contextmanager
def looked_into(
    configuration: Configuration, environment: Mapping[str, str]
) -> Iterator[tuple[Backend, ConversationScope] | None]:
    """What reaches the owner's memory, the store itself even if a server runs on it; None where nothing is
    kept yet. Raises: SouvenanceError."""
    if not _is_made(configuration, environment):
        yield None
        return
    scope = _owner_scope(configuration)
    if configuration.url is not None:
        backend = open_backend(configuration)
    else:
        backend = _embedded(_with_model(configuration, _settings(configuration, environment)[0], None))
    with closing(backend):
        yield backend, scope


def _owner_scope(configuration: Configuration) -> ConversationScope:
    """A new conversation with the owner. Raises: Misconfigured."""
    here = HostConversation(session_id="", home=configuration.home, directory=configuration.home)
    person = identify(configuration, here)
    if person is None:
        raise Misconfigured("nobody is named", hint="Run: souvenance hermes peer --user NAME")
    return scope_of(configuration, here, person)


def reached(configuration: Configuration, environment: Mapping[str, str]) -> Settings:
    """The settings by which commands on memory itself reach this memory.

    Raises: Unsupported by a server that is not Souvenance's; SouvenanceError.
    """
    from souvenance.agents.narrow_tokens import is_cap

    settings, _ = _settings(configuration, environment)
    if configuration.url is None:
        return replace(settings, url=None, cap=None)
    token = _token(configuration)()
    if not is_cap(token):
        raise Unsupported(
            f"the key of {configuration.url} is no token of a Souvenance, and lines have no ids there",
            hint="Ask the agent to delete what it noted.",
        )
    return replace(settings, url=configuration.url, cap=token)


def _named_model(configuration: Configuration, environment: Mapping[str, str]) -> tuple[bool, str]:
    """Whether the settings of the store name a model that reads what was said, and why it can't be used."""
    try:
        settings, trouble = _settings(configuration, environment)
    except Misconfigured as error:
        return False, error.detail
    return bool(trouble) or DERIVE in settings.model.endpoints, trouble


def _looked_at(
    configuration: Configuration, environment: Mapping[str, str], token: Callable[[], str] | None
) -> tuple[bool | None, str]:
    """Whether memory answers who a token is, or what it knows of the agent; and what to say of it."""
    from souvenance.gate.messages import Nothing
    from souvenance.gate.operations import WHOAMI
    from souvenance.hermes.identity import agent_peer
    from souvenance.surfaces.http.client import NO_SUCH_PATH

    try:
        if not _is_made(configuration, environment):
            return _not_made_yet(configuration.store)
        impatient = dataclasses.replace(configuration, timeout=min(configuration.timeout, _LOOK_SECONDS))
        with closing(open_backend(impatient, token, environment=environment)) as backend:
            try:
                if backend.tokens.capped:
                    backend.gate.call(WHOAMI, backend.tokens.itself(), Nothing())
                else:
                    asked = ReadCard(workspace_id=configuration.workspace, peer_id=agent_peer(configuration))
                    backend.gate.call(READ_CARD, backend.tokens.itself(), asked)
            except NotFound as error:
                if error.detail in NO_SUCH_PATH:
                    raise ServerUnreachable("what answers there has no such path") from error
    except SouvenanceError as error:
        elsewhere = configuration.url is not None and isinstance(error, ServerUnreachable)
        hint = "Start that server, or correct baseUrl." if elsewhere else error.hint
        return False, f"{error.code}: {error.detail.rstrip('.')}. {hint}".rstrip(" .") + "."
    return True, backend.where


def _is_made(configuration: Configuration, environment: Mapping[str, str]) -> bool:
    """Whether there is a server or a store already. Raises: Misconfigured."""
    if configuration.url is not None:
        return True
    settings, _ = _settings(configuration, environment)
    return settings.store is not None or settings.database.exists()


def _not_made_yet(store: Path) -> tuple[bool | None, str]:
    there = next(path for path in (store, *store.parents) if path.exists())
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return None, "nothing is stored yet"
    return False, f"{there} is not a folder that can be written to."


def _token(configuration: Configuration) -> Callable[[], str]:
    """What a configured server is shown: a sign-in's token, a key, or the word that local servers take."""
    if configuration.oauth is None:
        return lambda: configuration.api_key or "local"
    return _upkeep(configuration).token


def _upkeep(configuration: Configuration) -> Upkeep:
    """Keeps the access token of a profile valid."""
    from souvenance.hermes.config_files import read_configuration, write_grant
    from souvenance.hermes.oauth_tokens import Upkeep, exchange

    home, environment = configuration.home, {**ENVIRONMENT, HOST_VARIABLE: configuration.host}
    return Upkeep(
        configuration,
        now=SystemClock().now,
        read=lambda: read_configuration(home, environment)[0],
        write=lambda grant: write_grant(home, configuration.host, grant, environment),
        exchange=exchange,
        folder=default_home(home, environment),
    )


def _close_to_others(folder: Path) -> None:
    """Give keys their modes back: what the host restores from a backup is open to other users."""
    for path in (folder / name for name in names_in(folder) if name.endswith(_KEYS)):
        found = path.lstat()
        if stat.S_ISREG(found.st_mode) and is_mine(found) and others_may(found):
            _log.warning("souvenance: %s was open to other users, and is no longer", path)
            path.chmod(0o600)


def _remote(url: str, token: Callable[[], str], timeout: float) -> Backend:
    from souvenance.surfaces.http.client import RemoteGate

    gate = RemoteGate(url, timeout=timeout, connections=CALLS_AT_ONCE)
    return _backend(gate, token, url, far=gate, timeout=timeout, close=gate.close)


def _embedded(settings: Settings) -> Backend:
    from souvenance.installation import open_installation

    _close_to_others(settings.home)
    installation = open_installation(settings, patience=0.0)
    stack = ExitStack()
    stack.callback(installation.close)
    stack.enter_context(installation.working(after=_FIRST_QUESTION_SECONDS))
    return _backend(
        installation.gate,
        lambda: installation.owner_cap,
        settings.where,
        reads_agent=settings.host is None,
        together=installation.gate.call_all,
        settle=installation.settle,
        hurry=lambda *session: installation.worker.hurry(*session),
        close=stack.close,
    )


def _backend(
    gate: Any, token: Callable[[], str], where: str, *, reads_agent: bool = True, **more: Any
) -> Backend:
    from souvenance.agents.narrow_tokens import NarrowTokens
    from souvenance.hermes.delivery import QueueDelivery

    tokens = NarrowTokens(token, SystemClock(), SystemEntropy())
    return Backend(gate, tokens, QueueDelivery(gate, tokens, reads_agent=reads_agent), where, **more)
