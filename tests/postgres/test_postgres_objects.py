"""A book on PostgreSQL whose lines are kept a second time: what is noted, and the book made anew."""

from __future__ import annotations

import shutil

import pytest

from contracts.lines_contract import LinesContract
from contracts.reindexing_contract import RenewalContract
from contracts.replication_contract import ReplicationContract
from contracts.store_contract import KeysContract
from contracts.turns_contract import TurnsContract
from contracts.views_contract import CitationsContract
from contracts.workspaces_contract import WorkspacesContract
from objects.stage import kept
from postgres.lasting import LastingConnections
from souvenance.adapters.sql.store import SqlStore
from souvenance.adapters.system_clock import SystemEntropy
from souvenance.core.replication import MirroredStore
from souvenance.gate import messages as m
from souvenance.gate import operations as o


class TestPostgresReplication(ReplicationContract):
    @pytest.fixture
    def store(self, url):
        store = SqlStore(LastingConnections(url))
        yield store
        store.close()


class TestMirroredPostgresStore(
    LinesContract, KeysContract, TurnsContract, CitationsContract, RenewalContract, WorkspacesContract
):
    """What writes lines and keys, where each is noted. All else goes past the notes to the store: what
    that promises is in `test_postgres_store.py`; that it goes past, in `objects/test_replication_packs.py`.
    """

    @pytest.fixture
    def store(self, url):
        store = MirroredStore(SqlStore(LastingConnections(url)), SystemEntropy())
        yield store
        store.close()


def test_a_store_on_postgresql_is_mirrored_repaired_and_made_anew(server, url, bare, home, tmp_path):
    objects = f"file://{tmp_path}/objects"
    with kept(home, objects, store=url) as me:
        first = me.put("I live in Bonn")
        me.call(o.INVALIDATE, m.Invalidate(first, "I live in Berlin"))
        gone = me.put("nobody must know")
        me.call(o.FORGET, m.Forget(id=gone))
        with me.speaking() as alice:
            alice.say("s", "I have a horse called Nelly.", ("bob", "I live in Hamburg."))
            with me.installation.working():
                me.installation.settle(20)
                me.installation.carry(20)
            said, held = alice.messages("s"), alice.conclusions()
        assert me.status().uncarried == 0
        texts = me.texts()
        shutil.rmtree(tmp_path / "objects" / "default")
        mended = me.installation.repairer.repair()
        assert (mended.restored, mended.removed, mended.findings) == (0, 0, [])
        assert mended.carried == 5
    new = tmp_path / "new"
    new.mkdir(mode=0o700)
    shutil.copy2(home / "root.key", new / "root.key")
    with kept(new, objects, store=server.url(bare), rebuilding=True) as anew:
        assert anew.installation.repairer.rebuild().findings == []
        assert anew.texts() == texts
        with anew.speaking() as alice:
            assert (alice.messages("s"), alice.conclusions()) == (said, held)
