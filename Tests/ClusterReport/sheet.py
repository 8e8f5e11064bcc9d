"""The report: a row for each number of a point, with its bound, and whether it holds."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from stack_control import BINARIES, ROOT

FILE = ROOT / ".build" / "cluster-report" / "report.md"
# The points that other tests show.
ELSEWHERE = (
    "Other points: 1 (the same tests on every kind of Redis) `make test-sentinel`, `make test-cluster`; 9 (PostgreSQL) "
    "PostgresFailoverTests, test_postgres_failover.py, of `make test`; 10 (releases side by side) `make upgrade`. What came of the last "
    "full runs: Tests/RESULTS.md.")
SEED = int(os.environ.get("HELIOGRAPH_CLUSTER_REPORT_SEED") or 13)


@dataclass(frozen=True)
class Row:
    point: int
    text: str
    measured: str
    bound: str
    holds: bool | None
    """None for a number without a bound."""

    def __str__(self) -> str:
        verdict = {True: "yes", False: "**no**", None: ""}[self.holds]
        return f"| {self.point} | {self.text} | {self.measured} | {self.bound} | {verdict} |"


rows: list[Row] = []


class Sheet:
    """The rows of one point. As a context, it fails at the end when a bound doesn't hold, so that the other rows are written first."""

    def __init__(self, point: int):
        self.point = point
        self._own: list[Row] = []

    def __enter__(self) -> "Sheet":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            failed = [f"{row.text}: {row.measured}, but {row.bound}" for row in self._own if row.holds is False]
            assert not failed, "\n".join(failed)

    def note(self, text: str, measured: object) -> None:
        """A number without a bound."""
        self._add(text, measured, "", None)

    def at_most(self, text: str, value: float, bound: float, unit: str = "") -> None:
        self._add(text, f"{_shown(value)}{unit}", f"at most {bound:g}{unit}", value <= bound)

    def at_least(self, text: str, value: float, bound: float, unit: str = "") -> None:
        self._add(text, f"{_shown(value)}{unit}", f"at least {bound:g}{unit}", value >= bound)

    def none(self, text: str, found: list | int, of: int | None = None) -> None:
        """What must not occur; the first finds are shown."""
        count = found if isinstance(found, int) else len(found)
        examples = "" if isinstance(found, int) or not found else ": " + "; ".join(map(str, found[:3]))
        self._add(text, f"{count}{'' if of is None else f' of {of}'}{examples}", "none", count == 0)

    def _add(self, text: str, measured: object, bound: str, holds: bool | None) -> None:
        row = Row(self.point, text, str(measured), bound, holds)
        rows.append(row)
        self._own.append(row)


def _shown(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3g}"


def write() -> str:
    """Writes the report of this run to a file as well."""
    commit = _first_line("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    redis = _first_line("redis-server", "--version").split(" sha")[0]
    failed = sum(row.holds is False for row in rows)
    text = "\n".join([
        f"Commit {commit}, programs of {BINARIES}, {redis}, {os.cpu_count()} cores; seed {SEED}; "
        f"command: HELIOGRAPH_CLUSTER_REPORT_SEED={SEED} make cluster-report", "",
        "| point | what | measured | bound | holds |", "| --- | --- | --- | --- | --- |",
        *map(str, sorted(rows, key=lambda row: row.point)), "",
        ELSEWHERE, f"{failed} bounds do not hold" if failed else "all bounds hold"]) + "\n"
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(text)
    return text


def _first_line(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout.splitlines() or [""])[0]
