"""A stand-in for hosts that can't be installed here, at three levels of what they offer a memory provider:
0.19, 0.20 and 0.21. It does what `hermes-021.md` says of them, and nothing more.

Run as a program it is the plugin host of 0.21's `plugins.isolation: host`: a process of its own, which loads
the plugin from its folder and answers calls in JSON.
"""

from __future__ import annotations

import ast
import contextvars
import hashlib
import importlib.util
import inspect
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace

LEVELS = ("0.19", "0.20", "0.21")
NAMESPACE = "_hermes_user_memory"
PREFETCH_SECONDS = 8.0
DRAIN_SECONDS = 5.0
RESTARTS = 3
TRIVIAL = re.compile(r"\s*(|/.*|ok|okay|hi|hello|hey|thanks|thank you|yes|no)[.!]?\s*\Z", re.I | re.S)
SENTINELS = ("", "default", "builtin", "built-in", "none")
OFFERED = {
    "0.19": ("register_tool", "register_hook", "register_cli_command"),
    "0.20": ("register_auxiliary_task", "register_hook", "register_skill", "register_tool"),
    "0.21": ("register_auxiliary_task", "register_hook", "register_skill", "register_tool"),
}

FIRST_TO_INSTALL_IT = (0, 21, 4)
"""The first release whose installer takes a second manifest, and installs what a plugin declares."""
MANIFEST_FIELDS = set(
    re.findall(
        r"\w+",
        """
        name version description manifest_version api_version requires_hermes requires_plugins
        python_dependencies python_runtime config_schema capabilities provides_tools provides_hooks hooks
        requires_env external_dependencies license homepage tags kind
        """,
    )
)
CAPABILITIES = set(
    re.findall(
        r"[\w.]+",
        """
        tools.override llm.provider_override llm.model_override llm.agent_id_override llm.profile_override
        llm.task_override gateway.platform_actions gateway.plugin_status
        """,
    )
)
REQUIRED = re.compile(r"(>=|<=|==|!=|>|<)\s*(\d+(?:\.\d+)*)\Z")

_home = contextvars.ContextVar("hermes_home", default=None)
_secrets = contextvars.ContextVar("hermes_secrets", default=None)
_pays = contextvars.ContextVar("hermes_session", default=None)


class MemoryProvider19(ABC):
    """Every member that 0.19.0 has, with its default."""

    @property
    @abstractmethod
    def name(self): ...

    @abstractmethod
    def is_available(self): ...

    @abstractmethod
    def initialize(self, session_id, **kwargs): ...

    @abstractmethod
    def get_tool_schemas(self): ...

    def system_prompt_block(self):
        return ""

    def prefetch(self, query, *, session_id=""):
        return ""

    def queue_prefetch(self, query, *, session_id=""):
        return None

    def sync_turn(self, user_content, assistant_content, *, session_id="", messages=None):
        return None

    def handle_tool_call(self, tool_name, args, **kwargs):
        raise NotImplementedError(tool_name)

    def shutdown(self):
        return None

    def on_turn_start(self, turn_number, message, **kwargs):
        return None

    def on_session_end(self, messages):
        return None

    def on_session_switch(
        self, new_session_id, *, parent_session_id="", reset=False, rewound=False, **kwargs
    ):
        return None

    def on_pre_compress(self, messages):
        return ""

    def on_delegation(self, task, result, *, child_session_id="", **kwargs):
        return None

    def get_config_schema(self):
        return []

    def save_config(self, values, hermes_home):
        return None

    def on_memory_write(self, action, target, content, metadata=None):
        return None

    def backup_paths(self):
        return []


class MemoryProvider20(MemoryProvider19):
    pre_compress_checkpoint_api_version = 1

    def unavailable_reason(self):
        return ""

    def recall_status(self):
        return None


class MemoryProvider21(MemoryProvider20):
    def identity_signature(self):
        return {}


@dataclass(frozen=True)
class RecallStatus:
    provider_label: str
    count: int
    glyph: str = "🧠"


