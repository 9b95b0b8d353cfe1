"""Loading what stays, undisturbed by the search for garbage."""

import gc

import pytest

from pace import count_frozen
from souvenance.hermes.gc_pause import undisturbed


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch):
    """Garbage is looked for as often as an interpreter does by itself, and what is frozen is counted;
    afterwards, as before."""
    monkeypatch.setattr(gc, "get_freeze_count", count_frozen)
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    gc.enable()  # A thread of an earlier test may still be loading.
    gc.unfreeze()
    yield
    gc.freeze()
    gc.enable()
    gc.set_threshold(*before)


def looks(kept):
    """In which generations garbage is looked for while that many things are made."""
    seen = []

    def note(phase, info):
        if phase == "start":
            seen.append(info["generation"])

    gc.callbacks.append(note)
    try:
        kept += [[] for _ in range(50_000)]
    finally:
        gc.callbacks.remove(note)
    return seen


def test_nothing_is_looked_for_meanwhile():
    assert looks([]) != []
    with undisturbed():
        assert looks([]) == []
    assert looks([]) != []


def test_what_was_made_is_old_when_it_ends():
    kept = []
    with undisturbed():
        looks(kept)
    assert not {id(one) for one in gc.get_objects(generation=0)} & {id(one) for one in kept}
    assert gc.is_tracked(kept[0])
    assert gc.get_freeze_count() == 0


def test_a_host_that_looks_for_no_garbage_is_left_alone():
    gc.disable()
    with undisturbed():
        pass
    assert not gc.isenabled()


def test_what_a_host_has_frozen_stays_frozen():
    gc.freeze()
    frozen = gc.get_freeze_count()
    with undisturbed():
        pass
    assert gc.get_freeze_count() >= frozen * 0.9
    assert gc.isenabled()
