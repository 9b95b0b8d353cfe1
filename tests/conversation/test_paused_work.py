"""Work that waits for turns is neither begun nor lost."""

from __future__ import annotations


def test_while_it_is_paused_no_work_is_begun_and_none_is_lost(stage, owner):
    turns = [True]
    stage.worker.paused = lambda: turns[-1]
    owner.say("s", "I live in Rome.")
    stage.rest()
    assert owner.queue()["completed_work_units"] == 0
    turns.append(False)
    stage.rest()
    assert owner.queue()["pending_work_units"] == 0
    assert any("Rome" in text for text in owner.held())


def test_what_is_paused_is_looked_after_now_and_then_and_not_all_the_time(stage, owner):
    stage.worker.paused = lambda: True
    owner.say("s", "I live in Rome.")
    assert stage.worker._rest() == 1.0
