"""Every breakage under load: no message lost, no session ended, no ghosts."""

import pytest
import report
from breakages import BREAKAGES, COUNTS, Breakage, run


def marks(breakage: Breakage) -> list[pytest.MarkDecorator]:
    found = [] if breakage.short else [pytest.mark.long]
    return [*found, pytest.mark.single_redis(breakage.single_redis)] if breakage.single_redis else found


@pytest.mark.parametrize("breakage", [pytest.param(b, id=b.name, marks=marks(b)) for b in BREAKAGES])
async def test_breakage(breakage: Breakage, make_stack):
    stack = make_stack(*breakage.options, **COUNTS)
    verdict, population = await run(breakage, stack)
    report.add("breakages", report.header(), report.line(breakage.name, verdict))
    name = breakage.name.replace(" ", "-").replace("'", "").replace(",", "").replace(":", "")
    population.history.save(report.FOLDER / f"{name}.jsonl")
    report.write(f"{name}.txt", "\n".join(verdict.notes) or "clean")
    assert verdict.clean, f"{dict(verdict.defects)}:\n" + "\n".join(verdict.notes[:40])
