"""What a participant costs that talks, hears others and records them: the Swift client `media-call`, beside the codec alone."""

import math
import os
import random
import statistics
import subprocess
import tempfile
import time
import wave
from array import array
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..heliograph import Heliograph
from ..paths import ROOT, TOOLS, BenchError

RATE = 48_000
# As many others are heard at once as a node sends by default.
SLOTS = 6
# From the join until the first figures count: the others are heard, and the jitter buffers are at rest.
WARMING = 4
# Of a core, for one talker with six slots.
MOST_PERCENT = 3.0
# What a jitter buffer may add where nothing is late.
MOST_DELAY_MS = 40
# A frame in capture and one in playback, which the client's delay contains beside that of the jitter buffer.
FRAMES_MS = 40


@dataclass(frozen=True)
class Round:
    """One measurement."""

    percent: float
    """Of a core, of the client."""
    codec_percent: float
    """Of a core, of the codec alone at the same time."""
    delay_ms: float
    """What the jitter buffers added, the greatest of those heard."""


def measured(seconds: float, rounds: int) -> dict:
    """Medians of all rounds, with another number of others: one, and as many as there are slots."""
    result = {}
    with Heliograph(options=("--media", "1", "--sip-bridge", "0")) as stack, tempfile.TemporaryDirectory() as directory:
        for others in (1, SLOTS):
            every = [_round(stack, Path(directory), others, seconds) for _ in range(rounds)]
            result[f"slots_{others}"] = {
                "percent_of_core": _median(one.percent for one in every),
                "codec_percent_of_core": _median(one.codec_percent for one in every),
                "ratio": _median(one.percent / one.codec_percent for one in every),
                "jitter_buffer_ms": _median(one.delay_ms for one in every)}
    return result


def table(result: dict) -> Iterator[str]:
    """The result with its bars, for a person."""
    full = result[f"slots_{SLOTS}"]
    yield f"{'':44} {'client':>8} {'codec':>8} {'ratio':>6} {'at most':>8}"
    for others in (1, SLOTS):
        one, bar = result[f"slots_{others}"], f"{MOST_PERCENT:8.1f}  {_verdict(full['percent_of_core'], MOST_PERCENT)}"
        yield (f"{f'CPU with {others} heard, percent of a core':44} {one['percent_of_core']:8.2f} "
               f"{one['codec_percent_of_core']:8.2f} {one['ratio']:6.2f} {bar if others == SLOTS else ''}")
    yield (f"{'delay of the jitter buffer without jitter, ms':44} {full['jitter_buffer_ms']:8.0f} {'':8} {'':6} "
           f"{MOST_DELAY_MS:8.0f}  {_verdict(full['jitter_buffer_ms'], MOST_DELAY_MS)}")


def _verdict(value: float, most: float) -> str:
    return "kept" if value <= most else "MISSED"


def _median(values: Iterator[float]) -> float:
    return round(statistics.median(values), 2)


def _round(stack: Heliograph, directory: Path, others: int, seconds: float) -> Round:
    channel = f"client-{time.monotonic_ns()}"
    with ExitStack() as present:
        for number in range(1, others + 1):
            present.enter_context(_client(stack, directory, channel, number))
        client, said = present.enter_context(_client(stack, directory, channel, 0))
        _codec(others, WARMING)
        began, before = time.monotonic(), _cpu(client.pid)
        alone = _codec(others, seconds)
        percent = 100 * (_cpu(client.pid) - before) / (time.monotonic() - began)
        return Round(percent, alone, _delay(said, others))


def _codec(others: int, seconds: float) -> float:
    """Runs the codec alone for so long; its percent of a core."""
    done = subprocess.run(
        [TOOLS / "codec", str(others), str(round(seconds))], stdout=subprocess.PIPE, text=True, check=True, timeout=3 * seconds + 20)
    return float(done.stdout)


@contextmanager
def _client(stack: Heliograph, directory: Path, channel: str, number: int) -> Iterator[tuple[subprocess.Popen, Path]]:
    """One participant, and where its lines are."""
    points = stack.endpoints()
    app = next(app["appId"] for app in points["apps"] if not app["tokenRequired"])
    said = directory / f"{channel}-{number}.txt"
    with said.open("w") as lines:
        process = subprocess.Popen(
            [_program(), points["gateways"][0]["http"], app, channel, f"uid={number + 1}", f"in={_voice(directory, number)}",
             f"out={directory / f'heard-{number}.wav'}"], stdin=subprocess.PIPE, stdout=lines)
        try:
            yield process, said
        finally:
            process.kill()
            process.wait()


def _program() -> Path:
    program = Path(os.environ.get("HELIOGRAPH_BIN", ROOT / ".build" / "release")) / "media-call"
    if not program.exists():
        raise BenchError(f"{program} is not there: make release")
    return program


def _voice(directory: Path, number: int) -> Path:
    """Two tones and a little noise for a second, which repeats."""
    path = directory / f"voice-{number}.wav"
    if not path.exists():
        low, noise = 300 + 150 * number, random.Random(number)
        pcm = array("h", (
            round(6000 * math.sin(math.tau * low * at / RATE) + 3000 * math.sin(math.tau * (low + 410) * at / RATE)
                  + noise.uniform(-300, 300)) for at in range(RATE)))
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(pcm.tobytes())
    return path


def _cpu(pid: int) -> float:
    """Seconds, of all threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _delay(said: Path, others: int) -> float:
    """What the jitter buffers add, by the last statistics that a client said."""
    lines = [line for line in said.read_text().splitlines() if line.startswith("statistics ")]
    heard = [dict(pair.split("=") for pair in word.split(",")) for word in lines[-1].split() if word.startswith("uid=")] if lines else []
    if len(heard) != others:
        raise BenchError(f"{len(heard)} of {others} are heard: {lines[-1:]}")
    return max(int(one["delay"]) for one in heard) - FRAMES_MS
