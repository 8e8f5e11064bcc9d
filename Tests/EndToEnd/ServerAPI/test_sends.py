"""Messages of apps' servers: to users and channels, alone and in batches, and repeated."""

import pytest
from apps import App
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually


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
