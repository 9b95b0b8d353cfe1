"""The commands, put together: `souvenance`, and in Hermes `hermes souvenance`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import click

    from souvenance.adapters.readable_export import Exports
    from souvenance.config import Settings
    from souvenance.domain.archive_records import KeptStore
    from souvenance.domain.imports import ImportReader, Upload, Wanted
    from souvenance.errors import SouvenanceError


def main() -> None:
    from souvenance.installation import open_installation
    from souvenance.surfaces.cli.main import run

    command_line()
    sys.exit(run(open_installation, DataTransfers()))


def command_line() -> click.Group:
    """All of `souvenance`'s commands. Those of `surfaces/cli` are found where they are declared."""
    from souvenance.surfaces.cli.main import cli
    from souvenance.surfaces.cli.session import ACCESS, OPERATE

    cli.add(OPERATE, "hermes", _hermes_commands)
    cli.add(ACCESS, "login", lambda: _hermes_commands().commands["login"])
    cli.add(ACCESS, "logout", lambda: _hermes_commands().commands["logout"])
    return cli


def souvenance_command(args: Any) -> None:
    """`hermes souvenance …`, as the host hands it over."""
    from souvenance.surfaces.cli.main import ended

    sys.exit(ended(_hermes_commands(), args.arguments, "hermes souvenance"))


class DataTransfers:
    """What the commands on data use, loaded when they use it."""

    @property
    def archives(self) -> Exports:
        from souvenance.adapters.readable_export import Exports

        return Exports()

    def open_source(self, source: str | Upload, kind: str | None, wanted: Wanted) -> ImportReader:
        from souvenance.adapters.importers import reader

        return reader(source, kind, wanted, honcho_at)

    def complaints(self, settings: Settings) -> Iterator[SouvenanceError]:
        from functools import partial
        from importlib.util import find_spec

        from msgspec.structs import replace

        from souvenance.adapters.embed.choice import choose
        from souvenance.adapters.object_stores import open_objects
        from souvenance.adapters.private_files import secret_of
        from souvenance.errors import Misconfigured
        from souvenance.extras import install
        from souvenance.settings import SETTINGS

        named = (name for name in settings.given if SETTINGS[name].secret and name != "cap")
        secrets = [settings.given[name].value for name in named]
        secrets += [one.key for one in settings.chat.upstreams if one.key]
        checks: list[Callable[[], Any]] = [partial(secret_of, secret) for secret in dict.fromkeys(secrets)]
        checks.append(partial(choose, replace(settings.embedder, api_key=None)))
        if settings.objects and not settings.objects.startswith("file:"):
            checks.append(partial(open_objects, settings.objects))
        for check in checks:
            try:
                check()
            except Misconfigured as error:
                yield error
        wanted = {
            "postgres": ("psycopg", settings.store),
            "metrics": ("prometheus_client", settings.telemetry.metrics),
            "traces": ("opentelemetry.sdk", settings.telemetry.traces),
            "client": ("httpx", settings.chat.upstreams or settings.model.endpoints),
        }
        for extra, (module, needed) in wanted.items():
            if needed and find_spec(module.partition(".")[0]) is None:
                yield Misconfigured(
                    f"the settings need {module}, which is not installed", hint=f"Run: {install(extra)}"
                )

    def back_up(self, settings: Settings, target: Path, **how: Any) -> KeptStore:
        from souvenance.adapters import backup
        from souvenance.adapters.data_folder import place_of

        return backup.back_up(place_of(settings), settings.home, target, **how)

    def restore(self, source: Path, home: Path, *, identity: Path | None) -> KeptStore:
        from souvenance.adapters import backup

        return backup.restore(source, home, identity=identity)

    def move(self, source: str, target: str, **how: Any) -> dict[str, int]:
        from souvenance.adapters import backup

        return backup.move(source, target, **how)


def honcho_at(url: str, wanted: Wanted) -> ImportReader:
    """The reader of the Honcho server at that URL, whose user name and password give way to a key."""
    import re
    import time

    from souvenance.agents.import_honcho import HonchoReader
    from souvenance.surfaces.http.client import RemoteGate

    address = re.sub(r"(?<=://)[^/]*@", "", url) if wanted.key else url
    return HonchoReader(RemoteGate(address), wanted, time.sleep)


def _hermes_commands() -> click.Group:
    from souvenance import hermes_memory
    from souvenance.hermes.setup.commands import hermes_group
    from souvenance.hermes_backends import carry, inspect, inspector
    from souvenance.installation import open_installation
    from souvenance.surfaces.cli.session import Shell

    on_memory = (hermes_memory.show, hermes_memory.correct, hermes_memory.forget)
    return hermes_group(
        inspect, carry, inspector, lambda: Shell(open_installation, DataTransfers()), on_memory
    )
