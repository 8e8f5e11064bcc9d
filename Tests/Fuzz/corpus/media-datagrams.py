#!/usr/bin/env python3
"""Writes the first inputs of the target media-datagrams: steps of one byte, a size in two, and the datagram (MediaDatagrams.swift)."""

import hashlib
import hmac
import struct
import zlib
from pathlib import Path

STRANGER, RAW1, AUDIO1, REPORT1, RAW2, AUDIO2, REPORT2, ACT = range(8)


def step(who: int, data: bytes, ms: int = 20) -> bytes:
    return bytes([who | (31 if ms >= 3000 else ms // 10) << 3]) + struct.pack(">H", len(data)) + data


def attribute(kind: int, data: bytes = b"") -> bytes:
    return struct.pack(">HH", kind, len(data)) + data + bytes(-len(data) % 4)


def check(who: int, *, password: bytes | None = None, role: int = 0x802A, more: bytes = b"") -> bytes:
    """A right check of that participant: USERNAME, role, PRIORITY, USE-CANDIDATE, MESSAGE-INTEGRITY, FINGERPRINT."""
    text = attribute(0x0006, b"u%07d:test" % who) + attribute(role, bytes(7) + b"\7") + attribute(0x0024, bytes(3) + b"\1")
    text += attribute(0x0025) + more

    def message(attributes: bytes, more: int) -> bytes:
        return struct.pack(">HHI", 1, len(attributes) + more, 0x2112A442) + b"transaction!" + attributes

    text += attribute(0x0008, hmac.digest(password or b"p%023d" % who, message(text, 24), hashlib.sha1))
    return message(text, 8) + attribute(0x8028, struct.pack(">I", zlib.crc32(message(text, 8)) ^ 0x5354554E))


def rtp(who: int, sequence: int, *, payload: bytes = bytes(20), first: int = 0x90, kind: int = 111, more: bytes = b"") -> bytes:
    """A packet with level and transport-wide number, in one-byte extensions, unless `more` is given."""
    header = struct.pack(">BBHII", first, kind, sequence & 0xFFFF, 960 * sequence & 0xFFFFFFFF, 10_000 + who)
    level = b"\xbe\xde\0\2" + b"\x10\x9e\x31" + struct.pack(">H", sequence & 0xFFFF) + bytes(3)
    return header + (more or level) + payload


def rtcp(count: int, kind: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0x80 | count, kind, len(body) // 4) + body


def words(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}I", *numbers)


SENDER = rtcp(0, 200, words(10_001, 5, 6, 960, 1, 20))
NAME = rtcp(1, 202, words(10_001) + b"\1\2me\0\0\0\0")
BLOCK = words(100_100, 0x10_000001, 40, 3, 0, 0)
say = step(ACT, b"\0\x14") + step(ACT, b"\x08\x28") + step(ACT, b"\x10\x1e")

INPUTS = {
    "audio": b"".join(step(AUDIO1, rtp(1, 65_533 + n)) + step(AUDIO2, rtp(2, 10 + n), 0) for n in range(6)),
    "order": b"".join(step(AUDIO1, rtp(1, n), 0) for n in (5, 4, 9, 9, 3_500, 3_501, 3_502, 4)),
    "extensions": step(AUDIO1, rtp(1, 1, more=b"\x10\0\0\2\1\1\x9e\3\2\0\1\0"))
    + step(AUDIO1, rtp(1, 2, more=b"\xbe\xde\0\1\x1f\0\0\0")) + step(AUDIO1, rtp(1, 3, first=0x80, more=b"\0"))
    + step(AUDIO1, rtp(1, 4, first=0xB2, more=words(7, 8) + b"\xbe\xde\0\0", payload=b"\1\2\3\3"))
    + step(AUDIO1, rtp(1, 5, kind=96)) + step(AUDIO1, rtp(9, 6)),
    "reports": step(AUDIO1, rtp(1, 1)) + step(REPORT1, SENDER + NAME) + say + step(REPORT1, rtcp(1, 201, words(10_001) + BLOCK), 300)
    + step(REPORT2, rtcp(15, 205, words(2, 3) + b"\0\1\0\4\0\0\1\0\x20\4" + bytes(6)))
    + step(REPORT2, rtcp(1, 205, words(2, 3, 0x0001FFFF)) + rtcp(1, 206, words(2, 3)) + rtcp(1, 203, words(10_002)), 3000),
    "broken-reports": step(REPORT1, SENDER[:-3]) + step(REPORT1, rtcp(31, 201, words(1, 2))) + step(REPORT1, SENDER + NAME[:-4])
    + step(REPORT1, rtcp(3, 202, words(1) + b"\1\xff")),
    "stranger": step(STRANGER, rtp(1, 1)) + step(STRANGER, SENDER) + step(STRANGER, b"\x16\xfe\xfd" + bytes(20))
    + step(STRANGER, check(1, password=b"x")) + step(STRANGER, check(7)) + step(STRANGER, b"") + step(STRANGER, bytes(1501)) + say,
    "stranger-checks": step(STRANGER, check(1)) + say + step(RAW1, check(1)) + step(AUDIO1, rtp(1, 1)) + say,
    "roles": step(RAW1, check(1, role=0x8029)) + step(RAW1, check(1, more=attribute(0x7001))) + step(RAW1, check(1)[:-8]),
    "taken": step(RAW2, check(1)) + 4 * step(ACT, b"\x0b\0", 3000) + step(RAW2, check(1)) + say,
    "forged": step(RAW1, rtp(1, 1) + bytes(16)) + step(RAW1, SENDER + bytes(20)) + step(RAW2, rtp(2, 1) + bytes(10)),
    "silence": say + 6 * step(ACT, b"\x0b\0", 3000) + say,
    "mutes": say + step(ACT, b"\4\4") + say + step(ACT, b"\4\5") + step(ACT, b"\x0c\1") + say + step(ACT, b"\x0c\5") + say,
    "restart": say + step(ACT, b"\6\5") + say + step(ACT, b"\x0e\0") + say + step(ACT, b"\3\0") + step(AUDIO1, rtp(1, 1)) + say,
}

for name, data in INPUTS.items():
    (Path(__file__).with_suffix("") / name).write_bytes(data)
