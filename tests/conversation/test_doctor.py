"""The doctor is content after a long mixed history, and notices what vanished past the gate."""

from __future__ import annotations

import random
import sqlite3

import pytest

from conversation.world import speaking
from pace import examples
from processes import until
from surfaces.door import serving, souvenance

STEPS = 220
PEERS = ("ann", "bo", "cy")
SESSIONS = ("s0", "s1", "s2")
NAMESPACES = {"s0": "default", "s1": "travel", "s2": "travel"}


class Life:
    """A caller that does whatever the door lets it do, in an order given by a seed.

    Now and then it deletes with a cap that opens one namespace alone.
    """

    def __init__(self, speaker, seed):
        self.speaker = speaker
        asked = {"sub": "n", "wid": "w", "peers": ["*"], "ops": ["forget", "list", "get"], "ttl_seconds": 600}
        self.narrow = [
            speaker.another(
                speaker.told("POST", "/v1/caps", {**asked, "namespaces_allowed": [namespace]})["cap"]
            )
            for namespace in ("default", "travel")
        ]
        puts = {**asked, "sub": PEERS[0], "ops": ["put"], "namespaces_allowed": ["*"]}
        self.hands = speaker.another(speaker.told("POST", "/v1/caps", puts)["cap"])
        self.chance = random.Random(seed)
        self.deeds = [
            *[self.talk] * 6,
            *[self.clone, self.conclude, self.write_card, self.dream, self.annotate, self.mind_members],
            *[self.delete_message, self.delete_conclusion, self.delete_session, self.delete_peer],
            self.delete_scope,
            self.put_by_hand,
            self.rename_peer,
        ]

    def live(self, steps):
        done = {deed.__name__: 0 for deed in self.deeds}
        for _ in range(steps):
            deed = self.chance.choice(self.deeds)
            answer = deed()
            assert answer is None or answer.status_code < 500, (deed.__name__, answer.text)
            done[deed.__name__] += answer is not None and answer.is_success
        return done

    def some(self, kind, filters=None):
        """One of the things of that kind, if there are any."""
        found = self.speaker.ask("POST", kind, filters or {}, params={"size": 100})
        items = found.json()["items"] if found.is_success else []
        return self.chance.choice(items)["id"] if items else None

    def talk(self):
        place = self.chance.choice(["Oslo", "Bergen", "Narvik"])
        texts = [
            f"I live in {place}.",
            f"My friend is called Q{self.chance.randrange(40)}.",
            "I like rain.",
            "Hello again.",
        ]
        batch = [
            {"peer_id": self.chance.choice(PEERS), "content": self.chance.choice(texts)}
            for _ in range(self.chance.randrange(1, 12))
        ]
        session = self.chance.choice(SESSIONS)
        body = {"messages": batch, "namespace": NAMESPACES[session]}
        return self.speaker.ask("POST", f"/sessions/{session}/messages", body)

    def anyone(self):
        return self.chance.choice([self.speaker, *self.narrow])

    def somewhere(self):
        return self.chance.choice(["default", "travel", "work"])

    def clone(self):
        return self.speaker.ask("POST", f"/sessions/{self.chance.choice(SESSIONS)}/clone")

    def conclude(self):
        observer, observed = self.chance.choices(PEERS, k=2)
        one = {"content": "speaks slowly", "observer_id": observer, "observed_id": observed}
        return self.speaker.ask("POST", "/conclusions", {"conclusions": [one], "namespace": self.somewhere()})

    def write_card(self):
        path, body = f"/peers/{self.chance.choice(PEERS)}/card", {"peer_card": ["By hand"]}
        where = self.somewhere()
        return self.speaker.ask("PUT", path, {**body, "namespace": where}, params={"namespace": where})

    def dream(self):
        asked = {
            "observer": self.chance.choice(PEERS),
            "dream_type": "omni",
            "rebuild": self.chance.random() < 0.5,
        }
        return self.speaker.ask("POST", "/schedule_dream", asked)

    def annotate(self):
        session = self.chance.choice(SESSIONS)
        if message := self.some(f"/sessions/{session}/messages/list"):
            return self.speaker.ask("PUT", f"/sessions/{session}/messages/{message}", {"metadata": {"n": 1}})
        return None

    def mind_members(self):
        habits = {self.chance.choice(PEERS): {"observe_others": True}}
        return self.speaker.ask("POST", f"/sessions/{self.chance.choice(SESSIONS)}/peers", habits)

    def put_by_hand(self):
        line = {"text": "by hand", "namespace": self.somewhere(), "session": self.chance.choice(SESSIONS)}
        return self.hands.ask("POST", "/v1/memory/put", line)

    def delete_message(self):
        session = self.chance.choice(SESSIONS)
        if message := self.some(f"/sessions/{session}/messages/list"):
            return self.speaker.ask("DELETE", f"/sessions/{session}/messages/{message}")
        return None

    def delete_conclusion(self):
        if one := self.some("/conclusions/list"):
            return self.anyone().ask("DELETE", f"/conclusions/{one}")
        return None

    def delete_session(self):
        if session := self.some("/sessions/list"):
            return self.anyone().ask("DELETE", f"/sessions/{session}")
        return None

    def delete_peer(self):
        query = {"keep_messages": self.chance.choice(["true", "false"])}
        return self.anyone().ask("DELETE", f"/peers/{self.chance.choice(PEERS)}", params=query)

    def rename_peer(self):
        """Sometimes only a part of it."""
        old, new = self.chance.sample(PEERS, 2)
        asked = {"name": new, "limit": self.chance.choice([2, 1000])}
        return self.speaker.ask("POST", f"/peers/{old}/rename", asked)

    def delete_scope(self):
        self.speaker.open("scopes", "sc")
        if session := self.some("/sessions/list"):
            self.speaker.ask("POST", "/scopes/sc/sessions", {"session_ids": [session]})
        return self.anyone().ask("DELETE", "/scopes/sc")


