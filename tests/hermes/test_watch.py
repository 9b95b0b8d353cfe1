"""An answer that does not come is told of while it does not."""

from mnemon.hermes.watch import Watch


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
