"""What of the plugin for Hermes is written from other sources: the fields of its panel from our settings, the
pane of the desktop from the dashboard's tab, and from the package the folder `plugin/` that Hermes installs.
Run as a program, it writes all three."""

from __future__ import annotations

import importlib
import re
import textwrap
from pathlib import Path

from souvenance.hermes.configuration import KEYS
from souvenance.hermes.panel_file import SHOWN, shown_default
from souvenance.hermes.setup import install

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "plugin"
_PACKAGE = ROOT / "src/souvenance/entry/souvenance"
PANEL = _PACKAGE / "config_schema.py"
PANE = _PACKAGE / "desktop/plugin.js"
_TAB = _PACKAGE / "dashboard/dist/index.js"
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
_WIDTH = 106
_BEGIN, _END = "# fmt: off\n_FIELDS = (\n", ")\n# fmt: on\n"


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


def row(key) -> str:
    """A field in a few lines. It ends with the first sentence of what describes the setting."""
    default = shown_default(key)
    text = str(default).lower() if isinstance(default, bool) else "" if default is None else f"{default}"
    given = (key.name, label(key.name), kind(key), key.section, text.removesuffix(".0"))
    given += (" ".join(key.choices), key.variable or "")
    first = f"({', '.join(map(quoted, given))},"
    if len(first) > _WIDTH:
        first = f"({', '.join(map(quoted, given[:5]))},\n     {', '.join(map(quoted, given[5:]))},"
    says = textwrap.wrap(f"{key.says.partition('. ')[0].rstrip('.')}.", _WIDTH - 10, drop_whitespace=False)
    return "    " + "\n     ".join((first, *map(quoted, says))) + "),\n"


def quoted(text: str) -> str:
    return f"'{text}'" if '"' in text else f'"{text}"'


def panel() -> str:
    before, _, rest = PANEL.read_text("utf-8").partition(_BEGIN)
    rows = "".join(row(key) for key in KEYS if key.name in SHOWN)
    return before + _BEGIN + rows + _END + rest.partition(_END)[2]


def pane() -> str:
    shared = _TAB.read_text("utf-8").partition(_SHARED)[2].partition("\n")[2].removesuffix("})();\n")
    return _PANE + textwrap.dedent(shared)


if __name__ == "__main__":
    PANEL.write_text(panel(), "utf-8")
    PANE.write_text(pane(), "utf-8")
    for name, content in importlib.reload(install).FILES.items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(content, "utf-8")
