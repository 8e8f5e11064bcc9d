"""Attackers, each a way to harm others with what any client can send. Run as a program: `floods.py NAME ENDPOINTS`.

An attacker prepares, prints `ready`, and goes on until it is killed. It is a process of its own with low priority: on one machine it
would otherwise take the processor from those whom it attacks by other means.
"""

import asyncio
import itertools
import json
import os
import random
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "Support"))

from flood_tools import Attack, Socket, connect  # noqa: E402
from raw_socket import handshake  # noqa: E402
from waiting import let_pass  # noqa: E402

BODY = "x" * 8000


async def unread_pings(attack: Attack) -> None:
    async def one() -> None:
        socket = await Socket.open(attack.gateway, deaf=True)
        socket.writer.transport.pause_reading()
        try:
            for _ in range(2000):
                await asyncio.wait_for(socket.send("ping", "x" * 60_000), 1)
        finally:
            socket.close()

    await attack.insist(*[one] * 8)


async def unread_polls(attack: Attack) -> None:
    victim = f"poller-{attack.run}"
    async def one() -> None:
        reader = await attack.user("poller", attack.gateway)
        reader.deafen()
        try:
            for _ in range(2000):
                await asyncio.wait_for(reader.call("user_getmsg", ver_clear=0, max=1000), 1)
        finally:
            reader.close()

    senders = await attack.crowd(12, "filler")
    await attack.fill(senders, lambda s, _: s.ask("user_sendmsg", peer=victim, flag="v1:E:600", t="instant", content=BODY), 2000)
    await attack.insist(one)


async def unread_resumes(attack: Attack) -> None:
    channel = f"log-{attack.run}"
    members = await attack.crowd(4, "member")
    for member in members:
        await member.ask("channel_join", name=channel)
    await attack.fill(members, lambda s, _: s.ask("channel_sendmsg", name=channel, msg=BODY), 2000)

    async def one(member: Socket) -> None:
        socket = await Socket.open(attack.gateway, deaf=True)
        socket.writer.transport.pause_reading()
        await socket.send("line_login", {"line": member.line, "after": 1})
        await let_pass(0.2, "the gateway reads the log for a client that does not read")
        socket.close()

    await attack.insist(*[lambda m=m: one(m) for m in members])


async def full_mailbox(attack: Attack) -> None:
    victim = f"victim-{attack.run}"
    senders = await attack.crowd(40, "filler")
    await attack.fill(senders, lambda s, _: s.ask("user_sendmsg", peer=victim, flag="v1:E:600", t="instant", content=BODY), 10_000)

    async def come_and_go() -> None:
        socket = await attack.user("victim")
        await socket.ask("user_logout")
        socket.close()

    async def write() -> None:
        await senders[0].ask("user_sendmsg", peer=victim, flag="v1:E:600", t="instant", content=BODY)

    await attack.insist(come_and_go, come_and_go, write)


async def many_attributes(attack: Attack) -> None:
    channel = f"rich-{attack.run}"
    setters = await attack.crowd(16, "setter")
    await attack.fill(setters, lambda s, n: s.ask("channel_set_attr", channel=channel, name=f"n{n}", value=BODY), 4500)

    async def hop(socket: Socket) -> None:
        await socket.ask("channel_join", name=channel)
        await socket.ask("channel_leave", name=channel)

    await attack.insist(*[lambda s=s: hop(s) for s in setters[:4]])


async def attribute_flood(attack: Attack) -> None:
    """By users who are no members."""
    channel = f"busy-{attack.run}"
    for member in await attack.crowd(40, "member"):
        await member.ask("channel_join", name=channel)
    setters = await attack.crowd(10, "outsider")
    numbers = itertools.count()
    await attack.insist(*[
        lambda s=s: s.ask("channel_set_attr", channel=channel, name=f"n{next(numbers) % 50}", value=BODY) for s in setters])


async def user_attributes(attack: Attack) -> None:
    owner = await attack.user("owner")
    await attack.fill([owner] * 4, lambda s, n: s.ask("user_set_attr", name=f"n{n}", value=BODY), 1500)
    readers = await attack.crowd(4, "reader")
    await attack.insist(*[lambda r=r: r.ask("user_get_attr_all", account=f"owner-{attack.run}") for r in readers])


async def long_lists(attack: Attack) -> None:
    channel = f"crowd-{attack.run}"
    crowd = await attack.crowd(400, "member")
    for member in crowd:
        await member.ask("channel_join", name=channel)
    await attack.insist(*[lambda m=m: m.ask("channel_query_userlist_all", name=channel) for m in crowd[:4]])


async def hopping(attack: Attack) -> None:
    """Joins and leaves in a channel with many members, all of whom get an event of each."""
    channel = f"crowd-{attack.run}"
    for member in await attack.crowd(150, "member"):
        await member.ask("channel_join", name=channel)

    async def hop(socket: Socket) -> None:
        await socket.ask("channel_join", name=channel)
        await socket.ask("channel_leave", name=channel)

    await attack.insist(*[lambda s=s: hop(s) for s in await attack.crowd(4, "hopper")])


async def junk_logins(attack: Attack) -> None:
    """Apps that don't exist: each new name is looked for in PostgreSQL."""
    async def one() -> None:
        socket = await Socket.open(attack.gateway)
        await socket.send("login", {"vid": os.urandom(16).hex(), "account": "a", "uid": 0, "token": "_no_need_token"})
        await asyncio.wait_for(asyncio.shield(socket._task), 10)
        socket.close()

    await attack.insist(*[one] * 50)


async def junk_resumes(attack: Attack) -> None:
    async def one() -> None:
        socket = await Socket.open(attack.gateway)
        await socket.send("line_login", {"line": os.urandom(16).hex()})
        for _ in range(200):
            await socket.call("user_getmsg", ver_clear=0, max=30, pad=BODY)
        socket.close()

    await attack.insist(*[one] * 20)


