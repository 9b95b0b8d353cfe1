"""What is loaded late is made once, and not before it is asked for."""

import threading
from concurrent.futures import ThreadPoolExecutor

from contracts.threads import often_interrupted
from souvenance.installation import Later

THREADS = 16


def test_nothing_is_made_before_somebody_asks():
    made = []
    later = Later(lambda: made.append("made") or made)
    assert later.made is None
    assert made == []
    assert later() is later() is later.made
    assert made == ["made"]


def test_whichever_threads_ask_it_is_made_once():
    start, made = threading.Barrier(THREADS), []
    later = Later(lambda: made.append(object()) or made[-1])

    def ask():
        start.wait()
        return later()

    with often_interrupted(), ThreadPoolExecutor(THREADS) as pool:
        found = [one.result() for one in [pool.submit(ask) for _ in range(THREADS)]]
    assert len(made) == 1
    assert set(found) == set(made)
