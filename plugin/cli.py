# Placed by 'souvenance hermes install', which also renews and removes it.
"""The provider and the commands of `hermes souvenance`. The package is loaded when one is used; where it is
missing, they say what to do."""

import argparse
import logging
import shlex
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_INSTALLERS = ("pm/workspace.py", "hermes_cli/plugin_python_deps.py")
"""Where newer hosts install what pyproject.toml declares. Their next update drops what pip has installed."""


def command() -> str:
    """What makes the Python that runs this import the package."""
    host = find_spec("hermes_cli")
    if host and host.origin and any((Path(host.origin).parents[1] / one).exists() for one in _INSTALLERS):
        return "hermes plugins enable souvenance"
    python, has_pip = sys.executable, find_spec("pip")
    pip = [python, "-m", "pip", "install"] if has_pip else ["uv", "pip", "install", "--python", python]
    from subprocess import list2cmdline

    return (list2cmdline if sys.platform == "win32" else shlex.join)([*pip, "souvenance[hermes]"])


def _what_to_do(error: ImportError) -> str:
    return f"The package souvenance can't be loaded ({error}). Run: {command()}"


def register(ctx: Any) -> None:
    # Other threads that ask Hermes for memory meanwhile wait for this import. At the top of a file it would
    # leave them without memory: Hermes treats a module that is still loading as one without a provider.
    try:
        from souvenance.plugin import register
    except ImportError as error:
        ctx.register_memory_provider(_unavailable(_what_to_do(error)))
    else:
        register(ctx)


def _unavailable(reason: str) -> Any:
    """A provider of the host's own kind that says why there is no memory."""
    from agent.memory_provider import MemoryProvider  # type: ignore[import-not-found]

    class Unavailable(MemoryProvider):  # type: ignore[misc]
        name = "souvenance"

        def is_available(self) -> bool:
            logging.getLogger("souvenance.hermes").warning("souvenance: %s", reason)
            return False

        def unavailable_reason(self) -> str:
            return reason

        def initialize(self, session_id: str, **more: Any) -> None:
            """Nothing: there is no memory."""

        def get_tool_schemas(self) -> list[dict[str, Any]]:
            return []

        def get_status_config(self, provider_config: Any) -> dict[str, str]:
            return {"off": reason}

    return Unavailable()


# Hermes loads this file before the package, and shows the package to other threads already. A thread that
# asks for memory in that moment would get none. So this file imports nothing slow before this line.
with suppress(ImportError, ValueError):
    vars(import_module(__package__ or "")).setdefault("register", register)


def register_cli(subparser: argparse.ArgumentParser) -> None:
    """Take every argument as it comes, options and `--help` too: our own commands read them."""
    subparser.prefix_chars = "\0"
    subparser.add_argument("arguments", nargs=argparse.REMAINDER)


def souvenance_command(args: object) -> None:
    try:
        from souvenance.commands import souvenance_command
    except ImportError as error:
        sys.exit(_what_to_do(error))
    souvenance_command(args)
