"""Photograph every page of the inspector with the demo data: `docs/pictures/inspector-*.png`.

Run it with `make pictures`. Clock and chance are the same each time, so that pictures change with the pages
alone.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from browser.chromium import chromium  # noqa: E402
from inspector.door_pages import OF_A_WORKSPACE, UNDER_WAY, filled, routes, samples_of  # noqa: E402
from surfaces.door import environment  # noqa: E402

PICTURES = ROOT / "docs/pictures"
WIDTH, MOST_HEIGHT = 1040, 1600
STEP = 100
"""So much less is shown of a page whose picture is too large, until it is not."""
MOST_BYTES = 150_000
SETTLING_MS = 800
"""Until charts are drawn and the live tail is connected."""
END = """() => document.documentElement.scrollHeight <= innerHeight ? 0 : Math.max(0,
  ...[...document.querySelectorAll("main section")]
    .map(one => Math.ceil(one.getBoundingClientRect().bottom) + 12)
    .filter(end => innerHeight - 300 < end && end <= innerHeight))"""
"""Where a picture that does not hold the whole page ends: after a section, if one ends near."""
NAMES = {
    "/": "home",
    "/inspect/sign-in": "sign-in",
    "/inspect/audit": "audit-log",
    "/inspect/work": "background-work",
}
NO_PICTURE = (
    "/inspect/",
    OF_A_WORKSPACE,
    "/inspect/data/stored",
    "/inspect/data/kinds",
    "/inspect/work/tail",
    UNDER_WAY,
)
"""The same page as another, parts of pages, and one that is gone in a moment."""

_STEADY = """
import random, sys, time
from datetime import datetime
from souvenance.adapters import system_clock
from souvenance.surfaces.cli import demo
from souvenance.surfaces.http.inspector import data_pages, recall_pages

seed = int(sys.argv.pop(1))
began, now = time.monotonic(), 1780477200 + 600 * seed
chance = random.Random(seed)
class Then(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.fromtimestamp(now, tz)
system_clock.SystemClock.now = lambda self: now * 1000 + int((time.monotonic() - began) * 1000)
system_clock.SystemEntropy.take = lambda self, count: chance.randbytes(count)
demo.datetime = data_pages.datetime = recall_pages.datetime = Then
from souvenance.commands import main
main()
"""
"""The command line, on a day in June 2026, with chance that is none."""


def picture_of(path: str) -> Path:
    """Where the picture of a route's page is."""
    words = [part for part in path.removeprefix("/inspect").split("/") if part and not part.startswith("{")]
    singular = {"people": "person", "sessions": "session", "lines": "line"}
    name = NAMES.get(path) or "-".join(singular.get(word, word) if "{" in path else word for word in words)
    return PICTURES / f"inspector-{name}.png"


@contextmanager
def demo_server(home: Path) -> Iterator[tuple[str, str]]:
    """A server with the demo data and a clock of its own; its address and the owner's token."""
    program, at = [sys.executable, "-c", _STEADY], ["--home", str(home)]
    settings = environment(SOUVENANCE_EMBEDDER="packaged")
    subprocess.run(
        [*program, "1", *at, "demo", "--fill"], check=True, env=settings, stdout=subprocess.DEVNULL
    )
    server = subprocess.Popen(
        [*program, "2", *at, "serve", "--port", "0"], env=settings, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        found = re.search(r"at (http://\S+)$", server.stdout.readline())
        assert found, "the server did not start"
        yield found[1].replace("127.0.0.1", "localhost"), (home / "owner.cap").read_text().strip()
    finally:
        server.terminate()
        server.wait()


def add_passkey(page: Page, url: str) -> None:
    """With a device that Chromium plays."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    device = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": device})
    page.goto(f"{url}/inspect/passkeys")
    page.get_by_label("A name").fill("My laptop")
    page.get_by_role("button", name="Add a passkey").click()
    page.get_by_text("Signs in as").wait_for()


def photograph(page: Page, height: int, target: Path) -> None:
    for _ in range(2):
        page.set_viewport_size({"width": WIDTH, "height": height})
        page.evaluate("document.querySelector('.exact')?.closest('section').scrollIntoView()")
        height = page.evaluate(END) or height
    page.wait_for_timeout(SETTLING_MS)
    page.screenshot(path=target)


def draw(folder: Path = PICTURES) -> None:
    with tempfile.TemporaryDirectory() as place, demo_server(Path(place) / "home") as (url, token):
        samples = samples_of(url, token, "default", "ann", "azores-plan")
        link = httpx.post(
            f"{url}/inspect/links", headers={"authorization": f"Bearer {token}"}, trust_env=False
        ).json()["path"]
        with chromium() as browser:
            signed_out, context = (
                browser.new_context(
                    viewport={"width": WIDTH, "height": 700}, color_scheme="light", reduced_motion="reduce"
                )
                for _ in range(2)
            )
            page = context.new_page()
            page.goto(url + link)
            add_passkey(page, url)
            for path in routes("GET"):
                if path in NO_PICTURE:
                    continue
                there = url + filled(path, samples)
                page = (signed_out if path == "/inspect/sign-in" else context).new_page()
                page.goto(there)
                page.wait_for_load_state("load")
                height = min(page.evaluate("document.documentElement.scrollHeight"), MOST_HEIGHT)
                target = folder / picture_of(path).name
                photograph(page, height, target)
                while target.stat().st_size > MOST_BYTES:
                    height -= STEP
                    photograph(page, height, target)
                page.close()
                print(target.name, target.stat().st_size)


if __name__ == "__main__":
    draw()
