"""Attackers, each a way to harm others with what any client can send. Run as a program: `floods.py NAME ENDPOINTS`.

An attacker prepares, prints `ready`, and goes on until it is killed. It is a process of its own with low priority: on one machine it
would otherwise take the processor from those whom it attacks by other means.
"""

import asyncio
import itertools
import json
import os
import random
import struct
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

sys.path.append(str(Path(__file__).resolve().parents[1] / "Support"))

from raw_socket import frame, handshake  # noqa: E402
from waiting import before_next_try, give_way, let_pass  # noqa: E402

APP = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2"
BODY = "x" * 8000
# Different from the others' address, so that bounds per address apply to the attacker only.
ADDRESS = "127.0.0.2"
PREPARE_SECONDS = 20


class Socket:
    """A WebSocket that ignores all rules. Reads what arrives, unless it is `deaf`."""

    def __init__(self) -> None:
        self.line = ""
        self.answers = 0
        self._numbers = itertools.count(1)
        self._answered = asyncio.Event()
        self._task: asyncio.Task | None = None

    @staticmethod
    async def open(url: str, *, deaf: bool = False) -> "Socket":
        self = Socket()
        parts = urlsplit(url)
        self.reader, self.writer = await asyncio.open_connection(
            parts.hostname, parts.port, limit=2**25, local_addr=(ADDRESS, 0))
        self.writer.write(handshake(parts.netloc))
        await self.reader.readuntil(b"\r\n\r\n")
        if not deaf:
            self._task = asyncio.create_task(self._read())
        return self

    async def send(self, name: str, argument: object) -> None:
        self.writer.write(frame(name, argument))
        await self.writer.drain()

    async def call(self, function: str, **arguments: object) -> None:
        await self.send("call2", [function, next(self._numbers), {"line": self.line, **arguments}])

    async def ask(self, function: str, **arguments: object) -> None:
        """A call whose answer is waited for, whatever it says."""
        answers = self.answers
        await self.call(function, **arguments)
        while self.answers == answers and self._task and not self._task.done():
            self._answered.clear()
            await self._answered.wait()

    async def login(self, account: str, **more: object) -> "Socket":
        await self.send("login", {"vid": APP, "account": account, "uid": 0, "token": "_no_need_token", "device": "", "ip": "", **more})
        while not self.line and self._task and not self._task.done():
            self._answered.clear()
            await self._answered.wait()
        return self

    def deafen(self) -> None:
        self._task.cancel()
        self.writer.transport.pause_reading()

    def close(self) -> None:
        self.writer.transport.abort()

    async def _read(self) -> None:
        try:
            while True:
                _, size = await self.reader.readexactly(2)
                if size == 126:
                    size, = struct.unpack(">H", await self.reader.readexactly(2))
                elif size == 127:
                    size, = struct.unpack(">Q", await self.reader.readexactly(8))
                body = await self.reader.readexactly(size)
                if body.startswith(b'["call2-ret"'):
                    self.answers += 1
                elif body.startswith(b'["login_ret"'):
                    self.line = json.loads(json.loads(body)[1][1]).get("line", "")
                self._answered.set()
        except (OSError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            self._answered.set()


class Attack:
    """What all attackers need: the addresses, and unique names."""

    def __init__(self, gateways: list[str]):
        self.gateways = gateways
        self.run = f"{random.randrange(16**6):06x}"
        self._turn = itertools.count()

    @property
    def gateway(self) -> str:
        return self.gateways[0]

    async def user(self, name: str, gateway: str | None = None, **more: object) -> Socket:
        socket = await Socket.open(gateway or self.gateways[next(self._turn) % len(self.gateways)])
        return await socket.login(f"{name}-{self.run}", **more)

    async def crowd(self, count: int, name: str, **more: object) -> list[Socket]:
        return [await self.user(f"{name}{number}", **more) for number in range(count)]

    async def fill(self, sockets: list[Socket], each: Callable[[Socket, int], Awaitable[None]], total: int) -> None:
        """Distributes acts over sockets, until all are done or the time is over."""
        numbers = iter(range(total))

        async def work(socket: Socket) -> None:
            for number in numbers:
                await each(socket, number)

        await asyncio.wait([asyncio.create_task(work(socket)) for socket in sockets], timeout=PREPARE_SECONDS)

    async def insist(self, *works: Callable[[], Awaitable[None]]) -> None:
        """Repeats all works for ever, whatever the cluster answers."""
        async def again(work: Callable[[], Awaitable[None]]) -> None:
            while True:
                try:
                    await work()
                except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
                    await before_next_try(0.01)
                await give_way()

        print("ready", flush=True)
        await asyncio.gather(*[again(work) for work in works])


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


ATTACKS: dict[str, Callable[[Attack], Awaitable[None]]] = {
    attack.__name__.replace("_", " "): attack for attack in (
        unread_pings, unread_polls, unread_resumes, full_mailbox, many_attributes, attribute_flood, user_attributes, long_lists, hopping,
        junk_logins, junk_resumes, logins, silent_sockets, special_channels, invitations, strangers, pipelined_calls)}

if __name__ == "__main__":
    os.nice(10)
    endpoints = json.loads(Path(sys.argv[2]).read_text())
    asyncio.run(ATTACKS[sys.argv[1]](Attack([gateway["ws"] for gateway in endpoints["gateways"]])))
