"""axe-core, which finds what a page has against WCAG 2.2 AA."""

from __future__ import annotations

from pathlib import Path

AXE = Path(__file__).resolve().parents[2] / ".environments/axe-core/node_modules/axe-core/axe.min.js"
CHECK = """async ([runOnly, without]) => {
  const rules = Object.fromEntries(without.map(rule => [rule, {enabled: false}]));
  const found = await axe.run(document, {runOnly, rules, resultTypes: ["violations"], preload: false});
  return found.violations.map(one => `${one.id}: ${one.nodes.map(node => node.html.slice(0, 200))}`);
}"""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OF_COLOURS = ("color-contrast", "link-in-text-block")
LOOKS: dict[int, dict[str, tuple[str, ...]]] = {320: {"light": (), "dark": ()}, 1280: {"light": OF_COLOURS}}
"""Which rules axe leaves out at each width in each scheme. Colours are the same at every width."""
OPEN = """() => document.querySelectorAll("details:not([open])").forEach(one => {
  one.open = true; one.dataset.opened = "";
})"""
CLOSE = """() => document.querySelectorAll("[data-opened]").forEach(one => {
  one.open = false; delete one.dataset.opened;
})"""


def troubles_of(page) -> list[str]:
    """What axe finds, and whether the page has to be scrolled sideways: light and dark, narrow and wide, with
    all that can be opened open."""
    found: list[str] = []
    page.evaluate(AXE.read_text("utf-8"))
    page.evaluate(OPEN)
    for width, schemes in LOOKS.items():
        page.set_viewport_size({"width": width, "height": 800})
        for scheme, without in schemes.items():
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found += [f"{width} px, {scheme}: {one}" for one in page.evaluate(CHECK, [RULES, without])]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"{width} px: wider than the screen")
    page.evaluate(CLOSE)
    return found
