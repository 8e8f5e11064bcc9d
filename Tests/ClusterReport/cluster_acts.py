"""What is done to the Redis servers of a cluster while users are busy, step by step."""

import asyncio
import contextlib

from breakages import Lab
from history import now
from redis_nodes import RedisNodes
from waiting import eventually_blocking, let_pass
from waits import Failure

CLUSTER = ("--unlimited", "--redis", "cluster", "--redis-masters", "3", "--redis-replicas", "1")
CALM_SECONDS = 6
# With `cluster-node-timeout 2000` and the commands' eight seconds, an act that was hit is over by then.
SETTLED_SECONDS = 5
MOVE_SECONDS = 60
# redis-cli is killed when it has moved so many of its slots.
ABORT_AFTER = 200


async def kill_masters(lab: Lab, names: list[str] | None = None) -> list[Failure]:
    """kill -9 of each master in turn; its replica takes over, and it comes back as the replica's."""
    nodes = RedisNodes(lab.stack)
    failures = []
    for name, owned in (await asyncio.to_thread(nodes.slots)).items():
        if names is not None and name not in names:
            continue
        begun = now()
        await lab.do("kill", name)
        await asyncio.to_thread(nodes.wait_until_whole)
        failures.append(Failure(name, begun, now(), frozenset(owned)))
        await let_pass(SETTLED_SECONDS, "acts that were hit end")
        await lab.do("start", name)
        await asyncio.to_thread(nodes.wait_until_copied, name)
        await let_pass(CALM_SECONDS, "the next failure is one of its own")
    return failures


async def move(nodes: RedisNodes, source: str, target: str, count: int) -> float:
    """Moves slots; returns the seconds that it took."""
    begun = now()
    tool = await asyncio.to_thread(nodes.reshard, source, target, count)
    await asyncio.to_thread(tool.finish)
    return now() - begun


async def move_aborted(nodes: RedisNodes, source: str, target: str, count: int) -> int:
    """Begins to move slots, and kills the tool in the midst. Returns how many have moved; a slot may be left in migration."""
    def owned() -> int:
        return len(nodes.slots()[target])

    before = await asyncio.to_thread(owned)
    tool = await asyncio.to_thread(nodes.reshard, source, target, count)
    try:
        await asyncio.to_thread(
            eventually_blocking, lambda: owned() >= before + ABORT_AFTER, "some slots have moved", MOVE_SECONDS)
    finally:
        tool.kill()
    return await asyncio.to_thread(owned) - before


async def repair(nodes: RedisNodes) -> None:
    """What an operator does then: `redis-cli --cluster fix` ends the migrations that were left open."""
    await asyncio.to_thread(nodes.tool("fix", "--cluster-yes").finish)
    await asyncio.to_thread(nodes.wait_until_whole)


async def flush_functions(nodes: RedisNodes, pause: float) -> None:
    """Deletes all functions of one master after the other."""
    for name in await asyncio.to_thread(nodes.slots):
        await asyncio.to_thread(nodes.ask, name, "FUNCTION", "FLUSH")
        await let_pass(pause, "the functions come back")


async def delete_library(nodes: RedisNodes, name: str, pause: float) -> str:
    """Deletes one library of a master, one that users need all the time; returns its name."""
    listed = (await asyncio.to_thread(nodes.ask, name, "FUNCTION", "LIST", "LIBRARYNAME", "heliograph_m*")).split()
    library = next(word for word in listed if word.startswith("heliograph_messages_"))
    await asyncio.to_thread(nodes.ask, name, "FUNCTION", "DELETE", library)
    await let_pass(pause, "the library comes back")
    return library


async def make_empty_master(nodes: RedisNodes, name: str) -> None:
    """Takes a replica out of the cluster and lets it join again as a master without slots, data and functions."""
    def act() -> None:
        others = [other for other in nodes.running if other != name]
        was = nodes.id(name)
        nodes.ask(name, "CLUSTER", "RESET", "HARD")
        nodes.ask(name, "FUNCTION", "FLUSH")
        for other in others:
            # What it was is forgotten, so that it is not taken for a replica that is away.
            with contextlib.suppress(AssertionError):
                nodes.ask(other, "CLUSTER", "FORGET", was)
        port, bus_port = nodes.ports(others[0])
        nodes.ask(name, "CLUSTER", "MEET", "127.0.0.1", str(port), str(bus_port))
        assert not nodes.ask(name, "FUNCTION", "LIST")

    await asyncio.to_thread(act)
    await let_pass(SETTLED_SECONDS, "all servers hear of it")
