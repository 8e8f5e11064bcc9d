"""Input that no proper client sends: the answer is an error or a close, never a crash, and others notice nothing."""

import asyncio
import json
import socket

import pytest
from answers import LoginRefused
from raw_socket import RESET, handshake
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually
from web import metric

# RFC 6455, section 7.4.1: the close codes that a server may send.
CLOSE_CODES = {1000, 1001, 1002, 1003, 1007, 1008, 1009}

MALFORMED = {
    "not JSON": "this is not JSON",
    "an empty text": "",
    "half a frame": '["call2", ["user_getmsg", 1',
    "a JSON string": '"login"',
    "an object": '{"name":"login"}',
    "an empty array": "[]",
    "one element": '["login"]',
    "three elements": '["ping", 1, 2]',
    "a number for a name": "[1, {}]",
    "a call without arguments": '["call2", ["user_getmsg", 1]]',
    "a call with a text for an id": '["call2", ["user_getmsg", "1", {}]]',
    "a call of a number": '["call2", [5, 1, {}]]',
    "a call that is an object": '["call2", {}]',
    "a login with a number": '["login", 5]',
    "too deep": "[" * 5000 + "]" * 5000,
    "a binary frame": b'["ping", 1]',
    "bad UTF-8": b"\xff\xfe",
    "too large": '["ping", "' + "x" * 70_000 + '"]',
}


async def crowd(cast) -> tuple[Client, Client, str]:
    """Two users on two gateways, in one channel, who must not be disturbed."""
    channel = unique("quiet")
    alice, bob = await cast.members(channel, "alice", "bob")
    return alice, bob, channel


async def undisturbed(alice: Client, bob: Client, channel: str) -> None:
    """They still talk, and nothing happened to their connections."""
    text = unique("still here")
    await alice.say(channel, text)
    await bob.tell(alice.account, text)
    await eventually(lambda: bob.of_type("channel_msg") and bob.of_type("channel_msg")[-1].content["msg"] == text,
                     "the channel goes on")
    await eventually(lambda: text in alice.texts(), "messages go on")
    assert not alice.closed.is_set() and not bob.closed.is_set()
    assert not alice.of_type("channel_user_leave")


async def refuses(client: Client, payload: str | bytes) -> None:
    """The server answers with an error frame or closes with a code."""
    # Bad UTF-8 goes as a text frame, which the library would not send by itself.
    await client.send_raw(payload, text=True if payload == MALFORMED["bad UTF-8"] else None)
    await eventually(lambda: client.closed.is_set() or client.other_frames, "an error frame or a close")
    if client.closed.is_set():
        assert client.close_code in CLOSE_CODES, f"closed with {client.close_code}"
    else:
        assert client.other_frames[0][0] == "error"


@pytest.mark.parametrize("logged_in", [False, True], ids=["before login", "logged in"])
async def test_malformed_frames(stack: Stack, people, logged_in: bool):
    async with people(stack) as cast:
        witnesses = await crowd(cast)
        for number, (what, payload) in enumerate(MALFORMED.items()):
            client = cast.make("mallory", polls=False)
            url = stack.gateways[number % 2]
            await (client.login(url) if logged_in else client.connect(url))
            try:
                await refuses(client, payload)
            except AssertionError as error:
                raise AssertionError(f"{what}: {error}") from None
        await undisturbed(*witnesses)


async def test_too_large_closes_with_its_code(stack: Stack, people):
    async with people(stack) as cast:
        client, = await cast.login("mallory")
        await client.send_raw('["ping", "' + "x" * 70_000 + '"]')
        await eventually(client.closed.is_set, "the close")
        assert client.close_code == 1009


async def test_the_largest_frame_is_taken(stack: Stack, people):
    async with people(stack) as cast:
        client, = await cast.login("alice")
        frame = '["ping", 1]'
        await client.send_raw(frame + " " * (65_536 - len(frame)))
        await eventually(lambda: client.other_frames == [["pong", 1]], "the answer")


@pytest.mark.parametrize("frame", [
    ["call2", ["user_getmsg", 0, {"line": "x", "ver_clear": 0, "max": 30}]],
    ["call2", ["channel_join", 0, {"line": "x", "name": "room"}]],
    ["line_login", {"line": "nobody.knows.this.line"}],
    ["line_login", {"line": "x"}],
    ["line_login", {}],
])
async def test_acts_before_login(stack: Stack, people, frame: list):
    async with people(stack) as cast:
        client = await cast.make("mallory").connect(stack.gateways[0])
        answer = client.expect_answer(0)
        await client.send_raw(json.dumps(frame))
        await eventually(lambda: client.closed.is_set() or answer.done(), "an error or a close")
        if frame[0] == "line_login":
            assert client.closed.is_set() and client.close_frame is not None
        elif not client.closed.is_set():
            assert answer.result()[0]


