"""Servers that an operator adds to a running stack: their ports and their folders.

Should a test be killed, `Scripts/stack down` ends them: it looks for servers in folders beside those of its own.
"""

import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from page_commands import PageCommands, with_values
from stack_control import Stack
from stacklib.ports import LAST, PortPicker, reserved
from waiting import eventually_blocking

END_SECONDS = 10
# A server of a Redis Cluster has its port for the other servers so far above that for clients, unless it is told otherwise.
BUS = 10_000


@dataclass(frozen=True)
class Place:
    """Where a server is, or will be."""

    name: str
    port: int
    folder: Path
    log: Path

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"


class MoreServers:
    """The added servers; they end with the body of `with`."""

    def __init__(self, stack: Stack):
        self._stack = stack
        self._picker = PortPicker(reserved())
        self._processes: list[subprocess.Popen] = []

    def __enter__(self) -> "MoreServers":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            # PostgreSQL waits for its clients if it is told to end by SIGTERM.
            process.send_signal(signal.SIGINT)
        for process in self._processes:
            process.wait(END_SECONDS)

    def place(self, kind: str, name: str) -> Place:
        """A free port and a new folder beside those of the stack's own servers of a kind, `redis` or `postgres`."""
        folder = self._stack.directory / kind / name
        folder.mkdir()
        taken = reserved()
        while True:
            port, = self._picker.pick()
            if port + BUS <= LAST and port + BUS not in taken:
                return Place(name, port, folder, self._stack.directory / "logs" / f"{name}.log")

    def start(
            self, steps: PageCommands, words: str, places: dict[Place, dict[str, str]], *, user: list[str] | None = None, more: str = "",
    ) -> None:
        """Starts servers at these places by the next command of a page, each with its values for the page's names.

        `user` and `more` are those of `PageCommands.run`.
        """
        command = f"{steps.take(words)} {more}".rstrip()
        for place, names in places.items():
            self._processes.append(steps.start(with_values(command, names), place.folder, place.log, user))


def ask(port: int, *words: str) -> str:
    """One command on a server of Redis."""
    done = subprocess.run(
        ["redis-cli", "-p", str(port), "-e", *words], capture_output=True, text=True, timeout=10, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def wait_until_up(port: int) -> None:
    """Waits until a server of Redis answers."""
    eventually_blocking(
        lambda: subprocess.run(["redis-cli", "-p", str(port), "PING"], capture_output=True, check=False).stdout == b"PONG\n", "it answers")
