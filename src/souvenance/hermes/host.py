"""What the host says about a conversation and its profile, its clock, and its own transcript."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from contextvars import copy_context
from datetime import UTC, datetime, tzinfo
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from souvenance.agents.transcript import CONTINUED, spoken
from souvenance.patterns import pattern

PERSONAL = frozenset({"cli", "tui", "acp", "desktop", "local"})
"""The platforms whose only user is who runs them."""
READS_STDIN = "acp"
"""The platform on which a thread of the host reads standard input all the time."""
PROVIDERS = "agent.memory_provider"
"""Where the host says what a provider is, and has what providers may use."""
_SECRETS = "agent.secret_scope"
_OURS = ("SOUVENANCE_", "HONCHO_", "HERMES_HONCHO_", "HERMES_SOUVENANCE_")

_T = TypeVar("_T")


def offered(module: str, name: str) -> Any:
    """What the host has by that name in a module that it has loaded; None if it is older, or not here."""
    return getattr(sys.modules.get(module), name, None)


def bound(work: Callable[[], _T]) -> Callable[[], _T]:
    """The work, for another thread to do in the context of this one.

    A host that serves many profiles keeps in it whose turn it is, their secrets, and who pays for a model.
    """
    bind: Callable[[Callable[[], _T]], Callable[[], _T]] | None = offered(PROVIDERS, "ctx_bound")
    return partial(copy_context().run, work) if bind is None else bind(work)


def context_thread(work: Callable[[], None], name: str) -> threading.Thread:
    """A thread, not begun yet, for the work in the context of this one. It keeps no process from ending."""
    spawn: Callable[..., threading.Thread] | None = offered(PROVIDERS, "spawn_context_thread")
    if spawn is None:
        return threading.Thread(target=bound(work), name=name, daemon=True)
    return spawn(work, name=name, daemon=True)


class ProfileEnvironment(Mapping[str, str]):
    """The environment, with the variables of the profile whose turn it is.

    The process' own are those of the profile that it was begun with. Where many are served and nothing
    says whose turn it is, none of ours is there.
    """

    def __getitem__(self, name: str) -> str:
        get_secret = offered(_SECRETS, "get_secret")
        if get_secret is None or not name.startswith(_OURS):
            return os.environ[name]
        try:
            value = get_secret(name)
        except RuntimeError:
            value = None
        if value is None:
            raise KeyError(name)
        return str(value)

    def __iter__(self) -> Iterator[str]:
        scope = offered(_SECRETS, "current_secret_scope")
        return (name for name in {*os.environ, *((scope and scope()) or ())} if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


ENVIRONMENT = ProfileEnvironment()


def user_home(environment: Mapping[str, str]) -> str:
    """The folder of the user; empty if the environment does not say."""
    return environment.get("HOME") or environment.get("USERPROFILE") or ""


def usual_home(environment: Mapping[str, str]) -> Path | None:
    """The default home of the host, by its own rule for each system."""
    user = user_home(environment)
    if sys.platform == "win32":
        local = environment.get("LOCALAPPDATA", "").strip() or (
            user and os.path.join(user, "AppData", "Local")
        )
        return Path(local, "hermes") if local else None
    return Path(user, ".hermes") if user else None


def home_now() -> Path:
    """The home of the profile whose turn it is, by the host's own rule where there is a host."""
    try:
        from hermes_constants import get_hermes_home  # type: ignore[import-not-found]
    except ImportError:
        return Path(os.environ.get("HERMES_HOME") or usual_home(os.environ) or Path.home() / ".hermes")
    return Path(get_hermes_home())


def home_key(home: Path) -> str:
    """A key for a home: the same for every spelling of its path."""
    key: Callable[[Path], str] | None = offered("hermes_constants", "hermes_home_key")
    return str(home) if key is None else key(home)


def directory_now() -> Path:
    """Where the agent works, by the host's word; else where the host was started, or its home."""
    told: Callable[[], Any] | None = offered("agent.runtime_cwd", "resolve_agent_cwd")
    try:
        return Path.cwd() if told is None else Path(told())
    except OSError:
        return home_now()


def default_home(home: Path, environment: Mapping[str, str]) -> Path:
    """The home of the default profile beside this one, by the host's rule."""
    usual = usual_home(environment)
    if usual is not None and Path(os.path.realpath(home)).is_relative_to(os.path.realpath(usual)):
        return usual
    return home.parent.parent if home.parent.name == "profiles" else home


class HostConversation(Struct, frozen=True, kw_only=True):
    session_id: str
    platform: str = "cli"
    home: Path
    directory: Path
    user_id: str | None = None
    user_id_alt: str | None = None
    chat_type: str | None = None
    gateway_session_key: str | None = None
    session_title: str | None = None


_TOLD = ("user_id", "user_id_alt", "chat_type", "gateway_session_key", "session_title")


