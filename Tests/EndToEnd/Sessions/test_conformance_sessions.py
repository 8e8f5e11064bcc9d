"""Finding a gateway, connecting, logging in and its ends, as the old clients do them."""

import asyncio
import json
import time

import pytest
from answers import LoginRefused
from apps import App, make_token
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually
from web import discover


async def raw_login(client: Client, url: str, **changes: object) -> list:
    """Logs in with other fields than usual; returns the argument of `login_ret`."""
    await client.connect(url)
    fields = {"vid": client.app.id, "account": client.account, "uid": 0, "token": client.token, "device": "websdk", "ip": ""}
    await client.send("login", {name: value for name, value in (fields | changes).items() if value is not None})
    return await client._answer("login_ret")


def test_lists_of_one_gateway_are_long_enough_too(make_stack):
    stack = make_stack(gateways=1)
    gateway = stack.endpoints["gateways"][0]
    port = int(gateway["ws"].rsplit(":", 1)[1])
    for base in (gateway["http"], gateway["ws"].replace("ws://", "http://")):
        for query in ({"vid": stack.open_app.id}, {"vid": "unknown"}, {}):
            listed = discover(base, **query)["web"]
            assert len(listed) >= 16
            assert all(entry == ["127.0.0.1", port] and type(entry[1]) is int for entry in listed)


async def test_pongs_have_the_number_of_the_ping(stack: Stack, people):
    async with people(stack) as cast:
        client = await cast.make("alice").connect(stack.gateways[0])
        for number in (0, 1, 2, 77, 2**31):
            answer = await client.ping(number)
            assert type(answer) is int and answer == number
        await raw_login(client, stack.gateways[1])
        for number in range(5):
            assert await client.ping(number) == number


