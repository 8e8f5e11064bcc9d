"""Streams of events: what they tell, resuming, what may be missing, and their bounds."""

import json
import time

import pytest
from acts import ring
from described_api import is_as_described
from event_stream import Stream
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually, let_pass
from web import metric

# EventStreams.patience
PATIENCE = 30


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


async def test_channels_that_begin_and_end(stack: Stack, people, api: ServerAPI):
    app = stack.create_app(unique("events"))
    stream = await Stream(api, app.id, query="?kinds=channel_created,channel_destroyed").started()
    usual = await Stream(ServerAPI(stack, api.key, 1), app.id).started()
    async with people(stack) as cast:
        ann, bob = cast.exactly("ann", app), cast.exactly("bob", app)
        for user in (ann, bob):
            await user.login(stack.gateways[0])
            await user.join("room 日")
        await ann.call("channel_set_attr", channel="room 日", name="_channel_ttl", value="1")
        created = await stream.next()
        assert created["event"] == "channel_created"
        assert created["data"] | {"time": 0} == {"event": "channel_created", "channel": "room 日", "time": 0}
        stream.close()
        # Nobody listens here now.
        await ann.leave("room 日")
        await bob.leave("room 日")
        again = Stream(ServerAPI(stack, api.key, 1), app.id, query="?kinds=channel_created,channel_destroyed", last=created["id"])
        destroyed = await again.next()
        assert destroyed["data"] | {"time": 0} == {"event": "channel_destroyed", "channel": "room 日", "time": 0}
        await bob.join("room 日")
        assert (await again.next())["event"] == "channel_created"
        assert again.is_empty()
        # Who names no kinds gets those that there always were.
        told = [await usual.next() for _ in range(7)]
        assert {event["event"] for event in told} == {"online", "join", "leave"}
        for open_stream in (again, usual):
            open_stream.close()


@pytest.mark.every_redis
async def test_the_states_of_a_call(stack: Stack, people, api: ServerAPI):
    app = stack.create_app(unique("events"))
    stream = await Stream(api, app.id, query="?kinds=call").started()
    async with people(stack) as cast:
        ann, bob = cast.exactly("ann", app), cast.exactly("bob", app)
        await ann.login(stack.gateways[0])
        await bob.login(stack.gateways[1])
        await ring(ann, bob, "room")
        told = [await stream.next() for _ in range(2)]
        stream.close()
        await bob.act("invite_accept", "room", ann.account)
        await eventually(lambda: ann.calls("invite_accept"), "the acceptance arrived")
        await ann.act("invite_bye", "room", bob.account)
        await eventually(lambda: bob.calls("invite_bye"), "the end arrived")
        again = Stream(ServerAPI(stack, api.key, 1), app.id, query="?kinds=call", last=told[-1]["id"])
        told += [await again.next() for _ in range(2)]
        assert [event["data"]["state"] for event in told] == ["invited", "ringing", "accepted", "ended"]
        assert len({event["data"]["call"] for event in told}) == 1
        assert [event["data"].get("reason") for event in told] == [None, None, None, 0]
        assert told[0]["data"] | {"time": 0, "call": ""} == {
            "event": "call", "call": "", "state": "invited", "channel": "room", "caller": "ann", "callee": "bob",
            "direction": "internal", "time": 0}
        # Nobody is there to be invited.
        await bob.logout()
        await ann.attempt("voip_invite", channelName="room", peer="nobody", extra='{"_require_peer_online":1}')
        failed = await again.next()
        assert failed["data"]["state"] == "ended" and failed["data"]["reason"] != 0
        assert again.is_empty()
        again.close()


