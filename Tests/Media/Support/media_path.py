"""An engine's media path: checks, SRTP and Opus over one UDP socket to a node. What no correct node sends is collected in `violations`."""

import asyncio
import secrets
import struct
import sys
from array import array
from collections import Counter
from dataclasses import dataclass, field

from ice import Checks
from media_keys import MediaKeys
from opus import Decoder, Encoder
from pylibsrtp import Error, Policy, Session
from tone import FRAME, RATE, Tone
from waiting import before_next_try, eventually, paced

SUITE = "AEAD_AES_128_GCM"
FRAMES_PER_SECOND = RATE / FRAME
# The extension of RFC 6464 in the one-byte form of RFC 8285.
LEVEL_ID = 1
WINDOW = 1024
SENDER_REPORT, RECEIVER_REPORT, FEEDBACK = 200, 201, 205
# A slot's sequence numbers begin below this, so that a receiver who comes late guesses its rollover counter.
FIRST_SEQUENCES = 1 << 15


@dataclass(frozen=True)
class Address:
    """Where a participant's media go, and how: the part of an answer to `media.join` that is about the path."""

    host: str
    port: int
    ufrag: str
    password: str
    ssrc: int
    slots: tuple[int, ...]
    payload_type: int

    @staticmethod
    def of(answer: dict) -> "Address":
        """From an answer to an engine."""
        assert answer["suite"] == SUITE, answer["suite"]
        host, port = next((host, port) for kind, host, port in answer["candidates"] if kind == "udp")
        return Address(
            host, port, answer["ufrag"], answer["pwd"], answer["ssrcs"]["audio"], tuple(answer["slots"]["audio"]),
            answer["pts"]["opus"])


@dataclass
class Slot:
    """What came on one of the streams to this participant."""

    packets: int = 0
    gaps: int = 0
    """Sequence numbers that were left out."""
    repeats: int = 0
    """Packets that were no later than one before."""
    last: int = -1

    def took(self, sequence: int) -> bool:
        """Counts a packet; whether it is a new one."""
        step = 1 if self.last < 0 else (sequence - self.last) & 0xFFFF
        if step == 0 or step >= 1 << 15:
            self.repeats += 1
            return False
        self.gaps += step - 1
        self.packets += 1
        self.last = sequence
        return True


@dataclass
class Voice:
    """One speaker, as heard."""

    pcm: array = field(default_factory=lambda: array("h"))
    packets: int = 0
    decoder: Decoder = field(default_factory=Decoder)


