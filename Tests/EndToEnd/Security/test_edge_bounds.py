"""Bounds on what one client makes a gateway store and how often it may act: a client that exceeds them harms nobody else."""

import asyncio
import json
import os
import signal
import socket

import pytest
from acts import insists
from raw_socket import RawSocket, frame
from stack_control import Stack, unique
from waiting import eventually
from web import metric

MIB = 1 << 20


def of_gateway(stack: Stack, name: str) -> float:
    """A metric of the first gateway."""
    return metric(stack.endpoints["gateways"][0]["http"], name)


def memory(stack: Stack) -> float:
    return of_gateway(stack, "process_resident_memory_bytes")


async def test_pings_before_a_login_cost_no_memory(make_stack, people):
    stack = make_stack(gateways=1)
    before = memory(stack)
    sockets = [RawSocket(stack.gateways[0]) for _ in range(4)]
    ping = frame("ping", "x" * 15_000)
    sent = [await asyncio.to_thread(raw.flood, ping, 64 * MIB) for raw in sockets]
    assert memory(stack) - before < 24 * MIB, f"sent {sent}"
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.tell(bob.account, "undisturbed")
        await eventually(bob.texts, "the message")
    for raw in sockets:
        raw.close()


async def test_a_large_frame_before_a_login_closes(stack: Stack, people):
    raw = RawSocket(stack.gateways[0])
    raw.flood(frame("ping", "x" * 60_000), 60_000)
    assert raw.receive() == (8, (1009).to_bytes(2)), "no login is as large"
    raw.close()


async def test_polls_that_nobody_reads_cost_no_memory(make_stack, people):
    stack = make_stack("--unlimited", gateways=1)
    account = unique("hoarder")
    async with people(stack) as cast:
        sender, = await cast.login("sender")
        for number in range(400):
            await sender.tell(account, f"{number} " + "x" * 8_000)
    raw = RawSocket(stack.gateways[0])
    line = raw.login(stack.open_app.id, account)
    raw.message("notify")
    before = memory(stack)
    polls = b"".join(
        frame("call2", ["user_getmsg", number, {"line": line, "ver_clear": 0, "max": 1000}])
        for number in range(1000))
    await asyncio.to_thread(raw.flood, polls, len(polls))
    await eventually(lambda: of_gateway(stack, "heliograph_gateway_reading_paused_total"), "nothing more is read")
    assert memory(stack) - before < 32 * MIB
    # As soon as they are read, polls are answered, in their order. The first ones of 3 MB each show it.
    for number in range(40):
        answered, error, text = await asyncio.to_thread(raw.message, "call2-ret")
        assert (answered, error) == (number, "")
        assert json.loads(text)["msgs"], "each answer holds some"
    raw.close()


async def test_a_client_that_does_not_read_is_cut_off_and_may_resume(make_stack, people):
    stack = make_stack("--unlimited", gateways=1)
    channel = unique("busy")
    async with people(stack) as cast:
        talker, = await cast.login("talker")
        raw = RawSocket(stack.gateways[0])
        line = raw.login(stack.open_app.id, unique("deaf"))
        raw.send("call2", ["channel_join", 1, {"line": line, "name": channel}])
        raw.message("call2-ret")
        await talker.join(channel)
        text = "x" * 8_000
        sent = 0
        while of_gateway(stack, "heliograph_gateway_slow_clients_total") == 0:
            for _ in range(50):
                await talker.say(channel, text)
            sent += 50
            assert sent < 5_000, "never cut off"
        raw.close()
        again = RawSocket(stack.gateways[0])
        again.send("line_login", {"line": line})
        assert json.loads(again.message("line_login_ret")[1])["channel"] == channel
        again.close()


async def test_acts_have_a_rate_and_a_resume_gives_nothing(stack: Stack, people):
    async with people(stack) as cast:
        eager, = await cast.login("eager", gateway=0)
        channel = unique("room")
        replies = [r for _ in range(8) for r in await asyncio.gather(
            *(eager.attempt("channel_query_num", name=channel) for _ in range(50)))]
        refused = [r for r in replies if not r.ok]
        assert 100 < len(refused) <= 200, "200 at once, and 50 a second"
        assert {(r.data["reason"], r.data["code"]) for r in refused} == {("rate_limited", 1001)}
        assert "50" in json.dumps(refused[0].data)
        eager.abort()
        await eventually(eager.closed.is_set, "the connection broke")
        await eager.resume(stack.gateways[0])
        replies = await asyncio.gather(*(eager.attempt("channel_query_num", name=channel) for _ in range(150)))
        assert sum(r.ok for r in replies) < 120
        # Messages, polls and the logout do not count as acts.
        await eager.tell(eager.account, "still")
        await eventually(eager.texts, "the message to oneself")
        await eager.logout()


