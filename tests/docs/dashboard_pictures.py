"""Photograph the tab Memory in the dashboard of the real host: `docs/pictures/hermes-dashboard-*.png`.

Run it with `make pictures`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "examples/hermes")]

from browser.chromium import PATIENCE_MS, chromium  # noqa: E402
from demo_model import a_model  # noqa: E402
from hermes.stage import Stage  # noqa: E402
from hermes_host.dashboard import TAB, dashboard_of  # noqa: E402
from hermes_host.host import a_host  # noqa: E402

PICTURES = ROOT / "docs/pictures"
TOLD = {
    "planning-the-move": (
        "I live in Porto now.",
        "My cat is called Nero and she is four.",
        "I'm allergic to penicillin.",
    ),
    "new-flat": (
        "We moved to Lisbon in May, near the river.",
        "I work as a nurse at the harbour clinic.",
        "The train to work takes twenty minutes along the river.",
    ),
}
NOTED = "Ann prefers short answers."
SIZE = {"width": 1200, "height": 820}


def draw(folder: Path) -> None:
    with a_model() as model, chromium() as browser:
        host = a_host(folder, model, plugins={"enabled": ["souvenance"]})
        stage = Stage(folder, sessionStrategy="per-session")
        for session, messages in TOLD.items():
            provider = stage.provider(session)
            for message in messages:
                stage.tell(provider, message, session=session)
        provider.handle_tool_call("souvenance_conclude", {"conclusion": NOTED})
        stage.close()
        (stage.home / "souvenance").rename(host.store)
        with dashboard_of(host) as dashboard:
            page = browser.new_page(viewport=SIZE, device_scale_factor=1)
            page.set_default_timeout(PATIENCE_MS)
            page.goto(f"{dashboard.url}{TAB}")
            _photograph(page)


def _photograph(page: Page) -> None:
    page.get_by_text("Memory of ann").wait_for()
    page.screenshot(path=PICTURES / "hermes-dashboard-person.png")
    page.get_by_role("button", name="Recall", exact=True).click()
    page.get_by_label("What you would say").fill("How far is it from my flat to the clinic?")
    page.get_by_role("button", name="Try it").click()
    page.get_by_role("heading", name="The text, word for word").wait_for()
    page.screenshot(path=PICTURES / "hermes-dashboard-recall.png")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder))
