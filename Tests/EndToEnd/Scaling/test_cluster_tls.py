"""A Redis Cluster that speaks TLS only and asks for a password: slots move and a master dies, while users talk."""

import asyncio
import os
import subprocess

from chat import Chat
from masters import named_within, slot_of
from stack_control import Stack
from waiting import eventually

# Calls wait seven seconds for a master that is being replaced.
LONGEST_SECONDS = 8
# What was on its way to a master that was killed has an unknown outcome. Repeated with its `messageID`, it arrives once.
UNKNOWN = ("timeout", "unavailable")
TOOL_SECONDS, FAILOVER_SECONDS = 60, 20
MOVED = 200


def cluster_tool(stack: Stack, command: str, *options: str) -> str:
    """`redis-cli --cluster`, with what TLS and the password need by Docs/scaling.md: `--tls --cacert FILE`, and REDISCLI_AUTH."""
    port = stack.endpoints["redis"]["nodes"][0]["port"]
    done = subprocess.run(
        ["redis-cli", "--cluster", command, f"127.0.0.1:{port}", *options, *stack.redis_options], env=os.environ | stack.redis_variables,
        capture_output=True, text=True, timeout=TOOL_SECONDS, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout


def move_first_slots(stack: Stack, source: str, target: str) -> None:
    """Moves the first slots of a master."""
    ids = {name: stack.redis("CLUSTER", "MYID", node=name) for name in (source, target)}
    cluster_tool(
        stack, "reshard", "--cluster-from", ids[source], "--cluster-to", ids[target], "--cluster-slots", str(MOVED), "--cluster-yes")


def refused(stack: Stack, *options: str) -> str:
    """What a server answers to a client without TLS, or without a password."""
    port = stack.endpoints["redis"]["nodes"][0]["port"]
    done = subprocess.run(
        ["redis-cli", "-p", str(port), *options, "PING"], capture_output=True, text=True, timeout=10, check=False)
    assert done.stdout.strip() != "PONG"
    return done.stdout + done.stderr


async def test_slots_move_and_a_master_dies_over_tls(make_stack, people):
    stack: Stack = make_stack("--redis", "cluster", "--redis-tls", gateways=2, invitation=0, sip_bridge=0)
    assert "NOAUTH" not in refused(stack), "a server answers without TLS"
    assert "NOAUTH" in refused(stack, *stack.redis_options)
    assert "nothing stands against" in await asyncio.to_thread(stack.control, "cluster", "reshard-check")
    accounts = [named_within(stack, "u", range(first, first + MOVED)) for first in (0, 0, 5_500, 6_000, 11_000, 12_000)]
    slots = [slot_of(f"a:{stack.open_app.id}:u:{account}", is_user=True) for account in accounts]
    async with people(stack) as cast, Chat(stack, cast, repeated=UNKNOWN) as chat:
        await chat.begin(accounts)
        await asyncio.to_thread(move_first_slots, stack, "redis#1", "redis#2")
        # The keys of two of the users, and the topics at which their gateways hear of them, have moved.
        answer = await asyncio.to_thread(stack.redis, "CLUSTER", "COUNTKEYSINSLOT", str(slots[0]), node="redis#2")
        assert int(answer) > 0
        await chat.goes_on()
        await asyncio.to_thread(stack.kill, "redis#2")
        await eventually(lambda: "redis#5" in stack.redis_masters, "its replica takes over", FAILOVER_SECONDS)
        await chat.goes_on()
        # Subscriptions too: a newcomer hears the channel.
        newcomer, = await cast.login("newcomer")
        await newcomer.join(chat.room)
        await eventually(lambda: newcomer.of_type("channel_msg"), "the newcomer hears the channel")
        await chat.end(LONGEST_SECONDS)
