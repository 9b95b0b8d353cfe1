"""kill -9 of the worker and of the S3 server at random moments: no line lost, none doubled, none undead."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from objects.seaweed import BUCKET, ROOT, Seaweed
from objects.stage import every_key, kept
from pace import examples
from souvenance.adapters.object_stores import open_objects
from souvenance.core.replication import expected, key_of
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from surfaces.door import environment, souvenance

RESTLESS = Path(__file__).with_name("restless.py")
PATIENCE_SECONDS = 100
AWS = {"AWS_ACCESS_KEY_ID": ROOT[0], "AWS_SECRET_ACCESS_KEY": ROOT[1]}


class Restless:
    """The worker of `restless.py`, and what it told so far."""

    def __init__(self, home, url, kills, seed, folder):
        self._told = folder / f"told-{seed}"
        with self._told.open("w") as told:
            self._process = subprocess.Popen(
                [sys.executable, str(RESTLESS), str(home), str(kills), str(seed)],
                env=environment(SOUVENANCE_OBJECTS=url, SOUVENANCE_REQUESTS_PER_MINUTE="1000000", **AWS),
                stdout=told,
                stderr=subprocess.DEVNULL,
            )

    def lived(self, lines):
        """Wait until it told of so much."""
        deadline, rest = time.monotonic() + PATIENCE_SECONDS, threading.Event()
        while self._told.read_text().count("\n") < lines:
            assert time.monotonic() < deadline
            rest.wait(0.01)

    def ended(self):
        """Everything that it acknowledged."""
        assert self._process.wait(PATIENCE_SECONDS) == 0
        return self._told.read_text()


def acknowledged(*outputs):
    """What must be there, and what must not; what was being forgotten at the end may be either."""
    put, forgotten, unsure = {}, set(), set()
    for line in (line.split() for output in outputs for line in output.splitlines()):
        match line:
            case ["put", line_id, text]:
                put[line_id] = text
            case ["forgetting", line_id]:
                unsure.add(line_id)
            case ["forgot", line_id]:
                forgotten.add(line_id)
    return {one: text for one, text in put.items() if one not in unsure}, forgotten


def agree(home, url, objects, outputs, tmp_path):
    """Book and bucket hold the same, which is what was acknowledged; and the bucket alone gives it back."""
    there, gone = acknowledged(*outputs)
    assert len(there) > 20
    with kept(home, url) as me:
        mended = me.installation.repairer.repair()
        assert (mended.restored, mended.carried, mended.removed, mended.findings) == (0, 0, 0, [])
        texts = me.texts()
        with me.installation._store.read() as tx:
            compartments = tx.lines.compartments()
            wanted = {key_of(one) for compartment in compartments for one in expected(tx, compartment, "")[0]}
        assert me.call(o.STATUS, m.Nothing()).uncarried == 0
    assert {one: texts.get(one) for one in there} == there
    assert not gone & texts.keys()
    assert len(set(texts.values())) == len(texts), "a line is there twice"
    assert set(every_key(objects)) == wanted
    new = tmp_path / "new"
    new.mkdir(mode=0o700)
    shutil.copy2(home / "root.key", new / "root.key")
    with kept(new, url, rebuilding=True) as anew:
        assert anew.installation.repairer.rebuild().findings == []
        assert anew.texts() == texts
    mended = souvenance(
        "--json", "doctor", "--repair", home=home, settings={"SOUVENANCE_OBJECTS": url, **AWS}
    ).json()
    assert (mended["restored"], mended["carried"], mended["removed"]) == (0, 0, 0)


def test_a_worker_that_dies_anywhere_leaves_store_and_folder_in_agreement(home, tmp_path):
    url = f"file://{tmp_path}/objects"
    told = Restless(home, url, examples(48), 7, tmp_path).ended()
    agree(home, url, open_objects(url), [told], tmp_path)


def test_worker_and_s3_server_die_again_and_again_and_nothing_is_lost(home, tmp_path, credentials):
    (tmp_path / "seaweed").mkdir()
    server = Seaweed(tmp_path / "seaweed")
    url = f"s3://{BUCKET}/kills?endpoint={server.url}"
    told = []
    server.start()
    try:
        for seed in range(2):
            worker = Restless(home, url, examples(20), seed, tmp_path)
            worker.lived(30)
            server.kill()
            told.append(worker.ended())
            server.start()
        told.append(Restless(home, url, examples(8), 99, tmp_path).ended())
        agree(home, url, open_objects(url), told, tmp_path)
    finally:
        server.kill()
