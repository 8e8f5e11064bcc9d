"""A cluster gets a master more, and loses it again, while users talk: by the commands of Docs/scaling.md."""

import asyncio
import re

import pytest
from chat import Chat
from masters import SLOTS, named_within, slot_of
from more_servers import MoreServers, Place, ask, wait_until_up
from page_commands import PageCommands
from stack_control import Stack
from waiting import eventually, eventually_blocking

PAGE = "Docs/scaling.md"
# A call waits for a slot that is on its way. Redis itself moves one in milliseconds, on a machine that runs other tests too in more.
LONGEST_SECONDS = 3
# A request waits until the successor of its service runs.
RESTART_SECONDS = 8


def slots_of(place: Place) -> set[int]:
    """The slots of a server, by what it says itself."""
    lines = [line.split() for line in ask(place.port, "CLUSTER", "NODES").splitlines()]
    own = next(line for line in lines if "myself" in line[2])
    ranges = [text.split("-") for text in own[8:] if not text.startswith("[")]
    return {slot for one in ranges for slot in range(int(one[0]), int(one[-1]) + 1)}


def masters_of(place: Place) -> dict[str, str]:
    """Each server that a server knows, with its master (or `-`)."""
    return {line.split()[0]: line.split()[3] for line in ask(place.port, "CLUSTER", "NODES").splitlines()}


def add(stack: Stack, more: MoreServers, master: Place, replica: Place, weight: str) -> None:
    """Adds a master with its replica."""
    old = stack.endpoints["redis"]["nodes"][0]
    any_server = {"ANY:6379": f"127.0.0.1:{old['port']}"}
    with PageCommands(PAGE, "More masters", {"HELIOGRAPH_REDIS_URL": stack.endpoints["redis"]["url"]}) as steps:
        assert "nothing stands against" in steps.run("reshard-check")
        more.start(steps, "redis-server", {
            place: {"6379": str(place.port), "/var/lib/redis": str(place.folder)} for place in (master, replica)})
        for place in (master, replica):
            wait_until_up(place.port)
        steps.run("add-node", {"NEW:6379": master.address} | any_server)
        steps.run("cluster_state:ok", {"NEW": "127.0.0.1", "6379": str(master.port)})
        steps.run("--cluster-slave", {"NEWREPLICA:6379": replica.address} | any_server)
        steps.run("--cluster check", any_server)
        identity = ask(master.port, "CLUSTER", "MYID")
        steps.run("rebalance", any_server, more=f"--cluster-weight {identity}={weight}")
    own = ask(replica.port, "CLUSTER", "MYID")
    # Servers hear of each other's parts a moment later.
    eventually_blocking(lambda: masters_of(master).get(own) == identity, "the master has heard of its replica")


def remove(stack: Stack, master: Place, replica: Place) -> None:
    """Takes both away again."""
    old = stack.endpoints["redis"]["nodes"][0]
    any_server = {"ANY:6379": f"127.0.0.1:{old['port']}"}
    ids = {name: ask(place.port, "CLUSTER", "MYID") for name, place in {"ID": master, "REPLICAID": replica}.items()}
    with PageCommands(PAGE, "Fewer masters") as steps:
        steps.run("--cluster-weight", any_server | {"ID": ids["ID"]})
        steps.run("--cluster check", any_server)
        steps.run("del-node", any_server | {"REPLICAID": ids["REPLICAID"]})
        steps.run("del-node", any_server | {"ID": ids["ID"]})
    assert ask(master.port, "DBSIZE") == "0" and not slots_of(master)


# A weight of 1 is a share like that of each other master: 4,096 slots go there and back. With 0.1 it is 528.
@pytest.mark.parametrize("weight, slots", [
    pytest.param("1", SLOTS // 4, marks=pytest.mark.long), pytest.param("0.1", 528, marks=pytest.mark.short)])
async def test_a_master_comes_and_goes_while_users_talk(make_stack, people, monkeypatch, weight: str, slots: int):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_DRAIN", "1s")
    stack: Stack = make_stack("--redis", "cluster", gateways=2, invitation=0, sip_bridge=0)
    # `rebalance` takes the first slots of each master.
    accounts = [named_within(stack, "u", range(first, first + 150)) for first in (0, 3_000, 5_461, 9_000, 10_922, 15_000)]
    users = {slot_of(f"a:{stack.open_app.id}:u:{account}", is_user=True) for account in accounts}
    with MoreServers(stack) as more:
        master, replica = (more.place("redis", name) for name in ("new", "newreplica"))
        async with people(stack) as cast, Chat(stack, cast) as chat:
            await chat.begin(accounts)
            await asyncio.to_thread(add, stack, more, master, replica, weight)
            moved = await asyncio.to_thread(slots_of, master)
            assert len(moved) in (slots - 1, slots, slots + 1) and len(users & moved) >= 3
            await chat.goes_on()
            await asyncio.to_thread(remove, stack, master, replica)
            await chat.goes_on()
            assert chat.worst < LONGEST_SECONDS, f"the longest act took {chat.worst:.1f} s"
            await start_by_way_of_the_removed(stack, master)
            newcomer, = await cast.login("newcomer", gateway=1)
            await newcomer.tell(newcomer.account, "told by way of a removed server")
            await eventually(lambda: newcomer.texts() == ["told by way of a removed server"], "the message")
            await chat.goes_on()
            assert chat.returns >= len(accounts) // 2
            await chat.end(RESTART_SECONDS)


async def start_by_way_of_the_removed(stack: Stack, removed: Place) -> None:
    """Starts processes again, whose URL has the removed server first."""
    url = re.sub("(?<=://)", f"{removed.address},", stack.endpoints["redis"]["url"])
    for name in ("presence#1", "gateway#2"):
        await asyncio.to_thread(stack.drain, name)
        await asyncio.to_thread(stack.run, "start", name, "--set", f"HELIOGRAPH_REDIS_URL={url}")
