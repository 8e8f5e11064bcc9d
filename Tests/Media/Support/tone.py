"""Sine tones at 48 kHz, and how much of one is in what was heard."""

import math
import random
from array import array

RATE = 48_000
# One packet of Opus: 20 ms.
FRAME = 960
# The tones of three speakers. Each has whole periods in a PERIOD, so that no tone leaks into another's bin.
TONES = (440, 555, 660)
PERIOD = 9_600
AMPLITUDE = 8_000
# What a tone must have against all the rest, in dB, when it came as Opus of 96 kbit/s.
CLEAR = 40
# What another tone may have beside the one that is heard, in dB.
ABSENT = -40
# What is told of a tone that is not there at all, in dB of full scale.
SILENCE = -150.0


class Tone:
    """A sine without end, 20 ms at a time."""

    def __init__(self, frequency: int, amplitude: int = AMPLITUDE):
        assert frequency * PERIOD % RATE == 0, f"{frequency} Hz has no whole periods in {PERIOD} samples"
        length = RATE // math.gcd(RATE, frequency)
        self._period = array("h", (
            round(amplitude * math.sin(2 * math.pi * frequency * sample / RATE)) for sample in range(length)))
        self._at = 0

    def frame(self) -> array:
        """The next FRAME samples."""
        length = len(self._period)
        samples = array("h")
        while len(samples) < FRAME:
            part = self._period[self._at:self._at + FRAME - len(samples)]
            samples.extend(part)
            self._at = (self._at + len(part)) % length
        return samples


class Noise:
    """White noise: no two of its packets are alike."""

    def __init__(self, amplitude: int, seed: int = 1):
        self._amplitude = amplitude
        self._random = random.Random(seed)

    def frame(self) -> array:
        """The next FRAME samples."""
        return array("h", (round(self._amplitude * (2 * self._random.random() - 1)) for _ in range(FRAME)))


def power(pcm: array, frequency: int) -> float:
    """The mean power of one tone, by Goertzel; `pcm` has whole periods of it."""
    assert len(pcm) % PERIOD == 0 and len(pcm) > 0, f"{len(pcm)} samples are no multiple of {PERIOD}"
    turn = 2 * math.pi * frequency / RATE
    coefficient = 2 * math.cos(turn)
    before, last = 0.0, 0.0
    for sample in pcm:
        before, last = last, sample + coefficient * last - before
    squared = last * last + before * before - coefficient * last * before
    return 2 * squared / len(pcm) ** 2


def level(pcm: array, frequency: int) -> float:
    """The level of one tone in dB of full scale, which a sine of the greatest amplitude has."""
    share = power(pcm, frequency) / (32_767**2 / 2)
    return 10 * math.log10(share) if share > 10 ** (SILENCE / 10) else SILENCE


def snr(pcm: array, frequency: int) -> float:
    """A tone against all the rest, in dB."""
    signal = power(pcm, frequency)
    rest = sum(sample * sample for sample in pcm) / len(pcm) - signal
    if signal <= 0:
        return SILENCE
    return 10 * math.log10(signal / max(rest, signal * 10 ** (SILENCE / 10)))


def share(pcm: array, frequency: int) -> float:
    """The share of a tone in all that is heard; 0 of silence."""
    energy = sum(sample * sample for sample in pcm) / len(pcm)
    return power(pcm, frequency) / energy if energy else 0.0


def longest_silence(pcm: array) -> float:
    """The longest run of samples that are nothing but 0, in seconds."""
    longest = run = 0
    for sample in pcm:
        run = 0 if sample else run + 1
        longest = max(longest, run)
    return longest / RATE


def last_part(pcm: array, seconds: float = 1) -> array:
    """The last samples, as many as have whole periods of all tones."""
    size = round(seconds * RATE) // PERIOD * PERIOD
    assert len(pcm) >= size, f"only {len(pcm) / RATE:.2f} s were heard, not {seconds} s"
    return pcm[-size:]
