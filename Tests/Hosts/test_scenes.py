"""Every scene under load, by the rules of Tests/Faults and by what hosts add to them."""

import asyncio
import os
import random

import pytest
import report
from breakages import COUNTS, Breakage, run
from scenes import GATEWAYS, MASTERS, SCENES, Network, Scene
from waits import master_of, patience

# Seconds after which PostgreSQL's lists must equal Redis' when nobody acts any more.
MIRROR_SECONDS = 5


@pytest.mark.parametrize(
    "scene", [pytest.param(s, id=f"{s.redis}: {s.name}", marks=() if s.short else pytest.mark.long) for s in SCENES])
async def test_scene(scene: Scene, make_stack, monkeypatch: pytest.MonkeyPatch):
    seed = os.environ.get("HELIOGRAPH_SEED") or str(random.randrange(2**32))
    random.seed(seed)
    monkeypatch.setenv("HELIOGRAPH_WIRE_SEED", str(random.randrange(2**32)))
    stack = make_stack("--hosts", "--redis", scene.redis, *scene.options, **COUNTS | {"gateways": GATEWAYS, "sip_bridge": 0})
    await asyncio.to_thread(scene.prepare, stack)
    breakage = Breakage(scene.name, lambda lab: scene.act(Network(lab, scene.redis)), after=scene.after)
    verdict, population = await run(breakage, stack)
    records = population.history.records
    if scene.redis == "cluster" and set(scene.troubled) < set(MASTERS):
        app_id = stack.open_app.id
        for defect, text in patience(records, lambda account: master_of(app_id, account) not in scene.troubled):
            verdict.add(defect, text)
    for audit in records:
        if audit["kind"] == "audit" and audit["what"].startswith("psql") and (audit["after"] or 0) > MIRROR_SECONDS:
            verdict.add("other", f"{audit['what']} was right only after {audit['after']:.0f} s")
    name = f"{scene.redis}: {scene.name}"
    report.add("scenes", f"{report.header()} seed", f"{report.line(name, verdict)} {seed}")
    file = "".join(letter if letter.isalnum() else "-" for letter in name)
    population.history.save(report.FOLDER / f"{file}.jsonl")
    report.write(f"{file}.txt", "\n".join([f"seed {seed}", *verdict.notes]))
    assert verdict.clean, f"HELIOGRAPH_SEED={seed}: {dict(verdict.defects)}:\n" + "\n".join(verdict.notes[:40])
