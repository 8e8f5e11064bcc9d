"""The rules and dashboards of Docs/monitoring."""

import json
from pathlib import Path

import yaml
from stack_control import ROOT

MONITORING = ROOT / "Docs" / "monitoring"
DASHBOARDS = sorted((MONITORING / "grafana").glob("*.json"))


def rules() -> list[dict]:
    return yaml.safe_load((MONITORING / "alerts.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]


def queries(dashboard: Path) -> list[str]:
    """The expressions of a dashboard's panels."""
    panels = json.loads(dashboard.read_text(encoding="utf-8"))["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", [])]
