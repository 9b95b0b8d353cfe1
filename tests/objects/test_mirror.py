"""Lines in the book and, soon, in the bucket; both ways mended; and the book made anew from the bucket."""

from __future__ import annotations

import shutil

import pytest

from objects.seaweed import BUCKET, ROOT
from objects.stage import every_key, kept
from souvenance.adapters.object_stores import S3Objects
from souvenance.config import settings_from
from souvenance.errors import Conflict, Misconfigured, StorageUnavailable, WrongKey
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.inspect_forget import MOVE, MoveLine
from souvenance.gate.maintenance import replayed
from surfaces.door import souvenance

RARE = "quagga marmalade"


@pytest.fixture
def nowhere(tmp_path):
    """A bucket that does not answer."""
    return f"s3://{BUCKET}/nowhere?endpoint=http://127.0.0.1:1"


def copied_key(home, other):
    """A new data folder with nothing but the root key of the old one."""
    other.mkdir(mode=0o700)
    shutil.copy2(home / "root.key", other / "root.key")
    return other


def names(objects):
    """The keys without the room that they lie in."""
    return sorted(key.split("/", 3)[3] for key in every_key(objects))


def test_a_line_is_in_the_store_at_once_and_in_the_bucket_soon(home, url, objects):
    with kept(home, url) as me:
        line_id = me.put(f"I like {RARE}")
        assert me.status().uncarried == 3
        assert every_key(objects) == []
        with me.installation.working():
            me.carry()
        assert me.status().uncarried == 0
        assert sorted(every_key(objects)) == [
            f"default/owner/personal/{line_id}",
            "default/owner/personal/keys/blind-1",
            "default/owner/personal/keys/seal-1",
        ]


