"""The micro-benchmarks: CPU time, allocations and instructions of the hot path's parts."""

import json
import re
import subprocess

from .paths import ROOT, TOOLS, WORK, BenchError, tool

# Iterations of two runs: instructions are counted as their difference, so that those of the start-up do not count.
FEW, MANY = 500, 1500
BUILT = ROOT / ".build" / "release" / "Micro"
# valgrind cannot read the debug information of newer compilers.
STRIPPED = TOOLS / "Micro"
KEPT = WORK / "micro.json"
# Counts are nearly the same each time; compilers and libraries differ a little.
INSTRUCTIONS_TOLERANCE, ALLOCATIONS_TOLERANCE = 0.15, 0.5


def build() -> None:
    done = subprocess.run(
        [ROOT / "Scripts" / "build-programs", "--product", "Micro"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"the micro-benchmarks do not build:\n{done.stdout[-4000:]}")
    TOOLS.mkdir(parents=True, exist_ok=True)
    subprocess.run([tool("strip"), "-g", "-o", STRIPPED, BUILT], check=True)


def measure() -> list[dict]:
    done = subprocess.run([BUILT], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"the micro-benchmarks ended with {done.returncode}:\n{done.stderr[-2000:]}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    for row in rows:
        row["instructions"] = round((_count(row["name"], MANY) - _count(row["name"], FEW)) / (MANY - FEW))
    KEPT.write_text(json.dumps(rows, indent=1) + "\n")
    return rows


def _count(name: str, count: int) -> int:
    done = subprocess.run(
        [tool("valgrind"), "--tool=callgrind", "--callgrind-out-file=/dev/null", STRIPPED, name, str(count)],
        capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if not found:
        raise BenchError(f"callgrind says nothing of {name}:\n{done.stderr[-2000:]}")
    return int(found[1])


def kept() -> list[dict]:
    """The last measurement's rows."""
    try:
        return json.loads(KEPT.read_text())
    except FileNotFoundError:
        return []


def table(rows: list[dict]) -> list[str]:
    return ["| | ns | allocations | instructions |", "| --- | --- | --- | --- |"] + [
        f"| {row['name']} | {row['ns']:,.0f} | {row['allocations']:g} | {row['instructions']:,} |" for row in rows]


def regressions(baseline: dict[str, dict]) -> list[str]:
    """What needs more instructions or allocations than it did."""
    found = []
    for row in kept():
        known = baseline.get(row["name"])
        if known and row["instructions"] > known["instructions"] * (1 + INSTRUCTIONS_TOLERANCE):
            found.append(f"{row['name']}: {row['instructions']} instructions, baseline {known['instructions']}")
        if known and row["allocations"] > known["allocations"] + ALLOCATIONS_TOLERANCE:
            found.append(f"{row['name']}: {row['allocations']} allocations, baseline {known['allocations']}")
    return found
