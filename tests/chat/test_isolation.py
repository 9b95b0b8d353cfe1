"""Many people at once through one door: each is told what is theirs, and nothing of anybody else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from chat.stage import asked
from model.stand_in import Says

PEOPLE = 50
SECRET = "The code of my bicycle lock is {0}, of my lock alone."
QUESTION = "What is the code of my bicycle lock? I need the lock's code."


def code(number):
    return f"zebra{number:03}quagga"


def test_fifty_people_at_once_hear_nothing_of_each_other(stage, front):
    caps = [stage.mint(f"person-{number}") if number % 2 else front for number in range(PEOPLE)]

    def speak(number, text, stream):
        headers = {"user_id": f"person-{number}", "session_key": "one-for-all"}
        client = stage.client(caps[number], **headers)
        answer = client.post("/chat/completions", json=asked(f"{text} (from {number})", stream=stream))
        assert answer.status_code == 200

    stage.model.plays(lambda asked: Says(pieces=("I ", "see.")))
    with ThreadPoolExecutor(PEOPLE) as pool:
        secrets = [SECRET.format(code(number)) for number in range(PEOPLE)]
        list(pool.map(speak, range(PEOPLE), secrets, [False, True] * PEOPLE))
        stage.texts(2 * PEOPLE)
        list(pool.map(speak, range(PEOPLE), [QUESTION] * PEOPLE, [True, False] * PEOPLE))
    heard = {}
    for one in stage.model.asked[PEOPLE:]:
        text = one.messages[-1]["content"]
        number = int(text.partition("(from ")[2].partition(")")[0])
        heard[number] = {other for other in range(PEOPLE) if code(other) in text}
    assert heard == {number: {number} for number in range(PEOPLE)}
