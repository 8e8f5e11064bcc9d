"""Streams of events: what they tell, resuming, what may be missing, and their bounds."""

import asyncio

import pytest
from event_stream import SECONDS, Stream
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack)["key"])


async def test_everything_is_told_and_a_stream_resumes_where_it_ended(stack: Stack, people, api: ServerAPI):
    app = stack.create_app(unique("events"))
    stream = await Stream(api, app.id).started()
    assert stream.answer.getheader("Content-Type") == "text/event-stream"
    other = await Stream(ServerAPI(stack, api.key, 1), app.id, query="?kinds=join,offline").started()
    async with people(stack) as cast:
        ann = cast.exactly("änn", app)
        await ann.login(stack.gateways[0])
        first = await stream.next()
        assert first["event"] == "online"
        assert first["data"] | {"time": 0} == {
            "event": "online", "account": "änn", "uid": ann.uid, "reason": 0, "time": 0}
        await ann.join("room 日")
        joined = await stream.next()
        assert (joined["event"], joined["data"]["channel"]) == ("join", "room 日")
        stream.close()
        # Nobody listens here now.
        await ann.leave("room 日")
        await ann.logout()
        again = Stream(ServerAPI(stack, api.key, 1), app.id, last=joined["id"])
        missed = [await again.next(), await again.next()]
        assert [(event["event"], event["data"]["reason"]) for event in missed] == [("leave", 602), ("offline", 603)]
        # A position in the middle, by the parameter.
        middle = Stream(api, app.id, query=f"?after={first['id']}")
        assert [(await middle.next())["event"] for _ in range(3)] == ["join", "leave", "offline"]
        assert [(await other.next())["event"] for _ in range(2)] == ["join", "offline"]
        assert again.is_empty() and middle.is_empty() and other.is_empty()
        for open_stream in (again, middle, other):
            open_stream.close()


async def test_many_events_come_once_and_in_order(stack: Stack, people, api: ServerAPI):
    app = stack.create_app(unique("events"))
    stream = await Stream(api, app.id, query="?kinds=join,leave").started()
    async with people(stack) as cast:
        user = cast.exactly("ann", app)
        await user.login(stack.gateways[0])
        for _ in range(100):
            await user.join("room")
            await user.leave("room")
        told = [await stream.next() for _ in range(200)]
        assert [event["event"] for event in told] == ["join", "leave"] * 100
        assert len({event["id"] for event in told}) == 200
        assert stream.is_empty()
        stream.close()


async def test_what_the_log_has_no_more_is_told_as_a_gap(stack: Stack, people, api: ServerAPI):
    app = stack.create_app(unique("events"))
    stream = await Stream(api, app.id).started()
    start = stream.position
    async with people(stack) as cast:
        for name in ("ann", "bob"):
            await cast.exactly(name, app).login(stack.gateways[0])
            await stream.next()
        stream.close()
        key, = stack.redis_keys(f"{{*{app.id}*_agora_user_online*}}:log")
        stack.redis("XTRIM", key, "MAXLEN", "1")
        late = Stream(api, app.id, last=start)
        assert [(await late.next())["event"] for _ in range(2)] == ["gap", "online"]
        late.close()


async def test_a_time_without_announcements_is_told_as_a_gap(stack: Stack, people, api: ServerAPI):
    app = stack.create_app(unique("events"))
    stream = await Stream(api, app.id).started()
    stream.close()
    # As an hour after the last stream.
    for name in ("user_online", "channel_event"):
        key, = stack.redis_keys(f"{{*{app.id}*_agora_{name}*}}:follow")
        stack.redis("DEL", key)
    async with people(stack) as cast:
        await cast.exactly("ann", app).login(stack.gateways[0])
        late = Stream(api, app.id, last=stream.position)
        assert (await late.next())["event"] == "gap"
        await cast.exactly("bob", app).login(stack.gateways[0])
        told = await late.next()
        assert (told["event"], told["data"]["account"]) == ("online", "bob")
        late.close()
        again = await Stream(api, app.id, last=told["id"]).started()
        assert again.is_empty()
        again.close()


async def test_a_stream_ends_with_its_key(stack: Stack):
    made = create_key(stack, app=stack.open_app.id, scopes=("read",))
    stream = await Stream(ServerAPI(stack, made["key"]), stack.open_app.id).started()
    stack.control("key", "revoke", made["id"])
    await asyncio.to_thread(stream._thread.join, SECONDS)
    assert not stream._thread.is_alive()


async def test_streams_are_bounded(stack: Stack):
    reader = ServerAPI(stack, create_key(stack, app=stack.open_app.id, scopes=("read",))["key"])
    streams = [await Stream(reader, stack.open_app.id).started() for _ in range(20)]
    refused = Stream(reader, stack.open_app.id)
    assert (refused.status, refused.problem["code"]) == (503, "unavailable")
    assert "20 streams" in refused.problem["bound"]
    for stream in streams:
        stream.close()
    # At once, not only when the next line cannot be written, 15 s later.
    again = await eventually_open(reader, stack.open_app.id, 5)
    again.close()


async def test_an_app_cannot_take_the_places_of_all(stack: Stack):
    app = stack.create_app(unique("events"))
    readers = [ServerAPI(stack, create_key(stack, app=app.id, scopes=("read",))["key"]) for _ in range(3)]
    streams = [await Stream(reader, app.id).started() for reader in readers[:2] for _ in range(20)]
    refused = Stream(readers[2], app.id)
    assert (refused.status, refused.problem["code"]) == (503, "unavailable")
    assert "40 of an app" in refused.problem["bound"]
    other = await Stream(ServerAPI(stack, create_key(stack)["key"]), stack.open_app.id).started()
    for stream in (*streams, other):
        stream.close()


async def eventually_open(api: ServerAPI, app: str, seconds: float) -> Stream:
    opened: list[Stream] = []

    def attempt() -> bool:
        opened.append(Stream(api, app))
        return opened[-1].status == 200

    await eventually(attempt, "a stream can be opened again", seconds)
    return opened[-1]


@pytest.mark.parametrize(("query", "last", "field"), [
    ("?kinds=", None, "kinds"), ("?kinds=message", None, "kinds"), ("?after=x", None, "after"), ("", "1-2-3", "Last-Event-ID"),
    ("?after=" + "1" * 1025, None, "after"), ("?limit=1", None, "limit")])
def test_streams_out_of_range(stack: Stack, api: ServerAPI, query: str, last: str | None, field: str):
    refused = Stream(api, stack.open_app.id, query=query, last=last)
    assert (refused.status, refused.problem["field"]) == (400, field)
    assert refused.problem["bound"]


def test_who_may_follow(stack: Stack):
    sender = ServerAPI(stack, create_key(stack, app=stack.open_app.id, scopes=("send",))["key"])
    assert Stream(sender, stack.open_app.id).status == 403
    other = ServerAPI(stack, create_key(stack, app=stack.token_app.id)["key"])
    assert Stream(other, stack.open_app.id).status == 403
