"""Numbered migrations: applied once, in order, each with its hash; forward only."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from souvenance.adapters.sql.engine import Engine, SqlSession
from souvenance.errors import Misconfigured
from souvenance.patterns import pattern

_TEXT = pattern(r"\bTEXT\b")
_TABLE = """CREATE TABLE IF NOT EXISTS migrations (
    number BIGINT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL)"""


class Migration(Struct, frozen=True):
    number: int
    name: str
    text: str

    @property
    def hash(self) -> str:
        return sha256(self.text.encode()).hexdigest()


UNFINISHED = 1_000_000
"""The number of the migration that an unfinished copy of a store claims."""


def shipped() -> list[Migration]:
    """The migrations of this version, in order."""
    folder = Path(__file__).parent / "migrations"
    names = sorted(name for name in os.listdir(folder) if name.endswith(".sql"))
    return [Migration(int(name[:4]), name, (folder / name).read_bytes().decode()) for name in names]


def migrate(engine: Engine, migrations: Sequence[Migration] | None = None) -> None:
    """Bring the schema up to this version, or to these migrations, as the only writer.

    Raises: Misconfigured if the store was written by a newer version or by altered migrations.
    """
    known = shipped() if migrations is None else migrations
    with engine.write() as session:
        session.run(_TABLE)
        applied = session.rows("SELECT number, name, hash FROM migrations ORDER BY number")
        if applied and applied[-1][0] == UNFINISHED:
            raise Misconfigured(
                "the copy of another store into this one is not finished",
                hint="Run the same 'souvenance migrate' again.",
            )
        if len(applied) > len(known):
            raise Misconfigured(
                f"the store has migration {applied[-1][1]}, which this version does not know",
                hint="Upgrade Souvenance; a store is never taken back to an older schema.",
            )
        for (_, name, found), migration in zip(applied, known, strict=False):
            if found != migration.hash:
                raise Misconfigured(f"migration {name} differs from the one this store was made with")
        for migration in known[len(applied) :]:
            _apply(session, migration, engine.types)
        engine.fortify(session)


def make(session: SqlSession, types: Mapping[str, str]) -> None:
    """Make the schema of this version in a database that has nothing yet."""
    session.run(_TABLE)
    for migration in shipped():
        _apply(session, migration, types)


def _apply(session: SqlSession, migration: Migration, types: Mapping[str, str]) -> None:
    for statement in migration.text.split(";\n"):
        if statement.strip():
            session.run(_TEXT.sub(types["text"], statement.format_map(types)))
    session.run(
        "INSERT INTO migrations (number, name, hash) VALUES (?, ?, ?)",
        (migration.number, migration.name, migration.hash),
    )
