"""Debian's Chromium without a window, driven through Playwright: what `make debian` installs.

The one that never has a window: the whole browser makes all that surrounds a page for each of them, though
nobody sees it, and takes thrice as long. It serves where there is no other.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, expect, sync_playwright

PATIENCE_MS = 60_000
FLAGS = (
    "--no-sandbox",  # It runs as root in a container, and sees only pages of this suite.
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # What keeps strangers' pages apart takes processes; all pages here are of this suite.
    "--in-process-gpu",
    "--renderer-process-limit=1",
    "--disable-features=IsolateOrigins,site-per-process,SpareRendererForSitePerProcess,BackForwardCache",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """One browser with a profile of its own, gone at the end."""
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    assert program, "Chromium is not installed: run `make debian`"
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS, timeout=60_000)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def unseen() -> Iterator[asyncio.AbstractEventLoop]:
    """Playwright's loop, which is running, while its thread is told that none is.

    It runs as long as its browser, and Python would let nobody in the thread run another.
    """
    loop = asyncio.get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield loop
    finally:
        asyncio._set_running_loop(loop)


@contextmanager
def seen(loop: asyncio.AbstractEventLoop, browser: Browser) -> Iterator[Browser]:
    """The browser while it can be asked, and without any window afterwards."""
    asyncio._set_running_loop(loop)
    try:
        yield browser
        for context in browser.contexts:
            context.close()
    finally:
        asyncio._set_running_loop(None)