KINDS = {"0.19": MemoryProvider19, "0.20": MemoryProvider20, "0.21": MemoryProvider21}


def ctx_bound(work):
    """The work in the context of who asks for it, wherever it is done."""
    context = contextvars.copy_context()
    return lambda *args, **kwargs: context.copy().run(work, *args, **kwargs)


def spawn_context_thread(target, *, name, daemon=True, args=(), kwargs=None):
    return threading.Thread(
        target=ctx_bound(target), name=name, daemon=daemon, args=args, kwargs=kwargs or {}
    )


def get_hermes_home():
    """Of the profile in the context; without one, of the profile that the process was started for."""
    return Path(_home.get() or os.environ["HERMES_HOME"])


def get_secret(name, default=None):
    """Only what the profile in the context has: without one, nothing."""
    return (_secrets.get() or {}).get(name, default)


def call_llm(task=None, *, messages, **more):
    """The main model. What it costs is booked only with a task, and in the context of a turn."""
    if task and _pays.get():
        booked.append((_pays.get(), task))
    choice = SimpleNamespace(message=SimpleNamespace(content="{}"), finish_reason="stop")
    return SimpleNamespace(choices=[choice], usage=SimpleNamespace(total_tokens=1))


booked: list[tuple[str, str]] = []


@dataclass(frozen=True)
class ProviderFieldOption:
    value: str
    label: str
    description: str = ""


@dataclass(frozen=True)
class ProviderField:
    key: str
    label: str
    kind: str = "text"
    default: str = ""
    description: str = ""
    placeholder: str = ""
    options: tuple = ()
    env_key: str | None = None
    aliases: tuple = ()
    env_fallbacks: tuple = ()
    inline: bool = False
    group: str = ""
    info: str = ""
    scope: str = "host"


@dataclass(frozen=True)
class ProviderConfigSchema:
    name: str
    label: str
    storage: str = "flat_json"
    docs_url: str = ""
    fields: tuple = ()


@dataclass(frozen=True)
class ProviderConfigAction:
    name: str
    label: str
    description: str = ""
    after_field: str = ""
    payload_fields: tuple = ()
    visible_when: tuple = ()
    refresh_after: bool = False


@dataclass(frozen=True)
class ManagedConfigSchema(ProviderConfigSchema):
    description: str = ""
    submit_action: str = ""
    submit_label: str = "Save changes"
    status_action: str = ""
    actions: tuple = ()


_KIND_NAMES = ("text", "select", "secret", "bool", "number", "json")


def _module(name, **content):
    made = ModuleType(name)
    vars(made).update(content)
    made.__path__ = []
    return made


def _panel(managed):
    content = {f"KIND_{kind.upper()}": kind for kind in _KIND_NAMES}
    content |= {"STORAGE_FLAT_JSON": "flat_json", "ProviderField": ProviderField}
    content |= {"ProviderFieldOption": ProviderFieldOption, "ProviderConfigSchema": ProviderConfigSchema}
    if managed:
        content |= {"PROVIDER_SETUP_API_VERSION": 1, "STORAGE_PROVIDER_MANAGED": "provider_managed"}
        content |= {"ProviderConfigAction": ProviderConfigAction, "ProviderConfigSchema": ManagedConfigSchema}
    return _module("plugins.memory.config_schema", **content)


def modules(level, *, managed=False):
    """What a plugin can import of a host of that level."""
    provider = {"MemoryProvider": KINDS[level]}
    found = [_module(name) for name in ("agent", "plugins", "plugins.memory", NAMESPACE)]
    found += [_panel(managed), _module("hermes_constants", get_hermes_home=get_hermes_home)]
    found += [_module("agent.auxiliary_client", call_llm=call_llm)]
    if level != "0.19":
        provider |= {"RecallStatus": RecallStatus}
    if level == "0.21":
        provider |= {"ctx_bound": ctx_bound, "spawn_context_thread": spawn_context_thread}
        provider |= {"CORE_MEMORY_PROVIDER_SENTINELS": SENTINELS}
        found += [_module("agent.secret_scope", get_secret=get_secret)]
    return {one.__name__: one for one in (*found, _module("agent.memory_provider", **provider))}


