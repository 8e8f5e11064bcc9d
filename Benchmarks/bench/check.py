"""Fails when a ratio is worse than the baseline's by more than noise."""

import json

from . import micro, results
from .goals import OURS, goals
from .paths import BENCHMARKS, BenchError

BASELINE = BENCHMARKS / "baseline.json"


def keep() -> None:
    """Makes the ratios of the kept runs and the counts of the last micro-benchmarks the baseline."""
    known = [goal for goal in goals(results.load()) if goal.value is not None and goal.is_guarded]
    ratios = {goal.guard_name: round(goal.guard, 3) for goal in known}
    counts = {
        row["name"]: {"instructions": row["instructions"], "allocations": row["allocations"]} for row in micro.kept()}
    BASELINE.write_text(json.dumps({"ratios": ratios, "micro": counts}, indent=2) + "\n")


def _baseline() -> dict:
    try:
        return json.loads(BASELINE.read_text())
    except FileNotFoundError:
        raise BenchError("there is no baseline: `Benchmarks/run baseline` keeps the present results as one") from None


def regressions() -> list[str]:
    """The ratios of the kept runs that are worse than the baseline's by more than noise."""
    baseline = _baseline()["ratios"]
    runs = results.load()
    found = [
        f"{key}: messages were lost, out of order or refused"
        for key in runs if OURS in runs[key] and not results.is_whole(runs, key, OURS)]
    for goal in goals(runs):
        known = baseline.get(goal.guard_name)
        if known is None or goal.value is None or not goal.is_guarded:
            continue
        bound = known * (1 + goal.tolerance)
        if goal.guard > bound:
            found.append(f"{goal.guard_name}: {goal.guard:.2f}, baseline {known:.2f}, at most {bound:.2f} with noise")
    return found


def micro_regressions() -> list[str]:
    """The counts of the last micro-benchmarks that are worse than the baseline's by more than noise."""
    return micro.regressions(_baseline().get("micro", {}))