async def test_large_answers_count_as_several_acts(stack: Stack, people):
    async with people(stack) as cast:
        owner, reader = await cast.login("owner", "reader")
        for number in range(41):
            await owner.call("user_set_attr", name=f"n{number}", value="x" * 8_000)
        # Each answer has 41 * 8,000 bytes, and every 16 KiB of an answer count as one more act: 21 with the call itself.
        replies = await asyncio.gather(
            *(reader.attempt("user_get_attr_all", account=owner.account, within=20) for _ in range(20)))
        assert all(r.ok for r in replies)
        reply = await reader.attempt("channel_query_num", name="room")
        assert reply.data["reason"] == "rate_limited"
        assert (await owner.call("user_get_attr_all", account=owner.account))["account"] == owner.account


async def test_attribute_changes_have_a_rate(stack: Stack, people):
    async with people(stack) as cast:
        vain, = await cast.login("vain")
        replies = [r for _ in range(4) for r in await asyncio.gather(
            *(vain.attempt("user_set_attr", name="mood", value=str(n)) for n in range(50)))]
        assert 50 <= sum(not r.ok for r in replies) <= 100
        assert {r.data["reason"] for r in replies if not r.ok} == {"rate_limited"}


async def test_an_apps_rates_are_its_own(make_stack, people):
    stack = make_stack(gateways=1)
    stack.control("app", "limit", stack.open_app.id, "--acts-per-second", "1000000")
    async with people(stack) as cast:
        eager, = await cast.login("eager")
        for _ in range(10):
            replies = await asyncio.gather(*(eager.attempt("channel_query_num", name="room") for _ in range(50)))
            assert all(r.ok for r in replies)


@pytest.mark.parametrize("name", ["_agora_user_online", "__agora_channel_event"])
async def test_nobody_speaks_in_special_channels(stack: Stack, people, name: str):
    async with people(stack) as cast:
        server, liar = await cast.login("server", "liar")
        await server.join(name)
        body = json.dumps({"event": "offline", "account": server.account})
        for more in ({}, {"force": True}):
            reply = await liar.attempt("channel_sendmsg", name=name, msg=body, **more)
            assert (reply.data.get("code"), reply.data.get("reason")) == (1004, "special_channel")
        reply = await server.attempt("channel_sendmsg", name=name, msg=body)
        assert reply.data.get("code") == 1004, "members neither"
        assert not [e for e in server.events if e.content.get("msg") == body]


async def test_an_app_may_close_its_special_channels(make_stack, people):
    stack = make_stack(gateways=1)
    stack.control("app", "limit", stack.open_app.id, "--special-channels", "closed")
    async with people(stack) as cast:
        nosy, = await cast.login("nosy")
        reply = await nosy.attempt("channel_join", name="_agora_user_online")
        assert (reply.data.get("code"), reply.data.get("reason")) == (300, "special_channel")
        await nosy.join(unique("room"))