class Refused(Exception):
    """What a host does not take, and why."""


def read_manifest(folder):
    import yaml

    return yaml.safe_load((folder / "plugin.yaml").read_text("utf-8"))


def numbered(version):
    """A release as its three numbers."""
    return tuple(int(part) for part in [*version.split("."), "0", "0"][:3])


def satisfied(required, version):
    """Whether a release is one that a manifest asks for. What can't be read asks for another one."""
    compare = {">=": "__ge__", "<=": "__le__", "==": "__eq__", "!=": "__ne__", ">": "__gt__", "<": "__lt__"}
    for clause in filter(None, map(str.strip, required.split(","))):
        if not (found := REQUIRED.match(clause)):
            return False
        if not getattr(numbered(version), compare[found[1]])(numbered(found[2])):
            return False
    return True


def core_writes(source):
    """The lines of a plugin that change the host's own modules, which no plugin may."""
    for node in ast.walk(ast.parse(source)):
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        written = [one.value for one in targets if isinstance(one, ast.Subscript)]
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in (
            "update",
            "setdefault",
            "pop",
            "__setitem__",
        ):
            written.append(called.value)
        if any(ast.unparse(one) == "sys.modules" for one in written):
            yield node.lineno
        if isinstance(called, ast.Name) and called.id in ("setattr", "delattr"):
            yield node.lineno


class Installer:
    """`hermes plugins install` and `hermes plugins validate` of a release."""

    def __init__(self, version):
        self.version = version
        self.new = numbered(version) >= FIRST_TO_INSTALL_IT

    def install(self, folder, home):
        """Where the folder is placed. Raises: Refused, before anything is."""
        manifest, most = read_manifest(folder), 2 if self.new else 1
        if manifest.get("manifest_version", 1) > most:
            raise Refused(f"this installer only supports manifest_version up to {most}")
        for wrong in self.validate(folder):
            raise Refused(wrong)
        return Path(shutil.copytree(folder, home / "plugins" / manifest["name"]))

    def validate(self, folder):
        manifest = read_manifest(folder)
        if not satisfied(manifest.get("requires_hermes", ""), self.version):
            yield f"requires hermes {manifest['requires_hermes']}, running {self.version}"
        if manifest["name"] in SENTINELS:
            yield f"no plugin may be called {manifest['name']!r}"
        yield from (f"unknown field {name}" for name in sorted(manifest.keys() - MANIFEST_FIELDS))
        yield from (
            f"unknown capability {name}" for name in manifest["capabilities"] if name not in CAPABILITIES
        )
        for file in sorted(folder.rglob("*.py")):
            for line in core_writes(file.read_text("utf-8")):
                yield f"{file.name}, line {line}: changes the host's own modules"


class Collector:
    """What `register` is given. What the level does not offer raises AttributeError, and what is not in the
    manifest is refused."""

    def __init__(self, level, folder):
        self._offered = OFFERED[level]
        self._ignored = level == "0.19"
        self._folder = folder
        self.name = folder.name
        self.provider = None
        self.registered = []

    def register_memory_provider(self, provider):
        self.provider = provider

    def __getattr__(self, name):
        if name not in self._offered:
            raise AttributeError(name)
        if self._ignored:
            return lambda *args, **kwargs: None

        def register(*args, **kwargs):
            self._must_be_declared(name, *args[:1], **kwargs)
            self.registered.append((name, args, kwargs))

        return register

    def _must_be_declared(self, call, name=None, *, override=False, **more):
        field = {"register_tool": "provides_tools", "register_hook": "provides_hooks"}.get(call)
        if field is not None and name not in read_manifest(self._folder)[field]:
            raise Refused(f"{name} is not declared in {field}")
        if override and "tools.override" not in read_manifest(self._folder)["capabilities"]:
            raise Refused("tools.override is not declared")


