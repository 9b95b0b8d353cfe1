"""Somebody with a browser, who signs in to a real server with a cap and answers what it asks.

As a program it is a browser for `BROWSER`: it gets the page to visit, and the cap from VISITOR_CAP.
"""

from __future__ import annotations

import os
import re
import sys
from html import unescape
from urllib.parse import urljoin

import httpx

PATIENCE_SECONDS = 60


def visit(
    page: str, cap: str, decision: str = "allow", *, user_code: str | None = None, **chosen: str
) -> httpx.Response:
    """Go there, sign in, decide, and follow wherever that leads: the page at the end."""
    with httpx.Client(
        follow_redirects=True, timeout=PATIENCE_SECONDS, trust_env=False, verify=False
    ) as browser:
        shown = browser.get(page)
        if 'name="cap"' in shown.text:
            shown = _sent(browser, shown, cap=cap)
        if user_code is not None and 'name="user_code"' in shown.text:
            shown = _sent(browser, shown, user_code=user_code)
        form = {
            "decision": decision,
            "workspace": "hermes",
            "peer": "alice",
            "namespace": "default",
            "everyone": "yes",
            "access": "write",
            "end": "86400",
            **chosen,
        }
        return _sent(browser, shown, **form)


def _sent(browser: httpx.Client, page: httpx.Response, **fields: str) -> httpx.Response:
    """The form of a page, with what it hides."""
    assert page.status_code == 200, page.text
    action = re.search(r'<form method="post" action="([^"]*)"', page.text)
    assert action, page.text
    hidden = re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', page.text)
    form = {name: unescape(value) for name, value in hidden}
    return browser.post(urljoin(str(page.url), unescape(action[1])), data={**form, **fields})


if __name__ == "__main__":
    ended = visit(sys.argv[1], os.environ["VISITOR_CAP"], os.environ.get("VISITOR_DECISION", "allow"))
    print(ended.status_code, re.sub(r"<style.*?</style>|<[^>]+>", " ", ended.text))
