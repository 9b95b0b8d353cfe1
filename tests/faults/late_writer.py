"""Stores a line from a thread that goes on while Python already exits."""

import concurrent.futures.thread as pool
import sys
import threading

import souvenance

memory = souvenance.open(sys.argv[1], embedder="packaged")
memory.put("the first line")
assert memory.get("which is the first?") and memory.wait()


def store():
    while not pool._shutdown:
        threading.Event().wait(0.01)
    memory.put("the last line")
    memory.close()


threading.Thread(target=store).start()
