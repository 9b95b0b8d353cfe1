"""The program of the how-to that copies a workspace, between two servers."""

import re
import subprocess

from examples import ROOT

from environments import client_program
from surfaces.door import environment, serving

PAGE = ROOT / "docs/howto/move-from-honcho.md"
PROGRAM = re.search(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)[1]

FILLED = """
import sys, time
from honcho import Honcho
from honcho.api_types import PeerConfig, SessionPeerConfig
old = Honcho(base_url=sys.argv[1], api_key="local", workspace_id="my-app")
old.set_metadata({"team": "blue"})
ann, bot, carl = old.peer("ann", metadata={"plan": "free"}), old.peer("bot"), old.peer("carl")
bot.set_configuration(PeerConfig(observe_me=False))
talk = old.session("first-talk", metadata={"topic": "trips"})
talk.add_peers([ann, (bot, SessionPeerConfig(observe_others=True)), carl])
talk.add_messages([
    ann.message(f"I have been to place {n}.", metadata={"n": n}, created_at=f"2025-01-{n % 28 + 1:02}")
    for n in range(100)
])
talk.add_messages([ann.message("I live in Lisbon."), carl.message("Bye.")])
talk.remove_peers("carl")
old.session("empty-talk")
bot.conclusions_of(ann).create([{"content": "ann travels a lot", "session_id": "first-talk"}])
while (status := old.queue_status()).pending_work_units + status.in_progress_work_units:
    time.sleep(0.05)
bot.set_card(["Name: Ann", "Likes: trains"], target=ann)
"""

TOLD = """
import json, sys, time
from honcho import Honcho
one = Honcho(base_url=sys.argv[1], api_key="local", workspace_id="my-app")
while (status := one.queue_status()).pending_work_units + status.in_progress_work_units:
    time.sleep(0.05)
print(json.dumps({
    "workspace": one.get_metadata(),
    "peers": [[p.id, p.get_metadata(), p.get_configuration().model_dump()] for p in one.peers()],
    "sessions": [[s.id, s.get_metadata(), [p.id for p in s.peers()]] for s in one.sessions()],
    "messages": [
        [s.id, m.peer_id, m.content, m.metadata, m.created_at.isoformat()]
        for s in one.sessions()
        for m in s.messages()
    ],
    "conclusions": sorted([c.observer_id, c.observed_id, c.content] for c in one.conclusions.list(size=100)),
    "card": one.peer("bot").get_card(target="ann"),
    "hears": len(one.search("place", filters={"peer_perspective": "bot"}, limit=100)),
}))
"""


def played(program, *arguments, **settings):
    run = [client_program("honcho-2.7.0"), "-c", program, *arguments]
    finished = subprocess.run(run, env=environment(**settings), capture_output=True, text=True, timeout=120)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_program_brings_over_all_that_the_page_says(tmp_path):
    with (
        serving(tmp_path / "old", "--trust-loopback") as old,
        serving(tmp_path / "new", "--trust-loopback") as new,
    ):
        played(FILLED, old.url)
        played(PROGRAM, old.url, new.url, "my-app", OLD_KEY="local", NEW_KEY=new.owner_cap)
        before, after = played(TOLD, old.url), played(TOLD, new.url)
    assert after == before
    assert before.count("I have been to place") == 100
    assert '["Name: Ann", "Likes: trains"]' in before
