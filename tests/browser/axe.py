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
OF_COLOURS = ["color-contrast", "link-in-text-block"]
LOOKS = ((320, "light", RULES, []), (320, "dark", OF_COLOURS, []), (1280, "light", RULES, OF_COLOURS))
"""At which width and in which scheme axe goes by which rules, and those that it leaves out there. Colours are
the same at every width, and the schemes differ in nothing else.
"""
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
    for width, scheme, rules, without in LOOKS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{width} px, {scheme}: {one}" for one in page.evaluate(CHECK, [rules, without])]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"{width} px: wider than the screen")
    page.evaluate(CLOSE)
    return found
