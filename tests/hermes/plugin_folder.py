"""What of the plugin for Hermes is written from other sources: the fields of its panel from our settings, the
pane of the desktop from the dashboard's tab, and from the package the folder `plugin/` that Hermes installs.
Run as a program, it writes all three."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import textwrap
from pathlib import Path

from souvenance.hermes.configuration import KEYS, SHOWN, shown_default
from souvenance.hermes.setup import install

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "plugin"
_PACKAGE = ROOT / "src/souvenance/entry/souvenance"
PANEL = _PACKAGE / "panel.json"
PANE = _PACKAGE / "desktop/plugin.js"
_TAB = _PACKAGE / "dashboard/dist/index.js"
PICTURES = ("pictures/hermes-dashboard-person.png", "pictures/hermes-dashboard-recall.png")
"""Of the README. A host keeps nothing of the repository but the folder."""
WRITTEN_HERE = {"README.md", "after-install.md", *PICTURES}
_SHARED = "  // What follows is in the desktop's pane too"
_PANE = """\
import * as React from "react";

export default {
  id: "souvenance",
  name: "Souvenance",
  register(ctx) {
    const ask = (path, given) => ctx.rest(`/${path}`, given && { method: "POST", body: given });
    const Pages = memoryPages(React, ask);
    const data = { placement: "right", width: "420px" };
    const render = () => React.createElement(Pages);
    ctx.register({ id: "pane", area: "panes", title: "Memory", data, render });
  },
};

// What follows is the dashboard's: tests/hermes/plugin_folder.py copies it from there.
"""
_INLINE = ("peerName", "baseUrl", "apiKey", "recallMode")


def label(name: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    words = re.sub(r"\b(api|url)\b", lambda found: found[0].upper(), words)
    return words[0].upper() + words[1:]


def kind(key) -> str:
    if key.secret or key.choices:
        return "secret" if key.secret else "select"
    if key.words == "true or false":
        return "bool"
    return "number" if key.words.startswith(("a whole number", "seconds")) else "text"


def field(key) -> dict[str, object]:
    """It is described with the first sentence of what describes the setting."""
    default = shown_default(key)
    text = str(default).lower() if isinstance(default, bool) else "" if default is None else f"{default}"
    return {
        "key": key.name,
        "label": label(key.name),
        "kind": kind(key),
        "group": key.section,
        "default": text.removesuffix(".0"),
        "choices": key.choices,
        "env_key": key.kept_as,
        "env_fallbacks": [key.variable] if key.variable else [],
        "description": f"{key.says.partition('. ')[0].rstrip('.')}.",
        "inline": key.name in _INLINE,
    }


def panel() -> str:
    fields = [field(key) for key in KEYS if key.name in SHOWN]
    return json.dumps({"fields": fields}, indent=2, ensure_ascii=False) + "\n"


def pane() -> str:
    shared = _TAB.read_text("utf-8").partition(_SHARED)[2].partition("\n")[2].removesuffix("})();\n")
    return _PANE + textwrap.dedent(shared)


if __name__ == "__main__":
    PANEL.write_text(panel(), "utf-8")
    PANE.write_text(pane(), "utf-8")
    for name, content in importlib.reload(install).FILES.items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(content, "utf-8")
    for name in PICTURES:
        shutil.copy(ROOT / "docs" / name, FOLDER / name)
