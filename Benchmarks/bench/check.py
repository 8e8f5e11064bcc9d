"""The counts that the next ones are compared with: of the micro-benchmarks, and of what connections keep."""

import json

from . import live, micro
from .paths import BENCHMARKS, BenchError

BASELINE = BENCHMARKS / "baseline.json"


def keep() -> None:
    """Makes the last counts the baseline; those of a kind that was not counted stay as they are."""
    of_micro = {row["name"]: {"instructions": row["instructions"], "allocations": row["allocations"]} for row in micro.kept()}
    of_live = {row["name"]: {"blocks": row["blocks"], "bytes": row["bytes"]} for row in live.kept()}
    if not of_micro and not of_live:
        raise BenchError("nothing was counted: `Benchmarks/run micro` and `Benchmarks/run live` do it")
    known = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    of_micro = of_micro or {name: counts for name, counts in known.items() if name not in live.KINDS}
    of_live = of_live or {name: counts for name, counts in known.items() if name in live.KINDS}
    BASELINE.write_text(json.dumps(of_micro | of_live, indent=2) + "\n")


def _baseline() -> dict[str, dict]:
    try:
        return json.loads(BASELINE.read_text())
    except FileNotFoundError:
        raise BenchError("there is no baseline: `Benchmarks/run baseline` keeps the last counts as one") from None


def micro_regressions() -> list[str]:
    """The counts of the last micro-benchmarks that are worse than the baseline's by more than compilers and libraries differ."""
    return micro.regressions(_baseline())


def live_regressions() -> list[str]:
    """The last counts of what connections keep that are worse than the baseline's."""
    return live.regressions(live.kept(), _baseline())
