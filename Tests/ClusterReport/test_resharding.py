"""Point 6: slots move under load, and back, also when the tool is killed in the midst. Point 7: masters without functions."""

from collections.abc import Awaitable, Callable

import pytest
from breakages import COUNTS, Breakage, Lab, run
from cluster_acts import CLUSTER, delete_library, flush_functions, kill_masters, make_empty_master, move, move_aborted, repair
from history import now
from judged import SIZE, judge, judge_failures, judge_move, judge_pairs
from pair_load import Sent, pairs_beside
from redis_nodes import RedisNodes
from sheet import Sheet
from waiting import let_pass

# What is done to the servers; returns numbers for the report.
Act = Callable[[RedisNodes], Awaitable[dict[str, object]]]


async def there_and_back(nodes: RedisNodes, count: int) -> dict[str, object]:
    away = await move(nodes, "redis#1", "redis#2", count)
    back = await move(nodes, "redis#2", "redis#1", count)
    return {"seconds there and back": f"{away:.1f}, {back:.1f}"}


async def under_pairs(name: str, act: Act, make_stack, point: int) -> None:
    """Does something under both loads, and judges both."""
    sent: list[Sent] = []
    notes: dict[str, object] = {}
    during: list[float] = []

    async def both(lab: Lab) -> None:
        async with pairs_beside(lab.stack, sent):
            during.append(now())
            notes.update(await act(RedisNodes(lab.stack)))
            during.append(now())

    verdict, population = await run(Breakage(name, both, after=3), make_stack(*CLUSTER, **COUNTS), size=SIZE)
    with Sheet(point) as sheet:
        for text, measured in notes.items():
            sheet.note(f"{name}: {text}", measured)
        judge_pairs(sheet, name, sent[0])
        if point == 6:
            judge_move(sheet, name, sent[0], (during[0], during[1]), population)
        judge(sheet, name, verdict, population)


@pytest.mark.long
async def test_slots_move_and_back(make_stack):
    await under_pairs("4,000 slots moved and back", lambda nodes: there_and_back(nodes, 4_000), make_stack, 6)


@pytest.mark.long
async def test_a_move_is_aborted(make_stack):
    async def act(nodes: RedisNodes) -> dict[str, object]:
        moved = await move_aborted(nodes, "redis#1", "redis#2", 4_000)
        await let_pass(3, "users go on with a slot in migration")
        await repair(nodes)
        await move(nodes, "redis#2", "redis#1", moved)
        return {"slots that had moved": moved}

    await under_pairs("a move aborted", act, make_stack, 6)


@pytest.mark.long
async def test_functions_are_missing(make_stack):
    async def act(nodes: RedisNodes) -> dict[str, object]:
        await flush_functions(nodes, 3)
        library = await delete_library(nodes, "redis#1", 3)
        # The replica of another master becomes a master of its own.
        await make_empty_master(nodes, "redis#6")
        await move(nodes, "redis#1", "redis#6", 1_000)
        await move(nodes, "redis#6", "redis#1", 1_000)
        return {"library that was deleted": library}

    await under_pairs("functions missing", act, make_stack, 7)


@pytest.mark.short
async def test_functions_are_flushed_slots_move_and_a_master_dies(make_stack):
    """One run for the short form of points 4, 6 and 7."""
    sent: list[Sent] = []
    during, failures = [], []

    async def act(lab: Lab) -> None:
        nodes = RedisNodes(lab.stack)
        async with pairs_beside(lab.stack, sent):
            during.append(now())
            await flush_functions(nodes, 0.5)
            await there_and_back(nodes, 100)
            during.append(now())
        failures.extend(await kill_masters(lab, ["redis#2"]))

    verdict, population = await run(Breakage("in short", act, after=3), make_stack(*CLUSTER, **COUNTS), size=SIZE)
    with Sheet(4) as failure, Sheet(6) as sheet:
        judge_pairs(sheet, "functions flushed, 100 slots moved", sent[0])
        judge_move(sheet, "functions flushed, 100 slots moved", sent[0], (during[0], during[1]), population)
        judge_failures(failure, failures, population, strictly=False)
        judge(sheet, "in short", verdict, population)
