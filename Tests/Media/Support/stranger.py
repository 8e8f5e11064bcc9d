"""A UDP socket that belongs to no participant."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Stranger(asyncio.DatagramProtocol):
    """Sends what it is told to, and keeps what comes."""

    def __init__(self) -> None:
        self.came: list[bytes] = []
        self.transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, _: object) -> None:
        self.came.append(data)

    def send(self, data: bytes) -> None:
        self.transport.sendto(data)


@asynccontextmanager
async def stranger(host: str, port: int) -> AsyncIterator[Stranger]:
    """A stranger to the participant or node at that address, until the end of the body."""
    _, one = await asyncio.get_running_loop().create_datagram_endpoint(Stranger, remote_addr=(host, port))
    try:
        yield one
    finally:
        one.transport.close()
