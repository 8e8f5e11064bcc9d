"""How one Redis becomes a cluster (Docs/scaling.md): what is waiting in mailboxes is carried over, everything else begins anew."""

import asyncio
import subprocess

from redis_nodes import RedisNodes
from stack_control import COMMAND_SECONDS, Stack
from waiting import eventually

# What the page tells operators to run, with the ports of the two Redis.
KEEP_MAILBOXES = "redis-cli -p {old} --scan | grep -vE ':(mbox|mcall|mfrom|box)$' | xargs -r -n 500 redis-cli -p {old} UNLINK"
CARRY = "redis-cli --cluster import 127.0.0.1:{new} --cluster-from 127.0.0.1:{old}"


def carry(old: Stack, new: Stack) -> None:
    """Moves the mailboxes of a stack whose own processes have ended."""
    ports = {"old": old.endpoints["redis"]["nodes"][0]["port"], "new": RedisNodes(new).running["redis#1"]}
    for command in (KEEP_MAILBOXES, CARRY):
        done = subprocess.run(
            ["sh", "-c", command.format(**ports)], capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
        assert done.returncode == 0 and "ERR" not in done.stdout, done.stdout + done.stderr


async def test_waiting_messages_are_carried_into_a_cluster(make_stack, people):
    old, new = make_stack(gateways=1), make_stack("--redis", "cluster", "--redis-replicas", "0", gateways=1)
    sent = [f"message {number}" for number in range(3)]
    async with people(old) as cast:
        alice, bob = await cast.login("alice", "bob")
        await bob.logout()
        for text in sent:
            await alice.tell(bob.account, text)
        await alice.logout()
    for name in [name for name in old.pids if "#" in name]:
        # Nothing is under way, so that no drain is needed.
        await asyncio.to_thread(old.kill, name)
    await asyncio.to_thread(carry, old, new)
    async with people(new) as cast:
        carol, = await cast.login("carol")
        again = cast.exactly(bob.account)
        await again.login(new.gateways[0])
        await eventually(lambda: again.texts() == sent, "what was waiting arrives")
        await carol.tell(bob.account, "later")
        await eventually(lambda: again.texts() == [*sent, "later"], "the mailbox goes on")
