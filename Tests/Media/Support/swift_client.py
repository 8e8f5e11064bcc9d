"""The Swift client of media, as the program `media-call`: what it says by its lines, and what it has heard by its file."""

import asyncio
import wave
from array import array
from pathlib import Path

from apps import App
from secrecy import SPOKEN
from stack_control import BINARIES
from tone import FRAME, RATE, Tone
from waiting import eventually

# A microphone's file: as many frames as have whole periods of all tones.
FILE_FRAMES = 50


class SwiftClient:
    """One participant. `lines` has what it has said so far."""

    def __init__(self, directory: Path, tone: int = 0):
        self.tone = tone
        """What it says, in Hz; 0: nothing."""
        self.uid = 0
        self.lines: list[str] = []
        self.heard_in = directory / f"heard-{id(self)}.wav"
        self._said_in = directory / f"said-{id(self)}.wav"
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task | None = None

    async def join(self, gateway: str, app: App, channel: str, **more: object) -> "SwiftClient":
        """Joins by a gateway's address; `more` as the program's usage names it."""
        await self.start(gateway, app, channel, **more)
        await self.line("joined ")
        self.uid = int(self.lines[0].split()[1])
        return self

    async def start(self, gateway: str, app: App, channel: str, **more: object) -> None:
        """Starts the program, which may be refused."""
        SPOKEN.name(app.id)
        if self.tone:
            more["in"] = self._record()
        options = [f"{name}={value}" for name, value in {"out": self.heard_in, **more}.items()]
        self._process = await asyncio.create_subprocess_exec(
            str(BINARIES / "media-call"), gateway.replace("ws://", "http://"), app.id, channel, *options,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        self._reader = asyncio.create_task(self._read())

    def _record(self) -> Path:
        tone, pcm = Tone(self.tone), array("h")
        for _ in range(FILE_FRAMES):
            pcm.extend(tone.frame())
        _write(self._said_in, pcm)
        return self._said_in

    async def line(self, beginning: str, count: int = 1) -> str:
        """Waits until it has said so many lines that begin so; the last of them."""

        def found() -> list[str]:
            return [line for line in self.lines if line.startswith(beginning)]

        await eventually(lambda: len(found()) >= count, f"{count} x {beginning!r} in {self.lines}")
        return found()[count - 1]

    async def act(self, text: str) -> None:
        """Gives it one line."""
        self._process.stdin.write(f"{text}\n".encode())
        await self._process.stdin.drain()

    async def leave(self) -> str:
        """Leaves; what it says at last."""
        await self.act("leave")
        return await self.ended()

    async def ended(self) -> str:
        """Waits for its end; the last line."""
        await asyncio.wait_for(self._process.wait(), 20)
        await self._reader
        return self.lines[-1]

    def heard(self) -> array:
        """What it has played so far."""
        with wave.open(str(self.heard_in)) as file:
            pcm = array("h")
            pcm.frombytes(file.readframes(file.getnframes()))
        return pcm

    def forgive(self) -> None:
        """For a test that has failed already."""

    async def close(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        if self._reader is not None:
            await self._reader

    async def _read(self) -> None:
        while line := await self._process.stdout.readline():
            self.lines.append(line.decode().rstrip("\n"))


def seconds(pcm: array) -> float:
    return len(pcm) / RATE


def _write(path: Path, pcm: array) -> None:
    assert len(pcm) % FRAME == 0
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(pcm.tobytes())
