"""Messages of apps' servers: to users and channels, alone and in batches, and repeated."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from apps import App
from server_api import Answer, ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually, eventually_blocking, let_pass, let_pass_blocking


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack, app=stack.open_app.id)["key"])


@pytest.fixture
def app(stack: Stack) -> App:
    return stack.open_app


async def test_a_message_to_a_user(stack: Stack, people, api: ServerAPI, app: App):
    """It arrives as a user's message does, online or later, over whichever gateway."""
    async with people(stack) as cast:
        for gateway in (0, 1):
            bob, = await cast.login("bob", gateway=gateway)
            sent = api.post("apps", app.id, "users", bob.account, "messages", body={"from": "shop", "message": "ready ♥\n"})
            assert sent.status == 200 and sent.body["version"] > 0
            await eventually(lambda bob=bob: bob.texts() == ["ready ♥\n"], "the message is there")
            assert bob.messages[0].source == "shop"
        name = unique("later")
        api.post("apps", app.id, "users", name, "messages", body={"from": "shop", "message": "waiting"})
        later = cast.exactly(name)
        await later.login(stack.gateways[0])
        await eventually(lambda: later.texts() == ["waiting"], "the message waited")


async def test_a_message_to_a_channel(stack: Stack, people, api: ServerAPI, app: App):
    room = unique("room") + " ☂"
    assert api.post("apps", app.id, "channels", room, "messages", body={"from": "shop", "message": "x"}).body == {"id": 0}
    async with people(stack) as cast:
        members = await cast.members(room, "ann", "bob")
        sent = api.post("apps", app.id, "channels", room, "messages", body={"from": "shop", "message": "to all"})
        assert sent.status == 200 and sent.body["id"] > 0
        for member in members:
            await eventually(lambda member=member: "to all" in str(member.frames), "the message is there")


async def test_a_batch_keeps_the_order_of_each_receiver(stack: Stack, people, api: ServerAPI, app: App):
    room = unique("room")
    async with people(stack) as cast:
        bob, = await cast.login("bob")
        ann, = await cast.members(room, "ann")
        items = []
        for number in range(60):
            items.append({"user": bob.account, "from": "shop", "message": f"u{number}"})
            items.append({"channel": room, "from": "shop", "message": f"c{number}"})
        answer = api.post("apps", app.id, "messages", body={"items": items})
        assert answer.status == 200 and answer.body["failed"] == 0
        results = answer.body["results"]
        assert [list(result) for result in results] == [["version"], ["id"]] * 60
        await eventually(lambda: len(bob.texts()) == 60, "all are there")
        assert bob.texts() == [f"u{number}" for number in range(60)]
        await eventually(lambda: "c59" in str(ann.frames), "all are there")


async def test_each_message_of_a_batch_has_its_own_outcome(stack: Stack, api: ServerAPI, people):
    """Of messages in a channel over its rate, those within it are sent, and the others are reported."""
    app = stack.create_app(unique("slow"))
    stack.control("app", "limit", app.id, "--channel-messages-per-second=3")
    key = create_key(stack, app=app.id)["key"]
    room = unique("room")
    async with people(stack) as cast:
        ann = cast.make("ann", app)
        await ann.login(stack.gateways[0])
        await ann.join(room)
        items = [{"channel": room, "from": "shop", "message": "m"}] * 5 + [{"user": "x", "from": "shop", "message": "m"}]
        answer = ServerAPI(stack, key).post("apps", app.id, "messages", body={"items": items})
    assert answer.status == 200 and answer.body["failed"] == 2
    assert [result.get("error", {}).get("code") for result in answer.body["results"]] == [
        None, None, None, "rate_limited", "rate_limited", None]


