"""The heads of HTTP requests, which anybody may send without a login."""

import socket
import urllib.parse

import pytest
from stack_control import Stack
from web import metric

MIB = 1 << 20
FIELD = b"A: " + b"a" * 7_000 + b"\r\n"


def send_head(url: str, fields: bytes) -> tuple[socket.socket, int]:
    """Sends a head that does not end, until it is refused; the socket and the number of bytes that were accepted."""
    address = urllib.parse.urlsplit(url)
    raw = socket.create_connection((address.hostname, address.port), timeout=5)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    sent = 0
    try:
        raw.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        for start in range(0, len(fields), 4096):
            raw.sendall(fields[start:start + 4096])
            sent += 4096
    except OSError:
        pass
    return raw, sent


def answer(raw: socket.socket) -> bytes:
    """What the server answers until it closes; empty when it resets the connection."""
    received = b""
    try:
        while got := raw.recv(4096):
            received += got
    except ConnectionResetError:
        pass
    finally:
        raw.close()
    return received


@pytest.mark.parametrize("listener", ["ws", "http"], ids=["clients", "health"])
def test_large_request_heads_are_refused(make_stack, listener: str):
    stack: Stack = make_stack(gateways=1)
    gateway = stack.endpoints["gateways"][0]
    for fields in (b"A: " + b"a" * 80_000, FIELD * 3, b"A: a\r\n" * 65):
        raw, _ = send_head(gateway[listener], fields)
        told = answer(raw)
        assert told == b"" or told.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 ")), told
    assert metric(gateway["http"], "heliograph_http_heads_refused_total") == 3
    # 25 fields of 80,000 bytes are what a parser without bounds of its own takes.
    before = metric(gateway["http"], "process_resident_memory_bytes")
    sockets = [send_head(gateway[listener], (b"A: " + b"a" * 80_000 + b"\r\n") * 25)[0] for _ in range(200)]
    assert metric(gateway["http"], "process_resident_memory_bytes") - before < 16 * MIB
    for raw in sockets:
        raw.close()
