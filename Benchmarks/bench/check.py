"""The micro-benchmarks' counts that the next ones are compared with."""

import json

from . import micro
from .paths import BENCHMARKS, BenchError

BASELINE = BENCHMARKS / "baseline.json"


def keep() -> None:
    """Makes the counts of the last micro-benchmarks the baseline."""
    counts = {row["name"]: {"instructions": row["instructions"], "allocations": row["allocations"]} for row in micro.kept()}
    BASELINE.write_text(json.dumps(counts, indent=2) + "\n")


def micro_regressions() -> list[str]:
    """The counts of the last micro-benchmarks that are worse than the baseline's by more than compilers and libraries differ."""
    try:
        known = json.loads(BASELINE.read_text())
    except FileNotFoundError:
        raise BenchError("there is no baseline: `Benchmarks/run baseline` keeps the last micro-benchmarks as one") from None
    return micro.regressions(known)