async def test_a_broadcast(stack: Stack, people, api: ServerAPI, app: App):
    async with people(stack) as cast:
        clients = await cast.login("ann", "bob", "eve")
        users = [client.account for client in clients] + [unique("offline")]
        answer = api.post("apps", app.id, "broadcasts", body={"from": "shop", "message": "closing", "users": users})
        assert answer.status == 200 and len(answer.body["results"]) == 4 and answer.body["failed"] == 0
        for client in clients:
            await eventually(lambda client=client: client.texts() == ["closing"], "the message is there")


async def test_a_repetition_has_no_further_effect(stack: Stack, people, app: App):
    """Not even over another gateway; another request with the same idempotency key is refused."""
    key = create_key(stack, app=app.id)["key"]
    apis = [ServerAPI(stack, key, gateway) for gateway in (0, 1)]
    once = {"Idempotency-Key": unique("order")}
    async with people(stack) as cast:
        bob, = await cast.login("bob")
        path = ("apps", app.id, "users", bob.account, "messages")
        body = {"from": "shop", "message": "once"}
        first, again, elsewhere = (api.post(*path, body=body, headers=once) for api in (apis[0], apis[0], apis[1]))
        assert first.status == again.status == elsewhere.status == 200
        assert first.body == again.body == elsewhere.body
        assert "Idempotency-Replayed" not in first.headers and elsewhere.headers["Idempotency-Replayed"] == "true"
        other = apis[1].post(*path, body=body | {"message": "twice"}, headers=once)
        assert (other.status, other.code) == (422, "idempotency_key_reused")
        # Another key of the API has idempotency keys of its own.
        stranger = ServerAPI(stack, create_key(stack, app=app.id)["key"])
        assert stranger.post(*path, body=body | {"message": "last"}, headers=once).status == 200
        await eventually(lambda: "last" in bob.texts(), "the last is there")
        assert bob.texts() == ["once", "last"]
    tags = stack.redis_keys("{k:*:idem")
    assert tags and all(int(stack.redis("PTTL", tag)) > 0 for tag in tags)


def test_a_repetition_while_the_first_is_in_progress(make_stack):
    """It is told when to try again, at whichever gateway, and then has the first one's answer."""
    stack: Stack = make_stack(gateways=2)
    key = create_key(stack)["key"]
    apis = [ServerAPI(stack, key, gateway) for gateway in (0, 1)]
    path = ("apps", stack.open_app.id, "channels", "room", "attributes", "topic")
    # From here on the gateways know the key and the app.
    assert [api.put(*path, body={"value": "before"}).status for api in apis] == [200, 200]
    once, body = {"Idempotency-Key": unique("slow")}, {"value": "once"}
    with ThreadPoolExecutor(1) as pool:
        stack.freeze("channel-state#1")
        try:
            first = pool.submit(ServerAPI(stack, key).put, *path, body=body, headers=once)
            eventually_blocking(
                lambda: [tag for tag in stack.redis_keys("{k:*:idem") if once["Idempotency-Key"] in tag], "the first one is in progress")
            refused = [api.put(*path, body=body, headers=once) for api in apis]
        finally:
            stack.thaw("channel-state#1")
        done = first.result(timeout=20)
    assert [(answer.status, answer.code, answer.headers["Retry-After"]) for answer in refused] == [(409, "request_in_progress", "1")] * 2
    assert (done.status, done.body["value"]) == (200, "once") and "Idempotency-Replayed" not in done.headers
    again = apis[1].put(*path, body=body, headers=once)
    assert (again.status, again.body, again.headers["Idempotency-Replayed"]) == (200, done.body, "true")


@pytest.mark.parametrize("channel", [
    "_agora_user_online", "__agora_user_online", "_agora_channel_event", "__agora_channel_event"])
