"""Those who ask discovery for a channel meet at few gateways, and so its messages are published to few shards (Docs/scaling.md)."""

import asyncio

from acts import barrier
from signaling import Client
from stack_control import Stack, unique
from waiting import let_pass
from web import discover

GATEWAYS, MEMBERS = 5, 8
MEETING_GATEWAYS = 2
# How often it is looked whether all gateways know of each other.
LOOKS = 4


def meeting_points(stack: Stack, gateway: dict, channel: str) -> list[int]:
    """The ports of the gateways that one asker of a channel is to try first."""
    return [port for _, port in discover(gateway["http"], vid=stack.open_app.id, channel=channel)["web"][:MEETING_GATEWAYS]]


def shards_that_hear(stack: Stack, channel: str) -> int:
    """How many shards get what is published in a channel, by what Redis says."""
    topic = f"{{a:{stack.open_app.id}:c:{channel}}}:events"
    # In a cluster, topics belong to the master of their slot.
    command = "SHARDNUMSUB" if stack.endpoints["redis"]["url"].startswith("redis+cluster") else "NUMSUB"
    return sum(int(answer.split()[-1]) for answer in stack.redis_everywhere("PUBSUB", command, topic))


async def gather(stack: Stack, cast, channel: str) -> list[Client]:
    """Members of a channel, each of whom asks another gateway than the one before."""
    members = []
    for number in range(MEMBERS):
        asked = stack.endpoints["gateways"][number % GATEWAYS]
        # The last ones find the first gateway of their list busy.
        port = meeting_points(stack, asked, channel)[number // GATEWAYS]
        client = cast.make("member")
        await client.login(f"ws://127.0.0.1:{port}")
        await client.join(channel)
        members.append(client)
    return members


async def test_publications_go_to_few_shards(make_stack, people):
    stack: Stack = make_stack(gateways=GATEWAYS, invitation=0, sip_bridge=0)
    # More channels than gateways, so that not all of them can have the same two.
    rooms = [unique("room") for _ in range(3 * GATEWAYS)]

    def pairs(gateway: dict) -> list[set[int]]:
        return [set(meeting_points(stack, gateway, room)) for room in rooms]

    first, *others = stack.endpoints["gateways"]
    for _ in range(LOOKS):
        # Not more often: whoever was named often since then counts as busy, and others are named instead.
        await let_pass(2.6, "gateways read the list of all again within two and a half seconds")
        told = pairs(first)
        if len(set().union(*told)) == GATEWAYS and all(pairs(other) == told for other in others):
            break
    else:
        raise AssertionError("gateways name different gateways for the same channels")
    assert {len(pair) for pair in told} == {MEETING_GATEWAYS}

    async with people(stack) as cast:
        gathered = await gather(stack, cast, rooms[0])
        await barrier(gathered[0], rooms[0], *gathered)
        assert await asyncio.to_thread(shards_that_hear, stack, rooms[0]) <= MEETING_GATEWAYS
        # Without the channel's name, its members are where chance has led them. Here one is at each gateway.
        scattered = [(await cast.members(rooms[1], "scattered", gateway=number))[0] for number in range(GATEWAYS)]
        await barrier(scattered[0], rooms[1], *scattered)
        assert await asyncio.to_thread(shards_that_hear, stack, rooms[1]) == GATEWAYS
