"""Processes that start while a master of a Redis Cluster is away for good serve what belongs to the other masters."""

import asyncio
import os
import re
import signal
import time

import pytest
from acts import insists, mail_barrier
from answers import LoginRefused
from masters import MASTERS, master_of, named, readiness
from signaling import Client
from stack_control import Stack, is_running
from waiting import before_next_try, eventually

# A process waits for a failover before it starts without the master: commands fail after 7 s.
START_SECONDS = 15
BACK_SECONDS = 20
# A gateway whose lease belongs to the dead master does not start, and its id is drawn anew at each start.
STARTS = 8
UNCHECKED = "ok, but the layout and the levels are not checked yet: their master is away"


async def start(stack: Stack, name: str, dead: int) -> float:
    """Starts a process while a master is away; the seconds until it is ready."""
    for _ in range(STARTS):
        begin = time.monotonic()
        starting = asyncio.create_task(asyncio.to_thread(stack.run, "start", name, check=False))
        done, _ = await asyncio.wait([starting], timeout=START_SECONDS)
        if done:
            assert starting.result().returncode == 0, starting.result().stderr
            return time.monotonic() - begin
        os.kill(stack.pids[name], signal.SIGKILL)
        await starting
        gateways = re.findall(r'"gateway":"([^"]+)"', stack.run("logs", name).stdout)
        assert gateways and master_of(f"g:{gateways[-1]}", is_user=False) == dead, f"{name} is not ready after {START_SECONDS} s"
    raise AssertionError(f"{name} did not start in {STARTS} attempts")


async def log_in(client: Client, gateway: str, seconds: float) -> None:
    """Tries until it succeeds: what users do during an outage."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            await client.login(gateway)
            return
        except (LoginRefused, TimeoutError) as failure:
            assert time.monotonic() < deadline, f"{client.account} still cannot log in: {failure!r}"
        await before_next_try(0.2)


async def talk(client: Client, room: str) -> None:
    """Does what needs presence, channel-state and the master of the user and the room."""
    await client.join(room)
    await client.say(room, "said at the new gateway")
    await mail_barrier(client)
    await client.leave(room)


@pytest.mark.parametrize("has_records", [False, True], ids=["users", "records"])
async def test_processes_start_without_a_master(make_stack, people, has_records):
    """The dead master has users only, or also the layout, the levels and the list of gateways."""
    stack: Stack = make_stack("--redis", "cluster", "--redis-replicas", "0", gateways=2, sip_bridge=0)
    dead = master_of("control", is_user=False) if has_records else 0
    others = [master for master in range(MASTERS) if master != dead]
    services = [member for member in stack.endpoints["services"] if member["name"] in ("presence#1", "channel-state#1")]
    for name in ("gateway#2", *(member["name"] for member in services)):
        await asyncio.to_thread(stack.kill, name)
    await asyncio.to_thread(stack.kill, f"redis#{dead + 1}")

    for member in services:
        await start(stack, member["name"], dead)
    assert await start(stack, "gateway#2", dead) < START_SECONDS
    gateway = stack.endpoints["gateways"][1]
    port = stack.endpoints["redis"]["nodes"][dead]["port"]
    for process in (gateway, *services):
        assert await asyncio.to_thread(readiness, process["http"]) == (200, f"ok, but no answer from 127.0.0.1:{port}, of 3 masters")
        assert await asyncio.to_thread(readiness, process["http"], "cluster") == (200, UNCHECKED if has_records else "ok")
    before = dict(stack.pids)

    async with people(stack) as cast:
        for master in others:
            user = cast.exactly(named(stack, "u", master))
            await log_in(user, gateway["ws"], START_SECONDS)
            await talk(user, named(stack, "c", master))
        homeless = cast.exactly(named(stack, "u", dead))
        with pytest.raises(LoginRefused):
            await homeless.login(gateway["ws"])

        await asyncio.to_thread(stack.start, f"redis#{dead + 1}")
        back = cast.exactly(named(stack, "u", dead))
        await log_in(back, gateway["ws"], BACK_SECONDS)
        room = named(stack, "c", dead)
        await insists(back, "channel_join", name=room)
        await insists(back, "channel_sendmsg", name=room, msg="said at the master that is back")
        await mail_barrier(back)
        await eventually(lambda: joined(gateway, *services), "nothing is missing", BACK_SECONDS)
    assert {name: pid for name, pid in stack.pids.items() if name in before and before[name] != pid} == {}
    said = stack.run("logs", "gateway#2").stdout
    assert said.count("starting without them") == has_records


async def test_processes_end_when_the_layout_turns_out_to_be_another(make_stack):
    """They have started while its master was away."""
    stack: Stack = make_stack("--redis", "cluster", "--redis-replicas", "0", gateways=2, sip_bridge=0)
    dead = master_of("control", is_user=False)
    names = ("presence#1", "gateway#2")
    await asyncio.to_thread(stack.redis, "HSET", "{control}layout", "partitions", "48")
    for name in (*names, f"redis#{dead + 1}"):
        await asyncio.to_thread(stack.kill, name)
    for name in names:
        await start(stack, name, dead)
    pids = [stack.pids[name] for name in names]
    await asyncio.to_thread(stack.start, f"redis#{dead + 1}")
    await eventually(lambda: not any(is_running(pid) for pid in pids), "both have ended", BACK_SECONDS)
    for name in names:
        last = stack.run("logs", name).stdout.splitlines()[-1]
        assert "stopped by an error" in last and "Redis holds data of another layout (flavour cluster, 4096 buckets, 48 partitions" in last


async def joined(*processes: dict) -> bool:
    """Whether none of the processes says that something is missing."""
    said = [await asyncio.to_thread(readiness, process["http"], check) for process in processes for check in ("redis", "cluster")]
    return all(outcome == (200, "ok") for outcome in said)
