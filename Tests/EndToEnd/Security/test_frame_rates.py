"""How often strangers and users may send what no other rate bounds: pings, refused calls, lines of sessions that do not exist."""

import asyncio
import json
import os

from raw_socket import RawSocket, frame
from stack_control import Stack
from waiting import eventually
from web import grown, metric, metrics

PING = frame("ping", 1)


def pongs(raw: RawSocket, seconds: float) -> int:
    """How many pongs arrive until none does for so long; fails when the server closes the connection."""
    received = b""
    raw.socket.settimeout(seconds)
    try:
        while got := raw.socket.recv(1 << 16):
            received += got
    except TimeoutError:
        return received.count(b"pong")
    raise AssertionError(f"closed after {received.count(b'pong')} pongs")


async def test_pings_are_paced(make_stack, people):
    stack: Stack = make_stack(gateways=1)
    strangers = [RawSocket(stack.gateways[0], receive_buffer=1 << 16) for _ in range(8)]
    for raw in strangers:
        raw.socket.sendall(PING * 150)
    answered = [await asyncio.to_thread(pongs, raw, 0.3) for raw in strangers]
    assert all(50 <= count < 150 for count in answered), answered
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.tell(bob.account, "undisturbed")
        await eventually(bob.texts, "the message")
    # The others are answered later, as the rate allows.
    assert answered[0] + await asyncio.to_thread(pongs, strangers[0], 0.9) == 150
    http = stack.endpoints["gateways"][0]["http"]
    # Once or more each: what is read at once depends on what has arrived.
    assert metric(http, "heliograph_gateway_input_paced_total") >= len(strangers)
    for raw in strangers:
        raw.close()
    user = RawSocket(stack.gateways[0], receive_buffer=1 << 16)
    user.login(stack.open_app.id, "eager")
    user.socket.sendall(PING * 700)
    first = await asyncio.to_thread(pongs, user, 0.3)
    assert 500 <= first <= 700
    assert first + await asyncio.to_thread(pongs, user, 0.9) == 700
    user.close()


def resume(stack: Stack, session: str) -> tuple[int, bytes]:
    """Asks for a session that does not exist; what is answered."""
    raw = RawSocket(stack.gateways[0])
    raw.send("line_login", {"line": f"{session}.{os.urandom(16).hex()}.{stack.open_app.id}.someone"})
    answer = raw.receive()
    raw.close()
    return answer


async def test_invented_lines_are_bounded(make_stack, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_EXEMPT", "192.0.2.0/24")
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_FAILED_LOGINS", "1")
    stack: Stack = make_stack(gateways=1)
    presence = [service["http"] for service in stack.endpoints["services"] if service["name"].startswith("presence")]

    def commands() -> float:
        return sum(grown({}, metrics(http), "heliograph_commands_failed_total", "presence") for http in presence)

    closes = (1, b'["close","bad_line"]')
    before = commands()
    # What no gateway makes costs no command.
    for session in ("s" * 15_000, "a b", "a\nb", 'a"b', "s" * 65):
        assert resume(stack, session) == closes
    assert commands() == before
    answers = [resume(stack, f"gateway1-{os.urandom(4).hex()}-0-{number}") for number in range(30)]
    assert answers[:10] == [closes] * 10
    refused = [answer for answer in answers if answer != closes]
    assert len(refused) >= 15 and set(refused) == {(8, (1001).to_bytes(2))}
    await eventually(lambda: commands() - before == len(answers) - len(refused), "each of the others is a command")
    assert metric(stack.endpoints["gateways"][0]["http"], "heliograph_gateway_logins_limited_total") == len(refused)
    # Logins of the address are bounded together with them.
    reasons = []
    for _ in range(3):
        raw = RawSocket(stack.gateways[0])
        raw.send("login", {"vid": stack.token_app.id, "account": "a", "uid": 0, "token": "1:x:1:y", "device": "", "ip": ""})
        reasons.append(json.loads(raw.message("login_ret")[1])["reason"])
        raw.close()
    assert "rate_limited" in reasons


def test_junk_is_logged_once_a_second(make_stack):
    stack: Stack = make_stack(gateways=1)
    for _ in range(200):
        raw = RawSocket(stack.gateways[0])
        raw.flood(b"\x80\0", 2)
        raw.receive()
        raw.close()
    log = (stack.directory / "logs" / "gateway#1.log").read_text()
    assert metric(stack.endpoints["gateways"][0]["http"], "heliograph_gateway_protocol_violations_total") == 200
    assert 1 <= log.count("protocol violation") < 40
