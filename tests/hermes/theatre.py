"""A stage whose server gets into trouble, and what it takes to see what that costs."""

import time

from hermes.honcho_fake import eventually
from hermes.stage import Stage
from souvenance import hermes_backends
from souvenance.hermes.config_files import read_configuration

QUESTION = "When do I go to Chengdu?"
WAIT = 0.15
TIMEOUT = 0.6
SLOW = 0.35
MARGIN = 0.25
"""What a busy machine may add to most turns of a few."""
AT_ONCE = 0.05
TRIES = 20
"""In how many a busy machine shows once how quick something is."""
REST_MS = 2_100
"""A little more than the breaker's first rest."""


class Theatre(Stage):
    """A stage whose breaker has a clock that can be put forward."""

    def __init__(self, folder, **settings):
        super().__init__(folder, **settings)
        self.ahead = 0
        self._stopped = 0

    def stop_the_clock(self):
        """So that a server which is left alone is not tried again meanwhile."""
        self._stopped = time.time_ns() // 1_000_000

    def later(self, milliseconds):
        self.ahead += milliseconds

    def runtime(self, configuration):
        runtime = super().runtime(configuration)
        runtime.breaker._now = lambda: (self._stopped or time.time_ns() // 1_000_000) + self.ahead
        return runtime

    def health(self):
        return hermes_backends.state_files_of(read_configuration(self.home, self.environment)[0]).health()


def runtime_of(stage):
    return stage.runtime(stage.configuration(stage.home, "default")[0])


def dead(honcho):
    honcho.die()


def hanging(honcho):
    honcho.hang()


def slow(honcho):
    honcho.pause = lambda asked: SLOW


def denying(honcho):
    honcho.deny = 401


def forbidding(honcho):
    honcho.deny = 403


def failing(honcho):
    honcho.deny = 500


TROUBLES = [dead, hanging, slow, denying, forbidding, failing]


def mend(honcho):
    if not honcho._thread.is_alive():
        honcho.revive()
    honcho.pause = lambda asked: 0.0
    honcho.deny = None
    honcho.awake()


def timed(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def within(seconds, work):
    """Whether it takes no longer, sooner or later: others use this machine."""
    return any(timed(work) <= seconds for _ in range(TRIES))


def delivered(stage):
    return eventually(lambda: all(runtime.flush(1) for runtime in stage._runtimes.values()))


def said(honcho, session="project"):
    return [text for _, text in honcho.texts(session)]
