"""An engine's media path: checks, SRTP and Opus over UDP to a node. What no correct node sends is collected in `violations`."""

import asyncio
import secrets
import socket
import struct
import sys
import time
from array import array
from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import pairwise

from ice import Checks
from media_keys import MediaKeys
from opus import Decoder
from pylibsrtp import Error, Policy, Session
from reports import Block, Jitter, Report, Sent, middle, ntp_now
from speech import Frame, Speech
from tone import FRAME, RATE
from waiting import before_next_try, eventually, paced

SUITE = "AEAD_AES_128_GCM"
FRAMES_PER_SECOND = RATE / FRAME
# The extension of RFC 6464 in the one-byte form of RFC 8285.
LEVEL_ID = 1
WINDOW = 1024
SENDER_REPORT, RECEIVER_REPORT, FEEDBACK = 200, 201, 205
REPORT_SECONDS = 1
# A slot's sequence numbers begin below this, so that a receiver who comes late guesses its rollover counter.
FIRST_SEQUENCES = 1 << 15
# Near a wrap, so that every test has one.
FIRST_SEQUENCE = 65_531
# Of the packets that were sent, those that are known for a replay.
KEPT_PACKETS = 50
# Of the reports that came, and of those that were sent.
KEPT_REPORTS = 500
# In bytes.
RECEIVE_BUFFER = 1 << 20


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

    numbers: set[int] = field(default_factory=set)
    """The sequence numbers that came, counted on over the wrap."""
    last: int = -1
    """The highest of them."""
    late: int = 0
    """Packets that came after one with a higher number."""
    repeats: int = 0
    """Packets whose number had come before."""
    jitter: Jitter = field(default_factory=Jitter)
    report: Report | None = None
    """The last sender report about it."""
    _told: tuple[int, int] = (0, 0)

    def took(self, sequence: int, timestamp: int) -> bool:
        """Counts a packet; whether it is a new one."""
        number = self.last + ((sequence - self.last + 0x8000) & 0xFFFF) - 0x8000 if self.numbers else sequence
        if number in self.numbers:
            self.repeats += 1
            return False
        self.late += number < self.last
        self.last = max(self.last, number)
        self.numbers.add(number)
        self.jitter.took(timestamp, RATE)
        return True

    def block(self, ssrc: int) -> Block:
        """What is to be reported about it."""
        expected, lost = self.packets + self.gaps, self.gaps
        expected_before, lost_before = self._told
        self._told = expected, lost
        news = expected - expected_before
        return Block(
            ssrc, min(255, 256 * max(0, lost - lost_before) // news) if news else 0, lost, self.last, int(self.jitter.samples),
            middle(self.report.sent.ntp) if self.report else 0,
            (ntp_now() - self.report.came) >> 16 if self.report else 0)

    @property
    def packets(self) -> int:
        return len(self.numbers)

    @property
    def gaps(self) -> int:
        """Sequence numbers that were left out."""
        return self.last - min(self.numbers) + 1 - len(self.numbers) if self.numbers else 0


@dataclass
class Voice:
    """One speaker, as heard."""

    pcm: array = field(default_factory=lambda: array("h"))
    times: list[float] = field(default_factory=list)
    """When its packets came, in seconds of the steady clock."""
    payloads: list[bytes] = field(default_factory=list)
    """What was in them."""
    slots: list[int] = field(default_factory=list)
    """The SSRC that each came on."""
    timestamps: list[int] = field(default_factory=list)
    """Those of the packets, as they came."""
    decoder: Decoder = field(default_factory=Decoder)

    @property
    def packets(self) -> int:
        return len(self.times)

    def since(self, moment: float) -> int:
        """The packets that came after a moment."""
        return sum(came > moment for came in self.times)

    def longest_pause(self, since: float = 0) -> float:
        """The longest time between two packets, from a moment until now; infinite when none came."""
        came = [moment for moment in self.times if moment > since]
        return max((after - before for before, after in pairwise([*came, time.monotonic()])), default=float("inf")) \
            if came else float("inf")


class Wire(asyncio.DatagramProtocol):
    """One UDP socket of a path, and the keys that hold for what comes to it."""

    def __init__(self, path: "MediaPath", checks: Checks, server_key: bytes):
        self.checks = checks
        self.times: list[float] = []
        """When packets of media came to it."""
        self.transport: asyncio.DatagramTransport | None = None
        self._path = path
        policy = _policy(server_key, Policy.SSRC_ANY_INBOUND)
        policy.window_size = WINDOW
        self._keys = Session(policy)

    async def open(self, host: str, port: int) -> "Wire":
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: self, remote_addr=(host, port))
        return self

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        self.transport = transport
        # Dozens of participants share one process: what it reads late is not lost.
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)

    def datagram_received(self, data: bytes, _: object) -> None:
        try:
            if data[0] < 4:
                self.checks.received(data)
            elif 192 <= data[1] < 224:
                self._path.took_report(self._keys.unprotect_rtcp(data))
            else:
                self._path.took_packet(self._keys.unprotect(data))
                self.times.append(time.monotonic())
        except (AssertionError, Error, IndexError, struct.error) as error:
            self._path.violations.append(f"{type(error).__name__} {error} of {len(data)} bytes {data[:16].hex()}")

    def error_received(self, error: OSError) -> None:
        self._path.violations.append(f"the socket: {error}")