BAD_CALLS = [
    ("no_such_function", {}, None),
    ("", {}, None),
    ("user_getmsg2", {"clear_msgs": [], "max": 30}, None),
    ("channel_join", {}, 1004),
    ("channel_join", {"name": ""}, 1004),
    ("channel_join", {"name": "x" * 129}, None),
    ("channel_join", {"name": "tab\there"}, 1004),
    ("channel_sendmsg", {"name": "room"}, None),
    ("channel_set_attr", {"channel": "room", "name": "", "value": "v"}, None),
    ("channel_set_attr", {"channel": "room", "name": "n" * 129, "value": "v"}, None),
    ("channel_set_attr", {"channel": "room", "name": "big", "value": "v" * 8097}, 1005),
    ("channel_set_attr", {"channel": "room", "name": "_no_such_builtin", "value": "1"}, 1004),
    ("channel_set_attr", {"channel": "room", "name": "_member_num", "value": "1"}, 1004),
    ("user_set_attr", {"name": "big", "value": "v" * 8097}, 1005),
    ("user_set_attr", {"name": "_no_such_builtin", "value": "1"}, 1004),
    ("user_sendmsg", {"flag": "v1:E:3600", "t": "instant", "content": "to nobody"}, 1004),
    ("user_sendmsg", {"peer": "has space", "flag": "v1:E:3600", "t": "instant", "content": "x"}, None),
    ("user_query_user_status", {"account": ["list"]}, None),
    ("voip_invite", {"channelName": "room", "peer": "bob", "extra": "x" * 8193}, 1005),
    ("voip_invite", {"channelName": "room", "peer": "bob", "extra": "not JSON"}, None),
    ("voip_invite", {"channelName": "room", "extra": ""}, 1004),
    ("user_ext_call", {"package": "io.agora.media.bc", "func": "f", "args": "{}", "callid": ""}, None),
]


async def test_bad_calls_are_answered_with_errors(stack: Stack, people):
    async with people(stack) as cast:
        witnesses = await crowd(cast)
        client, = await cast.login("mallory")
        for function, arguments, code in BAD_CALLS:
            reply = await client.attempt(function, **arguments)
            shown = {name: str(value)[:30] for name, value in arguments.items()}
            assert not reply.ok, f"{function} {shown} succeeded"
            assert code in (None, reply.data["code"]), f"{function} {shown}: {reply.data}"
        assert await client.ping(3) == 3
        await undisturbed(*witnesses)


async def test_a_line_that_is_not_the_connections_own(stack: Stack, people):
    async with people(stack) as cast:
        alice, mallory = await cast.login("alice", "mallory")
        for line in (alice.line, "", "x", alice.line + "0"):
            reply = await mallory.attempt("user_set_attr", line=line, name="stolen", value="1")
            assert not reply.ok
        assert (await alice.call("user_get_attr", account=alice.account, name="stolen"))["value"] == ""
        assert (await mallory.call("user_get_attr", account=mallory.account, name="stolen"))["value"] == ""


BAD_LOGINS = {
    "empty": "", "with a space": "a b", "with a tab": "a\tb", "with a control": "a\x01b", "with a line end": "a\n",
    "with a wide space": "a\u3000b", "too long": "x" * 129, "too long in bytes": "é" * 65,
    "a dot": ".", "two dots": "..",
}


@pytest.mark.parametrize("account", BAD_LOGINS.values(), ids=BAD_LOGINS.keys())
async def test_bad_accounts_are_refused_at_login(stack: Stack, people, account: str):
    async with people(stack) as cast:
        client = cast.exactly(account)
        with pytest.raises(LoginRefused):
            await client.login(stack.gateways[0])
        await eventually(client.closed.is_set, "the close after the refusal")


HOSTILE = [
    "colons:a:u:b", "{braces}", "}close{open", "{a:x:u:y}:session", "*?[a-z]", "quote\"'`;--", "back\\slash\\n", "%00%25",
    "\U0001f600\U0001f468\u200d\U0001f469", "e\u0301", "é", "a.b.c.d", "-", "..", "/", "$1", "__proto__", "x" * 128,
]


async def test_hostile_names_work_and_stay_apart(stack: Stack, people):
    async with people(stack) as cast:
        suffix = unique("")
        accounts = [name if len(name) == 128 else (name + suffix) for name in HOSTILE]
        clients = [cast.exactly(account) for account in accounts]
        for number, client in enumerate(clients):
            await client.login(stack.gateways[number % 2])
        watcher, = await cast.login("watcher")

        def attribute(client: Client) -> str:
            # Names with a leading underscore are reserved for the system.
            return "n" + client.account[:100]

        for client in clients:
            # Channel names may hold spaces as well.
            channel = client.account[:120] + " room"
            joined = await client.join(channel)
            assert joined["list"] == [[client.account, client.uid]], f"{client.account!r} is not alone"
            await client.call("channel_set_attr", channel=channel, name=attribute(client), value=client.account)
            await client.say(channel, client.account)
            await client.call("user_set_attr", name=attribute(client), value="own")
            await watcher.tell(client.account, f"to {client.account}")
        for client in clients:
            channel = client.account[:120] + " room"
            await eventually(lambda c=client: c.texts() and len(c.of_type("channel_msg")) == 1, "both messages")
            assert client.texts() == [f"to {client.account}"]
            event, = client.of_type("channel_msg")
            assert (event.account, event.content["channel"], event.content["msg"]) \
                == (client.account, channel, client.account)
            everything = json.loads((await watcher.call("user_get_attr_all", account=client.account))["json"])
            assert everything == {attribute(client): "own"}
            assert (await watcher.call("channel_query_user_isin", name=channel, account=client.account))["isin"] == 1
            assert (await watcher.call("user_query_user_status", account=client.account))["status"] == 1
            assert (await watcher.join(channel))["attrs"] == {attribute(client): client.account}
        assert len({client.uid for client in clients}) == len(clients)


