"""What of the plugin for Hermes is written from other sources: the fields of its panel from our settings, and
from the package the folder `plugin/` that Hermes installs. Run as a program, it writes both."""

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
PANEL = ROOT / "src/souvenance/entry/souvenance/config_schema.py"
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


if __name__ == "__main__":
    PANEL.write_text(panel(), "utf-8")
    for name, content in importlib.reload(install).FILES.items():
        (FOLDER / name).write_text(content, "utf-8")
