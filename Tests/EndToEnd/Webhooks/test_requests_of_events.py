"""Events that a request of the server API has caused have the request's ids; those of clients have none."""

import os
from collections.abc import Iterator
from unittest import mock

import pytest
from acts import ring
from apps import App
from fixtures import running
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually, let_pass
from webhook_receiver import SECRET, Receiver

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
# Each test has an app of its own.
ROOM = "room 1"
KINDS = ("online", "offline", "join", "leave", "call", "message")
PATIENCE = 15


@pytest.fixture(scope="module")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """A cluster with one webhooks process."""
    with mock.patch.dict(os.environ, {"HELIOGRAPH_WEBHOOKS_SETTLE": "300ms"}), \
            running(request, gateways=1, sip_bridge=0, webhooks=1) as stack:
        yield stack


async def told_app(stack: Stack, receiver: Receiver) -> tuple[App, ServerAPI]:
    """A new app whose events go to the receiver, and its server API."""
    app = stack.create_app(unique("app"))
    stack.control("webhook", "set", app.id, receiver.url(), f"--secret={SECRET}", "--allow-loopback", "--kinds", *KINDS)
    await let_pass(1.2, "services look for new webhooks once a second")
    return app, ServerAPI(stack, create_key(stack, app=app.id)["key"])


def headers(request: str) -> dict[str, str]:
    return {"X-Request-Id": request, "traceparent": f"00-{TRACE}-{SPAN}-01"}


async def ids_of(receiver: Receiver, kind: str, **members: object) -> tuple[str | None, str | None]:
    """The ids of the only event of a kind with these members."""
    await eventually(lambda: receiver.of(kind, **members), f"{kind} {members} is told", PATIENCE)
    event, = {event["id"]: event for event in receiver.of(kind, **members)}.values()
    assert not receiver.problems
    assert ("requestId" in event) == ("traceId" in event)
    return event.get("requestId"), event.get("traceId")


@pytest.mark.every_redis
async def test_messages(stack: Stack, people, receiver: Receiver):
    app, api = await told_app(stack, receiver)
    async with people(stack) as cast:
        anna, bob = await cast.login("anna", "bob", app=app)
        await anna.join(ROOM)
        await anna.tell(bob.account, "of a client")
        await anna.say(ROOM, "of a client")
        to_user = ("apps", app.id, "users", bob.account, "messages")
        to_room = ("apps", app.id, "channels", ROOM, "messages")
        for path, request in ((to_user, "to-bob"), (to_room, "to/all")):
            answer = api.post(*path, body={"from": "shop", "message": "of a server"}, headers=headers(request))
            assert answer.status == 200, answer.body
        items = [{"user": bob.account, "from": "desk", "message": "first"}, {"channel": ROOM, "from": "desk", "message": "second"}]
        batch = api.post("apps", app.id, "messages", body={"items": items}, headers=headers("batch"))
        assert batch.body["failed"] == 0
        for sender, request in (("shop", "to-bob"), ("desk", "batch")):
            assert await ids_of(receiver, "message", account=sender, to=bob.account) == (request, TRACE)
        for sender, request in (("shop", "to/all"), ("desk", "batch")):
            assert await ids_of(receiver, "message", account=sender, channel=ROOM) == (request, TRACE)
        assert await ids_of(receiver, "message", account=anna.account, to=bob.account) == (None, None)
        assert await ids_of(receiver, "message", account=anna.account, channel=ROOM) == (None, None)
        # A request without a name is given one, and a new trace.
        made = api.post(*to_user, body={"from": "nameless", "message": "x"})
        trace = made.headers["traceparent"].split("-")[1]
        assert await ids_of(receiver, "message", account="nameless") == (made.headers["X-Request-Id"], trace)


@pytest.mark.every_redis
async def test_calls(stack: Stack, people, receiver: Receiver):
    """What the called client does with a server's call is no request's."""
    app, api = await told_app(stack, receiver)
    path = ("apps", app.id, "calls")
    async with people(stack) as cast:
        anna, bob = await cast.login("anna", "bob", app=app)
        body = {"from": anna.account, "to": bob.account, "channel": ROOM}
        call = api.post(*path, body=body, headers=headers("start")).body["call"]
        await eventually(lambda: bob.calls("invite"), "the invitation arrived")
        await bob.act("invite_ack", ROOM, anna.account)
        await bob.act("invite_accept", ROOM, anna.account)
        assert api.delete(*path, call, query=f"?account={anna.account}", headers=headers("end")).status == 200
        assert await ids_of(receiver, "call", call=call, state="ended") == ("end", TRACE)
        assert await ids_of(receiver, "call", call=call, state="invited") == ("start", TRACE)
        for state in ("ringing", "accepted"):
            assert await ids_of(receiver, "call", call=call, state=state) == (None, None)


@pytest.mark.every_redis
async def test_ends_of_sessions_and_memberships(stack: Stack, people, receiver: Receiver):
    """What follows from a disconnect at other services has its ids too: the leave, and the end of the call."""
    app, api = await told_app(stack, receiver)
    async with people(stack) as cast:
        anna, bob, carla, dora = await cast.login("anna", "bob", "carla", "dora", app=app)
        for user in (anna, bob, carla, dora):
            await user.join(ROOM)
        users = ("apps", app.id, "users")
        await ring(anna, dora, ROOM)
        assert api.post(*users, anna.account, "disconnect", headers=headers("out")).status == 200
        assert api.put(*users, bob.account, "ban", body={"seconds": 60}, headers=headers("ban")).status == 200
        path = ("apps", app.id, "channels", ROOM, "bans", carla.account)
        assert api.put(*path, body={"seconds": 60}, headers=headers("remove")).status == 200
        for account, request in ((anna.account, "out"), (bob.account, "ban")):
            assert await ids_of(receiver, "offline", account=account) == (request, TRACE)
            assert await ids_of(receiver, "leave", account=account) == (request, TRACE)
        assert await ids_of(receiver, "leave", account=carla.account) == ("remove", TRACE)
        await dora.logout()
        for kind in KINDS[:4]:
            assert await ids_of(receiver, kind, account=dora.account) == (None, None)
        assert await ids_of(receiver, "call", caller=anna.account, state="invited") == (None, None)
        assert await ids_of(receiver, "call", caller=anna.account, state="ended") == ("out", TRACE)
