"""Channel events as old clients need them: their ids, their order relative to answers, and who gets which."""

import asyncio
import json
import re

from acts import barrier
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually, let_pass


def place_of(client: Client, number: int) -> int:
    """The position of a call's answer among the received frames."""
    return next(place for place, frame in enumerate(client.frames) if frame[0] == "call2-ret" and frame[1][0] == number)


def events(frames: list[list]) -> list[tuple[int, str, dict]]:
    """Id, type and content of the channel events."""
    found = []
    for frame in frames:
        if frame[0] == "notify" and frame[1][0] == "channel2":
            fields = frame[1][3].split(" ", 6)
            found.append((frame[1][2], fields[4], json.loads(fields[6])))
    return found


async def act(client: Client, function: str, **args) -> int:
    """Calls under a number of its own; returns the place of the answer among the frames."""
    number = 1_000_000 + len(client.frames)
    answer = client.expect_answer(number)
    await client.send("call2", [function, number, {"line": client.line, **args}])
    error, data = await asyncio.wait_for(answer, 10)
    assert error == "", data
    return place_of(client, number)


async def chatter(client: Client, channel: str, stop: asyncio.Event) -> None:
    """Talks in a channel, below the limit, until told to stop."""
    while not stop.is_set():
        await client.say(channel, "chatter")
        await let_pass(0.025, "below the limit of messages")


async def test_lines(stack: Stack, people):
    channel = unique("room with spaces, quotes \" and \\")
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        await alice.say(channel, "a  b ")
        await alice.call("channel_set_attr", channel=channel, name="two words", value=" v ")
        await alice.call("channel_del_attr", channel=channel, name="two words")
        await alice.call("channel_clear_attr", channel=channel)
        await bob.leave(channel)
        await eventually(lambda: len(alice.events) == 6, "all events")
        for frame in alice.frames:
            if frame[0] == "notify":
                kind, _, number, line = frame[1]
                assert kind == "channel2" and type(number) is int
                # The channel's name has spaces, so no field of the line may hold it.
                assert re.fullmatch(r"msg-v2 \S+ \S+ \S+ channel_\w+ \S+ \{.*\}", line, re.DOTALL), line
        common = {"channel": channel, "account": alice.account, "uid": alice.uid}
        others = common | {"account": bob.account, "uid": bob.uid}
        assert [(kind, content) for _, kind, content in events(alice.frames)] == [
            ("channel_user_join", others),
            ("channel_msg", common | {"msg": "a  b "}),
            ("channel_attr_update", common | {"name": "two words", "value": " v ", "type": "update"}),
            ("channel_attr_update", common | {"name": "two words", "value": "", "type": "del"}),
            ("channel_attr_update", common | {"name": "", "value": "", "type": "clear"}),
            ("channel_user_leave", others)]