def told_of(session_id: str, home: Path, directory: Path, told: Mapping[str, Any]) -> HostConversation:
    """The conversation that the host tells a provider of. A title that the host made up does not name it."""
    named = {name: str(told[name]) for name in _TOLD if told.get(name)}
    if told.get("session_title_source") not in (None, "", "user"):
        named.pop("session_title", None)
    platform = told.get("platform") or "cli"
    return HostConversation(session_id=session_id, platform=platform, home=home, directory=directory, **named)


_SETTINGS = "hermes_cli.config"
"""What the host's clock reads its settings by. A host has loaded it; only there it costs nothing to ask."""


def local_zone() -> tzinfo | None:
    """The time local_zone that the host is set to; None for the machine's own."""
    if _SETTINGS not in sys.modules:
        return None
    try:
        found = import_module("hermes_time").get_timezone()
    except Exception:  # noqa: BLE001 - whatever a host makes of its settings, there is a day to go by
        return None
    return found if isinstance(found, tzinfo) else None


def local_now() -> datetime:
    return datetime.now(UTC).astimezone(local_zone())


_SAID = """
    SELECT NOT active, content FROM messages
    WHERE session_id = ? AND role = 'user' AND NOT compacted ORDER BY id
"""
_UNDONE = """
    SELECT DISTINCT session_id FROM messages
    WHERE session_id IN ({}) AND active = 0 AND NOT compacted AND role = 'user'
"""
_SHOWN = """
    SELECT role = 'user', content, {} FROM messages
    WHERE session_id = ? AND active AND role IN ('user', 'assistant') ORDER BY id DESC
"""
SENT = "api_content"
"""Where the host keeps a message as the model was sent it, with what memory added; older ones do not."""
_JSON = "\x00json:"
"""What the host puts before content in parts."""
_BETWEEN = "\x00"
_LOCKED_SECONDS = 0.1
_NAMED_BY_HOST = pattern(r"api-[0-9a-f]{16}\Z")
_REDACTED = pattern(r"\[redacted: [^\]]*\]")


class Window(Struct, frozen=True):
    """What was said in a session that the model still has before it."""

    text: str
    sent: tuple[str, ...] = ()
    """The messages to which memory added something, as the model was sent them."""

    @property
    def injected(self) -> str:
        return _BETWEEN.join(self.sent)

    @property
    def before_model(self) -> str:
        return _BETWEEN.join((self.text, *self.sent))

    def shows(self, text: str) -> bool:
        """Whether that, as we keep it, was said there."""
        return all(part.strip() in self.text for part in _REDACTED.split(text.removeprefix(CONTINUED)))


def window(home: Path, session_id: str, turns: int) -> Window | None:
    """What the latest turns of a session were, so many as the host counts; None if it has no transcript.

    Two talks over HTTP that begin alike are one session to the host: so only the latest are the talk's own.
    """
    asked = (_rows(home, _SHOWN.format(column), (session_id,)) for column in (SENT, "NULL"))
    rows = next(filter(None, asked), [])
    texts: list[str] = []
    sent: list[str] = []
    for by_user, content, added in rows:
        if turns <= 0:
            break
        turns -= by_user
        texts.append(spoken(_content(content)))
        sent += [added] if isinstance(added, str) else []
    return Window(_BETWEEN.join(texts), tuple(sent)) if rows else None


def sent_by_caller(session_id: str) -> bool:
    """Whether the host named a session over HTTP after its first message: then who calls sends the history
    with every request, without what memory added to it."""
    return _NAMED_BY_HOST.match(session_id) is not None


def said_and_undone(home: Path, session_id: str) -> tuple[list[str], list[str]]:
    """What the user said in a session, oldest first, and what they took back; neither if it can't be read."""
    told = [(undone, spoken(_content(content))) for undone, content in _rows(home, _SAID, (session_id,))]
    return [text for undone, text in told if not undone], [text for undone, text in told if undone]


def with_undone(home: Path, session_ids: Iterable[str]) -> list[str]:
    """The sessions in which the user ever took something back."""
    wanted = tuple(session_ids)
    rows = _rows(home, _UNDONE.format(",".join("?" * len(wanted))), wanted) if wanted else []
    return [session_id for (session_id,) in rows]


def _rows(home: Path, query: str, values: Sequence[str]) -> list[tuple[Any, ...]]:
    """No row if the host has no such database, or one of another make."""
    import sqlite3

    where = f"{(home / 'state.db').absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(where, uri=True, timeout=_LOCKED_SECONDS)) as found:
            return found.execute(query, values).fetchall()
    except sqlite3.Error:
        return []


def _content(text: object) -> Any:
    if isinstance(text, str) and text.startswith(_JSON):
        try:
            return json.loads(text.removeprefix(_JSON))
        except ValueError:
            return text
    return text