class Loader:
    """Finds the plugin and loads it by the rules of the level."""

    def __init__(self, level):
        self.level = level

    def module_name(self, folder):
        if self.level != "0.21":
            return f"{NAMESPACE}.{folder.name}"
        return f"{NAMESPACE}.{folder.name}__source_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"

    def is_provider(self, folder):
        """By the first 8 KB of its source."""
        source = (folder / "__init__.py").read_text("utf-8")[:8192]
        return "register_memory_provider" in source or "MemoryProvider" in source

    def load(self, folder):
        """The collector of a folder: every module in it first, then the folder itself."""
        assert folder.name not in SENTINELS and self.is_provider(folder)
        module = self._package(folder)
        collector = Collector(self.level, folder)
        module.register(collector)
        return collector

    def load_entry_point(self, entry_point, *, isolated=False):
        """A package is loaded as its folder; in a process of its own a single module is refused."""
        spec = importlib.util.find_spec(entry_point.value)
        if spec.submodule_search_locations is None:
            if isolated:
                raise Refused("a single module can't be isolated")
            module = entry_point.load()
            collector = Collector(self.level, Path(entry_point.name))
            module.register(collector)
            return collector
        return self.load(Path(spec.origin).parent)

    def import_provider_module(self, folder, submodule):
        return self._sub(self.module_name(folder), folder / f"{submodule}.py")

    def config_schema(self, folder):
        """By path alone: the plugin itself must not be loaded for it."""
        return _executed("_hermes_memory_config_schema.souvenance", folder / "config_schema.py").CONFIG_SCHEMA

    def _package(self, folder):
        name = self.module_name(folder)
        if (cached := sys.modules.get(name)) is not None:
            return cached
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        for file in sorted(folder.glob("*.py")):
            if file.name != "__init__.py":
                self._sub(name, file)
        spec.loader.exec_module(module)
        return module

    def _sub(self, package, file):
        return _executed(f"{package}.{file.stem}", file)


def _executed(name, file):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def accepted(hook, given):
    """Of the keywords, those that the hook takes."""
    parameters = inspect.signature(hook).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return given
    return {name: value for name, value in given.items() if name in {one.name for one in parameters}}


def redact_for_egress(value):
    """0.21 sends no secret that it recognises to a provider."""
    match value:
        case str():
            return re.sub(r"\bsk-[A-Za-z0-9]{16,}", "[REDACTED]", value)
        case list():
            return [redact_for_egress(one) for one in value]
        case dict():
            return {name: redact_for_egress(one) for name, one in value.items()}
    return value