async def test_ids_grow_over_changes_of_channel(stack: Stack, people):
    rooms = [unique("room") for _ in range(4)]
    async with people(stack) as cast:
        talkers = await cast.login(*[f"t{n}" for n in range(4)])
        for talker, room in zip(talkers, rooms, strict=True):
            await talker.join(room)
        mover, = await cast.login("mover")
        stop = asyncio.Event()
        talking = [asyncio.create_task(chatter(talker, room, stop)) for talker, room in zip(talkers, rooms, strict=True)]
        for turn in range(24):
            room = rooms[(turn * 3 + turn // 4) % 4]
            before = len(mover.events)
            await mover.join(room)
            await eventually(lambda b=before: len(mover.events) >= b + 3, "events of the new channel")
        stop.set()
        await asyncio.gather(*talking)
        numbers = [number for number, _, _ in events(mover.frames)]
        assert all(type(number) is int for number in numbers) and len(numbers) >= 72
        assert all(first < second for first, second in zip(numbers, numbers[1:], strict=False))


async def test_ids_grow_over_a_resume(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        for turn in range(4):
            await alice.say(channel, "there")
            await eventually(lambda t=turn: len(bob.of_type("channel_msg")) >= t + 1, "the message")
            # Old clients do not say which events they saw: missed events are not sent to them.
            await bob.resume(stack.gateways[turn % 2])
        numbers = [number for number, _, _ in events(bob.frames)]
        assert numbers == sorted(set(numbers)) and len(numbers) == 4


async def test_nothing_of_the_old_channel_after_the_answer_to_a_join(stack: Stack, people):
    rooms = [unique("room") for _ in range(2)]
    async with people(stack) as cast:
        talkers, mover = await cast.login("t0", "t1"), (await cast.login("mover"))[0]
        for talker, room in zip(talkers, rooms, strict=True):
            await talker.join(room)
        stop = asyncio.Event()
        talking = [asyncio.create_task(chatter(talker, room, stop)) for talker, room in zip(talkers, rooms, strict=True)]
        places = []
        for turn in range(30):
            places.append((await act(mover, "channel_join", name=rooms[turn % 2]), rooms[turn % 2]))
            before = len(mover.events)
            await eventually(lambda b=before: len(mover.events) > b, "an event of the new channel")
        left = await act(mover, "channel_leave", name=rooms[1])
        stop.set()
        await asyncio.gather(*talking)
        await mover.ping(1)
        # The answer separates the events of the two channels: none before it is of the new channel, none after it of the old one.
        assert not events(mover.frames[:places[0][0]])
        for (start, room), (end, _) in zip(places, [*places[1:], (left, "")], strict=True):
            assert {content["channel"] for _, _, content in events(mover.frames[start:end])} == {room}
        assert not events(mover.frames[left:]), "an event after the answer to the leave"


async def test_joins_without_waiting_for_the_answers(stack: Stack, people):
    rooms = [unique("room") for _ in range(3)]
    async with people(stack) as cast:
        # On the same gateway as the user who moves, so that the gateway knows the channels already.
        talkers, (mover,) = await cast.login("t0", "t1", "t2", gateway=0), await cast.login("mover", gateway=0)
        for talker, room in zip(talkers, rooms, strict=True):
            await talker.join(room)
        stop = asyncio.Event()
        talking = [asyncio.create_task(chatter(talker, room, stop)) for talker, room in zip(talkers, rooms, strict=True)]
        for _ in range(20):
            start = len(mover.frames)
            calls = [("channel_join", {"name": room}) for room in rooms * 2]
            calls.insert(2, ("channel_set_attr", {"channel": rooms[1], "name": "n", "value": "v"}))
            await asyncio.gather(*[mover.attempt(function, **args) for function, args in calls])
            room = None if start == 0 else rooms[2]
            for frame in mover.frames[start:]:
                if frame[0] == "call2-ret" and "list" in json.loads(frame[1][2]):
                    # A join was answered: `rooms` are joined in their order, again and again.
                    room = rooms[0 if room is None else (rooms.index(room) + 1) % 3]
                for _, _, content in events([frame]):
                    assert content["channel"] == room, "an event of a channel before or after the time in it"
        stop.set()
        await asyncio.gather(*talking)


async def test_answers_to_attribute_calls_stand_before_their_events(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        # Alice has seen Bob come: no event but those of the attributes follows.
        await barrier(bob, channel, alice, bob)
        for client in (alice, bob) * 15:
            for function, args in (("channel_set_attr", {"name": "n", "value": "v"}), ("channel_del_attr", {"name": "n"}),
                                   ("channel_clear_attr", {})):
                before = len(client.frames)
                answer = await act(client, function, channel=channel, **args)
                assert not events(client.frames[before:answer]), f"{function}: the event before the answer"
                # Both receive it before the next change.
                await eventually(lambda c=client, b=before: events(c.frames[b:]), "the own event")
                await barrier(client, channel, alice, bob)
        assert len(alice.of_type("channel_attr_update")) == len(bob.of_type("channel_attr_update")) == 90


async def test_who_gets_which_event(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob, outsider = await cast.login("alice", "bob", "outsider")
        await alice.join(channel)
        joined = await bob.join(channel)
        assert joined["list"] == [[bob.account, bob.uid], [alice.account, alice.uid]] and joined["attrs"] == {}
        await bob.say(channel, "hello")
        await outsider.call("channel_set_attr", channel=channel, name="topic", value="tea")
        await alice.leave(channel)
        await barrier(bob, channel, bob)
        await outsider.ping(1)

        def seen(client: Client) -> list:
            return [(kind, content["account"]) for _, kind, content in events(client.frames)]

        together = [("channel_msg", bob.account), ("channel_attr_update", outsider.account)]
        # Nobody gets the event of their own join or leave; the sender of a message does get the message.
        assert seen(alice) == [("channel_user_join", bob.account), *together]
        assert seen(bob) == [*together, ("channel_user_leave", alice.account), ("channel_msg", bob.account)]
        assert seen(outsider) == []


async def test_one_who_is_away_stays_a_member(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        bob.abort()
        await eventually(bob.closed.is_set, "the connection is cut")
        assert (await alice.call("channel_query_user_isin", name=channel, account=bob.account))["isin"] == 1
        assert (await alice.call("user_query_user_status", account=bob.account))["status"] == 1
        await bob.resume(stack.gateways[0])
        await barrier(alice, channel, alice, bob)
        assert not alice.of_type("channel_user_leave") and len(alice.of_type("channel_user_join")) == 1


async def test_special_channels(stack: Stack, people):
    """Both spellings of each special channel. Events of the app come as messages from the user concerned; joins of the special channels do not."""
    app = stack.create_app(unique("special"))
    room = unique("room")
    async with people(stack) as cast:
        servers = await cast.login("s0", "s1", "s2", "s3", app=app)
        names = ["_agora_user_online", "__agora_user_online", "_agora_channel_event", "__agora_channel_event"]
        for server, name in zip(servers, names, strict=True):
            await server.join(name)
        alice, = await cast.login("alice", app=app)
        await alice.join(room)
        await alice.leave(room)
        await alice.join(room)
        await alice.logout()

        def told(server: Client) -> list[tuple]:
            found = []
            for _, kind, content in events(server.frames):
                body = json.loads(content.get("msg", "{}"))
                if content["account"] == alice.account:
                    assert kind == "channel_msg" and content["uid"] == alice.uid == body["uid"]
                    assert body["account"] == alice.account and type(body["time"]) is int and type(body["reason"]) is int
                    found.append((body["event"], body.get("channel"), body["reason"]))
            return found

        for server in servers[:2]:
            await eventually(lambda s=server: len(told(s)) >= 2, "online and offline")
            assert told(server) == [("online", None, 0), ("offline", None, 603)]
        for server in servers[2:]:
            await eventually(lambda s=server: len(told(s)) >= 4, "joins and leaves")
            assert told(server) == [("join", room, 0), ("leave", room, 602), ("join", room, 0), ("leave", room, 603)]
        for server in servers:
            assert not server.of_type("channel_user_join"), "the servers are not announced"


async def test_reasons_of_leaving(stack: Stack, people):
    """What the leave events of the special channel say: kicked, gone to another channel, connection lost."""
    app = stack.create_app(unique("reasons"))
    room = unique("room")
    async with people(stack) as cast:
        server, alice, bob, carol = await cast.login("server", "alice", "bob", "carol", app=app)
        await server.join("_agora_channel_event")
        for client in (alice, bob, carol):
            await client.join(room)
        await alice.join(unique("other"))
        await cast.exactly(bob.account, app).login(stack.gateways[0])
        await carol.call("user_set_attr", name="_conn_timeout", value="20")
        carol.abort()

        def reasons() -> dict[str, int]:
            bodies = [json.loads(event.content["msg"]) for event in server.of_type("channel_msg")]
            return {body["account"]: body["reason"] for body in bodies if (body["event"], body["channel"]) == ("leave", room)}

        await eventually(lambda: len(reasons()) == 3, "three leaves", 40)
        assert reasons() == {alice.account: 602, bob.account: 601, carol.account: 604}