def settled(speaker):
    until(lambda: not ((queue := speaker.queue())["pending_work_units"] + queue["in_progress_work_units"]))


@pytest.mark.parametrize("seed", range(examples(6)))
def test_a_long_mixed_history_leaves_the_doctor_content(home, seed):
    with serving(home) as server, speaking(server, "w") as speaker:
        done = Life(speaker, seed).live(STEPS)
        settled(speaker)
        assert server.stop().err.replace("Souvenance stopped.\n", "") == ""
    assert all(done.values()), done
    told = souvenance("doctor", home=home, exit_code=None)
    assert (told.exit_code, told.out.splitlines()[:-1]) == (0, []), told.out
    assert souvenance("audit", "verify", home=home).exit_code == 0


def test_a_history_that_ends_with_its_workspace_leaves_the_doctor_content(home):
    with serving(home) as server, speaking(server, "w") as speaker:
        Life(speaker, 11).live(60)
        while session := Life(speaker, 1).some("/sessions/list"):
            speaker.told("DELETE", f"/sessions/{session}")
        speaker.told("DELETE", "")
        speaker.say("s0", "I live in Oslo.", peer="ann")
        settled(speaker)
    told = souvenance("doctor", home=home, exit_code=None)
    assert (told.exit_code, told.out.splitlines()[:-1]) == (0, []), told.out


VANISHING = {
    "a message": "DELETE FROM lines WHERE kind = 'message' AND turn = 2",
    "a conclusion": "DELETE FROM lines WHERE id = (SELECT min(id) FROM lines WHERE kind = 'statement')",
    "a card": "DELETE FROM lines WHERE kind = 'card'",
    "the last message": "DELETE FROM lines WHERE kind = 'message' AND turn = 3",
}


@pytest.mark.parametrize("what", VANISHING)
@pytest.mark.embedded("it damages the file")
def test_the_doctor_notices_what_vanished_past_the_gate(home, what):
    with serving(home) as server, speaking(server, "w") as speaker:
        speaker.say("s", "I live in Oslo.", "My name is Ann.", "I like rain.", peer="ann")
        settled(speaker)
        assert speaker.card("ann")
    with sqlite3.connect(home / "souvenance.db") as store:
        assert store.execute(VANISHING[what]).rowcount == 1
    store.close()
    told = souvenance("doctor", home=home, exit_code=10)
    assert "never forgotten" in told.out
