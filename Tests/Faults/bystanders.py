"""Pairs of users who exchange messages, and how long each takes."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from history import now
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually, let_pass

PAIRS, EVERY = 6, 0.05


class Listener(Client):
    """A push client that notes when each message came."""

    def __init__(self, *arguments: object, **options: object):
        super().__init__(*arguments, polls=False, **options)
        self.arrived: dict[int, float] = {}

    def _frame(self, payload: str | bytes) -> None:
        super()._frame(payload)
        self.frames.clear()
        while self.other_frames:
            name, argument = self.other_frames.pop()
            if name == "notify" and argument[0] == "recvmsg":
                version, line = json.loads(argument[1])
                self.version = version
                self.arrived[int(self._parse(line)[3])] = now()
                if version % 10 == 0:
                    number = next(self._ids)
                    self._calls[number] = None
                    asyncio.get_running_loop().create_task(
                        self.send("call2", ["user_getmsg", number, {"line": self.line, "ver_clear": version, "max": 1000}]))

    def _mailbox(self, error: str, data: dict) -> None:
        self._expect(not error, f"an acknowledgement failed: {error}")


class Bystanders:
    """What the pairs have measured."""

    def __init__(self) -> None:
        self.sent: list[dict[int, float]] = []
        self.listeners: list[Listener] = []
        self.refused: list[str] = []

    async def write(self, sender: Client, listener: Listener, sent: dict[int, float], over: asyncio.Event) -> None:
        """Sends numbered messages at a steady rate, and notes in `sent` when, until it is `over` and all are answered."""
        async def one(n: int) -> None:
            reply = await sender.attempt(
                "user_sendmsg", peer=listener.account, flag="v1:E:60", t="instant", content=str(n), within=20)
            if not reply.ok:
                self.refused.append(reply.data["reason"])
                del sent[n]

        tasks = []
        for n in itertools.count():
            if over.is_set():
                break
            sent[n] = now()
            tasks.append(asyncio.create_task(one(n)))
            await let_pass(EVERY, "the rate of the bystanders' messages")
        await asyncio.gather(*tasks)

    def percentile(self, share: float, since: float) -> float:
        """Milliseconds from sending to receiving, of the messages since a time; one that has not arrived counts until now."""
        delays = sorted(
            listener.arrived.get(n, now()) - t
            for sent, listener in zip(self.sent, self.listeners, strict=True) for n, t in sent.items() if t >= since)
        return 1000 * delays[min(len(delays) - 1, int(share * len(delays)))]

    @property
    def missing(self) -> int:
        return sum(len(sent.keys() - listener.arrived.keys()) for sent, listener in zip(self.sent, self.listeners, strict=True))


@asynccontextmanager
async def bystanders(stack: Stack) -> AsyncIterator[Bystanders]:
    """Pairs that exchange messages over all gateways; at the end everything that they sent has to arrive."""
    found, clients, works = Bystanders(), [], []
    over = asyncio.Event()
    for number in range(PAIRS):
        listener = await Listener(stack.open_app, unique("listener")).login(
            stack.gateways[number % len(stack.gateways)], push=1)
        sender = await Client(stack.open_app, unique("sender")).login(stack.gateways[number // 2 % len(stack.gateways)])
        clients += [listener, sender]
        found.listeners.append(listener)
        found.sent.append({})
        works.append(asyncio.create_task(found.write(sender, listener, found.sent[-1], over)))
    try:
        yield found
        over.set()
        await asyncio.gather(*works)
        await eventually(lambda: not found.missing, "all messages of the bystanders arrived", 20)
    finally:
        over.set()
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)
        for client in clients:
            await client.close()
