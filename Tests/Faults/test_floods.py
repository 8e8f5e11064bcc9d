"""Attackers harm nobody: messages of others arrive in time, and gateways do not grow."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
import report
from bystanders import bystanders
from floods import ATTACKS
from history import now
from stack_control import resident_mebibytes
from waiting import let_pass

SHORT = ("unread pings", "junk resumes")
# A ring sends to many sockets by one system call, so a socket that is full or reset could hold up or end what is sent to the others.
# No other attack has many members who do not take what is sent to them, so the others would be the same with and without it.
RING = ("deaf members", "resetting members")
WITHOUT_RING = ", without the ring"
CASES = (*ATTACKS, *(name + WITHOUT_RING for name in RING))
CALM_SECONDS, FLOOD_SECONDS, READY_SECONDS = 3, 10, 90
# The bound of `make faults`; `make test` runs on machines of any speed, and only reports the delays.
P99_MS = 50
GROWTH_MIB = 128
HEAD = f"{'attack':36} {'p50 ms':>8} {'p99 ms':>8} {'worst ms':>9} {'calm p99':>9} {'refused':>8} {'gateway +MiB':>13} {'redis +MiB':>11}"


@pytest.mark.parametrize("case", [pytest.param(c, marks=() if c in SHORT else pytest.mark.long) for c in CASES])
async def test_bystanders_are_not_harmed(case: str, make_stack, monkeypatch: pytest.MonkeyPatch):
    name = case.removesuffix(WITHOUT_RING)
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_EXEMPT", "127.0.0.1/32")
    if name != case:
        monkeypatch.setenv("HELIOGRAPH_GATEWAY_IO_URING", "false")
    stack = make_stack(gateways=2)
    async with bystanders(stack) as others:
        calm = now()
        await let_pass(CALM_SECONDS, "the bystanders are measured without a flood")
        calm_p99 = others.percentile(0.99, calm)
        watched = ("gateway#1", "gateway#2", *stack.redis_masters)
        before = {member: resident_mebibytes(stack.pids[member]) for member in watched}
        attacker = await asyncio.create_subprocess_exec(
            sys.executable, str(Path(__file__).with_name("floods.py")), name, str(stack.directory / "endpoints.json"),
            stdout=asyncio.subprocess.PIPE)
        try:
            ready = await asyncio.wait_for(attacker.stdout.readline(), READY_SECONDS)
            assert ready, "the attacker ended"
            since, most = now(), dict(before)
            while now() < since + FLOOD_SECONDS:
                await let_pass(0.5, "the flood goes on, and memory is looked at now and then")
                most = {member: max(most[member], resident_mebibytes(stack.pids[member])) for member in most}
            assert attacker.returncode is None, "the attacker ended"
            p50, p99, worst = (others.percentile(share, since) for share in (0.5, 0.99, 1))
        finally:
            if attacker.returncode is None:
                attacker.kill()
            await attacker.wait()
        grown = {member: most[member] - before[member] for member in most}
        growth = max(grown["gateway#1"], grown["gateway#2"])
        in_redis = sum(grown[member] for member in watched[2:])
        report.add(
            "floods", HEAD,
            f"{case:36} {p50:8.1f} {p99:8.1f} {worst:9.1f} {calm_p99:9.1f} {len(others.refused):8} {growth:13} {in_redis:11}")
    assert not others.refused, f"bystanders were refused: {set(others.refused)}"
    assert growth < GROWTH_MIB, f"a gateway grew by {growth} MiB"
    if os.environ.get("HELIOGRAPH_FAULTS") == "all":
        assert p99 < P99_MS, f"the 99th percentile of bystanders is {p99:.0f} ms"
