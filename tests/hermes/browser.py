"""A browser that goes where a sign-in leads, and comes back with the answer."""

import threading
from urllib.parse import parse_qs, urlsplit

import httpx

from processes import PATIENCE_SECONDS


def brought(to, **answer):
    """What a browser is told that brings an answer."""
    return httpx.get(to, params=answer, timeout=PATIENCE_SECONDS, trust_env=False, verify=False)


def asked_in(page):
    return {name: value for name, (value,) in parse_qs(urlsplit(page).query).items()}


class Browser:
    """Somebody who is sent to a page and brings back an answer, with the right state unless it is said."""

    def __init__(self, issuer, **answer):
        self._answer = {"code": "the-code", "iss": issuer, **answer}
        self.page = None
        self.shown = None
        self._thread = None

    def __call__(self, page):
        self.page = page
        self._thread = threading.Thread(target=self._go)
        self._thread.start()

    def _go(self):
        asked = asked_in(self.page)
        answer = {"state": asked["state"], **self._answer}
        to = asked["redirect_uri"]
        self.shown = brought(to, **{name: value for name, value in answer.items() if value is not None})

    def back(self):
        self._thread.join(PATIENCE_SECONDS)
        return self.shown
