"""Point 6, with many users at one gateway: what it renews when slots move does not hold its other users up."""

import asyncio
import json
import os
import resource
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from bystanders import bystanders
from cluster_acts import CALM_SECONDS, CLUSTER, move
from history import now
from redis_nodes import RedisNodes
from sheet import Sheet
from stack_control import BINARIES, Stack
from waiting import eventually, let_pass
from web import metric

USERS, LOGINS_PER_SECOND = 20_000, 400
LOGIN_SECONDS = 240
OTHER_FILES = 500
WORST_MS = 1_000


@asynccontextmanager
async def crowd(stack: Stack, users: int) -> AsyncIterator[dict]:
    """Users who are logged in and mostly silent; afterwards what `heliographctl bench` says of them."""
    environment = os.environ | {
        "HELIOGRAPH_POSTGRES_URL": stack.endpoints["postgres"]["url"], "HELIOGRAPH_REDIS_URL": stack.endpoints["redis"]["url"]}
    process = await asyncio.create_subprocess_exec(
        str(BINARIES / "heliographctl"), "bench", f"--users={users}", f"--logins-per-second={LOGINS_PER_SECOND}", "--rate=20",
        "--seconds=3600", "--json", env=environment, stdout=asyncio.subprocess.PIPE)
    said: dict = {}
    try:
        gateway = stack.endpoints["gateways"][0]["http"]
        await eventually(
            lambda: process.returncode is not None or metric(gateway, "heliograph_gateway_sessions") >= users,
            "all users are logged in", LOGIN_SECONDS)
        assert process.returncode is None, "the users could not log in"
        yield said
        process.send_signal(signal.SIGINT)
        said |= json.loads((await process.communicate())[0])
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.long
async def test_slots_move_beside_many_sessions(make_stack, monkeypatch):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    # The gateway has a few hundred files besides: the bystanders, Redis, its log.
    users = min(USERS, most - OTHER_FILES)
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_EXEMPT", "127.0.0.1/32")
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_CONNECTIONS", str(users + OTHER_FILES))
    stack = make_stack(*CLUSTER, gateways=1)
    nodes = RedisNodes(stack)
    name = f"{users} users at one gateway, 4,000 slots moved and back"
    async with bystanders(stack) as others:
        async with crowd(stack, users) as said:
            calm = now()
            await let_pass(CALM_SECONDS, "the bystanders are measured while no slot moves")
            calm_p99 = others.percentile(0.99, calm)
            begun = now()
            await move(nodes, "redis#1", "redis#2", 4_000)
            await move(nodes, "redis#2", "redis#1", 4_000)
            seconds = now() - begun
            p99, worst = others.percentile(0.99, begun), others.percentile(1, begun)
    with Sheet(6) as sheet:
        sheet.note(f"{name}: seconds; others' p99 before, and meanwhile", f"{seconds:.0f}; {calm_p99:.1f} ms, {p99:.1f} ms")
        sheet.at_most(f"{name}: slowest message of others", worst, WORST_MS, " ms")
        sheet.none(f"{name}: others' messages refused", others.refused)
        sheet.none(f"{name}: users lost", said["lostUsers"])
