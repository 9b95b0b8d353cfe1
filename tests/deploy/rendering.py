"""Holds values against the Helm chart's schema, renders the chart with Go's own templates, and holds what
comes of it against Kubernetes' schemas.

It runs where these are installed, with the folder of the chart and, on standard input, values as JSON.
The chart uses only what Go's templates know, so this is what Helm makes of it, but for Helm's own checks.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import kubernetes_validate
import yaml

chart = Path(sys.argv[1])


def merged(under, over):
    """Both, as Helm puts values over those of the chart."""
    both = {**under, **over}
    return {
        name: merged(under[name], value)
        if isinstance(value, dict) and isinstance(under.get(name), dict)
        else value
        for name, value in both.items()
    }


values = merged(yaml.safe_load((chart / "values.yaml").read_text("utf-8")), json.load(sys.stdin))
jsonschema.validate(values, json.loads((chart / "values.schema.json").read_text("utf-8")))
known = {
    "Values": values,
    "Release": {"Name": "memory", "Namespace": "agents"},
    "Chart": yaml.safe_load((chart / "Chart.yaml").read_text("utf-8")),
}
parts = (chart / "templates/_parts.tpl").read_text("utf-8")
with tempfile.TemporaryDirectory() as folder:
    place = Path(folder)
    names = [path.name for path in sorted((chart / "templates").glob("*.[yt][ax][mt]*"))]
    for name in names:
        (place / name).write_text(parts + (chart / "templates" / name).read_text("utf-8"), "utf-8")
    render = ["go", "run", str(Path(__file__).with_name("render.go").resolve()), *names]
    offline = {**os.environ, "HOME": folder, "GO111MODULE": "off", "GOPROXY": "off"}
    done = subprocess.run(
        render,
        cwd=folder,
        env=offline,
        input=json.dumps(known),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
rendered = json.loads(done.stdout)
assert not [name for name in names if "<no value>" in rendered[name]]

made = [
    one for name in rendered if name.endswith(".yaml") for one in yaml.safe_load_all(rendered[name]) if one
]
for one in made:
    for version in ("1.29", "1.37"):
        kubernetes_validate.validate(one, version, strict=True)
print(json.dumps({"made": made, "notes": rendered["NOTES.txt"]}))
