"""A cluster gets a master more, and loses it again, while users talk: by the commands of Docs/scaling.md."""

import asyncio
import re
import subprocess

from chat import Chat
from masters import SLOTS, named_within, slot_of
from more_servers import MoreServers, Place, ask, wait_until_up
from page_commands import PageCommands
from stack_control import Stack
from waiting import eventually_blocking

PAGE = "Docs/scaling.md"
# A call waits for a slot that is on its way. Redis itself moves one in milliseconds, on a machine that runs other tests too in more.
LONGEST_SECONDS = 3
AGREE_SECONDS = 20


def slots_of(place: Place, name: str = "") -> set[int]:
    """The slots of the master with this id, or of the server itself, by what the server says."""
    lines = [line.split() for line in ask(place.port, "CLUSTER", "NODES").splitlines()]
    own = next(line for line in lines if (line[0] == name if name else "myself" in line[2]))
    ranges = [text.split("-") for text in own[8:] if not text.startswith("[")]
    return {slot for one in ranges for slot in range(int(one[0]), int(one[-1]) + 1)}


def masters_of(place: Place) -> dict[str, str]:
    """Each server that a server knows, with its master (or `-`)."""
    return {line.split()[0]: line.split()[3] for line in ask(place.port, "CLUSTER", "NODES").splitlines()}


def wait_until_agreed(stack: Stack, servers: int) -> None:
    """What the page says between two commands: all servers know so many, and who owns which slot."""
    def agree() -> bool:
        port = stack.endpoints["redis"]["nodes"][0]["port"]
        counts = [len(stack.redis("CLUSTER", "NODES", node=name).splitlines()) for name in stack.redis_servers]
        check = subprocess.run(["redis-cli", "--cluster", "check", f"127.0.0.1:{port}"], capture_output=True, text=True, timeout=60, check=False)
        return set(counts) == {servers} and check.returncode == 0

    eventually_blocking(agree, "the servers agree", AGREE_SECONDS)


def add(stack: Stack, more: MoreServers, master: Place, replica: Place) -> str:
    """Adds a master with its replica; its id."""
    old = f"127.0.0.1:{stack.endpoints['redis']['nodes'][0]['port']}"
    before = len(stack.redis_servers)
    with PageCommands(PAGE, "More masters", {"HELIOGRAPH_REDIS_URL": stack.endpoints["redis"]["url"]}) as steps:
        assert "nothing stands against" in steps.run("reshard-check")
        more.start(steps, "redis-server", {place: {"6379": str(place.port), "/var/lib/redis": str(place.folder)} for place in (master, replica)})
        for place in (master, replica):
            wait_until_up(place.port)
        steps.run("add-node", {"NEW:6379": master.address, "ANY:6379": old})
        wait_until_agreed(stack, before + 1)
        steps.run("--cluster-slave", {"NEWREPLICA:6379": replica.address, "ANY:6379": old})
        wait_until_agreed(stack, before + 2)
        steps.run("rebalance", {"ANY:6379": old})
        wait_until_agreed(stack, before + 2)
    identity = ask(master.port, "CLUSTER", "MYID")
    assert masters_of(master)[ask(replica.port, "CLUSTER", "MYID")] == identity
    assert len(slots_of(master)) == SLOTS // 4
    return identity


def remove(stack: Stack, master: Place, replica: Place) -> None:
    """Takes both away again."""
    old = f"127.0.0.1:{stack.endpoints['redis']['nodes'][0]['port']}"
    count = len(masters_of(master))
    with PageCommands(PAGE, "Fewer masters") as steps:
        steps.run("--cluster-weight", {"ANY:6379": old, "ID": ask(master.port, "CLUSTER", "MYID")})
        wait_until_agreed(stack, count)
        steps.run("del-node", {"ANY:6379": old, "REPLICAID": ask(replica.port, "CLUSTER", "MYID")})
        steps.run("del-node", {"ANY:6379": old, "ID": ask(master.port, "CLUSTER", "MYID")})
        wait_until_agreed(stack, count - 2)
    assert ask(master.port, "DBSIZE") == "0" and not slots_of(master)


async def test_a_master_comes_and_goes_while_users_talk(make_stack, people):
    stack: Stack = make_stack("--redis", "cluster", gateways=2, sip_bridge=0)
    # `rebalance` takes the first slots of each master.
    accounts = [named_within(stack, "u", range(first, first + 1_000)) for first in (0, 3_000, 5_500, 9_000, 11_000, 15_000)]
    users = {slot_of(f"a:{stack.open_app.id}:u:{account}", is_user=True) for account in accounts}
    with MoreServers(stack) as more:
        master, replica = (more.place("redis", name) for name in ("new", "newreplica"))
        async with people(stack) as cast, Chat(stack, cast) as chat:
            await chat.begin(accounts)
            await asyncio.to_thread(add, stack, more, master, replica)
            assert users & slots_of(master), "nobody's slot has moved"
            await chat.goes_on()
            await asyncio.to_thread(remove, stack, master, replica)
            await chat.goes_on()

            # The removed server comes first in the URL of processes that start now.
            url = re.sub("(?<=://)", f"{master.address},", stack.endpoints["redis"]["url"])
            for name in ("presence#1", "gateway#2"):
                await asyncio.to_thread(stack.drain, name)
                await asyncio.to_thread(stack.run, "start", name, "--set", f"HELIOGRAPH_REDIS_URL={url}")
            newcomer, = await cast.login("newcomer", gateway=1)
            await newcomer.tell(newcomer.account, "told by way of a removed server")
            await chat.goes_on()
            assert chat.returns >= len(accounts) // 2
            await chat.end(LONGEST_SECONDS)
