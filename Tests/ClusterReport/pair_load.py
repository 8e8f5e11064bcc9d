"""The benchmarks' load generator beside a population: pairs of users with numbered messages at a rate that Python could not send."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bench.command import build_tools
from bench.load import Load
from bench.servers import Server
from stack_control import Stack
from waiting import eventually, let_pass

# Messages a second; the population's come on top.
RATE = 1_000
PAIRS, SEGMENT_SECONDS = 100, 5
# Until the load generator is built and its users are logged in.
READY_SECONDS = 120


class RunningStack(Server):
    """A stack that somebody else has started."""

    name = driver = "heliograph"

    def __init__(self, stack: Stack):
        super().__init__()
        self.stack = stack
        self.ports = [int(url.rsplit(":", 1)[1]) for url in stack.gateways]
        self.load_options = ["--app", stack.open_app.id]

    def processes(self) -> dict[int, str]:
        return {pid: name for name, pid in self.stack.pids.items()}

    def pin(self) -> None:
        """Leaves the processes where they are: no time is measured that a core's other work would spoil."""


@dataclass
class Sent:
    """What the pairs have sent and received."""

    delivered: int = 0
    faults: int = 0
    """Messages that were lost, doubled, out of order or refused, and connections that were closed."""
    worst: float = 0
    """Seconds."""
    seconds: float = 0


class PairLoad:
    """Pairs that exchange messages at a rate until they are told to stop."""

    def __init__(self, stack: Stack, rate: int):
        self._stack, self._rate = stack, rate
        self._ready = self._stopping = False
        self._sent = Sent()
        self._task = asyncio.create_task(asyncio.to_thread(self._run))

    def _run(self) -> None:
        build_tools()
        with Load(RunningStack(self._stack), "pairs", "--pairs", PAIRS, "--push") as load:
            self._ready = True
            while not self._stopping:
                run = load.ask(f"run {SEGMENT_SECONDS} {self._rate}", "run")
                self._sent.delivered += run["delivered"]
                self._sent.seconds += run["seconds"]
                self._sent.faults += run["lost"] + run["disorder"] + run["refused"] + run["disconnected"]
                self._sent.worst = max(self._sent.worst, run["max_us"] / 1e6)

    def is_ready(self) -> bool:
        """Whether the pairs are logged in and exchange messages. Raises what the load generator ended with, if it has."""
        if self._task.done():
            self._task.result()
        return self._ready

    async def stop(self) -> Sent:
        """Ends the load after the present segment."""
        self._stopping = True
        await self._task
        return self._sent


@asynccontextmanager
async def pairs_beside(stack: Stack, sent: list[Sent]) -> AsyncIterator[None]:
    """The pairs exchange messages meanwhile; what came of it is added to `sent`."""
    load = PairLoad(stack, RATE)
    try:
        await eventually(load.is_ready, "the load generator is ready", READY_SECONDS)
        await let_pass(3, "the pairs get under way")
        yield
    finally:
        sent.append(await load.stop())
