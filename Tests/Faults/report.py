"""The suite's report: one line per breakage, on the terminal and in a file."""

import os
from pathlib import Path

from checker import DEFECTS, Verdict
from stack_control import ROOT

FOLDER = Path(os.environ.get("HELIOGRAPH_FAULTS_DIR") or ROOT / ".build" / "faults")
COLUMNS = ("sent", "acknowledged", *DEFECTS, "forgiven", "s to heal")
WIDTH = 52


def header() -> str:
    return f"{'breakage':{WIDTH}}" + "".join(f" {name:>{max(6, len(name))}}" for name in COLUMNS)


def line(name: str, verdict: Verdict) -> str:
    values = [verdict.sent, verdict.acknowledged, *(verdict.defects[defect] for defect in DEFECTS), verdict.forgiven,
              f"{verdict.heal:.1f}"]
    return f"{name:{WIDTH}}" + "".join(
        f" {value:>{max(6, len(column))}}" for column, value in zip(COLUMNS, values, strict=True))


def write(file: str, text: str) -> None:
    """Adds a line to a file of the report."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / file).open("a") as output:
        output.write(text + "\n")


shown: dict[str, list[str]] = {}
"""The tables that are printed at the end, by title."""


def add(title: str, head: str, text: str) -> None:
    """One line of one table, for the terminal and for the file of that name."""
    if title not in shown:
        shown[title] = [head]
        write(f"{title}.txt", head)
    shown[title].append(text)
    write(f"{title}.txt", text)
