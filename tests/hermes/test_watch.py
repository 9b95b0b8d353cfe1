"""An answer that does not come is told of while it does not."""

import select
import socket

import pytest

from souvenance.hermes.backend_health import Watch


class Scene:
    def __init__(self):
        self.told = []
        self.watch = Watch(self.told.append)


def test_what_takes_longer_than_it_is_waited_for_is_told_of_once():
    scene = Scene()
    with scene.watch.over(0.0) as asked:
        scene.watch.look()
        scene.watch.look()
        assert scene.told == [asked]
    assert asked.overdue


def test_what_is_in_time_and_what_nobody_waits_for_is_not_told_of():
    scene = Scene()
    with scene.watch.over(60.0), scene.watch.over(None):
        scene.watch.look()
    assert scene.told == []


def test_what_ended_is_not_told_of_however_it_did():
    scene = Scene()
    try:
        with scene.watch.over(0.0) as asked:
            raise OSError
    except OSError:
        scene.watch.look()
    assert (scene.told, asked.overdue) == ([], False)
    assert asked.took >= 0


@pytest.fixture
def far():
    scene = Scene()
    with scene.watch.over(0.0) as asked:
        asked.far = True
        yield scene, asked


def looked_at(scene, asked):
    """What is told of when the asker is gone."""
    scene.watch.look()
    return [one is asked for one in scene.told]


def test_a_server_owes_nothing_before_it_is_asked(far):
    scene, asked = far
    asked.awaits()
    assert looked_at(scene, asked) == []


def test_a_server_that_was_asked_and_is_silent_is_told_of(far):
    scene, asked = far
    asked.awaits().begins(0.0)
    assert looked_at(scene, asked) == [True]


def test_one_silent_call_among_others_that_were_answered_is_enough(far):
    scene, asked = far
    calls = [asked.awaits() for _ in range(3)]
    for call in calls:
        call.begins(0.0)
    calls[0].ends()
    calls[2].ends()
    assert looked_at(scene, asked) == [True]


def test_an_answer_that_lies_here_unread_is_not_the_server_s_silence(far):
    scene, asked = far
    here, there = socket.socketpair()
    with here, there:
        asked.awaits().begins(0.0, lambda: bool(select.select([here], [], [], 0)[0]))
        there.send(b"HTTP/1.1 200 OK")
        assert looked_at(scene, asked) == []
        here.recv(100)
        assert looked_at(scene, asked) == [True]


def test_who_gives_the_pass_is_waited_for_like_a_server(far):
    scene, asked = far

    def pass_of(job):
        assert looked_at(scene, asked) == [True]
        return job

    assert asked.awaiting(pass_of)("read") == "read"
