"""One master of a Redis Cluster dies: its users wait for the replica, others notice nothing, and nobody goes offline."""

import asyncio
import json
import time

from acts import insists
from masters import MASTERS, all_say, named
from signaling import Client
from stack_control import Stack
from waiting import before_next_try, eventually, let_pass

FAILOVER_SECONDS = 20
# The cluster takes more than two seconds to replace a master.
OTHERS_SECONDS = 2
# A gateway's lease lasts 10 s: a watcher that judged it too early would have done so by then.
LEASE_SECONDS = 13


async def talks(client: Client, until: asyncio.Event) -> float:
    """Sends messages to itself; the slowest answer in seconds."""
    slowest, number = 0.0, 0
    while not until.is_set():
        started = time.monotonic()
        await client.tell(client.account, f"number {number}")
        slowest, number = max(slowest, time.monotonic() - started), number + 1
        await before_next_try(0.1)
    return slowest


async def test_only_the_users_of_a_dead_master_wait(make_stack, people):
    stack: Stack = make_stack("--redis", "cluster", gateways=1, sip_bridge=0)
    dead = next(node for node in stack.endpoints["redis"]["nodes"] if node["name"] == "redis#1")
    room = named(stack, "c", 1)
    async with people(stack) as cast:
        users: dict[int, list[Client]] = {}
        for master in range(MASTERS):
            users[master] = [cast.exactly(named(stack, "u", master)) for _ in range(3)]
            for client in users[master]:
                await client.login(stack.gateways[0])
                await client.join(room)
        await eventually(lambda: all_say(stack, "ok"), "all are ready", FAILOVER_SECONDS)
        replaced = asyncio.Event()
        talking = [asyncio.create_task(talks(client, replaced)) for client in users[1] + users[2]]
        await asyncio.to_thread(stack.kill, dead["name"])
        await eventually(
            lambda: all_say(stack, f"ok, but no answer from 127.0.0.1:{dead['port']}, of 3 masters"),
            "all name the dead master", FAILOVER_SECONDS)
        waiting = [
            asyncio.create_task(insists(client, "user_sendmsg", peer=client.account, flag="v1:E:3600", t="instant", content="to the new master"))
            for client in users[0]]
        await eventually(lambda: all_say(stack, "ok"), "the replica takes over", FAILOVER_SECONDS)
        await asyncio.gather(*waiting)
        replaced.set()
        assert max(await asyncio.gather(*talking)) < OTHERS_SECONDS
        for client in users[0]:
            await eventually(lambda c=client: "to the new master" in c.texts(), "the message")
        await let_pass(LEASE_SECONDS, "a lease would be judged")
        asker = users[1][0]
        for client in sum(users.values(), []):
            assert not client.closed.is_set()
            assert (await asker.call("user_query_user_status", account=client.account))["status"] == 1
    compared = [
        json.loads(line)["metadata"] for line in stack.run("logs", "gateway#1").stdout.splitlines() if '"reasserting sessions"' in line]
    assert compared and all(entry["slots"] != "all" for entry in compared), compared
    assert max(int(entry["sessions"]) for entry in compared) == len(users[0]), compared
    assert "gateway lost" not in stack.run("logs", "presence#1").stdout