async def test_connections_of_one_address_are_bounded(make_stack, people, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_EXEMPT", "192.0.2.0/24")
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_CONNECTIONS", "5")
    stack = make_stack(gateways=1)
    sockets = [RawSocket(stack.gateways[0]) for _ in range(5)]
    with pytest.raises(OSError):
        RawSocket(stack.gateways[0])
    assert of_gateway(stack, "heliograph_gateway_address_refusals_total") == 1
    sockets.pop().close()

    def has_room() -> bool:
        try:
            sockets.append(RawSocket(stack.gateways[0]))
        except OSError:
            return False
        return True
    await eventually(has_room, "a place is free again")
    for raw in sockets:
        raw.close()


async def test_who_guesses_tokens_waits(make_stack, people, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_EXEMPT", "192.0.2.0/24")
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_FAILED_LOGINS", "1")
    stack = make_stack(gateways=1)
    reasons = []
    for _ in range(13):
        raw = RawSocket(stack.gateways[0])
        raw.send("login", {"vid": stack.token_app.id, "account": "a", "uid": 0, "token": "1:x:1:y", "device": "", "ip": ""})
        reasons.append(json.loads(raw.message("login_ret")[1])["reason"])
        raw.close()
    assert "rate_limited" not in reasons[:10] and "rate_limited" in reasons, reasons


async def test_a_proxy_tells_whose_connection_it_is(make_stack, people, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_PROXY_FROM", "127.0.0.0/8")
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_CONNECTIONS", "1")
    stack = make_stack(gateways=1)

    def through_proxy(client: str) -> RawSocket:
        return RawSocket(stack.gateways[0], before=f"PROXY TCP4 {client} 127.0.0.1 4000 80\r\n".encode())
    first, second = through_proxy("203.0.113.1"), through_proxy("203.0.113.2")
    with pytest.raises(OSError):
        through_proxy("203.0.113.1")
    with pytest.raises(OSError):
        RawSocket(stack.gateways[0])
    # Version 2, as HAProxy sends it, with the same bounds.
    addresses = socket.inet_aton("203.0.113.3") + socket.inet_aton("127.0.0.1") + b"\x0f\xa0\0\x50"
    header = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + addresses
    third = RawSocket(stack.gateways[0], before=header)
    with pytest.raises(OSError):
        RawSocket(stack.gateways[0], before=header)
    for raw in (first, third):
        raw.send("ping", 1)
        assert raw.message("pong") == 1
    assert of_gateway(stack, "heliograph_gateway_proxy_refusals_total") == 1
    second.flood(b"\x80\0", 2)
    log = stack.directory / "logs" / "gateway#1.log"
    await eventually(lambda: "203.0.113.2" in log.read_text(), "the log names the client")
    for raw in (first, second, third):
        raw.close()


def test_nobody_else_may_tell_another_address(stack: Stack):
    """A PROXY header from an address that is no proxy's is no HTTP request."""
    host, port = stack.gateways[0].removeprefix("ws://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as raw:
        raw.sendall(b"PROXY TCP4 203.0.113.1 127.0.0.1 4000 80\r\nGET / HTTP/1.1\r\n\r\n")
        answer = b""
        while received := raw.recv(4096):
            answer += received
    assert answer.startswith(b"HTTP/1.1 400 "), answer


async def test_made_up_apps_cost_no_queries(make_stack, people):
    stack = make_stack(gateways=1)
    address = stack.gateways[0]

    def fail_to_log_in() -> None:
        raw = RawSocket(address)
        raw.send("login", {"vid": unique("none"), "account": "a", "uid": 0, "token": "_no_need_token", "device": "", "ip": ""})
        assert raw.message("login_ret")[0] != ""
        raw.close()

    def queries() -> float:
        return metric(stack.endpoints["services"][0]["http"], "heliograph_postgres_query_seconds_count")
    assert stack.endpoints["services"][0]["name"] == "presence#1"
    before = queries()
    await asyncio.gather(*(asyncio.to_thread(fail_to_log_in) for _ in range(300)))
    assert queries() - before < 150


def test_pipelined_requests_get_one_answer(stack: Stack):
    host, port = stack.gateways[0].removeprefix("ws://").rstrip("/").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as plain:
        plain.sendall(b"GET /getaddr?vid=x HTTP/1.1\r\nHost: x\r\n\r\n" * 1000)
        answer = b""
        try:
            while got := plain.recv(1 << 16):
                answer += got
        except ConnectionResetError:
            pass
    assert answer.count(b"HTTP/1.1 200") == 1


async def test_deadlines_count_from_the_arrival(make_stack, people):
    stack = make_stack(gateways=1)
    old, new = unique("old"), unique("new")
    async with people(stack) as cast:
        asker, mover = await cast.login("asker", "mover")
        await mover.join(old)
        os.kill(stack.pids["channel-state#1"], signal.SIGSTOP)
        try:
            # A session's calls are sent one after the other: when the first has timed out, so have those behind it.
            *replies, move = await asyncio.gather(
                *(asker.attempt("channel_query_num", name="room", within=20) for _ in range(3)),
                mover.attempt("channel_join", name=new, within=20))
        finally:
            os.kill(stack.pids["channel-state#1"], signal.SIGCONT)
        assert [(r.data["reason"], r.data["code"]) for r in replies] == [("timeout", 501)] * 3
        assert max(r.seconds for r in replies) < 9.5
        assert of_gateway(stack, "heliograph_gateway_calls_overdue_total") == 2
        # The join did not take place and left nothing behind: the user is still in the old channel, and can move later.
        assert move.data["reason"] == "timeout" and move.seconds < 9.5
        assert (await insists(asker, "channel_join", name=new))["list"] == [[asker.account, asker.uid]]
        assert (await asker.join(old))["list"][1][0] == mover.account
        await asker.say(old, "still there?")
        await eventually(lambda: mover.of_type("channel_msg"), "the user is still in the old channel")
        await insists(mover, "channel_join", name=new)
        await eventually(lambda: asker.of_type("channel_user_leave"), "the move")
        assert (await asker.call("channel_query_user_isin", name=new, account=mover.account))["isin"] == 1


async def test_sessions_end_with_their_app(stack: Stack, people):
    app = stack.create_app(unique("gone"))
    async with people(stack) as cast:
        user, = await cast.login("user", app=app)
        stays, = await cast.login("stays")
        stack.control("app", "remove", app.id)
        await eventually(user.closed.is_set, "the session ends", 45)
        assert user.close_frame == "100"
        assert not stays.closed.is_set()
