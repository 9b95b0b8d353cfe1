"""The dashboard and the alerts in deploy/grafana ask only for what a server tells at /metrics."""

from __future__ import annotations

import json
import re

import httpx
import pytest
import yaml

from deploy.image import ROOT
from souvenance.surfaces.http.telemetry.metrics import Metrics
from surfaces.door import PATIENCE_SECONDS, serving

DASHBOARD = json.loads((ROOT / "deploy/grafana/souvenance.json").read_text("utf-8"))
ALERTS = yaml.safe_load((ROOT / "deploy/grafana/alerts.yaml").read_text("utf-8"))
PAGE = (ROOT / "docs/reference/metrics.md").read_text("utf-8")
ADDED = {"instance", "le"}
"""Labels that Prometheus adds, and those of a histogram."""
_METRIC = re.compile(r"\b((?:souvenance|process)_\w+)(\{[^}]*\})?")
_LABEL = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"')
_BY = re.compile(r"\bby \(([^)]*)\)")


def expressions():
    panels = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    return [*panels, *(rule["expr"] for group in ALERTS["groups"] for rule in group["rules"])]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The kinds of the metrics of a server that was used, by name."""
    with serving(tmp_path_factory.mktemp("dashboard") / "home", SOUVENANCE_METRICS="1") as server:
        server.owner.post("/v1/memory/put", json={"text": "The boiler is serviced in May."})
        text = httpx.get(f"{server.url}/metrics", trust_env=False, timeout=PATIENCE_SECONDS).text
    return dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))


def labels_of(metric):
    """The labels that a server gives the metric."""
    return set(getattr(Metrics().all.get(metric), "_labelnames", ())) | ADDED


def base_of(name, told):
    """The metric that a series belongs to. A histogram is asked for by its buckets."""
    base = name.removesuffix("_bucket")
    assert base in told, name
    assert (told[base] == "histogram") is (base != name), name
    return base


@pytest.mark.parametrize("expression", expressions())
def test_every_metric_and_every_label_of_an_expression_is_there(told, expression):
    asked = _METRIC.findall(expression)
    assert asked and expression.count("(") == expression.count(")")
    grouped = {one.strip() for by in _BY.findall(expression) for one in by.split(",")}
    for name, selector in asked:
        assert set(_LABEL.findall(selector)) | grouped <= labels_of(base_of(name, told))
        counts = told[base_of(name, told)] in ("counter", "histogram")
        assert counts is (f"rate({name}" in expression), "counters are asked for by their rate, and only they"


def test_every_legend_names_labels_of_its_panel(told):
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            metric = base_of(_METRIC.search(target["expr"])[1], told)
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= labels_of(metric), panel[
                "title"
            ]


def test_the_dashboard_shows_every_metric_of_ours(told):
    asked = {base_of(name, told) for one in expressions() for name, _ in _METRIC.findall(one)}
    assert {one for one in told if one.startswith("souvenance_")} <= asked


def test_no_two_panels_lie_on_each_other_and_each_asks_the_source_that_is_chosen():
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in DASHBOARD["panels"]]
    assert len(set(places)) == len(places)
    assert {panel["datasource"]["uid"] for panel in DASHBOARD["panels"]} == {"${source}"}


def test_every_metric_that_a_page_names_is_there(told):
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))
    named = {name for name, _ in _METRIC.findall(pages)}
    assert named and named <= told.keys()


def test_every_alert_is_listed_in_the_page():
    names = {rule["alert"] for group in ALERTS["groups"] for rule in group["rules"]}
    assert set(re.findall(r"`(Souvenance\w+)`", PAGE)) == names
