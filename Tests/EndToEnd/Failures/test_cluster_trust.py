"""A master of a Redis Cluster is away for longer than a lease lasts, and it has the first lease of the users' gateway."""

import asyncio
import json

from acts import insists
from masters import MASTERS, all_say, gateway_id, named, with_first_lease_at
from signaling import Client
from stack_control import Stack
from waiting import before_next_try, eventually, let_pass

# Longer than a gateway's lease, which lasts 10 s, and a heartbeat.
AWAY_SECONDS = 15
# The other masters answer, and so does everything that is asked of them.
ANSWER_SECONDS = 2
BACK_SECONDS = 20


async def talks_to(client: Client, peer: Client, until: asyncio.Event) -> int:
    """Sends messages all the time, each of which must be accepted; their number."""
    number = 0
    while not until.is_set():
        await asyncio.wait_for(client.tell(peer.account, f"number {number}"), ANSWER_SECONDS)
        number += 1
        await before_next_try(0.1)
    return number


async def test_users_of_other_masters_go_on_without_the_first_lease(make_stack, people):
    stack: Stack = make_stack("--redis", "cluster", "--redis-replicas", "0", gateways=1, sip_bridge=0)
    await asyncio.to_thread(with_first_lease_at, stack, "gateway#1", 0)
    async with people(stack) as cast:
        users: list[Client] = [cast.exactly(named(stack, "u", master)) for master in range(MASTERS)]
        waiting, one, other = users
        for client in users:
            await client.login(stack.gateways[0])
        await eventually(lambda: all_say(stack, "ok"), "all are ready", BACK_SECONDS)
        ended = asyncio.Event()
        talking = [asyncio.create_task(talks_to(*pair, ended)) for pair in ((one, other), (other, one))]
        await asyncio.to_thread(stack.kill, "redis#1")
        await let_pass(AWAY_SECONDS, "the first lease expires")
        for client in (one, other):
            assert not client.closed.is_set()
            assert (await other.call("user_query_user_status", account=client.account))["status"] == 1
        await asyncio.to_thread(stack.start, "redis#1")
        await eventually(lambda: all_say(stack, "ok"), "the master is back", BACK_SECONDS)
        await insists(waiting, "user_sendmsg", peer=one.account, flag="v1:E:3600", t="instant", content="back again")
        await eventually(lambda: "back again" in one.texts(), "the message")
        ended.set()
        assert min(await asyncio.gather(*talking)) > AWAY_SECONDS
        assert not any(client.closed.is_set() for client in users)
        logs = {name: stack.run("logs", name).stdout for name in ("gateway#1", "presence#1")}
        gateway = gateway_id(stack, "gateway#1")
    lost = [line for line in logs["presence#1"].splitlines() if ('"gateway lost' in line and gateway in line) or '"session detached"' in line]
    assert not lost, lost
    compared = [json.loads(line)["metadata"] for line in logs["gateway#1"].splitlines() if '"reasserting sessions"' in line]
    assert all(entry["slots"] != "all" for entry in compared), compared
