"""What a process says about its metrics, and the page that lists them all."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from stack_control import ROOT, Stack
from web import fetch

PAGE = ROOT / "Docs" / "monitoring" / "metrics.md"
WRITES = "HELIOGRAPH_WRITE_METRICS"
SAMPLE = re.compile(r"([a-z_]+)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-z_]+)="(?:[^"\\]|\\.)*"')
# What Prometheus makes of a histogram.
PARTS = ("_bucket", "_sum", "_count")

HEAD = """# Metrics

Every process shows these at `/metrics` of its admin listener, all of them from its start on, with 0 until something has happened.
Written by `Scripts/metrics-doc` from what the processes of a cluster show; a test compares both. A histogram has the series
`_bucket`, `_sum` and `_count`. The bounds that counters belong to are in [bounds.md](../bounds.md), the alerts in
[alerts.yml](alerts.yml), and what to do about them in [runbooks.md](runbooks.md).

| metric | type | labels | processes | meaning |
| --- | --- | --- | --- | --- |
"""


@dataclass
class Family:
    """One metric, with all its series."""

    name: str
    kind: str
    help: str
    labels: set[str] = field(default_factory=set)
    values: list[float] = field(default_factory=list)
    processes: set[str] = field(default_factory=set)

    @property
    def series(self) -> set[str]:
        """The names under which Prometheus stores it."""
        return {self.name + part for part in PARTS} if self.kind == "histogram" else {self.name}


def scraped(base: str) -> str:
    with fetch(f"{base}/metrics") as answer:
        return answer.read().decode()


def families(text: str) -> dict[str, Family]:
    """The metrics of one scrape by name. Fails for a line that belongs to none."""
    found: dict[str, Family] = {}
    helps: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            _, _, name, text = line.split(" ", 3)
            helps[name] = text
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            found[name] = Family(name, kind, helps[name])
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            name, labels, value = match.groups()
            family = found.get(name) or found[re.sub(r"_(bucket|sum|count)$", "", name)]
            assert name in family.series, line
            family.labels |= set(LABEL.findall(labels or "")) - {"le"}
            family.values.append(float(value))
    return found


def of_stack(stack: Stack) -> dict[str, Family]:
    """The metrics of all processes of a cluster, with the kinds of processes that show them."""
    merged: dict[str, Family] = {}
    for member in stack.endpoints["gateways"] + stack.endpoints["services"]:
        for name, family in families(scraped(member["http"])).items():
            known = merged.setdefault(name, family)
            assert (known.kind, known.help) == (family.kind, family.help), name
            known.labels |= family.labels
            known.processes.add(member["name"].partition("#")[0])
    return merged


def page(found: dict[str, Family]) -> str:
    """The page for these metrics."""
    kinds = {kind for family in found.values() for kind in family.processes}
    lines = [HEAD]
    for name, family in sorted(found.items()):
        labels = ", ".join(f"`{label}`" for label in sorted(family.labels))
        processes = "all" if family.processes == kinds else ", ".join(sorted(family.processes))
        lines.append(f"| `{name}` | {family.kind} | {labels} | {processes} | {family.help} |\n")
    return "".join(lines)


def check_or_write(path: Path, wanted: str) -> None:
    """Compares the page, or writes it when Scripts/metrics-doc has asked for that."""
    if os.environ.get(WRITES):
        path.write_text(wanted, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == wanted, f"{path.name} is out of date: run Scripts/metrics-doc"