@dataclass
class Manager:
    """Drives a provider as the host does: which thread, which context, which arguments."""

    level: str
    provider: object
    home: Path
    secrets: dict = field(default_factory=dict)
    failures: list = field(default_factory=list)
    status: str = ""
    prefetch_seconds: float = PREFETCH_SECONDS

    def __post_init__(self):
        self._work = queue.SimpleQueue()
        self._worker = None
        self._session = ""
        self._turn = 0
        self._stuck = None

    def _in_context(self, work, *args, **kwargs):
        """As in a turn of the profile; before 0.21 there is one profile in a process."""
        if self.level != "0.21":
            return work(*args, **kwargs)

        def scoped():
            _home.set(str(self.home))
            _secrets.set(self.secrets)
            _pays.set(self._session)
            return work(*args, **kwargs)

        return contextvars.copy_context().run(scoped)

    def _wrapped(self, hook, *args, **kwargs):
        """No provider breaks a turn; the tests see what was raised."""
        try:
            return hook(*args, **kwargs)
        except Exception as error:  # noqa: BLE001
            self.failures.append((getattr(hook, "__name__", "?"), error))
            return None

    def _out(self, value):
        return redact_for_egress(value) if self.level == "0.21" else value

    def begin(self, session, **told):
        self._session = session
        known = {"platform": "cli", "hermes_home": str(self.home), "agent_context": "primary"}
        known |= {"agent_identity": "default", "agent_workspace": "hermes"}
        if known["platform"] == "cli" and "platform" not in told:
            known |= {"warning_callback": lambda text: None, "status_callback": lambda text: None}
        if self.level == "0.21":
            known |= {"cwd": str(self.home), "session_title_source": "derived"}

        def build():
            if not self.provider.is_available():
                reason = getattr(self.provider, "unavailable_reason", None)
                return reason() if reason is not None and self.level != "0.19" else "not available"
            for _ in range(2):
                self.provider.get_tool_schemas()
            self._wrapped(self.provider.initialize, session, **{**known, **told})
            self.tools = self._wrapped(self.provider.get_tool_schemas) or []
            self.prompt = self._wrapped(self.provider.system_prompt_block) or ""
            return ""

        return self._in_context(build)

    def identity(self):
        """What the gateway asks an instance that was never initialised, for every message."""
        asked = getattr(self.provider, "identity_signature", None)
        return self._in_context(self._wrapped, asked) if self.level == "0.21" and asked else {}

    def turn(self, message, answer="I see.", **author):
        """What is shown to the model with the message."""
        self._turn += 1
        told = {f"author_{name}": value for name, value in author.items()} if self.level == "0.21" else {}

        def start():
            hook = self.provider.on_turn_start
            self._wrapped(hook, self._turn, self._out(message), **accepted(hook, told))
            return self._prefetch(self._out(message))

        shown = self._in_context(start) or ""
        self._sync(message, answer, author)
        return shown

    def _prefetch(self, message):
        if self.level != "0.19" and TRIVIAL.match(message):
            return ""
        if self._stuck is not None and self._stuck.is_alive():
            return ""
        session, found = self._session if self.level == "0.21" else "", []

        def work():
            found.append(self._wrapped(self.provider.prefetch, message, session_id=session) or "")

        target = ctx_bound(work) if self.level == "0.21" else work
        self._stuck = threading.Thread(target=target, name="memory-prefetch-souvenance", daemon=True)
        self._stuck.start()
        self._stuck.join(self.prefetch_seconds)
        self.status = ""
        if found and found[0] and self.level != "0.19":
            self.status = self._described()
        return found[0] if found else ""

    def _described(self):
        told = self._wrapped(self.provider.recall_status)
        if told is None:
            return ""
        count = f"recalled {told.count} memories" if told.count > 0 else "recalled relevant memory"
        return f"{told.glyph} {told.provider_label}: {count}"

    def _sync(self, message, answer, author):
        sync, ask = self.provider.sync_turn, self.provider.queue_prefetch
        turns = [{"role": "user", "content": message}, {"role": "assistant", "content": answer}]
        more = {"messages": self._out(turns)}
        if self.level == "0.21" and author:
            more["turn_author"] = {"id": None, "name": None, "is_bot": False, **author}
        more, session, message = accepted(sync, more), self._session, self._out(message)

        def work():
            self._wrapped(sync, message, self._out(answer), session_id=session, **more)
            self._wrapped(ask, message, session_id=session)

        self.in_background(work)

    def in_background(self, work):
        """One worker, first come first served."""
        if self._worker is None:
            self._worker = threading.Thread(target=self._run, name="mem-sync_0", daemon=True)
            self._worker.start()
        scoped = ctx_bound(work) if self.level == "0.21" else work
        self._work.put(lambda: self._in_context(scoped))

    def _run(self):
        while (work := self._work.get()) is not None:
            work()

    def drained(self):
        done = threading.Event()
        self.in_background(done.set)
        assert done.wait(60)

    def tool(self, name, **args):
        return json.loads(self._in_context(self.provider.handle_tool_call, name, self._out(args)))

    def memory_tool(self, action, target, content, old=""):
        told = {"write_origin": "assistant_tool", "session_id": self._session, "old_text": old[:10]}
        if self.level == "0.21" and action in ("replace", "remove"):
            told["previous_content"] = old
        hook = self.provider.on_memory_write
        self._in_context(self._wrapped, hook, action, target, content, metadata=told)

    def delegate(self, task, result, child="child"):
        hook = self.provider.on_delegation
        self._in_context(self._wrapped, hook, task, result, child_session_id=child)

    def compress(self, messages, *, required=False):
        """What the compressor is told. Where a checkpoint is required, a hook that raises stops it."""
        hook = self.provider.on_pre_compress
        version = getattr(self.provider, "pre_compress_checkpoint_api_version", 1)
        if self.level == "0.19" or version < 2:
            return self._in_context(self._wrapped, hook, messages)
        spoken = [one for one in messages if one["role"] in ("user", "assistant")]
        more = accepted(hook, {"require_checkpoint": required})
        if required:
            return self._in_context(hook, spoken, **more)
        return self._in_context(self._wrapped, hook, spoken, **more)

    def switch(self, session, **told):
        before, self._session = self._session, session
        told = {"parent_session_id": before, "reset": True, "reason": "new_session", **told}
        self.in_background(lambda: self._wrapped(self.provider.on_session_switch, session, **told))
        self.drained()

    def end(self, messages=()):
        """The end of a session comes before its last turn, as it may with `hermes -z`."""
        self._in_context(self._wrapped, self.provider.on_session_end, list(messages))
        if self._worker is not None:
            self._work.put(None)
            self._worker.join(DRAIN_SECONDS)
        self._in_context(self._wrapped, self.provider.shutdown)


