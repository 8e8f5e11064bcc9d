"""Messages at the edges of the RFCs, and messages that are no SIP at all: the bridge keeps serving."""

import random
import re
import socket
from collections.abc import Iterator

import pytest
from messages import SIPMessage
from peers import LOOPBACK
from stack_control import Stack
from torture_messages import TortureMessage, torture_messages

MESSAGES = torture_messages()
STRANGER = "127.0.0.2"
ANSWER_SECONDS = 5
# Timer E of RFC 3261: senders repeat a request by UDP after that.
REPEAT_SECONDS = 0.5


@pytest.fixture(scope="module")
def bridge(stack: Stack) -> tuple[str, int]:
    sip = stack.endpoints["sip"]
    return sip["host"], sip["port"]


@pytest.fixture(params=[LOOPBACK, STRANGER], ids=["neighbour", "stranger"])
def sender(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as endpoint:
        endpoint.bind((request.param, 0))
        endpoint.settimeout(REPEAT_SECONDS)
        yield endpoint


def check_serves(endpoint: socket.socket, bridge: tuple[str, int], after: str) -> list[int]:
    """Checks that a valid OPTIONS is answered with 200; returns the statuses that came before."""
    call = f"{random.getrandbits(64):x}"
    host, port = endpoint.getsockname()
    request = (
        f"OPTIONS sip:{bridge[0]}:{bridge[1]} SIP/2.0\r\nVia: SIP/2.0/UDP {host}:{port};branch=z9hG4bK{call};rport\r\n"
        f"Max-Forwards: 70\r\nFrom: <sip:test@{host}>;tag=1\r\nTo: <sip:{bridge[0]}>\r\nCall-ID: {call}\r\n"
        "CSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n").encode()
    statuses = []
    attempts = int(ANSWER_SECONDS / REPEAT_SECONDS)
    endpoint.sendto(request, bridge)
    while True:
        try:
            text = endpoint.recv(65_535).decode(errors="replace")
        except TimeoutError:
            attempts -= 1
            assert attempts > 0, f"OPTIONS unanswered for {ANSWER_SECONDS} s after {after}"
            endpoint.sendto(request, bridge)
            continue
        answer = SIPMessage.parse(text, True)
        if f"Call-ID: {call}" in text:
            assert answer.status == 200 and "INVITE" in answer.header("Allow"), text
            return statuses
        statuses.append(answer.status)


def test_each_message_names_what_it_probes():
    assert len(MESSAGES) >= 60 and len({message.name for message in MESSAGES}) == len(MESSAGES)
    for message in MESSAGES:
        assert re.fullmatch(r"RFC (3261|4475|5118) section \d+(\.\d+)*", message.source), message.name
        assert re.fullmatch(r"accepted|ignored|[2-6]\d\d", message.outcome), message.name


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.name)
def test_message_gets_its_answer_and_the_next_one_too(
    message: TortureMessage, sender: socket.socket, bridge: tuple[str, int], stack: Stack
):
    pid = stack.pids["sip-bridge#1"]
    sender.sendto(message.sent_from(sender.getsockname()[1]), bridge)
    statuses = check_serves(sender, bridge, message.name)
    if message.outcome == "ignored":
        assert statuses == []
    elif message.outcome != "accepted":
        assert statuses == [int(message.outcome)]
    assert stack.pids["sip-bridge#1"] == pid


def test_all_of_them_over_one_tcp_connection_each(bridge: tuple[str, int], sender: socket.socket):
    for message in MESSAGES:
        with socket.create_connection(bridge, ANSWER_SECONDS, (sender.getsockname()[0], 0)) as connection:
            connection.sendall(message.sent_from(connection.getsockname()[1]))
        check_serves(sender, bridge, f"{message.name} over TCP")


def test_what_is_no_sip(bridge: tuple[str, int], sender: socket.socket):
    dice = random.Random(4475)
    for size in (0, 1, 4, 100, 1400, 9_000, 60_000):
        sender.sendto(dice.randbytes(size), bridge)
    sender.sendto(b"INVITE " * 8_000, bridge)
    sender.sendto(b"OPTIONS sip:x SIP/2.0\r\n" + b"X: y\r\n" * 9_000, bridge)
    check_serves(sender, bridge, "noise")


def test_truncated_and_altered_messages(bridge: tuple[str, int], sender: socket.socket):
    dice = random.Random(3261)
    for message in MESSAGES:
        data = message.sent_from(sender.getsockname()[1])
        sender.sendto(data[:dice.randrange(len(data))], bridge)
        altered = bytearray(data)
        for _ in range(10):
            altered[dice.randrange(len(altered))] = dice.randrange(256)
        sender.sendto(bytes(altered), bridge)
        check_serves(sender, bridge, f"{message.name}, altered")