async def test_apps_never_see_each_other(stack: Stack, people):
    """Names that would collide if app and name were concatenated without escaping."""
    suffix = unique("")
    pairs = [
        ("x" + suffix, "a:u:b"), ("x" + suffix + ":u:a", "b"), ("x" + suffix + ":u:a:u", "b"),
        ("{x" + suffix + "}", "b}:session"), ("{x" + suffix, "}b"), ("X" + suffix.upper(), "a:u:b"),
    ]
    async with people(stack) as cast:
        clients = []
        for number, (app_id, account) in enumerate(pairs):
            client = cast.exactly(account, stack.create_app(app_id))
            await client.login(stack.gateways[number % 2])
            clients.append(client)
        for client in clients:
            assert (await client.join("same"))["list"] == [[client.account, client.uid]]
            await client.call("channel_set_attr", channel="same", name="of", value=client.app.id)
            await client.call("user_set_attr", name="of", value=client.app.id)
        for client in clients:
            await client.say("same", client.app.id)
            await client.tell(client.account, client.app.id)
        for client in clients:
            await eventually(lambda c=client: c.texts() and c.of_type("channel_msg"), "the own messages")
            assert client.texts() == [client.app.id]
            assert [event.content["msg"] for event in client.of_type("channel_msg")] == [client.app.id]
            assert not client.of_type("channel_user_join")
            assert (await client.call("channel_query_num", name="same"))["num"] == 1
            assert (await client.call("user_get_attr", account=client.account, name="of"))["value"] == client.app.id


async def test_plain_http_that_is_no_websocket(stack: Stack):
    host, port = stack.gateways[0].removeprefix("ws://").split(":")
    requests = [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", b"\x16\x03\x01\x00\xa5\x01\x00", b"NONSENSE\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 8\r\n\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ]
    for request in requests:
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(request)
            writer.write_eof()
            answer = await asyncio.wait_for(reader.read(1000), 10)
            assert answer == b"" or answer.split(b" ")[1][:1] in (b"4", b"5"), answer[:100]
        except OSError:
            pass
        finally:
            writer.close()
    assert stack.run("status").returncode == 0


async def test_sockets_that_open_and_say_nothing(stack: Stack, people):
    """Old web clients open two sockets at once and drop one without a frame."""
    async with people(stack) as cast:
        witnesses = await crowd(cast)
        for number in range(50):
            silent = await cast.make("silent").connect(stack.gateways[number % 2])
            if number % 2:
                silent.abort()
        await undisturbed(*witnesses)


AT_ONCE, TIMES = 50, 20


def send_and_reset(url: str, sent: bytes) -> None:
    """Clients that send this and reset their connections, without reading; the gateway has read of the first ones by then."""
    host, port = url.removeprefix("ws://").split(":")
    sockets = [socket.create_connection((host, int(port)), timeout=10) for _ in range(AT_ONCE)]
    for raw in sockets:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        raw.sendall(sent)
    for raw in sockets:
        raw.close()


@pytest.mark.parametrize("whole", [False, True], ids=["in the middle of the head", "after the head"])
async def test_resets_in_the_handshake_leave_nothing(make_stack, people, monkeypatch: pytest.MonkeyPatch, whole: bool):
    """An address may have fewer connections than are reset: one that is still counted would keep the next client out."""
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_EXEMPT", "192.0.2.0/24")
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_CONNECTIONS", str(AT_ONCE * TIMES * 9 // 10))
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADDRESS_ARRIVALS", "100000")
    stack = make_stack(gateways=1)

    def connections() -> float:
        return metric(stack.endpoints["gateways"][0]["http"], "heliograph_gateway_connections")

    async with people(stack) as cast:
        witnesses = await crowd(cast)
        await eventually(lambda: connections() == 2, "the witnesses are counted")
        head = handshake("x")
        for _ in range(TIMES):
            await asyncio.to_thread(send_and_reset, stack.gateways[0], head if whole else head[:len(head) // 2])
        # At once: a client that is refused does not try again.
        late, = await cast.login("late")
        assert await late.ping(1) == 1
        await eventually(lambda: connections() == 3, "only those who are there are counted")
        await undisturbed(*witnesses)