async def test_every_frame_has_two_elements(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        await bob.say(channel, "hello")
        await bob.tell(alice.account, "hello")
        await alice.attempt("no_such_function")
        await alice.ping(1)
        await eventually(lambda: alice.texts() and alice.of_type("channel_msg"), "both messages")
        newer = await cast.exactly(alice.account).login(stack.gateways[1])
        await eventually(alice.closed.is_set, "the kick")
        await newer.logout()
        assert {frame[0] for frame in alice.frames} == {"login_ret", "call2-ret", "notify", "pong", "close"}
        # The client counts a frame of any other form as a violation.
        assert all(len(frame) == 2 for frame in alice.frames + bob.frames + newer.frames) and not alice.violations


async def test_the_answer_to_a_login(stack: Stack, people):
    async with people(stack) as cast:
        client = cast.make("alice")
        error, text = await raw_login(client, stack.gateways[0])
        data = json.loads(text)
        assert error == "" and type(text) is str
        # No config_msg_set, no config_inst_msg_with_msgid, no push: they would change how old clients work.
        assert data.keys() == {"result", "line", "uid"} and data["result"] == "ok"
        assert type(data["uid"]) is int and 0 < data["uid"] < 2**32
        assert type(data["line"]) is str and len(data["line"]) >= 16 and not set(data["line"]) & set(" \t\n")
        again = cast.exactly(client.account)
        _, text = await raw_login(again, stack.gateways[1])
        assert json.loads(text)["uid"] == data["uid"] and json.loads(text)["line"] != data["line"]


async def test_nothing_comes_before_the_answer_to_the_login(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = cast.make("bob")
        sending = [asyncio.create_task(alice.tell(bob.account, str(n))) for n in range(50)]
        for turn in range(6):
            newer = await cast.exactly(bob.account).login(stack.gateways[turn % 2])
            assert newer.frames[0][0] == "login_ret"
        await asyncio.gather(*sending)
        await eventually(lambda: newer.texts()[-1:] == ["49"], "the last message")
        assert all(client.frames[0][0] == "login_ret" for client in cast.clients if client.frames)


async def test_failed_logins(stack: Stack, people):
    app = stack.token_app
    async with people(stack) as cast:
        name = unique("alice")
        now = int(time.time())
        cases = [
            (app, make_token(app.id, app.certificate, name, now - 1), "TokenErrorExpired", 204),
            (app, make_token(app.id, app.certificate, name + "x", now + 60), "TokenError", 206),
            (app, make_token(app.id.swapcase(), app.certificate, name, now + 60), "TokenError", 206),
            (app, "_no_need_token", "TokenErrorRequired", 206), (app, "", "TokenError", 206),
            (app, make_token(app.id, "wrong", name, now - 1), "TokenError", 206),
            (App(unique("unknown")), "_no_need_token", "", 202), (App(""), "_no_need_token", "", None),
        ]
        for used, token, text, code in cases:
            client = cast.exactly(name, used, token=token)
            with pytest.raises(LoginRefused) as refused:
                await client.login(stack.gateways[0])
            # The same text in both places: old web clients derive their code from it, ours read the number.
            error, data = refused.value.error, refused.value.data
            assert error and data["reason"] == error and data["result"] != "ok" and error.startswith(text)
            assert code in (None, data["code"]), (token, data)
            assert "kick" not in error and error.startswith("TokenError") == (code in (204, 206))
            await eventually(client.closed.is_set, "the close, the only thing that the Python client notices")
            assert [frame[0] for frame in client.frames] == ["login_ret"]


async def test_a_kick(stack: Stack, people):
    async with people(stack) as cast:
        for second in (0, 1):
            first = await cast.make("alice").login(stack.gateways[0])
            newer = await cast.exactly(first.account).login(stack.gateways[second])
            await eventually(first.closed.is_set, "the close")
            # The last frame before the close, with its second element.
            assert first.frames[-1] == ["close", "kick"]
            # Its line is no longer valid, neither for a resume nor for calls.
            client = await cast.exactly(first.account).connect(stack.gateways[1])
            await client.send("line_login", {"line": first.line})
            await eventually(client.closed.is_set, "the refusal")
            assert client.frames[-1][0] == "close" and client.frames[-1][1]
            reply = await newer.attempt("user_query_user_status", line=first.line, account=first.account)
            assert reply.data.get("code") == 1003
            assert not newer.closed.is_set()


async def test_a_logout_is_answered_before_the_close(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        number = 1000
        # As the Python client does: a last poll right before.
        for function in ("user_getmsg", "user_logout"):
            alice.expect_answer(number)
            await alice.send("call2", [function, number, {"line": alice.line, "ver_clear": 0, "max": 30}])
            number += 1
        await eventually(alice.closed.is_set, "the server closes; the Python client does not")
        returned = [frame[1] for frame in alice.frames if frame[0] == "call2-ret"]
        assert returned[-1][:2] == [1001, ""] and returned[-2][:2] == [1000, ""]
        assert "close" not in [frame[0] for frame in alice.frames]


async def test_a_resume_tells_of_what_waits(stack: Stack, people):
    """Web clients do not poll by themselves after `line_login`."""
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        for turn in range(4):
            bob.abort()
            await eventually(bob.closed.is_set, "the connection is cut")
            frames = len(bob.frames)
            if turn % 2:
                await alice.tell(bob.account, str(turn))
            # The polling state of web clients starts at 0 again.
            bob.version = 0
            answer = await bob.resume(stack.gateways[turn // 2])
            assert (answer["result"], answer["line"], answer["uid"], answer["resumed"]) == ("ok", bob.line, bob.uid, True)
            assert bob.frames[frames][0] == "line_login_ret"
            if turn % 2:
                # This client polls when it is told to, never by itself.
                await eventually(lambda t=turn: bob.texts()[-1:] == [str(t)], "the message")
            await bob.call("user_getmsg", ver_clear=bob.version, max=30)
            assert ("notify" in [frame[0] for frame in bob.frames[frames:]]) == bool(turn % 2)


async def test_calls_right_behind_a_resume(stack: Stack, people):
    """No public client waits for an answer to `line_login`."""
    channel = unique("room")
    async with people(stack) as cast:
        alice, = await cast.members(channel, "alice")
        alice.abort()
        await eventually(alice.closed.is_set, "the connection is cut")
        await alice.connect(stack.gateways[1])
        alice._polling = False
        await alice.send("line_login", {"line": alice.line})
        replies = await asyncio.gather(
            alice.attempt("channel_sendmsg", name=channel, msg="hello"), alice.attempt("channel_query_num", name=channel))
        assert all(reply.ok for reply in replies)
        await eventually(lambda: alice.of_type("channel_msg"), "the own message")


async def test_two_sockets_at_once(stack: Stack, people):
    """Web SDK 1.3 opens two sockets, uses the first that opens, closes the other without a frame, and opens more while the login waits."""
    async def as_web_sdk(client: Client, cast) -> float:
        started = time.monotonic()
        spare = cast.exactly(client.account, polls=False)
        await asyncio.gather(client.connect(stack.gateways[0]), spare.connect(stack.gateways[1]))
        answer = asyncio.create_task(client._answer("login_ret"))
        await client.send("login", {"vid": client.app.id, "account": client.account, "uid": 0, "token": client.token,
                                    "device": "websdk", "ip": ""})
        for number in range(3):
            await spare.close()
            spare = cast.exactly(client.account, polls=False)
            await spare.connect(stack.gateways[number % 2])
        error, _ = await answer
        assert error == ""
        # The last of the spare sockets stays open, like one that got stuck.
        return time.monotonic() - started

    async with people(stack) as cast:
        clients = [cast.make(f"web{n}") for n in range(20)]
        times = await asyncio.gather(*[as_web_sdk(client, cast) for client in clients])
        assert max(times) < 6, "web clients give up after six seconds"
        for client in clients:
            await client.tell(client.account, "note")
            await eventually(client.texts, "the session works")
            assert not client.closed.is_set() and client.close_frame is None


async def test_devices_of_all_clients(stack: Stack, people):
    async with people(stack) as cast:
        for changes in ({}, {"device": "javasdk", "ver": 1010002000}, {"device": ""}, {"device": None, "ip": None, "uid": None},
                        {"uid": "0", "extra": [1]}):
            client = cast.make("alice")
            error, _ = await raw_login(client, stack.gateways[0], **changes)
            assert error == ""
            await client.tell(client.account, "note")
            await eventually(client.texts, "the session works")


async def test_a_second_login_on_the_same_connection_is_refused(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        line = alice.line
        await alice.send("login", {"vid": alice.app.id, "account": unique("other"), "uid": 0, "token": alice.token,
                                   "device": "websdk", "ip": ""})
        await alice.ping(1)
        answers = [frame[1] for frame in alice.frames if frame[0] == "login_ret"]
        assert len(answers) == 2 and json.loads(answers[1][1])["code"] == 208 and alice.line == line
        await alice.tell(alice.account, "note")
        await eventually(alice.texts, "the session goes on")


async def test_accounts_of_two_apps_are_two_users(stack: Stack, people):
    name = unique("alice")
    async with people(stack) as cast:
        here = await cast.exactly(name).login(stack.gateways[0])
        there = await cast.exactly(name, stack.token_app).login(stack.gateways[0])
        await here.call("user_set_attr", name="city", value="Paris")
        assert (await there.call("user_get_attr", account=name, name="city"))["value"] == ""
        await here.logout()
        assert (await there.call("user_query_user_status", account=name))["status"] == 1
        assert not there.closed.is_set()


async def test_a_connection_timeout_is_a_whole_number(stack: Stack, people):
    """The attribute keeps the value that was set; the session uses it clamped to its range."""
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        for value in ("100000", "-5", "20", 60):
            await alice.call("user_set_attr", name="_conn_timeout", value=value)
            assert (await alice.call("user_get_attr", account=alice.account, name="_conn_timeout"))["value"] == str(value)
        for value in ("soon", "", "1.5"):
            reply = await alice.attempt("user_set_attr", name="_conn_timeout", value=value)
            assert reply.data.get("code") == 1004