def test_no_key_speaks_as_the_system(api: ServerAPI, app: App, channel: str):
    """What is said in a special channel is trusted, so servers may not send there in any way."""
    told = {"from": "eve", "message": '{"event":"offline","account":"bob","uid":7,"reason":0,"time":1}'}
    answers = [
        api.post("apps", app.id, "channels", channel, "messages", body=told),
        api.put("apps", app.id, "channels", channel, "attributes", "topic", body={"value": "x"}),
        api.delete("apps", app.id, "channels", channel, "attributes", "topic"),
        api.post("apps", app.id, "calls", body={"from": "eve", "to": "bob", "channel": channel}),
    ]
    assert [(answer.status, answer.code, answer.body["field"]) for answer in answers] == [(400, "invalid_argument", "channel")] * 4
    batch = api.post("apps", app.id, "messages", body={"items": [told | {"channel": channel}]})
    assert (batch.status, batch.body["field"]) == (400, "items[0].channel")


async def test_what_failed_of_a_batch_is_tried_again_and_nothing_else(stack: Stack, people):
    """With the same idempotency key: what was sent is not sent again, and the answer is kept once nothing is left to try."""
    app = stack.create_app(unique("paced"))
    stack.control("app", "limit", app.id, "--channel-messages-per-second=3")
    api = ServerAPI(stack, create_key(stack, app=app.id)["key"])
    room, once = unique("room"), {"Idempotency-Key": unique("batch")}
    async with people(stack) as cast:
        ann = cast.make("ann", app)
        await ann.login(stack.gateways[0])
        await ann.join(room)
        items = [{"channel": room, "from": "shop", "message": f"number {number}"} for number in range(5)]

        def send() -> Answer:
            return api.post("apps", app.id, "messages", body={"items": items}, headers=once)

        first = send()
        assert first.body["failed"] == 2
        await let_pass(1.1, "the channel's second is over")
        second = send()
        assert (second.status, second.body["failed"], second.headers.get("Idempotency-Replayed")) == (200, 0, None)
        assert second.body["results"][:3] == first.body["results"][:3]
        third = send()
        assert third.body == second.body and third.headers["Idempotency-Replayed"] == "true"
        await eventually(lambda: "number 4" in str(ann.frames), "all are there")
        assert [str(ann.frames).count(f"number {number}") for number in range(5)] == [1] * 5


def test_a_compare_and_set_whose_answer_was_lost_is_not_answered_with_a_conflict(stack: Stack, app: App):
    """The repetition is the same change, so it finds its own value and has succeeded."""
    key = create_key(stack, app=app.id)["key"]
    api = ServerAPI(stack, key)
    for owner in (("users", unique("bob")), ("channels", unique("room"))):
        once = {"Idempotency-Key": unique("lock")}
        path = ("apps", app.id, *owner, "attributes", "lock")
        lock = {"value": "mine now", "expected": None}
        assert api.put(*path, body=lock, headers=once).status == 200
        # The answer is lost with what Redis knows of the request.
        kept, = [tag for tag in stack.redis_keys("{k:*:idem") if once["Idempotency-Key"] in tag]
        assert stack.redis("DEL", kept) == "1"
        again = api.put(*path, body=lock, headers=once)
        assert (again.status, again.headers.get("Idempotency-Replayed")) == (200, None)
        assert api.put(*path, body=lock).status == 409, "another request does not have the lock"


def test_one_batch_at_a_time_may_take_more_than_the_key_has(stack: Stack, app: App):
    """Those that were admitted before it wait until it is paid."""
    api = ServerAPI(stack, create_key(stack, app=app.id, rate=1)["key"])
    body = json.dumps({"items": [{"user": unique("x"), "from": "shop", "message": "one of many"}] * 50}).encode()
    place = urlsplit(api.url)
    head = (f"POST /v1/apps/{app.id}/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode()
    with ExitStack() as opened:
        connections = []
        for _ in range(3):
            connection = opened.enter_context(socket.create_connection((place.hostname, place.port), timeout=20))
            connection.sendall(head)
            connections.append(connection)
            let_pass_blocking(1.1, "the key has another request")
        for connection in connections:
            connection.sendall(body)
        statuses = sorted(connection.recv(65_536).split(b" ", 2)[1] for connection in connections)
    assert statuses == [b"200", b"429", b"429"]
