"""Participants that are programs in Swift: what they tell by their lines, and what they have heard by their files."""

import asyncio
import math
import os
import re
import wave
from array import array
from pathlib import Path

from apps import App
from stack_control import BINARIES
from tone import ABSENT, FRAME, PERIOD, RATE, Tone, level, power
from waiting import PATIENCE_SECONDS, eventually

# A microphone's file: as many frames as have whole periods of all tones.
FILE_FRAMES = 50
# As `hearing.py` says of pages.
CLEAR_SECONDS = 20
NUMBER = re.compile(r"(\w+)=(\d+)")


class MediaProgram:
    """One participant. `lines` has what it has said so far."""

    def __init__(self, directory: Path, tone: int = 0, pause: int = 0):
        self.tone = tone
        """What it says, in Hz; 0: nothing."""
        self.pause = pause
        """The frames of silence after each second of its tone."""
        self.wrapper: tuple[str, ...] = ()
        """The command, if any, that runs the program."""
        self.lines: list[str] = []
        self.heard_in = directory / f"heard-{id(self)}.wav"
        self._said_in = directory / f"said-{id(self)}.wav"
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task | None = None

    async def run(self, program: str, *arguments: str, **environment: str) -> None:
        """Starts the program."""
        self._process = await asyncio.create_subprocess_exec(
            *self.wrapper, str(BINARIES / program), *arguments, env=os.environ | environment, stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE)
        self._reader = asyncio.create_task(self._read())

    def said_in(self) -> Path | None:
        """The file of its microphone, unless it says nothing."""
        if not self.tone:
            return None
        tone, pcm = Tone(self.tone), array("h")
        for _ in range(FILE_FRAMES):
            pcm.extend(tone.frame())
        pcm.extend([0] * self.pause * FRAME)
        assert len(pcm) % FRAME == 0
        write_wav(self._said_in, pcm)
        return self._said_in

    async def line(self, beginning: str, count: int = 1, seconds: float = PATIENCE_SECONDS) -> str:
        """Waits until it has said so many lines that begin so; the last of them."""

        def found() -> list[str]:
            return [line for line in self.lines if line.startswith(beginning)]

        await eventually(lambda: len(found()) >= count, f"{count} x {beginning!r} in {self.lines}", seconds)
        return found()[count - 1]

    async def act(self, text: str) -> None:
        """Gives it one line."""
        self._process.stdin.write(f"{text}\n".encode())
        await self._process.stdin.drain()

    async def ended(self) -> str:
        """Waits for its end; the last line. It is told nothing more."""
        await asyncio.wait_for(self._process.wait(), 20)
        await self._reader
        return self.lines[-1]

    @property
    def is_running(self) -> bool:
        return self._process.returncode is None

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


class SwiftClient(MediaProgram):
    """One that joins by `media-call`."""

    def __init__(self, directory: Path, tone: int = 0, pause: int = 0):
        super().__init__(directory, tone, pause)
        self.uid = 0

    async def join(self, gateway: str, app: App, channel: str, **more: object) -> "SwiftClient":
        """Joins by a gateway's address; `more` as the program's usage names it."""
        await self.start(gateway, app, channel, **more)
        await self.line("joined ")
        self.uid = int(self.lines[0].split()[1])
        return self

    async def start(self, gateway: str, app: App, channel: str, **more: object) -> None:
        """Starts the program, which may be refused."""
        options = {"out": self.heard_in, **({"in": said} if (said := self.said_in()) else {}), **more}
        await self.run(
            "media-call", web_address(gateway), app.id, channel, *(f"{name}={value}" for name, value in options.items()))

    def reports(self) -> list[dict[str, int]]:
        """Its reports so far, the numbers by their names; of the users, those of the last one."""
        lines = [line for line in self.lines if line.startswith("statistics ")]
        return [{name: int(number) for name, number in NUMBER.findall(line)} for line in lines]

    async def leave(self) -> str:
        """Leaves; what it says at last."""
        await self.act("leave")
        return await self.ended()


def web_address(gateway: str) -> str:
    """Where a gateway's `/getaddr` is."""
    return gateway.replace("ws://", "http://")


def clearness(pcm: array, tones: tuple[int, ...]) -> float:
    """These tones against all the rest, in dB."""
    signal = sum(power(pcm, tone) for tone in tones)
    rest = sum(sample * sample for sample in pcm) / len(pcm) - signal
    return 10 * math.log10(signal / max(rest, signal * 1e-12)) if signal else -150.0


async def hears_clearly(client: MediaProgram, tones: tuple[int, ...], clear: float) -> None:
    """Waits for one second in which it hears these tones, and neither its own nor anything else."""

    def is_clear() -> bool:
        pcm = client.heard()
        part = pcm[-RATE:]
        return len(part) == RATE and clearness(part, tones) >= clear \
            and (not client.tone or level(part, client.tone) <= ABSENT)

    assert RATE % PERIOD == 0
    await eventually(is_clear, f"{client.tone} Hz hears {tones} with {clear} dB", CLEAR_SECONDS)


def seconds(pcm: array) -> float:
    return len(pcm) / RATE


def write_wav(path: Path, pcm: array, rate: int = RATE) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(pcm.tobytes())
