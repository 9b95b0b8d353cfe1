"""For each test windows that know nothing of another's."""

from __future__ import annotations

import pytest

from browser.chromium import PATIENCE_MS


@pytest.fixture
def window(browser):
    """Opens a page in a browser without memory: `window(width=320, color_scheme="dark", ...)`."""
    contexts = []

    def opened(*, width=1100, height=800, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        return context.new_page()

    yield opened
    for context in contexts:
        context.close()
