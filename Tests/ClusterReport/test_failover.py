"""Point 4: masters of a cluster die under load. Point 8: a healthy master of Sentinels is replaced."""

import asyncio

import pytest
import waits
from breakages import COUNTS, Breakage, Lab, run
from cluster_acts import CLUSTER, kill_masters
from history import now
from judged import SIZE, judge, judge_failures
from sheet import Sheet
from waiting import let_pass

FLOW_SECONDS = 2


@pytest.mark.long
async def test_each_master_dies_in_turn(make_stack):
    failures = []

    async def act(lab: Lab) -> None:
        failures.extend(await kill_masters(lab))

    verdict, population = await run(Breakage("masters killed", act, after=5), make_stack(*CLUSTER, **COUNTS), size=SIZE)
    with Sheet(4) as sheet:
        judge_failures(sheet, failures, population)
        judge(sheet, "masters killed", verdict, population)


async def test_sentinels_replace_a_healthy_master(make_stack):
    asked = []

    async def act(lab: Lab) -> None:
        asked.append(now())
        await asyncio.to_thread(lab.stack.redis, "SENTINEL", "FAILOVER", "heliograph", node="sentinel#1")
        await let_pass(14, "the old master keeps its clients for 11 s")

    # With one replica, nothing would be copied until the old master is back (decision 15).
    stack = make_stack("--redis", "sentinel", "--redis-replicas", "2", **COUNTS)
    verdict, population = await run(Breakage("sentinels' manual failover", act, after=3), stack, size=SIZE)
    with Sheet(8) as sheet:
        after = [seconds for t, seconds in waits.deliveries(population.history.records) if asked[0] - 1 <= t <= asked[0] + 15]
        assert after
        sheet.at_most(f"manual failover: longest way of {len(after)} messages to users", max(after), FLOW_SECONDS, " s")
        judge(sheet, "manual failover", verdict, population)
