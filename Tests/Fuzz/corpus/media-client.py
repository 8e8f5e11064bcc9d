#!/usr/bin/env python3
"""Writes the first inputs of the targets media-client-*, but for those in JSON: steps of one byte, and what belongs to them
(MediaClientAudio.swift, MediaClientPath.swift, MediaClientSRTP.swift)."""

import struct
from pathlib import Path


def step(kind: int, data: bytes = b"", time: int = 0) -> bytes:
    """A step; `time` is in the target's own unit, up to 31."""
    return bytes([kind | time << 3]) + data


def block(data: bytes) -> bytes:
    return struct.pack(">H", len(data)) + data


def words(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}I", *numbers)


def rtp(slot: int, number: int, payload: bytes = b"\x78\1\2\3", *, first: int = 0x81, speaker: bytes = words(1)) -> bytes:
    return struct.pack(">BBHII", first, 111, number & 0xFFFF, 960 * number & 0xFFFFFFFF, slot) + speaker + payload


def rtcp(count: int, kind: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0x80 | count, kind, len(body) // 4) + body


DATAGRAM, PAYLOAD, SOUND, JUMP, AGAIN, HURRY, ACT, REPORT = range(8)
say = step(SOUND, b"\1", 4)
AUDIO = {
    "sound": 20 * say + step(REPORT) + 5 * step(SOUND, b"\x11", 4) + 5 * (step(SOUND, b"\1", 2) + step(SOUND, b"\x22", 2)),
    "lost": 8 * say + step(JUMP, b"\0\0\1\0\0") + 4 * say + step(JUMP, b"\0\0\4\0\0") + 4 * say + 8 * step(AGAIN, b"", 30),
    "order": b"".join(step(DATAGRAM, block(rtp(100, n)), 2) for n in (5, 4, 6, 9, 8, 7, 7, 65_535, 10, 11)),
    "burst": 4 * say + step(PAYLOAD, b"\1" + block(b""), 31) + 60 * step(SOUND, b"\1") + step(HURRY, b"\x0f") + 4 * say,
    "silence": 4 * say + 30 * step(PAYLOAD, b"\1" + block(b"\x78\0\0"), 4) + 3 * step(AGAIN, b"", 31) + 4 * say,
    "speakers": 4 * say + 4 * step(SOUND, b"\2", 4) + 2 * say + step(JUMP, b"\0\x40\0\x80\0") + 4 * say,
    "acts": 3 * say + b"".join(step(ACT, bytes([act]), 4) + say for act in (0x08, 0x09, 2, 3, 0xFC, 0x0E, 0x1E, 7, 6)),
    "nonsense": say + step(PAYLOAD, b"\1" + block(b"\xff" * 40), 4) + step(PAYLOAD, b"\1" + block(b"\x03\x40" + bytes(99)), 4)
    + step(DATAGRAM, block(rtp(100, 3, first=0xB1, speaker=words(1) + b"\xbe\xde\0\1\x10\x1e\0\0", payload=b"\x78\1\2\2")), 4)
    + step(DATAGRAM, block(rtp(9, 1))) + step(DATAGRAM, block(rtp(100, 4)[:14])) + step(DATAGRAM, block(rtp(100, 4, first=0x80))),
}

COMPOUND, NODE, STUN, CHECK, ANSWER, SLOT, OWN, PAUSE = range(8)
SENDER = rtcp(1, 200, words(100, 5, 6, 960, 1, 20) + words(7, 0x10_000001, 40, 3, 0, 0))
NAME = rtcp(1, 202, words(100) + b"\1\2me\0\0\0\0")
PATH = {
    "compound": step(COMPOUND, block(SENDER + NAME), 5) + step(OWN) + step(COMPOUND, block(SENDER[:-3])),
    "compounds": b"".join(step(COMPOUND, block(rtcp(0, 200, words(n, n, 6, 960, 1, 20)))) for n in range(20)) + step(OWN),
    "node": b"".join(step(NODE, struct.pack(">HHH", lost, 10 * n, 2 * n), 20) for n, lost in enumerate((0, 0, 9, 0x8000, 0x7FFF))),
    "slots": b"".join(step(SLOT, struct.pack(">BHH", n % 3, n, n), 2) for n in range(9)) + step(COMPOUND, block(SENDER)) + step(OWN),
    "answers": 3 * step(CHECK, b"", 10) + step(ANSWER, b"\0\0" + block(b"\0\x20\0\x08\0\1" + bytes(6)), 1)
    + step(ANSWER, b"\0\1" + block(b"\0\x09\0\4\0\0\4\x14")) + step(ANSWER, b"\0\4" + block(b"")) + step(ANSWER, b"\0\0" + block(b"")),
    "checks": 25 * step(CHECK) + step(ANSWER, b"\x13\0" + block(b"")) + step(PAUSE, b"\xff") + step(ANSWER, b"\0\0" + block(b"")),
    "stun": step(CHECK) + step(STUN, block(b"\1\1\0\0" + words(0x2112A442) + b"transaction!")) + step(STUN, block(b"")),
}

ANY, RTP, RTP_FAR, RTCP, RTCP_FAR, ALTERED, PAST, CUT = range(8)


def near(kind: int, distance: int, more: bytes = b"", variant: int = 0) -> bytes:
    return step(kind, b"\1" + struct.pack(">h", distance) + more, variant)


SRTP = {
    "order": b"".join(near(RTP, n, b"\4", 6) for n in (1, 1, 1, -1, 3, -2, -1)) + step(PAST, b"\0"),
    "reports": b"".join(near(RTCP, n, variant=3) for n in (0, 1, 1, -1, 40, -40)) + step(RTCP_FAR, b"\1" + words(0x7FFFFFFF)) + near(RTCP, -1),
    "wraps": step(RTP_FAR, b"\1" + struct.pack(">HI", 0, 65_530)) + b"".join(near(RTP, 3, b"\4") for _ in range(5)) + near(RTP, -9, b"\4"),
    "far": b"".join(step(RTP_FAR, b"\1" + struct.pack(">HI", high, low)) for high, low in ((0, 5), (0, 70_000), (65_535, 0xFFFFFFFF))),
    "old": near(RTP, 1000, b"\4") + near(RTP, -127, b"\4") + near(RTP, -128, b"\4") + near(RTP, 32_767, b"\4") + near(RTP, -32_768, b"\4"),
    "forged": near(RTP, 1, b"\4", 5) + near(RTCP, 1) + b"".join(step(ALTERED, struct.pack(">BH", n & 1, 37 * n)) for n in range(12))
    + step(CUT, b"\0\0") + step(CUT, b"\1\3") + step(ANY, block(rtp(1, 9) + bytes(16))) + step(ANY, block(SENDER + bytes(20))) + near(RTP, 1, b"\4"),
    "sources": b"".join(step(RTP, bytes([n, 0, 1, 4])) + step(RTCP, bytes([200 - n, 0, 1])) for n in range(40)),
}


def chunk(name: bytes, data: bytes, size: int | None = None) -> bytes:
    return name + struct.pack("<I", len(data) if size is None else size) + data + bytes(len(data) % 2)


def wav(*chunks: bytes, how: int = 0) -> bytes:
    """A file behind the target's first byte: 1: played in a loop, 2: made shorter meanwhile."""
    return bytes([how]) + chunk(b"RIFF", b"WAVE" + b"".join(chunks))


def layout(channels: int = 1, rate: int = 48_000, bits: int = 16, kind: int = 1) -> bytes:
    return struct.pack("<HHIIHH", kind, channels, rate, rate * channels * bits // 8, channels * bits // 8, bits)


LONG = layout(2, kind=0xFFFE) + struct.pack("<HHI", 22, 16, 3) + b"\1\0" + bytes(14)
WAV = {
    "mono": wav(chunk(b"fmt ", layout()), chunk(b"data", bytes(range(100))), how=1),
    "stereo": wav(chunk(b"LIST", b"abc"), chunk(b"fmt ", layout(2)), chunk(b"data", bytes(3000)), how=3),
    "extensible": wav(chunk(b"data", bytes(41)), chunk(b"fmt ", LONG), how=2),
    "sizes": wav(chunk(b"fmt ", layout()), chunk(b"data", bytes(4), 0xFFFFFFFF)),
    "short": wav(chunk(b"fmt ", layout()[:14])),
    "kinds": wav(chunk(b"fmt ", layout(kind=3, bits=32)), chunk(b"data", bytes(8))),
}

for target, inputs in {"audio": AUDIO, "path": PATH, "srtp": SRTP, "wav": WAV}.items():
    for name, data in inputs.items():
        (Path(__file__).parent / f"media-client-{target}" / name).write_bytes(data)
