"""A wire between a page and a gateway that can be cut, or go silent."""

import asyncio
import contextlib


class Wire:
    """Forwards TCP connections to an address."""

    def __init__(self, target: str):
        self._host, self._port = target.removeprefix("ws://").split(":")
        self._server: asyncio.Server | None = None
        self._ends: set[asyncio.StreamWriter] = set()
        self._is_silent = self._is_mute = False
        self.port = 0
        self.opened = 0
        """Connections so far."""

    async def __aenter__(self) -> "Wire":
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def open(self) -> None:
        """Accepts connections, on the same port as before."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Accepts no more connections, and closes the existing ones."""
        self._server.close()
        self.cut()

    def cut(self) -> None:
        """Resets all connections; new ones work."""
        self.restore()
        for end in list(self._ends):
            end.transport.abort()

    def silence(self) -> None:
        """From now on forwards nothing and closes nothing."""
        self._is_silent = True

    def mute(self) -> None:
        """From now on drops what the gateway sends and forwards what the page sends."""
        self._is_mute = True

    def restore(self) -> None:
        """Forwards new connections again; what was dropped stays lost."""
        self._is_silent = self._is_mute = False

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        try:
            far_reader, far_writer = await asyncio.open_connection(self._host, int(self._port))
        except OSError:
            return writer.transport.abort()
        await asyncio.gather(
            self._forward(reader, writer, far_writer, is_gateway=False),
            self._forward(far_reader, far_writer, writer, is_gateway=True))

    async def _forward(
        self, source: asyncio.StreamReader, own: asyncio.StreamWriter, sink: asyncio.StreamWriter, is_gateway: bool,
    ) -> None:
        self._ends.add(own)
        with contextlib.suppress(ConnectionError):
            while payload := await source.read(65_536):
                if not (self._is_silent or (self._is_mute and is_gateway)):
                    sink.write(payload)
                    await sink.drain()
        self._ends.discard(own)
        sink.transport.abort()
