"""Nothing grows for ever."""

import asyncio
import os

import report
from history import now
from soak import KEPT_TABLES, LONGEST, TABLES, Footprint, Soak, age
from stack_control import Stack
from waiting import before_next_try

LONG_SECONDS = float(os.environ.get("HELIOGRAPH_SOAK_SECONDS") or 0)
SHORT_SECONDS, WARM_SECONDS = 20, 3
# Until the sessions whose connections broke have ended (20 s), and some more.
QUIET_SECONDS = 60
# Old rows are looked for once a minute.
PRUNE_SECONDS = 150
REDIS_KIB, PROCESS_MIB = 1024, 48
# The cache of users' attributes; nothing may stay for longer.
LONGEST_MS = 24 * 3600 * 1000
HEAD = f"{'':36} {'before':>10} {'after':>10}"


async def test_nothing_is_left_behind(make_stack):
    stack = make_stack(gateways=2)
    soak = Soak(stack)
    await soak.register()
    await soak.run(WARM_SECONDS)
    await quiet(stack)
    before = await asyncio.to_thread(Footprint.of, stack, sweep=True)
    await soak.run(LONG_SECONDS or SHORT_SECONDS)
    ends = await asyncio.to_thread(stack.redis_everywhere, "EVAL", LONGEST, "0")
    longest, name = max(((int(ms), name) for ms, _, name in (answer.partition("\n") for answer in ends)))
    await quiet(stack, before)
    tables = TABLES
    if LONG_SECONDS:
        tables += KEPT_TABLES
        await asyncio.to_thread(age, stack)
        await pruned(stack, soak, before)
        await quiet(stack, before)
    after = await asyncio.to_thread(Footprint.of, stack, sweep=True)
    for what, one, other in (
        ("keys without an end", len(before.keys), len(after.keys)), ("redis KiB", before.redis_kib, after.redis_kib),
        ("entries of streams", before.entries, after.entries),
        *[(f"rows of {table}", before.rows[table], after.rows[table]) for table in tables],
        *[(f"MiB of {process}", before.processes[process], after.processes[process]) for process in before.processes],
    ):
        report.add("soak", HEAD, f"{what:36} {one:10} {other:10}")
    report.add("soak", HEAD, f"{soak.visits} visits")
    assert longest <= LONGEST_MS, f"{name} lives for {longest / 3600_000:.0f} h"
    left = sorted(after.keys - before.keys)
    assert not left, f"{len(left)} keys stay, such as {left[:5]}"
    assert after.entries <= before.entries + 10
    assert after.redis_kib < before.redis_kib + REDIS_KIB
    grown = {table: (before.rows[table], after.rows[table]) for table in tables if after.rows[table] > before.rows[table]}
    assert not grown, f"rows stay: {grown}"
    for process, memory in after.processes.items():
        assert memory < before.processes[process] + PROCESS_MIB, f"{process} grew from {before.processes[process]} to {memory} MiB"


async def quiet(stack: Stack, before: Footprint | None = None) -> Footprint:
    """Waits until nobody is online and the footprint has stopped changing, at most QUIET_SECONDS; returns the footprint."""
    deadline = now() + QUIET_SECONDS
    last = None
    while True:
        await before_next_try(2)
        found = await asyncio.to_thread(Footprint.of, stack)
        empty = not stack.sql("select 1 from online_users union all select 1 from channel_member_list")
        steady = last is not None and (found.keys, found.rows) == (last.keys, last.rows)
        same = before is None or (found.keys <= before.keys and all(found.rows[t] <= before.rows[t] for t in TABLES))
        if empty and steady and same or now() > deadline:
            return found
        last = found


async def pruned(stack: Stack, soak: Soak, before: Footprint) -> None:
    """Waits until old rows are deleted. Users have to act now and then, because old rows are only looked for while something happens."""
    deadline = now() + PRUNE_SECONDS
    while now() < deadline:
        found = await asyncio.to_thread(Footprint.of, stack)
        if all(found.rows[table] <= before.rows[table] for table in KEPT_TABLES):
            return
        await soak.run(0.1)
        await asyncio.to_thread(age, stack)
        await before_next_try(5)
