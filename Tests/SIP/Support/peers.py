"""Telephones and proxies of other projects, each a private process on free loopback ports that ends with its test."""

import asyncio
import os
import shutil
import signal
import socket
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeVar

from waiting import eventually

# Below the ephemeral range, and apart from the 21,000 to 31,999 of Scripts/stack.
FIRST_PORT, LAST_PORT = 12_000, 20_999
START_SECONDS = 15
END_SECONDS = 5
LOOPBACK = "127.0.0.1"
_UDP_TABLES = ("udp", "udp6")
_TCP_TABLES = ("tcp", "tcp6")
# State "listen" of /proc/net/tcp.
_LISTEN = "0A"

P = TypeVar("P", bound="Peer")
_next_port = FIRST_PORT + os.getpid() * 16 % (LAST_PORT - FIRST_PORT - 16)


def free_port(host: str = LOOPBACK) -> int:
    """An even port that neither UDP nor TCP uses, nor the port after it: room for RTP and RTCP, or SIP and SIP over TLS."""
    global _next_port
    for _ in range(LAST_PORT - FIRST_PORT):
        _next_port += 2
        if _next_port >= LAST_PORT:
            _next_port = FIRST_PORT
        port = _next_port - _next_port % 2
        if all(_is_free(host, port + offset, kind) for offset in (0, 1) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)):
            return port
    raise AssertionError(f"no free pair of ports between {FIRST_PORT} and {LAST_PORT}")


def _is_free(host: str, port: int, kind: int) -> bool:
    with socket.socket(socket.AF_INET, kind) as probe:
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def is_bound(port: int) -> bool:
    """Whether any process serves UDP or TCP on this port."""
    for table in (*_UDP_TABLES, *_TCP_TABLES):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state = line.split()[:4]
            if int(local.rpartition(":")[2], 16) == port and (table in _UDP_TABLES or state == _LISTEN):
                return True
    return False


class Peer:
    """A process of a test; its output and files are in `directory`."""

    # Sent by `stop`, one after the other until the process has ended.
    end_signals = (signal.SIGTERM, signal.SIGKILL)

    def __init__(self, name: str, arguments: list[str], directory: Path, port: int):
        self.name = name
        self.arguments = arguments
        self.directory = directory
        self.port = port
        self.process: asyncio.subprocess.Process | None = None

    @property
    def output_path(self) -> Path:
        return self.directory / f"{self.name}.out"

    @property
    def output(self) -> str:
        return self.output_path.read_text(errors="replace") if self.output_path.exists() else ""

    async def start(self) -> None:
        """Starts it and waits until it serves its port."""
        await self.launch()
        await eventually(
            lambda: is_bound(self.port) or self.process.returncode is not None, f"{self.name} serves port {self.port}",
            START_SECONDS)
        assert self.process.returncode is None, f"{self.name} ended at once:\n{self.output[-2000:]}"

    async def launch(self) -> None:
        """Starts it in a session of its own."""
        with self.output_path.open("wb") as output:
            self.process = await asyncio.create_subprocess_exec(
                *self.arguments, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=asyncio.subprocess.STDOUT,
                cwd=self.directory, start_new_session=True, env=os.environ | {"TERM": "dumb"})

    async def stop(self) -> None:
        """Ends it and its children."""
        if self.process is None or self.process.returncode is not None:
            return
        for number in self.end_signals:
            try:
                # The session of `launch`: Kamailio's workers are in it too.
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                break
            try:
                await asyncio.wait_for(self.process.wait(), END_SECONDS)
            except TimeoutError:
                continue
        await self.process.wait()


class Peers:
    """The peers of one test: `async with Peers() as peers: phone = await peers.start(Sipp(...))`."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="heliograph-sip-"))
        self._exits = AsyncExitStack()

    async def start(self, peer: P) -> P:
        """Starts it; it ends with the test."""
        self._exits.push_async_callback(peer.stop)
        await peer.start()
        return peer

    def room(self, name: str) -> Path:
        """A directory for one peer's files."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.directory))

    async def __aenter__(self) -> "Peers":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await self._exits.aclose()
        if kind is None:
            shutil.rmtree(self.directory, ignore_errors=True)
        else:
            print(f"\nfiles of the peers: {self.directory}")
