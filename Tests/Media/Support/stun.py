"""STUN as ICE uses it: Binding requests with a short-term credential, and their answers. Sources: RFC 8489, 8445."""

import binascii
import hashlib
import hmac
import os
import socket
import struct
from dataclasses import dataclass, field

COOKIE = 0x2112A442
HEADER = struct.Struct("!HHI12s")
REQUEST, SUCCESS, FAILURE = 0x0001, 0x0101, 0x0111
USERNAME, MESSAGE_INTEGRITY, ERROR_CODE, XOR_MAPPED_ADDRESS = 0x0006, 0x0008, 0x0009, 0x0020
PRIORITY, USE_CANDIDATE, FINGERPRINT, ICE_CONTROLLED, ICE_CONTROLLING = 0x0024, 0x0025, 0x8028, 0x8029, 0x802A
FINGERPRINT_XOR = 0x5354554E
# A peer-reflexive candidate of UDP, component 1.
PRIORITY_VALUE = (110 << 24) + (65_535 << 8) + 255


@dataclass(frozen=True)
class Check:
    """What a connectivity check says."""

    username: str
    """The server's ufrag, a colon, the sender's ufrag."""
    password: str
    tie_breaker: int
    is_nominating: bool = True
    is_controlled: bool = False
    transaction: bytes = field(default_factory=lambda: os.urandom(12))

    def encoded(self) -> bytes:
        role = ICE_CONTROLLED if self.is_controlled else ICE_CONTROLLING
        body = _attribute(USERNAME, self.username.encode()) + _attribute(PRIORITY, struct.pack("!I", PRIORITY_VALUE))
        body += _attribute(role, struct.pack("!Q", self.tie_breaker))
        if self.is_nominating:
            body += _attribute(USE_CANDIDATE, b"")
        head = _head(REQUEST, len(body) + 24, self.transaction)
        body += _attribute(MESSAGE_INTEGRITY, _integrity(self.password, head + body))
        head = _head(REQUEST, len(body) + 8, self.transaction)
        return head + body + _attribute(FINGERPRINT, struct.pack("!I", _fingerprint(head + body)))


@dataclass(frozen=True)
class Answer:
    """What an answer says."""

    transaction: bytes
    is_success: bool
    code: int
    """Of a failure; 0 of a success."""
    address: tuple[str, int] | None
    """Where the server saw the request come from."""

    @staticmethod
    def read(data: bytes, password: str) -> "Answer":
        """Reads an answer; an AssertionError says what is wrong with it."""
        kind, size, cookie, transaction = HEADER.unpack_from(data)
        assert cookie == COOKIE and size == len(data) - HEADER.size and size % 4 == 0, f"no STUN: {data[:20].hex()}"
        assert kind in (SUCCESS, FAILURE), f"neither success nor failure: {kind:#06x}"
        found, offsets = _attributes(data)
        assert list(found)[-2:] == [MESSAGE_INTEGRITY, FINGERPRINT], f"the answer ends otherwise: {[hex(key) for key in found]}"
        signed = _head(kind, offsets[MESSAGE_INTEGRITY] + 4, transaction) + data[HEADER.size:offsets[MESSAGE_INTEGRITY]]
        assert hmac.compare_digest(found[MESSAGE_INTEGRITY], _integrity(password, signed)), "a wrong MESSAGE-INTEGRITY"
        assert struct.unpack("!I", found[FINGERPRINT])[0] == _fingerprint(data[:offsets[FINGERPRINT]]), "a wrong FINGERPRINT"
        code = found.get(ERROR_CODE, b"\0\0\0\0")
        return Answer(transaction, kind == SUCCESS, code[2] * 100 + code[3], _address(found.get(XOR_MAPPED_ADDRESS)))


def _head(kind: int, size: int, transaction: bytes) -> bytes:
    return HEADER.pack(kind, size, COOKIE, transaction)


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % 4)


def _attributes(data: bytes) -> tuple[dict[int, bytes], dict[int, int]]:
    """By kind: the values, and where in the message each attribute begins."""
    values, offsets, at = {}, {}, HEADER.size
    while at < len(data):
        kind, size = struct.unpack_from("!HH", data, at)
        assert at + 4 + size <= len(data), f"attribute {kind:#06x} is longer than the message"
        values[kind], offsets[kind] = data[at + 4:at + 4 + size], at
        at += 4 + size + -size % 4
    return values, offsets


def _integrity(password: str, message: bytes) -> bytes:
    return hmac.new(password.encode(), message, hashlib.sha1).digest()


def _fingerprint(message: bytes) -> int:
    return binascii.crc32(message) ^ FINGERPRINT_XOR


def _address(value: bytes | None) -> tuple[str, int] | None:
    if value is None:
        return None
    family, port = struct.unpack_from("!xBH", value)
    assert family == 1 and len(value) == 8, "no address of IPv4"
    host = int.from_bytes(value[4:]) ^ COOKIE
    return socket.inet_ntoa(host.to_bytes(4)), port ^ (COOKIE >> 16)
