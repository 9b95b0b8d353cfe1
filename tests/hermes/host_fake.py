"""A stand-in for how Hermes offers its own model: it replies as told, and keeps what it was asked."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import partial
from types import ModuleType, SimpleNamespace

import msgspec

from hermes.stage import WORKSPACE, Stage
from model.brain import honest
from model.stand_in import Asked
from souvenance.gate.conversation.conclusions import LIST_CONCLUSIONS, ListConclusions
from souvenance.gate.conversation.queue import QUEUE_STATUS, QueueStatus
from souvenance.hermes.profile_runtime import QUIET_SECONDS

PAYS = ContextVar("pays", default="nobody")
"""Stands for what the host keeps in the context of a turn: its model, and the session that pays."""
HOME = ContextVar("home", default=None)
SCOPE = ContextVar("scope", default=None)
TOKENS = 120


class Host:
    """`reply` makes the text of a reply, or raises; `asked` and `calls` tell of each call."""

    def __init__(self):
        self.reply = lambda asked: msgspec.json.encode(honest(asked)).decode()
        self.asked = []
        self.calls = []
        self.turns = None

    def call_llm(
        self, task=None, *, messages, temperature=None, max_tokens=None, timeout=None, extra_body=None
    ):
        asked = Asked({"messages": messages, "extra_body": extra_body}, {})
        call = SimpleNamespace(
            task=task,
            thread=threading.current_thread().name,
            busy=self.turns is not None and self.turns.busy(),
            pays=PAYS.get(),
            home=HOME.get(),
            text=asked.text,
        )
        self.asked.append(asked)
        self.calls.append(call)
        message = SimpleNamespace(content=self.reply(asked))
        choice = SimpleNamespace(message=message, finish_reason="stop")
        return SimpleNamespace(choices=[choice], usage=SimpleNamespace(total_tokens=TOKENS))

    def offer(self, monkeypatch, call=None):
        """Be the host of this process, in which a session is soon quiet long enough to be read."""
        monkeypatch.setenv("SOUVENANCE_MODEL_QUIET_SECONDS", "1")
        module = ModuleType("agent.auxiliary_client")
        module.call_llm = call or self.call_llm
        monkeypatch.setitem(sys.modules, "agent", ModuleType("agent"))
        monkeypatch.setitem(sys.modules, "agent.auxiliary_client", module)
        return self


def worked_off(stage):
    """Whether nothing is left to be thought about."""
    with stage.gate() as ask:
        left = ask(QUEUE_STATUS, QueueStatus(workspace_id=WORKSPACE))
    return left.completed_work_units == left.total_work_units


class HostStage(Stage):
    """A stage on which time can be put forward, so that it is quiet at once."""

    def __init__(self, folder, host, **settings):
        self.ahead = 0.0
        self.host = host
        super().__init__(folder, **settings)

    def runtime(self, configuration):
        runtime = super().runtime(configuration)
        if self.host.turns is not runtime.turns:
            self.host.turns, now = runtime.turns, runtime.turns._now
            runtime.turns._now = lambda: now() + self.ahead
        return runtime

    def falls_quiet(self):
        """Nobody says anything for a while."""
        self.ahead += QUIET_SECONDS

    def turn(self, provider, user, assistant="I see."):
        provider.on_turn_start(1, user)
        provider.prefetch(user)
        self.tell(provider, user, assistant)

    def concluded(self):
        with self.gate() as ask:
            found = ask(LIST_CONCLUSIONS, ListConclusions(workspace_id=WORKSPACE, size=100))
        return [one.content for one in found.items]


class UnscopedSecretError(RuntimeError):
    """What the host raises where nothing says whose secret is wanted."""


class SharedHost(Host):
    """A host that serves many profiles in one process: home, secrets and who pays are in a turn's context.

    Where there is no turn, its home is that of the profile it was launched with, and no secret is told.
    """

    def __init__(self, launched):
        super().__init__()
        self.launched = launched
        self.bound = []

    def offer(self, monkeypatch):
        modules = {
            "hermes_constants": {"get_hermes_home": self.home, "hermes_home_key": os.path.realpath},
            "agent.memory_provider": {
                "MemoryProvider": object,
                "RecallStatus": RecallStatus,
                "ctx_bound": self.ctx_bound,
                "spawn_context_thread": self.spawn_context_thread,
            },
            "agent.secret_scope": {"get_secret": self.get_secret, "current_secret_scope": SCOPE.get},
        }
        super().offer(monkeypatch)
        for name, content in modules.items():
            module = ModuleType(name)
            vars(module).update(content)
            monkeypatch.setitem(sys.modules, name, module)
        return self

    def home(self):
        return HOME.get() or self.launched

    def get_secret(self, name, default=None):
        if SCOPE.get() is None:
            raise UnscopedSecretError(name)
        return SCOPE.get().get(name, default)

    def ctx_bound(self, work):
        self.bound.append(work)
        return partial(copy_context().run, work)

    def spawn_context_thread(self, target, *, name, daemon=True, args=(), kwargs=None):
        bound = self.ctx_bound(target)
        return threading.Thread(target=bound, name=name, daemon=daemon, args=args, kwargs=kwargs)

    @contextmanager
    def turn(self, home, **secrets):
        """What happens in it is done for the profile with that home."""
        values = {HOME: home, SCOPE: {"SOUVENANCE_MODEL_QUIET_SECONDS": "1", **secrets}, PAYS: home.name}
        tokens = [(variable, variable.set(value)) for variable, value in values.items()]
        try:
            yield
        finally:
            for variable, token in tokens:
                variable.reset(token)


@dataclass(frozen=True)
class RecallStatus:
    """What a newer host is told of a recall."""

    provider_label: str
    count: int
    glyph: str = "🧠"
