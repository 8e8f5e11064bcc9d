"""The other ends of the pipes that are a participant's devices: they set the pace, stall, and are closed."""

import asyncio
import os
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tone import FRAME, RATE, Tone
from waiting import paced

FRAME_BYTES = 2 * FRAME
# What is not read in time is read later, up to this.
GREATEST_DEBT = 10 * FRAME_BYTES


class PipeEnd:
    """A pipe with a name, and frames that pass it at this end, at `pace` times the speed of a right clock."""

    def __init__(self, path: Path, flags: int, pace: float):
        self.path = path
        self.pace = pace
        os.mkfifo(path)
        self._pipe: int | None = os.open(path, flags | os.O_NONBLOCK)
        self._task: asyncio.Task | None = None

    def go_on(self) -> None:
        """Frames pass from now on."""
        self._task = asyncio.create_task(self._pass())

    async def stall(self) -> None:
        """Nothing passes any more, though this end stays open."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def close(self) -> None:
        """Nobody is at this end any more."""
        await self.stall()
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None

    async def _pass(self) -> None:
        # A day, at most.
        async for _ in paced(24 * 3600 * RATE // FRAME, self.pace * RATE / FRAME):
            with suppress(BlockingIOError):
                self.frame()

    def frame(self) -> None:
        raise NotImplementedError


class Microphone(PipeEnd):
    """Says a tone, or zeroes."""

    def __init__(self, directory: Path, tone: int = 0, pace: float = 1):
        # Opened for both, it need not wait for who reads.
        super().__init__(directory / "microphone", os.O_RDWR, pace)
        self._tone = Tone(tone) if tone else None

    def frame(self) -> None:
        os.write(self._pipe, self._tone.frame().tobytes() if self._tone else bytes(FRAME_BYTES))


class Loudspeaker(PipeEnd):
    """Keeps what it plays."""

    def __init__(self, directory: Path, pace: float = 1):
        super().__init__(directory / "loudspeaker", os.O_RDONLY, pace)
        self.played = array("h")
        self._debt = 0

    def frame(self) -> None:
        self._debt = min(self._debt + FRAME_BYTES, GREATEST_DEBT)
        data = os.read(self._pipe, self._debt)
        self._debt -= len(data)
        self.played.frombytes(data)


@asynccontextmanager
async def pipe_ends(
        directory: Path, tone: int = 0, *, said: float = 1, played: float = 1) -> AsyncIterator[tuple[Microphone, Loudspeaker]]:
    """A microphone with a tone and a loudspeaker, and the paces of both; nothing passes yet."""
    ends = Microphone(directory, tone, said), Loudspeaker(directory, played)
    try:
        yield ends
    finally:
        for end in ends:
            await end.close()
