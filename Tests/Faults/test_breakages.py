"""Every breakage under load: no message lost, no session ended, no ghosts."""

import pytest
import report
from breakages import BREAKAGES, COUNTS, Breakage, run


@pytest.mark.parametrize(
    "breakage", [pytest.param(b, id=b.name, marks=() if b.short else pytest.mark.long) for b in BREAKAGES])
async def test_breakage(breakage: Breakage, make_stack):
    stack = make_stack(*breakage.options, **COUNTS)
    verdict, population = await run(breakage, stack)
    report.add("breakages", report.header(), report.line(breakage.name, verdict))
    name = breakage.name.replace(" ", "-").replace("'", "").replace(",", "").replace(":", "")
    population.history.save(report.FOLDER / f"{name}.jsonl")
    report.write(f"{name}.txt", "\n".join(verdict.notes) or "clean")
    assert verdict.clean, f"{dict(verdict.defects)}:\n" + "\n".join(verdict.notes[:40])
