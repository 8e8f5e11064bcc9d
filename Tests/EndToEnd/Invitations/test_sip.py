"""The sip-bridge's answer to OPTIONS, by which trunks see that it is alive."""

import socket

import pytest
from stack_control import Stack


@pytest.mark.every_redis
def test_options_are_answered(stack: Stack):
    bridge = stack.endpoints["sip"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trunk:
        trunk.bind(("127.0.0.1", 0))
        trunk.settimeout(5)
        here = f"127.0.0.1:{trunk.getsockname()[1]}"
        request = (
            f"OPTIONS sip:{bridge['host']}:{bridge['port']} SIP/2.0\r\nVia: SIP/2.0/UDP {here};branch=z9hG4bK-heliograph\r\n"
            f"Max-Forwards: 70\r\nFrom: <sip:trunk@{here}>;tag=1\r\nTo: <sip:bridge@{bridge['host']}>\r\n"
            "Call-ID: one\r\nCSeq: 7 OPTIONS\r\nContent-Length: 0\r\n\r\n")
        for nonsense in (b"", b"\x00" * 100, b"OPTIONS\r\n\r\n", b"x" * 60_000):
            trunk.sendto(nonsense, (bridge["host"], bridge["port"]))
        trunk.sendto(request.encode(), (bridge["host"], bridge["port"]))
        while True:
            answer = trunk.recv(65_535).decode()
            if "Call-ID: one" in answer:
                break
    assert answer.startswith("SIP/2.0 200 ")
    assert "CSeq: 7 OPTIONS" in answer and "branch=z9hG4bK-heliograph" in answer and ";tag=" in answer
