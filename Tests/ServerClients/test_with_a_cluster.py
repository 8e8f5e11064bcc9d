"""Both clients with a cluster: messages, pages, errors, and events."""

import asyncio

import pytest
from client_kinds import KINDS, Refused
from secrecy import SPOKEN
from server_api import create_key
from stack_control import Stack, unique


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_at_work(stack: Stack, people, kind: str):
    app = stack.create_app(unique("server"))
    made = create_key(stack, app=app.id)
    # In turn: the pages of a list may come from different gateways.
    client, follower = (KINDS[kind](made["key"], *stack.endpoints["api"]) for _ in range(2))

    async def ask(act, *values, **options):
        return await asyncio.to_thread(act, *values, **options)

    assert (await ask(client.call, "getKey"))["id"] == made["id"]
    async with people(stack) as cast:
        ann = cast.exactly("ann", app)
        begin = await ask(client.call, "listChannelEvents", app.id, "room 1")
        assert begin["events"] == []
        told = asyncio.create_task(ask(follower.follow, app.id, 2, kinds=["join", "leave"]))
        await ann.login(stack.gateways[0])
        # Again and again, because nothing tells when the stream has begun.
        while not told.done():
            await ann.join("room 1")
            await ann.leave("room 1")
            await asyncio.wait([told], timeout=0.5)
        first, second = await told
        assert {first["event"], second["event"]} == {"join", "leave"} and first["data"]["channel"] == "room 1"
        # From a position: what came after it, also when the stream was not open.
        again = await ask(client.follow, app.id, 1, kinds=["join", "leave"], after=first["id"])
        assert again == [second]
        await ann.join("room 1")
        sent = await ask(client.call, "sendMessage", app.id, "ann", **{"from": "shop"}, message="Your order is ready.", idempotencyKey=unique("key"))
        assert sent["version"] > 0
        for number in range(5):
            await ask(client.call, "sendChannelMessage", app.id, "room 1", **{"from": "shop"}, message=f"message number {number}")
        read = await ask(client.each, "listChannelMessages", app.id, "room 1", limit=2)
        assert [one["message"] for one in read] == [f"message number {number}" for number in range(5)]
        items = [{"user": "ann", "from": "shop", "message": "We close at six."}]
        assert (await ask(client.call, "sendMessages", app.id, items=items))["failed"] == 0
    assert await ask(client.call, "setUserAttribute", app.id, "ann", "color", value="blue", expected=None) == {"name": "color", "value": "blue"}
    for call, code in (
            (("setUserAttribute", app.id, "ann", "color"), "value_differs"), (("getUserAttribute", app.id, "ann", "size"), "not_found"),
            (("getUser", stack.open_app.id, "ann"), "forbidden")):
        with pytest.raises(Refused) as refused:
            await ask(client.call, *call, **({"value": "red", "expected": "green"} if code == "value_differs" else {}))
        assert refused.value.error["code"] == code
    client.close()
    follower.close()


@pytest.mark.parametrize("kind", KINDS)
def test_keys(stack: Stack, kind: str):
    client = KINDS[kind](create_key(stack)["key"], *stack.endpoints["api"])
    made = client.call("createKey", app=stack.open_app.id, scopes=["read"], requestsPerSecond=5, ttl=600, note="of a client")
    SPOKEN.token(made["key"].rsplit("_", 1)[-1])
    own = KINDS[kind](made["key"], *stack.endpoints["api"])
    assert own.call("getKey")["id"] == made["id"]
    own.close()
    assert {name: value for name, value in made.items() if name != "key"} in client.call("listKeys", app=stack.open_app.id, limit=1000)["keys"]
    assert client.call("revokeKey", made["id"]) == {"id": made["id"]}
    with pytest.raises(Refused) as refused:
        client.call("createKey")
    assert refused.value.error["field"] == "app"
    client.close()


@pytest.mark.parametrize("kind", KINDS)
def test_webhooks(stack: Stack, kind: str):
    app = stack.create_app(unique("hooks")).id
    client = KINDS[kind](create_key(stack, app=app, scopes=("read",))["key"], *stack.endpoints["api"])
    assert client.call("listAppWebhooks", app) == {"webhooks": [], "next": None}
    stack.control("webhook", "set", app, "https://archive.example.com/", "--name=archive", "--kinds", "message")
    stack.control("webhook", "set", app, "https://push.example.com/")
    found = client.call("listAppWebhooks", app)["webhooks"]
    assert [(one["name"], one["url"]) for one in found] == [("archive", "https://archive.example.com/"), ("default", "https://push.example.com/")]
    assert client.call("getWebhook", app) == found[1]
    assert client.each("listAppWebhooks", app) == found
    client.close()


@pytest.mark.parametrize("kind", KINDS)
def test_settings(stack: Stack, kind: str):
    client = KINDS[kind](create_key(stack)["key"], *stack.endpoints["api"])
    app = unique("settings")
    apps = {app: {"limits": {"messagesPerSecond": 100}, "certificate": {"value": "certificate-of-a-client"}}}
    planned = client.call("applySettings", version=1, apps=apps, dryRun=True)
    assert planned["dryRun"] is True and planned["changes"]
    with pytest.raises(Refused) as missing:
        client.call("exportSettings", app=app)
    assert missing.value.error["code"] == "not_found"
    assert client.call("applySettings", apps=apps) == {"changes": planned["changes"], "dryRun": False}
    exported = client.call("exportSettings", app=app)
    assert exported["apps"][app]["limits"]["messagesPerSecond"] == 100
    assert client.call("applySettings", **exported)["changes"] == []
    with pytest.raises(Refused) as refused:
        client.call("applySettings", apps={app: {"limits": {"messagesPerSecond": 0}}})
    assert (refused.value.error["field"], refused.value.error["bound"]) == (f"apps.{app}.limits.messagesPerSecond", "must be 1...1000000")
    client.close()
