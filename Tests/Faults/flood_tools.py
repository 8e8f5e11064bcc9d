"""What attackers are made of: sockets that ignore all rules, and crowds of them."""

import asyncio
import itertools
import json
import random
import socket
import struct
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from raw_socket import RESET, frame, handshake
from waiting import before_next_try, give_way, let_pass

APP = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2"
# Different from the others' address, so that bounds per address apply to the attacker only.
ADDRESS = "127.0.0.2"
PREPARE_SECONDS = 20


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to a gateway on which nothing was said yet."""
    parts = urlsplit(url)
    return await asyncio.open_connection(parts.hostname, parts.port, limit=2**25, local_addr=(ADDRESS, 0))


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
        self.reader, self.writer = await connect(url)
        self.writer.write(handshake(urlsplit(url).netloc))
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

    @property
    def is_over(self) -> bool:
        """Whether a socket that reads has found the end."""
        return self._task.done()

    def close(self) -> None:
        self.writer.transport.abort()

    def reset(self) -> None:
        """Closes in the way that tells the gateway at once, by an error, whatever it sends just then."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.close()

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

    async def insist(self, *works: Callable[[], Awaitable[None]], warm_up: float = 0) -> None:
        """Repeats all works for ever, whatever the cluster answers. After the seconds of `warm_up` the attack is in full swing."""
        async def again(work: Callable[[], Awaitable[None]]) -> None:
            while True:
                try:
                    await work()
                except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
                    await before_next_try(0.01)
                await give_way()

        under_way = asyncio.gather(*[again(work) for work in works])
        if warm_up:
            await let_pass(warm_up, "the attack begins, and is not measured yet")
        print("ready", flush=True)
        await under_way
