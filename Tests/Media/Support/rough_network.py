"""A network between a participant and its node that loses, delays and reorders packets of media; checks pass it unharmed."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from stack_control import Stack
from waiting import eventually

Address = tuple[str, int]


def node_of(stack: Stack) -> Address:
    """Where the only media node of a cluster takes media."""
    node, = stack.endpoints["media"]
    return node["host"], node["port"]


@dataclass
class Weather:
    """What happens to a packet of media."""

    loss: float = 0
    """The share that is lost."""
    jitter: float = 0
    """The seconds that a packet is delayed at most; more than 0.02 reorders."""


class _End(asyncio.DatagramProtocol):
    """The side of the participant, or that of the node."""

    def __init__(self, network: "RoughNetwork"):
        self.network = network
        self.other: _End | None = None
        self.transport: asyncio.DatagramTransport | None = None
        self.peer: Address | None = None

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, source: Address) -> None:
        self.peer = source
        self.network.carry(data, self.other)

    def send(self, data: bytes) -> None:
        # A delayed packet may come after the end.
        if not self.transport.is_closing():
            self.transport.sendto(data, self.peer)


class RoughNetwork:
    """Carries one participant's datagrams, both ways."""

    def __init__(self, seed: int):
        self.weather = Weather()
        self.lost = 0
        """Packets of media that it has dropped."""
        self.carried = 0
        self._random = random.Random(seed)
        self._under_way = 0
        self._near, self._far = _End(self), _End(self)
        self._near.other, self._far.other = self._far, self._near

    @property
    def address(self) -> Address:
        """Where the participant sends to."""
        return self._near.transport.get_extra_info("sockname")

    async def open(self, node: Address) -> "RoughNetwork":
        loop = asyncio.get_running_loop()
        for end in (self._near, self._far):
            await loop.create_datagram_endpoint(lambda end=end: end, local_addr=("127.0.0.1", 0))
        self._far.peer = node
        return self

    def carry(self, data: bytes, to: _End) -> None:
        """Passes a datagram on, or not."""
        is_media = data[0] >= 128 and not 192 <= data[1] < 224
        if is_media and self._random.random() < self.weather.loss:
            self.lost += 1
            return
        self.carried += is_media
        delay = self._random.random() * self.weather.jitter if is_media else 0
        if delay:
            self._under_way += 1
            asyncio.get_running_loop().call_later(delay, self._arrive, data, to)
        else:
            to.send(data)

    async def move(self) -> None:
        """From now on the participant comes from another address, as after a change of networks: the one of before is gone."""
        left, self._far = self._far, _End(self)
        self._far.peer, self._far.other, self._near.other = left.peer, self._near, self._far
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: self._far, local_addr=("127.0.0.1", 0))
        left.transport.close()

    async def calm(self) -> None:
        """From now on it does no harm; returns when no packet is under way."""
        self.weather = Weather()
        await eventually(lambda: self._under_way == 0, "no packet is under way")

    def close(self) -> None:
        for end in (self._near, self._far):
            end.transport.close()

    def _arrive(self, data: bytes, to: _End) -> None:
        self._under_way -= 1
        to.send(data)


@asynccontextmanager
async def rough_network(node: Address, seed: int) -> AsyncIterator[RoughNetwork]:
    """A network to this node, until the end of the body."""
    network = await RoughNetwork(seed).open(node)
    try:
        yield network
    finally:
        network.close()