async def logins(attack: Attack) -> None:
    """One account that comes and goes, kicking itself."""
    async def one() -> None:
        socket = await attack.user("same")
        socket.close()

    await attack.insist(*[one] * 20)


async def silent_sockets(attack: Attack) -> None:
    kept = []
    async def one() -> None:
        if len(kept) < 5000:
            kept.append(await Socket.open(attack.gateway, deaf=True))
        else:
            await let_pass(1, "the sockets stay open")

    await attack.insist(*[one] * 20)


async def special_channels(attack: Attack) -> None:
    listeners = await attack.crowd(40, "listener")
    for listener in listeners:
        await listener.ask("channel_join", name="_agora_user_online")
    shouting = [
        lambda s=s: s.call("channel_sendmsg", name="_agora_user_online", msg=BODY, force=True) for s in listeners[:4]]

    async def come_and_go() -> None:
        socket = await attack.user(f"guest{random.randrange(10**6)}")
        await socket.ask("user_logout")
        socket.close()

    await attack.insist(come_and_go, come_and_go, *shouting)


async def invitations(attack: Attack) -> None:
    callers = await attack.crowd(8, "caller")
    numbers = itertools.count()
    await attack.insist(*[
        lambda c=c: c.ask("voip_invite", channelName=f"c{next(numbers)}", peer=f"nobody{next(numbers)}", extra="") for c in callers])


async def strangers(attack: Attack) -> None:
    """Messages to accounts that never were."""
    senders = await attack.crowd(20, "sender")
    numbers = itertools.count()
    await attack.insist(*[
        lambda s=s: s.ask("user_sendmsg", peer=f"never-{attack.run}-{next(numbers)}", flag="v1:E:60", t="instant", content=BODY)
        for s in senders])


async def pipelined_calls(attack: Attack) -> None:
    async def one(name: str) -> None:
        socket = await attack.user(name, attack.gateway)
        for _ in range(1000):
            await asyncio.wait_for(socket.call("user_query_user_status", account="nobody"), 5)
        await let_pass(1, "the calls wait for their turn while the connection is open")
        socket.close()

    await attack.insist(*[lambda n=n: one(f"piper{n}") for n in range(8)])


async def slow_heads(attack: Attack) -> None:
    """Handshakes of a byte a second, which begin again when they are cut off. Ends if they are not."""
    # Spread over the time that a handshake may take: else all would be cut off, and begin again, in the same moment.
    pauses = [number / 100 for number in range(1000)]

    async def one() -> None:
        if pauses:
            await let_pass(pauses.pop(), "the sockets open one after the other")
        reader, writer = await connect(attack.gateway)
        try:
            # Twice as many as there is time for.
            for byte in handshake("slow")[:20]:
                writer.write(bytes([byte]))
                await writer.drain()
                await let_pass(1, "a byte a second")
                if reader.at_eof():
                    return
            raise RuntimeError("a handshake went on for 20 s, and may take 10")
        finally:
            writer.transport.abort()

    await attack.insist(*[one] * 1000, warm_up=12)


def speakers(attack: Attack, channel: str) -> list[Callable[[], Awaitable[None]]]:
    """Members who send large messages to a channel, together as many as it may get."""
    async def one(number: int) -> None:
        speaker = await attack.user(f"speaker{number}")
        try:
            await speaker.ask("channel_join", name=channel)
            while not speaker.is_over:
                await speaker.ask("channel_sendmsg", name=channel, msg=BODY)
                await let_pass(1 / 60, "a session may send 60 messages a second, and a channel may get 200")
        finally:
            speaker.close()

    return [lambda n=n: one(n) for n in range(4)]


async def in_a_busy_channel(attack: Attack, stay: Callable[[Socket], Awaitable[None]]) -> None:
    """Members of one channel who read nothing of the messages that are sent there; each comes back when its stay is over."""
    channel = f"busy-{attack.run}"

    async def one(number: int) -> None:
        member = await attack.user(f"member{number}", attack.gateway)
        try:
            await member.ask("channel_join", name=channel)
            member.deafen()
            await stay(member)
        finally:
            member.close()

    members = [lambda n=n: one(n) for n in range(40)]
    await attack.insist(*members, *speakers(attack, channel), warm_up=3)


async def deaf_members(attack: Attack) -> None:
    """Members of one channel whose sockets are full, until the gateway cuts them off."""
    async def stay(member: Socket) -> None:
        while True:
            await let_pass(0.2, "who does not read learns only by sending that the connection is over")
            await asyncio.wait_for(member.send("ping", 1), 1)

    await in_a_busy_channel(attack, stay)


async def resetting_members(attack: Attack) -> None:
    """Members of one channel who reset their connections while messages are sent to them."""
    async def stay(member: Socket) -> None:
        await let_pass(random.uniform(0.1, 0.9), "messages are sent to the member, or already wait for room")
        member.reset()

    await in_a_busy_channel(attack, stay)


ATTACKS: dict[str, Callable[[Attack], Awaitable[None]]] = {
    attack.__name__.replace("_", " "): attack for attack in (
        unread_pings, unread_polls, unread_resumes, full_mailbox, many_attributes, attribute_flood, user_attributes, long_lists, hopping,
        junk_logins, junk_resumes, logins, silent_sockets, special_channels, invitations, strangers, pipelined_calls,
        slow_heads, deaf_members, resetting_members)}

if __name__ == "__main__":
    os.nice(10)
    endpoints = json.loads(Path(sys.argv[2]).read_text())
    asyncio.run(ATTACKS[sys.argv[1]](Attack([gateway["ws"] for gateway in endpoints["gateways"]])))
