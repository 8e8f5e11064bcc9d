"""The media side of a phone: records every RTP packet that arrives, and sends digits, correctly or not."""

import asyncio
import random
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass

from peers import LOOPBACK, free_port
from waiting import eventually

DIGITS = "0123456789*#ABCD"
EVENT_END = 0x80
# 20 ms at 8 kHz.
FRAME = 160
FRAME_SECONDS = FRAME / 8000
_VOLUME = 10


@dataclass(frozen=True)
class Packet:
    """One RTP packet; `at` is the monotonic clock."""

    at: float
    source: tuple[str, int]
    marker: bool
    payload_type: int
    sequence: int
    timestamp: int
    ssrc: int
    payload: bytes

    @staticmethod
    def parse(data: bytes, source: tuple[str, int]) -> "Packet":
        first, second, sequence, timestamp, ssrc = struct.unpack_from("!BBHII", data)
        assert first >> 6 == 2, f"no RTP version 2: {first:#x}"
        skipped = 12 + 4 * (first & 15)
        return Packet(
            time.monotonic(), source, bool(second & 0x80), second & 0x7F, sequence, timestamp, ssrc, data[skipped:])

    def encoded(self) -> bytes:
        second = self.payload_type | (0x80 if self.marker else 0)
        return struct.pack("!BBHII", 0x80, second, self.sequence, self.timestamp, self.ssrc) + self.payload

    @property
    def event(self) -> int:
        """The number of the telephone-event."""
        return self.payload[0]

    @property
    def is_end(self) -> bool:
        """Whether the packet ends its telephone-event."""
        return bool(self.payload[1] & EVENT_END)

    @property
    def duration(self) -> int:
        """The duration of the telephone-event so far, in ticks of the media clock."""
        return struct.unpack_from("!H", self.payload, 2)[0]


class RTPEndpoint(asyncio.DatagramProtocol):
    """A phone's media port."""

    def __init__(self) -> None:
        self.port = free_port()
        self.packets: list[Packet] = []
        self._transports: list[asyncio.DatagramTransport] = []

    async def __aenter__(self) -> "RTPEndpoint":
        loop = asyncio.get_running_loop()
        rtp, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=(LOOPBACK, self.port))
        # The RTCP port is bound so that senders get no ICMP error; its packets are ignored.
        rtcp, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, local_addr=(LOOPBACK, self.port + 1))
        self._transports = [rtp, rtcp]
        return self

    async def __aexit__(self, *_: object) -> None:
        for transport in self._transports:
            transport.close()

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.packets.append(Packet.parse(data, addr))

    def events(self, payload_type: int) -> list[Packet]:
        """The telephone-event packets so far."""
        return [packet for packet in self.packets if packet.payload_type == payload_type]

    async def hears_audio(self, count: int = 5) -> None:
        """Waits until media flows."""
        await eventually(
            lambda: sum(packet.payload_type in (0, 8) for packet in self.packets) >= count, "audio arrives")

    async def heard_digits(self, payload_type: int, text: str) -> None:
        """Waits for the last end copy of the last of these digits, and checks how all of them were sent."""
        wanted = 3 * len(text)
        await eventually(
            lambda: sum(p.is_end for p in self.events(payload_type)) >= wanted, f"the digits {text} arrive by RFC 4733")
        check_events(self.packets, payload_type, text)

    def send(self, packets: Iterable[Packet], target: tuple[str, int]) -> None:
        """Sends packets at once, in this order."""
        for packet in packets:
            self._transports[0].sendto(packet.encoded(), target)


class Keypad:
    """Makes the packets of pressed keys according to RFC 4733; tests drop, repeat and reorder them."""

    def __init__(self, payload_type: int) -> None:
        self.payload_type = payload_type
        self.ssrc = random.getrandbits(32)
        self.sequence = random.getrandbits(16)
        self.timestamp = random.getrandbits(31)

    def press(self, digit: str | int, *, frames: int = 5, ends: int = 3, first_duration: int = FRAME) -> list[Packet]:
        """One key, or one event by its number: `frames` packets, the last of them being sent `ends` times."""
        event = digit if isinstance(digit, int) else DIGITS.index(digit)
        durations = [first_duration + FRAME * frame for frame in range(frames)]
        steps = [(duration, False) for duration in durations] + [(durations[-1] + FRAME, True)] * ends
        packets = [self._packet(event, duration, end, marker=n == 0) for n, (duration, end) in enumerate(steps)]
        self.timestamp += FRAME * (frames + 10)
        return packets

    def _packet(self, event: int, duration: int, end: bool, marker: bool) -> Packet:
        self.sequence = (self.sequence + 1) & 0xFFFF
        payload = struct.pack("!BBH", event, (EVENT_END if end else 0) | _VOLUME, duration)
        return Packet(0, ("", 0), marker, self.payload_type, self.sequence, self.timestamp, self.ssrc, payload)


def check_events(packets: list[Packet], payload_type: int, text: str) -> None:
    """Checks that exactly `text` was sent, and every packet of it against RFC 4733."""
    assert len({packet.ssrc for packet in packets}) == 1, "more than one stream"
    in_order = sorted(packets, key=lambda packet: (packet.sequence - packets[0].sequence) & 0xFFFF)
    numbers = [(packet.sequence - in_order[0].sequence) & 0xFFFF for packet in in_order]
    assert numbers == list(range(len(numbers))), "the sequence number doesn't rise by one with every packet"
    digits: dict[int, list[Packet]] = {}
    for packet in in_order:
        if packet.payload_type == payload_type:
            assert len(packet.payload) == 4, f"an event of {len(packet.payload)} bytes"
            digits.setdefault(packet.timestamp, []).append(packet)
    assert "".join(DIGITS[run[0].event] for run in digits.values()) == text
    ended_at = None
    for timestamp, run in digits.items():
        assert len({packet.event for packet in run}) == 1, "two events with one timestamp"
        assert [packet.marker for packet in run] == [True] + [False] * (len(run) - 1), "marker not just on the first"
        durations = [packet.duration for packet in run]
        assert durations[0] > 0, "the duration starts at 0"
        going, ends = run[:-3], run[-3:]
        assert all(packet.is_end for packet in ends) and not any(packet.is_end for packet in going), "not three end copies"
        assert len(going) >= 2, f"a digit of {len(going)} packets before its end"
        assert len({packet.duration for packet in ends}) == 1, "end copies of different durations"
        # libre, and so baresip, end a digit with the duration of the packet before.
        assert all(a < b for a, b in zip(durations, durations[1:-3])) and durations[-4] <= durations[-3], \
            f"the duration doesn't rise: {durations}"
        assert 40 <= ends[0].duration / 8 <= 500, f"a digit of {ends[0].duration / 8} ms"
        if ended_at is not None:
            gap = (timestamp - ended_at) & 0xFFFFFFFF
            assert FRAME <= gap < 0x80000000, f"a gap of {gap} ticks between digits"
        ended_at = timestamp + ends[0].duration
    check_clock(in_order, payload_type)


def check_clock(in_order: list[Packet], payload_type: int) -> None:
    """Checks that audio keeps its media clock before, between and after the events."""
    audio = [packet for packet in in_order if packet.payload_type != payload_type]
    for earlier, later in zip(audio, audio[1:]):
        step = (later.timestamp - earlier.timestamp) & 0xFFFFFFFF
        assert 0 < step < 0x80000000 and step % FRAME == 0, f"the media clock steps by {step}"
