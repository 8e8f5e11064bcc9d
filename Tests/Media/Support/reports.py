"""RTCP's sender and receiver reports (RFC 3550): writing and reading them, and what a receiver counts for them."""

import struct
import time
from dataclasses import dataclass, field

SENDER_REPORT, RECEIVER_REPORT = 200, 201
HEAD = struct.Struct("!BBHI")
SENT = struct.Struct("!QIII")
BLOCK = struct.Struct("!IIIIII")
# From 1900 to 1970, in seconds.
EPOCH = 2_208_988_800
# What the middle of an NTP time counts in: 1/65536 s.
SHORT_UNIT = 65_536


def ntp_now() -> int:
    """The NTP time of this process' clock."""
    return int((time.time() + EPOCH) * 2**32)


def middle(ntp: int) -> int:
    """The 32 bits of an NTP time that a report's block has."""
    return ntp >> 16 & 0xFFFFFFFF


@dataclass(frozen=True)
class Sent:
    """What a sender says of itself."""

    ntp: int
    timestamp: int
    """Of the media, at that time."""
    packets: int
    size: int
    """The bytes of their payloads."""


@dataclass(frozen=True)
class Block:
    """How a receiver gets one source."""

    ssrc: int
    fraction: int
    """Of the packets since the last report, how many of 256 were lost."""
    lost: int
    sequence: int
    """The highest number that came, counted on over the wrap."""
    jitter: int
    """In samples."""
    last_report: int
    """The middle of the last sender report that came; 0: none did."""
    delay: int
    """The time since then, in 1/65536 s."""

    def round_trip(self, came: int) -> float:
        """In seconds, when this came at that NTP time."""
        return ((middle(came) - self.last_report - self.delay + 2**31) % 2**32 - 2**31) / SHORT_UNIT


@dataclass(frozen=True)
class Report:
    """A sender report, or without `sent` a receiver report."""

    ssrc: int
    sent: Sent | None
    blocks: tuple[Block, ...]
    came: int = 0
    """The NTP time at which it came."""

    def encoded(self) -> bytes:
        body = SENT.pack(self.sent.ntp, self.sent.timestamp, self.sent.packets, self.sent.size) if self.sent else b""
        for block in self.blocks:
            body += BLOCK.pack(
                block.ssrc, block.fraction << 24 | block.lost & 0xFFFFFF, block.sequence & 0xFFFFFFFF, block.jitter,
                block.last_report, block.delay)
        kind = SENDER_REPORT if self.sent else RECEIVER_REPORT
        return HEAD.pack(0x80 | len(self.blocks), kind, 1 + len(body) // 4, self.ssrc) + body

    @staticmethod
    def read(data: bytes) -> "Report":
        """Reads one packet of a compound, which is such a report."""
        first, kind, size, ssrc = HEAD.unpack_from(data)
        assert first >> 6 == 2 and len(data) == 4 + 4 * size, f"a report of another length: {data[:8].hex()}"
        at = HEAD.size
        sent = None
        if kind == SENDER_REPORT:
            sent = Sent(*SENT.unpack_from(data, at))
            at += SENT.size
        blocks = tuple(_block(data, at + BLOCK.size * number) for number in range(first & 0x1F))
        assert at + BLOCK.size * len(blocks) == len(data), "a report with something behind its blocks"
        return Report(ssrc, sent, blocks, ntp_now())


@dataclass
class Jitter:
    """The deviation of one source's packets in time, as receivers report it."""

    samples: float = 0
    _transit: int | None = field(default=None)

    def took(self, timestamp: int, rate: int) -> None:
        """Counts a packet that has just come."""
        transit = int(time.monotonic() * rate) - timestamp
        if self._transit is not None:
            step = abs((transit - self._transit + 2**31) % 2**32 - 2**31)
            self.samples += (step - self.samples) / 16
        self._transit = transit


def _block(data: bytes, at: int) -> Block:
    ssrc, loss, *others = BLOCK.unpack_from(data, at)
    lost = loss & 0xFFFFFF
    return Block(ssrc, loss >> 24, lost - 2**24 if lost >= 2**23 else lost, *others)