def test_the_bucket_s_key_can_be_read_from_files(home, tmp_path, seaweed, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    url = f"s3://{BUCKET}/by-file?endpoint={seaweed.url}"
    given = {"SOUVENANCE_OBJECTS": url}
    for name, secret in zip(("ACCESS", "SECRET"), ROOT, strict=True):
        path = tmp_path / name
        path.write_text(f"{secret}\n")
        path.chmod(0o600)
        given[f"SOUVENANCE_OBJECTS_{name}_KEY"] = f"@{path}"
    line_id = souvenance("put", f"I like {RARE}", home=home, settings=given).out.strip()
    there = every_key(S3Objects(BUCKET, "by-file", endpoint=seaweed.url, credentials=ROOT))
    assert f"default/owner/personal/{line_id}" in there
    shown = souvenance(
        "config", "show", home=home, settings={**given, "SOUVENANCE_OBJECTS_SECRET_KEY": "hush"}
    )
    assert "hush" not in shown.out and f"@{tmp_path}/ACCESS" in shown.out


@pytest.mark.parametrize("given", ["ACCESS", "SECRET"])
def test_half_a_key_of_a_bucket_is_refused(home, given):
    [missing] = {"ACCESS", "SECRET"} - {given}
    with pytest.raises(Misconfigured, match=f"^SOUVENANCE_OBJECTS_{missing}_KEY is missing"):
        settings_from({f"SOUVENANCE_OBJECTS_{given}_KEY": "one"}, str(home))


def test_no_word_of_a_line_can_be_read_in_the_bucket(home, url, objects):
    with kept(home, url) as me:
        me.put(f"I like {RARE}")
        me.carry()
    stored = b"".join(objects.get(key) for key in every_key(objects))
    for word in RARE.split():
        assert word.encode() not in stored


def test_what_is_corrected_has_its_note_by_the_target(home, url, objects):
    with kept(home, url) as me:
        first = me.put("I live in Bonn")
        made = me.call(o.INVALIDATE, m.Invalidate(first, "I live in Berlin"))
        me.carry()
        assert names(objects) == sorted([first, made.id, "keys/blind-1", "keys/seal-1", f"replaced/{first}"])


def test_a_forgotten_line_leaves_the_bucket(home, url, objects):
    with kept(home, url) as me:
        first, second = me.put("I live in Bonn"), me.put("I like pears")
        me.call(o.INVALIDATE, m.Invalidate(first, "I live in Berlin"))
        me.carry()
        me.call(o.FORGET, m.Forget(id=first))
        me.carry()
        assert not [name for name in names(objects) if first in name]
        assert second in names(objects)


def test_a_line_that_moves_to_another_namespace_moves_in_the_bucket_with_its_history(home, url, objects):
    with kept(home, url) as me:
        first = me.put("I live in Bonn")
        made = me.call(o.INVALIDATE, m.Invalidate(first, "I live in Berlin"))
        me.carry()
        where = {"workspace_id": "default", "owner": "owner", "namespace": "work"}
        me.call(MOVE, MoveLine(**where, id=made.id))
        me.carry()
        lines = [key for key in every_key(objects) if "/keys/" not in key]
        moved = sorted([first, made.id, f"replaced/{first}"])
        assert sorted(lines) == [f"default/owner/work/{name}" for name in moved]
        assert me.found("Where do I live?") == ["I live in Berlin"]


def test_a_forgotten_namespace_leaves_the_bucket_with_its_keys(home, url, objects):
    with kept(home, url) as me:
        for number in range(3):
            me.put(f"line {number}", namespace="travel")
        me.put("stays", namespace="work")
        me.carry()
        me.call(o.FORGET, m.Forget(namespace="travel"))
        me.carry()
        assert {key.split("/")[2] for key in every_key(objects)} == {"work"}
        me.put("again", namespace="travel")
        me.carry()
        assert {key.split("/")[2] for key in every_key(objects)} == {"work", "travel"}


def test_what_changes_of_a_line_changes_in_the_bucket(home, url, tmp_path):
    with kept(home, url) as me:
        with me.speaking() as alice:
            [said] = alice.say("s", "I like pears")
            me.carry()
            alice.told("PUT", f"/sessions/s/messages/{said['id']}", {"metadata": {"mood": "fine"}})
        me.carry()
    with kept(copied_key(home, tmp_path / "new"), url, rebuilding=True) as anew:
        anew.installation.repairer.rebuild()
        with anew.speaking() as alice:
            assert alice.messages("s")[0]["metadata"] == {"mood": "fine"}


def test_a_bucket_that_does_not_answer_costs_no_line(home, nowhere, url, objects):
    with kept(home, url):
        pass
    with kept(home, nowhere, rebind=True) as me:
        line_id = me.put("said while the bucket was away")
        assert me.status().uncarried == 3
    with kept(home, url, rebind=True) as me:
        me.put("said when it was back")
        me.carry()
    assert line_id in names(objects)


def test_a_store_that_gets_a_bucket_later_fills_it(home, url, objects):
    with kept(home, None) as me:
        line_id = me.put("before there was a bucket")
        assert me.status().uncarried is None
    with kept(home, url, rebind=True) as me:
        me.carry()
        assert line_id in names(objects)


def test_a_rotated_root_key_opens_the_bucket_alone(home, url, tmp_path):
    with kept(home, url) as me:
        me.put(f"I like {RARE}")
        me.carry()
        assert me.call(o.ROTATE, m.RotateKeys()).kept is False
        assert me.installation.gate is not None
    assert (home / "root.key").read_text().count(":") == 3, "one root key is left"
    with kept(copied_key(home, tmp_path / "new"), url, rebuilding=True) as anew:
        assert anew.installation.repairer.rebuild().restored == 1
        assert list(anew.texts().values()) == [f"I like {RARE}"]


def test_an_old_root_key_stays_while_the_bucket_can_not_be_told(home, nowhere, url):
    with kept(home, url):
        pass
    with kept(home, nowhere, rebind=True) as me:
        me.put("hello")
        assert me.call(o.ROTATE, m.RotateKeys()).kept is True
    assert (home / "root.key").read_text().count(":") == 4
    with kept(home, url, rebind=True) as me:
        assert me.call(o.ROTATE, m.RotateKeys()).kept is False
    assert (home / "root.key").read_text().count(":") == 3


def test_the_store_is_made_anew_from_the_bucket_and_the_root_key(home, url, tmp_path):
    with kept(home, url) as me:
        first = me.put("I live in Bonn")
        me.call(o.INVALIDATE, m.Invalidate(first, "I live in Berlin"))
        me.put(f"I like {RARE}", namespace="travel", session="trip")
        gone = me.put("nobody must know")
        me.call(o.FORGET, m.Forget(id=gone))
        me.carry()
        texts, found = me.texts(), me.found("where do I live")
    with kept(copied_key(home, tmp_path / "new"), url, rebuilding=True) as anew:
        assert anew.texts() == {}
        mended = anew.installation.repairer.rebuild()
        assert (mended.restored, mended.findings) == (len(texts), [])
        assert anew.texts() == texts
        assert anew.found("where do I live") == found
        assert anew.found("quagga")[0] == f"I like {RARE}"
        with pytest.raises(Conflict):
            anew.installation.repairer.rebuild()
        later = anew.put("and on it goes")
        anew.carry()
        assert anew.installation.repairer.repair().findings == []
        assert later in anew.texts()
    settings = {"SOUVENANCE_OBJECTS": url}
    assert "lines readable" in souvenance("doctor", "--repair", home=tmp_path / "new", settings=settings).out


def test_a_conversation_comes_back_with_its_sessions_peers_and_conclusions(home, url, tmp_path):
    def seen(talker):
        return {
            "texts": talker.texts("s"),
            "members": sorted(talker.members("s")),
            "held": talker.held(),
            "search": talker.search("/sessions/s", "horse"),
            "card": talker.card(),
            "ids": [one["id"] for one in talker.messages("s")],
            "said": [one["created_at"] for one in talker.messages("s")],
        }

    with kept(home, url) as me:
        with me.speaking() as alice:
            alice.say("s", "I have a horse called Nelly.", ("bob", "I live in Hamburg."), "My dog is Rex.")
            with me.installation.working():
                me.installation.settle(20)
            alice.conclude("Alice rides on Sundays", session="s")
            told = seen(alice)
            cited = {one["id"]: one for one in alice.conclusions()}
        me.carry()
    with kept(copied_key(home, tmp_path / "new"), url, rebuilding=True) as anew:
        assert anew.installation.repairer.rebuild().findings == []
        with anew.speaking() as alice:
            assert seen(alice) == told
            assert {one["id"]: one for one in alice.conclusions()} == cited
            alice.say("s", "I sold the horse.")
            assert len(alice.texts("s")) == len(told["texts"]) + 1
    told = souvenance("doctor", home=tmp_path / "new", settings={"SOUVENANCE_OBJECTS": url})
    assert "lines readable" in told.out


def test_the_log_never_tells_a_line_that_is_there_for_forgotten(home, url):
    """By the log, what the bucket alone has is brought back or removed."""
    with kept(home, url) as me:
        first = me.put("I live in Bonn")
        me.call(o.INVALIDATE, m.Invalidate(first, "I live in Berlin"))
        gone = me.put("secret")
        me.call(o.FORGET, m.Forget(id=gone))
        with me.speaking() as alice:
            alice.say("s", "I have a horse called Nelly.", ("bob", "I live in Hamburg."))
            with me.installation.working():
                me.installation.settle(20)
            alice.conclude("Alice rides on Sundays", session="s")
            alice.told("PUT", "/peers/alice/card", {"peer_card": ["rides"]})
        with me.installation._store.read() as tx:
            for workspace in ("default", "talk"):
                is_forgotten = replayed(tx, workspace).is_forgotten
                compartments = [
                    compartment
                    for compartment in tx.lines.compartments()
                    if compartment.workspace == workspace
                ]
                assert compartments
                for compartment in compartments:
                    for line_id in tx.lines.ids(_all(compartment)):
                        assert not is_forgotten(compartment, line_id)
            [home_compartment] = [
                compartment for compartment in tx.lines.compartments() if compartment.workspace == "default"
            ]
            assert replayed(tx, "default").is_forgotten(home_compartment, gone)


def _all(compartment):
    from souvenance.ports.store import LineQuery

    return LineQuery(
        compartment.workspace, compartment.owner, (compartment.namespace,), history=True, limit=1000
    )


def test_what_the_bucket_lost_is_carried_again(home, url, objects):
    with kept(home, url) as me:
        first = me.put("I live in Bonn")
        me.call(o.INVALIDATE, m.Invalidate(first, "I live in Berlin"))
        me.carry()
        before = {key: objects.get(key) for key in every_key(objects)}
        objects.delete([key for key in before if "seal" in key or first in key])
        mended = me.installation.repairer.repair()
        assert (mended.carried, mended.restored, mended.removed) == (3, 0, 0)
        assert {key: objects.get(key) for key in every_key(objects)} == before
        objects.delete(list(before))
        assert me.installation.repairer.repair().carried == len(before)
        assert {key: objects.get(key) for key in every_key(objects)} == before


def test_what_the_store_lost_comes_back(home, url):
    with kept(home, url) as me:
        first = me.put(f"I like {RARE}")
        me.call(o.INVALIDATE, m.Invalidate(first, "I like pears"))
        me.carry()
        texts = me.texts()
        compartment = "workspace = 'default' AND owner = 'owner'"
        with me.installation._store.write() as tx:
            for table in ("lines", "invalidations", "terms"):
                tx._session.run(f"DELETE FROM {table} WHERE {compartment}")
        assert me.texts() == {}
        mended = me.installation.repairer.repair()
        assert (mended.restored, mended.findings) == (2, [])
        assert me.texts() == texts
        assert [line.id for line in me.call(o.LIST, m.List()).lines] == [one for one in texts if one != first]
    souvenance("doctor", home=home, settings={"SOUVENANCE_OBJECTS": url})


def test_a_forgotten_line_that_is_put_back_into_the_store_is_told_and_not_copied(home, url, objects):
    with kept(home, url) as me:
        me.put("hello")
        gone = me.put("secret")
        me.carry()
        with me.installation._store.read() as tx:
            [compartment] = tx.lines.compartments()
            line = tx.lines.get(compartment, gone)
        me.call(o.FORGET, m.Forget(id=gone))
        me.carry()
        with me.installation._store.write() as tx:
            tx.lines.append(line)
        before = sorted(every_key(objects))
        mended = me.installation.repairer.repair()
        assert [gone in finding for finding in mended.findings] == [True]
        assert sorted(every_key(objects)) == before


def test_what_was_forgotten_is_not_brought_back_but_removed(home, url, objects):
    """A delete that the bucket undid: a restored version of an object, or a carrier that was very late."""
    with kept(home, url) as me:
        gone, stays = me.put("nobody must know"), me.put("hello")
        me.carry()
        [key] = [key for key in every_key(objects) if key.endswith(gone)]
        data = objects.get(key)
        me.call(o.FORGET, m.Forget(id=gone))
        me.carry()
        objects.put_if_absent(key, data)
        mended = me.installation.repairer.repair()
        assert (mended.removed, mended.restored) == (1, 0)
        assert objects.get(key) is None
        assert list(me.texts()) == [stays]


def test_what_was_altered_or_moved_in_the_bucket_is_told_and_not_taken(home, url, objects, tmp_path):
    with kept(home, url) as me:
        good, moved, altered = me.put("good"), me.put("moved"), me.put("altered")
        me.put("elsewhere", namespace="travel")
        me.carry()
    base = "default/owner/personal/"
    objects.put_if_absent(f"default/owner/travel/{moved}", objects.get(base + moved))
    spoiled = bytearray(objects.get(base + altered))
    spoiled[60] ^= 1
    objects.replace(base + altered, bytes(spoiled))
    objects.put_if_absent("default/owner/strange/01ARZ3NDEKTSV4RRFFQ69G5FAV", b"made by a stranger")
    with kept(copied_key(home, tmp_path / "new"), url, rebuilding=True) as anew:
        mended = anew.installation.repairer.rebuild()
        assert sorted(anew.texts().values()) == ["elsewhere", "good", "moved"]
        assert good in anew.texts()
        assert len(mended.findings) == 3
        assert all(one.startswith(("object ", "the objects under")) for one in mended.findings)


def test_another_root_key_opens_nothing(home, url, tmp_path):
    with kept(home, url) as me:
        me.put("hello")
        me.carry()
    with kept(tmp_path / "stranger", url, rebuilding=True) as stranger:
        with pytest.raises(WrongKey):
            stranger.installation.repairer.rebuild()
        assert stranger.texts() == {}


def test_a_new_store_does_not_begin_on_a_bucket_that_has_lines(home, url, tmp_path):
    """Whoever lost the book and starts again would otherwise seal new lines under keys of the old names."""
    with kept(home, url) as me:
        me.put("hello")
        me.carry()
    with pytest.raises(Misconfigured, match="this store has none"):
        kept(copied_key(home, tmp_path / "new"), url, rebind=True).__enter__()


def test_a_key_in_the_bucket_is_never_replaced_by_another(home, url, objects, tmp_path):
    """Two books with rooms of one name on one bucket: the second waits, and the first stays whole."""
    with kept(home, url) as me:
        me.put("hello")
        me.carry()
    before = {key: objects.get(key) for key in every_key(objects)}
    other = tmp_path / "other"
    with kept(other, None) as stranger:
        stranger.put("a stranger's line")
    with kept(other, url, rebind=True) as stranger:
        with pytest.raises(StorageUnavailable, match="another key"):
            stranger.carry()
        assert stranger.status().uncarried == 3
    assert {key: objects.get(key) for key in before} == before


def test_without_a_bucket_there_is_nothing_to_rebuild_from(home):
    with kept(home, None) as me, pytest.raises(Misconfigured) as told:
        me.installation.repairer.rebuild()
    assert "SOUVENANCE_OBJECTS" in told.value.hint


def test_the_command_line_rebuilds_repairs_and_tells(home, tmp_path):
    settings = {"SOUVENANCE_OBJECTS": f"file://{tmp_path}/objects"}
    souvenance("put", "I like pears", home=home, settings=settings)
    assert souvenance("--json", "status", home=home, settings=settings).json()["uncarried"] == 0
    new = copied_key(home, tmp_path / "new")
    told = souvenance("rebuild", home=new, settings=settings).out
    assert "1 line restored" in told
    assert "the audit log" in told
    assert "not empty" in souvenance("rebuild", home=new, settings=settings, exit_code=None).err
    assert "pears" in souvenance("get", "pears", home=new, settings=settings).out
    shutil.rmtree(tmp_path / "objects" / "default")
    told = souvenance("--json", "doctor", "--repair", home=new, settings=settings).json()
    assert (told["carried"], told["restored"], told["findings"]) == (3, 0, [])
    away = {"SOUVENANCE_OBJECTS": "s3://memory/away?endpoint=http://127.0.0.1:1"}
    souvenance("init", "--rebind", home=new, settings=away)
    assert "rotate again" in souvenance("key", "rotate", home=new, settings=away).out
    refused = souvenance(
        "doctor", "--repair", home=new, url="http://127.0.0.1:1", settings=settings, exit_code=None
    )
    assert "where the data folder is" in refused.err
