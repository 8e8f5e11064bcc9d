"""Keeps what was measured, by scenario and server; all runs since the last `clear`."""

import json
import os
import platform
import statistics
import subprocess
import time
from pathlib import Path

from . import network
from .paths import ROOT, WORK

RUNS = WORK / "runs.json"


def load(path: Path = RUNS) -> dict[str, dict[str, list[dict]]]:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return {}


def clear() -> None:
    RUNS.unlink(missing_ok=True)


def add(key: str, server: str, result: dict) -> None:
    runs = load()
    runs.setdefault(key, {}).setdefault(server, []).append(result | network.conditions() | {"at": int(time.time())})
    RUNS.parent.mkdir(parents=True, exist_ok=True)
    draft = RUNS.with_suffix(".new")
    draft.write_text(json.dumps(runs, indent=1) + "\n")
    os.replace(draft, RUNS)


def median(runs: dict, key: str, server: str, field: str) -> float | None:
    """The median of a number over the runs of a scenario; None when it was not measured."""
    values = [run[field] for run in runs.get(key, {}).get(server, []) if run.get(field) is not None]
    return statistics.median(values) if values else None


def ratio(runs: dict, key: str, server: str, field: str, other: str) -> float | None:
    mine, theirs = median(runs, key, server, field), median(runs, key, other, field)
    return mine / theirs if mine is not None and theirs else None


def is_whole(runs: dict, key: str, server: str) -> bool:
    return all(run.get("whole", True) for run in runs.get(key, {}).get(server, []))


def conditions(runs: dict) -> list[str]:
    """Under which congestion control and bound of open files the runs were measured; more than one when it was changed between them."""
    every = [run for by_server in runs.values() for of_server in by_server.values() for run in of_server]
    return sorted({network.described(run) for run in every if "congestion_control" in run})


def machine() -> dict:
    """The machine, its software and the commit that were measured."""
    processor = next(
        (line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
         if line.startswith("model name")), platform.machine())
    memory = int(Path("/proc/meminfo").read_text().split()[1]) // (1 << 20)
    system = next(
        (line.split("=", 1)[1].strip('"') for line in Path("/etc/os-release").read_text().splitlines()
         if line.startswith("PRETTY_NAME=")), platform.system())
    swift = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]
    commit = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    return {
        "processor": f"{os.cpu_count()} x {processor}", "memory_gib": memory, "kernel": platform.release(),
        "system": system, "swift": swift, "commit": commit, "date": time.strftime("%Y-%m-%d", time.gmtime())}