@pytest.mark.every_redis
async def test_messages(stack: Stack, people, api: ServerAPI):
    app = stack.create_app(unique("events"))
    refused = api.get("apps", app.id, "events", query="?kinds=message")
    assert refused.status == 400 and refused.body["field"] == "kinds" and "--message-events" in refused.body["bound"]
    stack.control("app", "limit", app.id, "--message-events=with-text")
    await let_pass(6, "gateways ask for settings every 5 s")
    stream = await Stream(api, app.id, query="?kinds=message").started()
    quiet = await Stream(ServerAPI(stack, api.key, 1), app.id).started()
    async with people(stack) as cast:
        ann, bob = cast.exactly("ann", app), cast.exactly("bob", app)
        await ann.login(stack.gateways[0])
        await bob.login(stack.gateways[1])
        await ann.join("room")
        await ann.tell("bob", "to bob ♥")
        await ann.say("room", "to the channel")
        told = [await stream.next() for _ in range(2)]
        stream.close()
        await bob.tell("absent", "to an absent user")
        by_server = api.post("apps", app.id, "users", "bob", "messages", body={"from": "shop", "message": "of a server"})
        again = Stream(ServerAPI(stack, api.key, 1), app.id, query="?kinds=message", last=told[-1]["id"])
        told += [await again.next() for _ in range(2)]
        assert {event["event"] for event in told} == {"message"}
        data = sorted((event["data"] for event in told), key=lambda one: one["text"])
        assert [{name: one.get(name) for name in ("account", "to", "online", "channel", "size", "text")} for one in data] == [
            {"account": "shop", "to": "bob", "online": True, "channel": None, "size": 11, "text": "of a server"},
            {"account": "bob", "to": "absent", "online": False, "channel": None, "size": 17, "text": "to an absent user"},
            {"account": "ann", "to": "bob", "online": True, "channel": None, "size": 10, "text": "to bob ♥"},
            {"account": "ann", "to": None, "online": None, "channel": "room", "size": 14, "text": "to the channel"}]
        assert data[0]["message"] == by_server.body["version"] and all(one["time"] > 0 for one in data)
        # Without texts, and then not at all.
        for detail, text in (("without-text", None), ("none", "")):
            stack.control("app", "limit", app.id, f"--message-events={detail}")
            await let_pass(6, "the age of settings from which a login has gateways ask for them again")
            await cast.exactly(f"asks-{detail}", app).login(stack.gateways[0])
            await let_pass(1, "the answer")
            await ann.tell("bob", f"as {detail}")
            if text is None:
                assert "text" not in (await again.next())["data"]
        assert api.get("apps", app.id, "events", query="?kinds=message").status == 400
        assert again.is_empty()
        assert {(await quiet.next())["event"] for _ in range(5)} == {"online", "join"}
        assert quiet.is_empty()
        for open_stream in (again, quiet):
            open_stream.close()


async def test_old_positions_and_new_kinds(stack: Stack, people, api: ServerAPI):
    app = stack.create_app(unique("events"))
    old = await Stream(api, app.id).started()
    old.close()
    assert old.position.count("-") == 3
    async with people(stack) as cast:
        ann = cast.exactly("ann", app)
        await ann.login(stack.gateways[0])
        # It says nothing of calls: those from now on are told, after a gap.
        stream = Stream(api, app.id, query="?kinds=online,channel_created,call", last=old.position)
        assert [(await stream.next())["event"] for _ in range(2)] == ["gap", "online"]
        await ann.join("room")
        created = await stream.next()
        assert created["event"] == "channel_created"
        stream.close()
        # The position is good for fewer kinds too.
        fewer = Stream(api, app.id, query="?kinds=join,leave", last=created["id"])
        await ann.leave("room")
        told = [await fewer.next(), await fewer.next()]
        assert [event["event"] for event in told] == ["join", "leave"]
        assert told[-1]["id"].count("-") == 3
        fewer.close()


async def test_what_a_log_of_its_own_has_no_more_is_told_as_a_gap(stack: Stack, people, api: ServerAPI):
    app = stack.create_app(unique("events"))
    kinds = "?kinds=channel_created"
    stream = await Stream(api, app.id, query=kinds).started()
    start = stream.position
    async with people(stack) as cast:
        ann = cast.exactly("ann", app)
        await ann.login(stack.gateways[0])
        for name in ("one", "two"):
            await ann.join(name)
            await stream.next()
        stream.close()
        key, = stack.redis_keys(f"{{*{app.id}*_agora_channel_event*}}e:channels:log")
        stack.redis("XTRIM", key, "MAXLEN", "1")
        late = Stream(api, app.id, query=kinds, last=start)
        told = [await late.next(), await late.next()]
        assert [event["event"] for event in told] == ["gap", "channel_created"]
        assert told[1]["data"]["channel"] == "two"
        late.close()
        # An hour after the last stream nothing is written any more.
        follow, = stack.redis_keys(f"{{*{app.id}*_agora_channel_event*}}e:channels:follow")
        stack.redis("DEL", follow)
        await ann.join("three")
        again = Stream(api, app.id, query=kinds, last=told[1]["id"])
        assert (await again.next())["event"] == "gap"
        await ann.join("four")
        assert (await again.next())["data"]["channel"] == "four"
        again.close()


async def test_users_cannot_read_the_logs(stack: Stack, people, api: ServerAPI):
    app = stack.create_app(unique("events"))
    stream = await Stream(api, app.id, query="?kinds=channel_created").started()
    async with people(stack) as cast:
        ann, eve = cast.exactly("ann", app), cast.exactly("eve", app)
        await ann.login(stack.gateways[0])
        await eve.login(stack.gateways[0])
        # A channel that is named as the log's key is another channel, and in the special ones no new kinds are told.
        for name in ("_agora_channel_event}e:channels", "_agora_channel_event"):
            await eve.join(name)
            await ann.join(unique("room"))
            while (await stream.next())["data"]["channel"] == name:
                pass
        await eventually(lambda: eve.of_type("channel_msg"), "the special channel tells of the join")
        heard = [json.loads(event.content["msg"])["event"] for event in eve.of_type("channel_msg")]
        assert set(heard) <= {"join", "leave"}
        for name in ("_agora_channel_event}e:channels", "_agora_channel_event"):
            history = api.get("apps", app.id, "channels", name, "events")
            assert "channel_created" not in json.dumps(history.body)
        stream.close()


