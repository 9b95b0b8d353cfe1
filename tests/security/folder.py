"""A real data folder: its gate, its database as an intruder sees it, and every byte in it."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager

from souvenance.adapters.key_files import KeyFiles
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.config import Settings
from souvenance.core.vault import Vault
from souvenance.domain.capability import OPS
from souvenance.errors import SouvenanceError
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import open_installation
from surfaces.door import souvenance


class Guest:
    """An open folder, asked with its owner's cap or with another."""

    def __init__(self, installation):
        self.gate = installation.gate
        self.owner = installation.owner_cap

    def call(self, operation, request, cap=None):
        return self.gate.call(operation, Credentials(cap or self.owner), request)

    def refusal(self, operation, request, cap=None):
        """The error, or None."""
        try:
            self.call(operation, request, cap)
        except SouvenanceError as error:
            return error
        return None

    def code(self, operation, request, cap=None):
        refused = self.refusal(operation, request, cap)
        return "ok" if refused is None else refused.code

    def put(self, text, namespace="travel", cap=None, **fields):
        return self.call(o.PUT, m.Put(text=text, namespace=namespace, **fields), cap).id

    def texts(self, query=None, cap=None, **fields):
        return [line.text for line in self.call(o.GET, m.Get(query=query, **fields), cap).lines]

    def mint(self, **fields):
        request = {"sub": "owner", "ops": OPS, "namespaces_allowed": ("*",), **fields}
        return self.call(o.MINT, m.Mint(**request)).cap

    def outcomes(self):
        rows = self.call(o.AUDIT, m.AuditList(limit=1000)).rows
        return [(row.operation, row.outcome) for row in rows]


class Folder:
    def __init__(self, home):
        self.home = home
        self.database = home / "souvenance.db"

    @contextmanager
    def opened(self):
        installation = open_installation(Settings(self.home))
        try:
            yield Guest(installation)
        finally:
            installation.close()

    @contextmanager
    def raw(self):
        """The database, past the gate."""
        connection = sqlite3.connect(self.database, isolation_level=None)
        try:
            yield connection
        finally:
            connection.close()

    def edit(self, sql, *values):
        """Change what an intruder could change, and be sure that something changed."""
        with self.raw() as connection:
            connection.execute(sql, values)
            assert connection.total_changes > 0

    def column(self, sql, *values):
        with self.raw() as connection:
            return [row[0] for row in connection.execute(sql, values)]

    def files(self):
        return {
            path.relative_to(self.home).as_posix(): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file()
        }

    def holding(self, needle):
        """The files that hold these bytes anywhere."""
        return [name for name, content in self.files().items() if needle in content]

    def compartment_keys(self, owner, namespace, workspace="default"):
        """A room's keys, as whoever has the root key could unwrap them."""
        with self.store() as tx:
            return Vault(KeyFiles(self.home), None).compartments(tx, workspace, owner, (namespace,))[
                namespace
            ]

    @contextmanager
    def store(self):
        """The book as it stands, for reading."""
        store = SqlStore(SqliteEngine(self.database))
        try:
            with store.read() as tx:
                yield tx
        finally:
            store.close()

    def doctor(self):
        """What 'souvenance doctor' says, and its exit code."""
        finished = souvenance("doctor", home=self.home, exit_code=None)
        return finished.exit_code, finished.out + finished.err