class MediaPath:
    """`open`, then `speak`; `voices` and `slots` say what came."""

    def __init__(self, address: Address, keys: MediaKeys):
        self.address = address
        self.checks = Checks(address.ufrag, address.password)
        self.voices: dict[int, Voice] = {}
        """By the speaker's uid."""
        self.slots = {ssrc: Slot() for ssrc in address.slots}
        self.reports: Counter[int] = Counter()
        """The packets of RTCP that came, by type."""
        self.sender_reports: deque[Report] = deque(maxlen=KEPT_REPORTS)
        """The last ones about slots that came."""
        self.blocks: deque[tuple[int, Block]] = deque(maxlen=KEPT_REPORTS)
        """How the node gets what is sent: the last blocks of its receiver reports, with the NTP time at which each came."""
        self.reported: deque[Sent] = deque(maxlen=KEPT_REPORTS)
        """What was said in the last sender reports."""
        self.violations: list[str] = []
        self.is_checking = True
        self.is_decoding = True
        """Else what came is counted only."""
        self.sent: deque[bytes] = deque(maxlen=KEPT_PACKETS)
        """The last packets of media that were sent, as they were."""
        self.said: list[bytes] = []
        """The payloads that were sent."""
        self.said_timestamps: list[int] = []
        """And the timestamps that they had."""
        self.sequence = FIRST_SEQUENCE
        """Of the next packet."""
        self.wire: Wire | None = None
        self._keys = keys
        self._out = Session(_policy(keys.client, Policy.SSRC_ANY_OUTBOUND))
        self._timestamp = secrets.randbits(32)
        self._said_at = 0.0
        self._reported_at = time.monotonic()
        self._said_bytes = 0
        self._is_forgiven = False
        self._wires: list[Wire] = []
        self._tasks: list[asyncio.Task] = []
        self._speech: asyncio.Task | None = None

    async def open(self) -> "MediaPath":
        """Opens the socket and begins to check; returns when the node has answered."""
        await self._connect()
        self._tasks += asyncio.create_task(self._check()), asyncio.create_task(self._report())
        await self._answered()
        return self

    async def move(self) -> Wire:
        """Goes on from another address, as after a change of networks; returns the socket that it has left, which stays open."""
        left = self.wire
        await self._connect()
        self.check()
        return left

    async def restart(self, address: Address, keys: MediaKeys) -> None:
        """Goes on with another path to the same slots: other keys and credentials, from another address."""
        assert address.slots == self.address.slots, "the slots are others"
        self.address, self._keys = address, keys
        self.checks = Checks(address.ufrag, address.password)
        self._out = Session(_policy(keys.client, Policy.SSRC_ANY_OUTBOUND))
        await self._connect()
        self.check()
        await self._answered()

    def speak(self, speech: Speech, per_second: float = FRAMES_PER_SECOND) -> None:
        """Sends this from now on, 50 packets a second, instead of what it said before."""
        if self._speech:
            self._speech.cancel()
        self._speech = asyncio.create_task(self._speak(speech, per_second))
        self._tasks.append(self._speech)

    def forgive(self) -> None:
        """For a test that has failed already: `close` raises nothing."""
        self._is_forgiven = True

    def end(self) -> None:
        """Sends nothing any more, without a word."""
        for task in self._tasks:
            task.cancel()

    def close(self) -> None:
        """Ends it; raises for what the node did wrong."""
        failed = [repr(task.exception()) for task in self._tasks if task.done() and not task.cancelled() and task.exception()]
        self.end()
        for wire in self._wires:
            wire.transport.close()
        wrong = self.violations + failed
        assert self._is_forgiven or not wrong, f"media: {wrong[:10]}"

    def send(self, data: bytes) -> None:
        """Sends one datagram unchanged."""
        self.wire.transport.sendto(data)

    def check(self) -> None:
        """Sends a check now, besides those that it sends by itself."""
        self.send(self.checks.request())

    def report(self) -> None:
        """Sends a report now, a second before the next one that it sends by itself; nothing when there is nothing to tell."""
        self._reported_at = time.monotonic()
        blocks = tuple(slot.block(ssrc) for ssrc, slot in self.slots.items() if slot.packets)
        sent = self._sent() if self.said else None
        if sent:
            self.reported.append(sent)
        if sent or blocks:
            self.send(self._out.protect_rtcp(Report(self.address.ssrc, sent, blocks).encoded()))

    def packet(self, frame: Frame, ssrc: int | None = None) -> bytes:
        """Makes the next packet, which the caller sends."""
        self.said.append(frame.payload)
        self.said_timestamps.append(self._timestamp)
        self._said_at = time.monotonic()
        self._said_bytes += len(frame.payload)
        head = struct.pack(
            "!BBHII", 0x90, self.address.payload_type, self.sequence, self._timestamp, self.address.ssrc if ssrc is None else ssrc)
        self.skip(1)
        # The highest bit claims that there is a voice.
        extension = struct.pack("!HHBBxx", 0xBEDE, 1, LEVEL_ID << 4, 0x80 | frame.level)
        data = self._out.protect(head + extension + frame.payload)
        self.sent.append(data)
        return data

    def skip(self, count: int) -> None:
        """Leaves out sequence numbers, and their time."""
        self.sequence = (self.sequence + count) & 0xFFFF
        self._timestamp = (self._timestamp + count * FRAME) & 0xFFFFFFFF

    @property
    def own_address(self) -> tuple[str, int]:
        """The address of its socket."""
        return self.wire.transport.get_extra_info("sockname")

    @property
    def gaps(self) -> int:
        """The packets that are missing in all slots."""
        return sum(slot.gaps for slot in self.slots.values())

    @property
    def repeats(self) -> int:
        return sum(slot.repeats for slot in self.slots.values())

    @property
    def late(self) -> int:
        return sum(slot.late for slot in self.slots.values())

    # Inside

    async def _connect(self) -> None:
        self.wire = await Wire(self, self.checks, self._keys.server).open(self.address.host, self.address.port)
        self._wires.append(self.wire)

    async def _answered(self) -> None:
        checks = self.checks
        await eventually(lambda: checks.answered, "a check is answered")

    async def _check(self) -> None:
        while True:
            if self.is_checking:
                self.check()
            await before_next_try(self.checks.pause)

    async def _report(self) -> None:
        while True:
            await before_next_try(max(0, self._reported_at + REPORT_SECONDS - time.monotonic()))
            if time.monotonic() >= self._reported_at + REPORT_SECONDS:
                self.report()

    def _sent(self) -> Sent:
        """What it has sent; its clock is that of the last packet, which goes on."""
        timestamp = self.said_timestamps[-1] + round((time.monotonic() - self._said_at) * RATE)
        return Sent(ntp_now(), timestamp & 0xFFFFFFFF, len(self.said), self._said_bytes & 0xFFFFFFFF)

    async def _speak(self, speech: Speech, per_second: float) -> None:
        async for _ in paced(sys.maxsize, per_second):
            self.send(self.packet(speech.frame()))

    def took_packet(self, data: bytes) -> None:
        """Takes a packet of media that was decrypted."""
        first, second, sequence, timestamp, ssrc = struct.unpack_from("!BBHII", data)
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
        if not slot.took(sequence, timestamp):
            return
        voice = self.voices.setdefault(uid, Voice())
        voice.times.append(time.monotonic())
        voice.payloads.append(data[offset:])
        voice.slots.append(ssrc)
        voice.timestamps.append(timestamp)
        if self.is_decoding:
            voice.pcm.extend(voice.decoder.decode(data[offset:]))

    def took_report(self, data: bytes) -> None:
        """Takes a compound of RTCP that was decrypted."""
        at = 0
        while at < len(data):
            _, kind, size = struct.unpack_from("!BBH", data, at)
            self.reports[kind] += 1
            if kind in (SENDER_REPORT, RECEIVER_REPORT):
                self._took(Report.read(data[at:at + 4 + 4 * size]))
            at += 4 + 4 * size
        assert at == len(data), "RTCP that ends within a packet"

    def _took(self, report: Report) -> None:
        for block in report.blocks:
            assert block.ssrc == self.address.ssrc, f"a report about {block.ssrc}, which is not its source"
            self.blocks.append((report.came, block))
        if report.sent:
            assert report.ssrc in self.slots, f"a sender report of {report.ssrc}, which is no slot"
            self.slots[report.ssrc].report = report
            self.sender_reports.append(report)


def _policy(key: bytes, kind: int) -> Policy:
    return Policy(key=key, ssrc_type=kind, srtp_profile=Policy.SRTP_PROFILE_AEAD_AES_128_GCM)
