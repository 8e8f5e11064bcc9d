"""The messages of RFC 4475, and what is no SIP at all: whatever a bridge makes of them, it goes on serving."""

import random
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from messages import SIPMessage
from peers import LOOPBACK
from stack_control import ROOT, Stack

MESSAGES = sorted((ROOT.parent / "shared" / "testdata" / "rfc4475").glob("*.dat"))
STRANGER = "127.0.0.2"
ANSWER_SECONDS = 5


@pytest.fixture(scope="module")
def bridge(stack: Stack) -> tuple[str, int]:
    sip = stack.endpoints["sip"]
    return sip["host"], sip["port"]


@pytest.fixture(params=[LOOPBACK, STRANGER], ids=["neighbour", "stranger"])
def sender(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as endpoint:
        endpoint.bind((request.param, 0))
        endpoint.settimeout(ANSWER_SECONDS)
        yield endpoint


def check_serves(endpoint: socket.socket, bridge: tuple[str, int], after: str) -> None:
    """A valid OPTIONS is answered with 200."""
    call = f"{random.getrandbits(64):x}"
    host, port = endpoint.getsockname()
    endpoint.sendto((
        f"OPTIONS sip:{bridge[0]}:{bridge[1]} SIP/2.0\r\nVia: SIP/2.0/UDP {host}:{port};branch=z9hG4bK{call};rport\r\n"
        f"Max-Forwards: 70\r\nFrom: <sip:test@{host}>;tag=1\r\nTo: <sip:{bridge[0]}>\r\nCall-ID: {call}\r\n"
        "CSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n").encode(), bridge)
    while True:
        try:
            text = endpoint.recv(65_535).decode(errors="replace")
        except TimeoutError:
            raise AssertionError(f"OPTIONS unanswered for {ANSWER_SECONDS} s after {after}") from None
        if f"Call-ID: {call}" in text:
            answer = SIPMessage.parse(text, True)
            assert answer.status == 200 and "INVITE" in answer.header("Allow"), text
            return


def test_there_are_49_messages():
    assert len(MESSAGES) == 49


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_options_is_answered_after(path: Path, sender: socket.socket, bridge: tuple[str, int], stack: Stack):
    pid = stack.pids["sip-bridge#1"]
    sender.sendto(path.read_bytes(), bridge)
    check_serves(sender, bridge, path.stem)
    assert stack.pids["sip-bridge#1"] == pid


def test_all_of_them_over_one_tcp_connection_each(bridge: tuple[str, int], sender: socket.socket):
    for path in MESSAGES:
        with socket.create_connection(bridge, ANSWER_SECONDS, (sender.getsockname()[0], 0)) as connection:
            connection.sendall(path.read_bytes())
        check_serves(sender, bridge, f"{path.stem} over TCP")


def test_what_is_no_sip(bridge: tuple[str, int], sender: socket.socket):
    dice = random.Random(4475)
    for size in (0, 1, 4, 100, 1400, 9_000, 60_000):
        sender.sendto(dice.randbytes(size), bridge)
    sender.sendto(b"INVITE " * 8_000, bridge)
    sender.sendto(b"OPTIONS sip:x SIP/2.0\r\n" + b"X: y\r\n" * 9_000, bridge)
    check_serves(sender, bridge, "noise")


def test_truncated_and_altered_messages(bridge: tuple[str, int], sender: socket.socket):
    dice = random.Random(3261)
    for path in MESSAGES:
        data = path.read_bytes()
        sender.sendto(data[:dice.randrange(len(data))], bridge)
        altered = bytearray(data)
        for _ in range(10):
            altered[dice.randrange(len(altered))] = dice.randrange(256)
        sender.sendto(bytes(altered), bridge)
        check_serves(sender, bridge, f"{path.stem}, altered")