async def test_an_app_that_nobody_follows_has_no_logs(stack: Stack, people, api: ServerAPI):
    app = stack.create_app(unique("events"))
    stream = await Stream(api, app.id).started()
    async with people(stack) as cast:
        ann = cast.exactly("ann", app)
        await ann.login(stack.gateways[0])
        await ann.join("room")
        assert [(await stream.next())["event"] for _ in range(2)] == ["online", "join"]
        stream.close()
        assert stack.redis_keys(f"{{*{app.id}*}}e:*") == []


async def test_a_stream_ends_with_its_key(stack: Stack):
    made = create_key(stack, app=stack.open_app.id, scopes=("read",))
    stream = await Stream(ServerAPI(stack, made["key"]), stack.open_app.id).started()
    stack.control("key", "revoke", made["id"])
    await stream.ended()


async def test_streams_are_bounded(stack: Stack):
    reader = ServerAPI(stack, create_key(stack, app=stack.open_app.id, scopes=("read",))["key"])
    streams = [await Stream(reader, stack.open_app.id).started() for _ in range(20)]
    refused = Stream(reader, stack.open_app.id)
    assert is_as_described("followEvents", refused.answered()).status == 503
    assert refused.problem["code"] == "unavailable" and "20 streams" in refused.problem["bound"]
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


def open_streams(stack: Stack, gateway: int) -> float:
    return metric(stack.endpoints["gateways"][gateway]["http"], "heliograph_gateway_api_streams")


async def test_all_apps_streams_are_bounded(stack: Stack):
    """Of a gateway process: others have room."""
    apps = [stack.create_app(unique("events")).id for _ in range(6)]
    # An app has two of them, so that neither its bound nor a key's is exceeded.
    keys = [create_key(stack, scopes=("read",))["key"] for _ in range(11)]
    await eventually(lambda: open_streams(stack, 1) == 0, "those of other tests have ended")
    readers = [ServerAPI(stack, key, 1) for key in keys]
    streams = [Stream(reader, app) for app, pair in zip(apps, zip(readers[:10:2], readers[1:10:2])) for reader in pair for _ in range(20)]
    assert [stream.status for stream in streams] == [200] * 200
    assert open_streams(stack, 1) == 200
    refused = is_as_described("followEvents", Stream(readers[10], apps[5]).answered())
    assert (refused.status, refused.code) == (503, "unavailable") and "200 of a process" in refused.body["bound"]
    elsewhere = Stream(ServerAPI(stack, keys[10]), apps[5])
    assert elsewhere.status == 200
    streams.pop().close()
    streams += [elsewhere, await eventually_open(readers[10], apps[5], 5)]
    for stream in streams:
        stream.close()


async def test_a_reader_that_takes_nothing_is_cut_off_and_may_resume(stack: Stack):
    """More than all buffers hold is told: it gets what they have, and then, where it resumes, all that it missed."""
    app = stack.create_app(unique("events")).id
    # Before a gateway asks for the app's settings, so that none has older ones.
    stack.control("app", "limit", app, "--message-events=with-text")
    api = ServerAPI(stack, create_key(stack, app=app)["key"], 1)
    await eventually(lambda: open_streams(stack, 1) == 0, "those of other tests have ended")
    slow = Stream(api, app, query="?kinds=message", window=65_536)
    other = Stream(api, app, query="?kinds=message")
    assert (slow.status, other.status, open_streams(stack, 1)) == (200, 200, 2)
    users = {f"user{number}" for number in range(1000)}
    began = time.monotonic()
    sent = api.post("apps", app, "broadcasts", body={"from": "shop", "message": "x" * 8000, "users": sorted(users), "ttl": 600})
    assert (sent.status, sent.body["failed"]) == (200, 0)
    # Nobody else is held up.
    assert {(await other.next())["data"]["to"] for _ in users} == users
    await eventually(lambda: open_streams(stack, 1) == 1, "the slow one is cut off", 2 * PATIENCE)
    assert time.monotonic() - began >= PATIENCE
    slow.read()
    await slow.ended()
    resumed = Stream(api, app, query="?kinds=message", last=slow.position)
    told = []
    while not slow.is_empty():
        told.append(await slow.next())
    assert 0 < len(told) < len(users)
    told += [await resumed.next() for _ in range(len(users) - len(told))]
    assert {event["data"]["to"] for event in told} == users
    for stream in (slow, other, resumed):
        stream.close()


async def eventually_open(api: ServerAPI, app: str, seconds: float) -> Stream:
    opened: list[Stream] = []

    def attempt() -> bool:
        opened.append(Stream(api, app))
        return opened[-1].status == 200

    await eventually(attempt, "a stream can be opened again", seconds)
    return opened[-1]


@pytest.mark.parametrize(("query", "last", "field"), [
    ("?kinds=", None, "kinds"), ("?kinds=call,x", None, "kinds"), ("?after=1-1-2-2-3-3", None, "after"), ("?after=x", None, "after"), ("", "1-2-3", "Last-Event-ID"),
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
