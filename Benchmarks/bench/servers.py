"""The servers that are measured: started privately, on loopback, on one core."""

import contextlib
import socket
import subprocess
import time
from pathlib import Path

from .paths import TOOLS, WORK, BenchError
from .processes import SERVER_CORE, family, pin

START_SECONDS = 60


class RefusedByKernel(BenchError):
    """A server cannot run on this machine: its kernel, or a seccomp profile, refuses what the server is made of."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One kind of server, running between `start` and `stop`."""

    name = ""
    driver = ""
    load_options: list[str] = []
    # Where a client may send only so many messages a second, more than one publisher is needed.
    messages_per_publisher = 1_000_000
    # Whether members publish over their own connections; otherwise a connection either publishes or subscribes.
    members_speak = False

    def __init__(self) -> None:
        self.ports: list[int] = []

    def __enter__(self) -> "Server":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        raise NotImplementedError

    def processes(self) -> dict[int, str]:
        """All processes that serve, by what they are."""
        raise NotImplementedError

    def pin(self) -> None:
        pin(self.processes())

    def facing(self) -> str:
        """The process that has the clients' connections."""
        return self.name


class Program(Server):
    """A server that is one program (and its children)."""

    # The exit code by which the program says that the kernel refuses what it needs; None: it has none.
    refused: int | None = None

    def __init__(self) -> None:
        super().__init__()
        self.process: subprocess.Popen | None = None
        self.directory = WORK / self.name

    def command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self.ports = [free_port()]
        command = ["taskset", "-c", str(SERVER_CORE), *self.command()]
        with (self.directory / "output.log").open("wb") as output:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            # Looks again after a tenth of a second, or at once when the process ends.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.1)
            if self.refused is not None and self.process.poll() == self.refused:
                raise RefusedByKernel((self.directory / "output.log").read_text().strip())
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise BenchError(f"{self.name} does not start, see {self.directory / 'output.log'}")

    def answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.ports[0])) == 0

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def processes(self) -> dict[int, str]:
        return family({self.process.pid: self.name})


class Limit(Program):
    """One send() per subscriber, and nothing else; by io_uring with `--ring`."""

    name = driver = "limit"
    refused = 3

    def __init__(self, option: str = ""):
        super().__init__()
        self.option = option

    def command(self) -> list[str]:
        return [str(TOOLS / "limit"), str(self.ports[0]), *filter(None, [self.option])]


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
