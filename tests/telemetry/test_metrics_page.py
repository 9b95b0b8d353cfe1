"""The page of the metrics says what is counted, all of it and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from souvenance.surfaces.http.telemetry.metrics import Metrics

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
ROW = re.compile(r"^\| `(souvenance_\w+)` \| (\w+) \| ([\w, ]*) \| (.*) \|$", re.M)


def test_every_metric_is_in_the_page_with_its_kind_its_labels_and_its_meaning():
    told = {name: rest for name, *rest in ROW.findall(PAGE.read_text("utf-8"))}
    counted = {}
    for one in Metrics().all.values():
        if hasattr(one, "describe") and hasattr(one, "_labelnames"):
            (about,) = one.describe()
            name = f"{about.name}_total" if about.type == "counter" else about.name
            counted[name] = [about.type, ", ".join(one._labelnames), about.documentation]
    assert len(counted) > 20
    assert told == counted


def test_every_alert_of_the_page_is_about_a_metric_that_there_is():
    text = PAGE.read_text("utf-8")
    known = {name for name, *_ in ROW.findall(text)}
    assert set(re.findall(r"souvenance_\w+", text.partition("## Worth an alert")[2])) <= known