class MediaPath(asyncio.DatagramProtocol):
    """`open`, then `speak`; `voices` and `slots` say what came."""

    def __init__(self, address: Address, keys: MediaKeys):
        self.address = address
        self.checks = Checks(address.ufrag, address.password)
        self.voices: dict[int, Voice] = {}
        """By the speaker's uid."""
        self.slots = {ssrc: Slot() for ssrc in address.slots}
        self.reports: Counter[int] = Counter()
        """The packets of RTCP that came, by type."""
        self.violations: list[str] = []
        self.sent = 0
        self._is_forgiven = False
        profile = Policy.SRTP_PROFILE_AEAD_AES_128_GCM
        self._out = Session(Policy(key=keys.client, ssrc_type=Policy.SSRC_ANY_OUTBOUND, srtp_profile=profile))
        policy = Policy(key=keys.server, ssrc_type=Policy.SSRC_ANY_INBOUND, srtp_profile=profile)
        policy.window_size = WINDOW
        self._in = Session(policy)
        self._encoder = Encoder()
        # Near a wrap, so that every test has one.
        self._sequence = 65_530
        self._timestamp = secrets.randbits(32)
        self._transport: asyncio.DatagramTransport | None = None
        self._tasks: list[asyncio.Task] = []

    async def open(self) -> "MediaPath":
        """Opens the socket and begins to check; returns when the node has answered."""
        await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: self, remote_addr=(self.address.host, self.address.port))
        self._tasks.append(asyncio.create_task(self._check()))
        await eventually(lambda: self.checks.answered, "a check is answered")
        return self

    def speak(self, tone: Tone) -> None:
        """Sends a tone from now on, 50 packets a second."""
        self._tasks.append(asyncio.create_task(self._speak(tone)))

    def forgive(self) -> None:
        """For a test that has failed already: `close` raises nothing."""
        self._is_forgiven = True

    def close(self) -> None:
        """Ends it; raises for what the node did wrong."""
        failed = [repr(task.exception()) for task in self._tasks if task.done() and not task.cancelled() and task.exception()]
        for task in self._tasks:
            task.cancel()
        if self._transport is not None:
            self._transport.close()
        wrong = self.violations + failed
        assert self._is_forgiven or not wrong, f"media: {wrong[:10]}"

    def send(self, data: bytes) -> None:
        """Sends one datagram unchanged."""
        self._transport.sendto(data)

    @property
    def own_address(self) -> tuple[str, int]:
        """The address of its socket."""
        return self._transport.get_extra_info("sockname")

    @property
    def gaps(self) -> int:
        """The packets that are missing in all slots."""
        return sum(slot.gaps for slot in self.slots.values())

    @property
    def repeats(self) -> int:
        return sum(slot.repeats for slot in self.slots.values())

    # asyncio.DatagramProtocol

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, _: object) -> None:
        try:
            if data[0] < 4:
                self.checks.received(data)
            elif 192 <= data[1] < 224:
                self._report(self._in.unprotect_rtcp(data))
            else:
                self._packet(self._in.unprotect(data))
        except (AssertionError, Error, IndexError, struct.error) as error:
            self.violations.append(f"{type(error).__name__} {error} of {len(data)} bytes {data[:16].hex()}")

    def error_received(self, error: OSError) -> None:
        self.violations.append(f"the socket: {error}")

    # Inside

    async def _check(self) -> None:
        while True:
            self.send(self.checks.request())
            await before_next_try(self.checks.pause)

    async def _speak(self, tone: Tone) -> None:
        async for _ in paced(sys.maxsize, FRAMES_PER_SECOND):
            pcm = tone.frame()
            self.send(self._out.protect(self._header(_level(pcm)) + self._encoder.encode(pcm)))
            self.sent += 1

    def _header(self, level: int) -> bytes:
        self._sequence = (self._sequence + 1) & 0xFFFF
        self._timestamp = (self._timestamp + FRAME) & 0xFFFFFFFF
        header = struct.pack(
            "!BBHII", 0x90, self.address.payload_type, self._sequence, self._timestamp, self.address.ssrc)
        # The highest bit claims that there is a voice.
        return header + struct.pack("!HHBBxx", 0xBEDE, 1, LEVEL_ID << 4, 0x80 | level)

    def _packet(self, data: bytes) -> None:
        first, second, sequence, _, ssrc = struct.unpack_from("!BBHII", data)
        assert first >> 6 == 2 and not first & 0x20, "RTP of another version, or with padding"
        assert second & 0x7F == self.address.payload_type, f"payload type {second & 0x7F}"
        assert first & 0xF == 1, f"{first & 0xF} contributing sources"
        assert ssrc in self.slots, f"SSRC {ssrc} is no slot"
        uid, = struct.unpack_from("!I", data, 12)
        offset = 16
        if first & 0x10:
            offset += 4 + 4 * struct.unpack_from("!H", data, 18)[0]
        slot = self.slots[ssrc]
        assert slot.last >= 0 or sequence < FIRST_SEQUENCES, f"a slot begins at {sequence}"
        if not slot.took(sequence):
            return
        voice = self.voices.setdefault(uid, Voice())
        voice.packets += 1
        voice.pcm.extend(voice.decoder.decode(data[offset:]))

    def _report(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            _, kind, size = struct.unpack_from("!BBH", data, at)
            self.reports[kind] += 1
            at += 4 + 4 * size
        assert at == len(data), "RTCP that ends within a packet"


def _level(pcm: array) -> int:
    """In -dBov, as RFC 6464 has it."""
    mean = sum(sample * sample for sample in pcm) / len(pcm)
    level = 0
    while level < 127 and mean < 32_768**2 * 10 ** (-level / 10):
        level += 1
    return level