@contextmanager
def profile(home, secrets=None):
    """The context of a request for that profile."""
    tokens = _home.set(str(home)), _secrets.set(secrets or {})
    try:
        yield
    finally:
        _home.reset(tokens[0])
        _secrets.reset(tokens[1])


class IsolatedProvider:
    """The provider as `plugins.isolation: host` shows it: in another process, so only plain data crosses."""

    pre_compress_checkpoint_api_version = 1

    def __init__(self, level, home, environment):
        self._command = [sys.executable, "-m", "hermes.newer_host", level, str(home)]
        self._environment = {
            **environment,
            "HERMES_HOME": str(home),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        self._lock = threading.Lock()
        self._process = None
        self.starts = 0

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._call(name, args, kwargs)

    @property
    def name(self):
        return self._call("name", (), {})

    def recall_status(self):
        told = self._call("recall_status", (), {})
        return told and RecallStatus(**told)

    def _call(self, name, args, kwargs):
        """What the process answers. What the host passes that can only be called stays on its side."""
        kwargs = {key: value for key, value in kwargs.items() if not callable(value)}
        asked = json.dumps([name, plain([*args]), plain(kwargs)])
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            self._process.stdin.write(asked + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline())
        if "raised" in answer:
            raise RuntimeError(answer["raised"])
        return answer["answer"]

    def _start(self):
        assert self.starts <= RESTARTS, "restarted too often"
        self.starts += 1
        self._process = subprocess.Popen(
            self._command, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def die(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def close(self):
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait(60)
            self._process.stdout.close()


def plain(value):
    """The value, if it is nothing but plain data. Raises: Refused."""
    match value:
        case None | bool() | int() | float() | str() if (
            type(value).__module__ == "builtins" and value == value
        ):
            return value
        case list() if type(value) is list:
            return [plain(one) for one in value]
        case dict() if type(value) is dict and all(type(name) is str for name in value):
            return {name: plain(one) for name, one in value.items()}
    raise Refused(f"{type(value).__name__} does not cross")


def _answered(value):
    """A status is the one object of the host's own that crosses, as its fields."""
    return plain(asdict(value) if isinstance(value, RecallStatus) else value)


def serve(level, home):
    """Answer calls of the proxy, one line each."""
    sys.modules.update(modules(level))
    provider = Loader(level).load(Path(home) / "plugins" / "souvenance").provider
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        name, args, kwargs = json.loads(line)
        try:
            with profile(home):
                found = getattr(provider, name)
                answer = {"answer": _answered(found(*args, **kwargs) if callable(found) else found)}
            text = json.dumps(answer)
        except Exception as error:  # noqa: BLE001 - whatever it is, the proxy is told
            text = json.dumps({"raised": f"{type(error).__name__}: {error}"})
        answers.write(text + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(*sys.argv[1:])
