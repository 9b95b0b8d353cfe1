"""A backend that fails again and again is left alone for a while."""

from souvenance.hermes.backend_health import Breaker


class Scene:
    def __init__(self):
        self.now = 1_000
        self.told = []
        self.breaker = Breaker(lambda: self.now, self.told.append)

    def fails(self, times=1):
        for _ in range(times):
            self.breaker.failed("server_unreachable: no answer")


def test_two_failures_are_borne():
    scene = Scene()
    scene.fails(2)
    assert scene.breaker.admits()
    assert scene.told == []


def test_after_three_failures_nobody_waits():
    scene = Scene()
    scene.fails(3)
    assert not scene.breaker.admits()
    assert [(health.ok, health.failures) for health in scene.told] == [(False, 3)]


def test_a_success_in_between_starts_the_count_anew():
    scene = Scene()
    scene.fails(2)
    scene.breaker.succeeded()
    scene.fails(2)
    assert scene.breaker.admits()


def test_after_a_rest_one_call_is_let_through():
    scene = Scene()
    scene.fails(3)
    scene.now += 2_000
    assert [scene.breaker.admits(), scene.breaker.admits()] == [True, False]


def test_it_recovers_by_itself_when_that_call_succeeds():
    scene = Scene()
    scene.fails(3)
    scene.now += 2_000
    assert scene.breaker.admits()
    scene.breaker.succeeded()
    assert scene.breaker.admits()
    assert [health.ok for health in scene.told] == [False, True]


def test_the_rests_grow_to_a_minute():
    scene = Scene()
    scene.fails(3)
    rests = []
    for _ in range(8):
        start = scene.now
        while not scene.breaker.admits():
            scene.now += 500
        rests.append(scene.now - start)
        scene.fails()
    assert rests == [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]


def test_what_was_asked_before_it_opened_and_fails_later_makes_no_rest_longer():
    scene = Scene()
    scene.fails(10)
    scene.now += 2_000
    assert scene.breaker.admits()


def test_an_answer_that_came_late_is_better_than_none_for_who_is_patient():
    scene = Scene()
    for _ in range(3):
        scene.fails()
        scene.breaker.failed("slow", late=True)
    assert [scene.breaker.admits(), scene.breaker.admits(patient=True)] == [False, True]
    scene.fails(3)
    assert not scene.breaker.admits(patient=True)


def test_its_health_says_what_failed_last_and_since_when():
    scene = Scene()
    scene.fails(3)
    scene.now += 700
    scene.fails()
    health = scene.breaker.health
    assert (health.error, health.since, health.failures) == ("server_unreachable: no answer", 1_000, 4)


def test_an_answer_that_came_late_is_made_up_for_by_one_in_time_only():
    scene = Scene()
    for _ in range(2):
        scene.breaker.failed("slow", late=True)
        scene.breaker.succeeded()
    scene.breaker.failed("slow", late=True)
    assert not scene.breaker.admits()
    scene.now += 2_000
    assert scene.breaker.admits()
    scene.breaker.succeeded()
    assert not scene.breaker.admits()
    scene.breaker.succeeded(in_time=True)
    assert scene.breaker.admits()
