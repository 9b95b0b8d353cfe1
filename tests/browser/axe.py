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
COLOURS = {"type": "rule", "values": OF_COLOURS}
LOOKS = {320: {"light": (RULES, ()), "dark": (COLOURS, ())}, 1280: {"light": (RULES, OF_COLOURS)}}
"""What axe checks at each width in each scheme, and which rules it leaves out. Dark differs from light in its
colours alone, and these are the same at every width.
"""


def troubles_of(page) -> list[str]:
    """What axe finds, and whether the page has to be scrolled sideways: light and dark, narrow and wide."""
    found: list[str] = []
    page.evaluate(AXE.read_text("utf-8"))
    for width, schemes in LOOKS.items():
        page.set_viewport_size({"width": width, "height": 800})
        for scheme, rules in schemes.items():
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found += [f"{width} px, {scheme}: {one}" for one in page.evaluate(CHECK, rules)]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"{width} px: wider than the screen")
    return found
