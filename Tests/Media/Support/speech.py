"""What engines say: packets of Opus with the level that they claim."""

from array import array
from dataclasses import dataclass
from itertools import cycle
from typing import Protocol

from opus import Encoder


@dataclass(frozen=True)
class Frame:
    """20 ms."""

    payload: bytes
    level: int
    """In -dBov, as RFC 6464 has it."""


class Sound(Protocol):
    """A `Tone`, a `Noise`."""

    def frame(self) -> array:
        """The next 20 ms."""


class Speech(Protocol):
    """What a path can send."""

    def frame(self) -> Frame:
        """The next packet."""


class Live:
    """A sound that is encoded while it is said."""

    def __init__(self, sound: Sound):
        self._sound = sound
        self._encoder = Encoder()

    def frame(self) -> Frame:
        pcm = self._sound.frame()
        return Frame(self._encoder.encode(pcm), level(pcm))


class Again:
    """The same packets again and again: as many can say them as the machine can send."""

    def __init__(self, frames: list[Frame]):
        self._frames = cycle(frames)

    def frame(self) -> Frame:
        return next(self._frames)


def spoken(sound: Sound, count: int) -> list[Frame]:
    """The first packets of a sound."""
    live = Live(sound)
    return [live.frame() for _ in range(count)]


def level(pcm: array) -> int:
    """In -dBov."""
    mean = sum(sample * sample for sample in pcm) / len(pcm)
    least = 0
    while least < 127 and mean < 32_768**2 * 10 ** (-least / 10):
        least += 1
    return least
