"""Messages as events for webhooks, and for a stream: who gets them told, and that none is missing whose sender was told of its success."""

import asyncio
import json
import os
from collections.abc import Iterator
from unittest import mock

import pytest
from websockets.exceptions import ConnectionClosed

from apps import App
from event_stream import Stream
from fixtures import running
from server_api import ServerAPI, create_key
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually, let_pass
from webhook_receiver import SECRET, Receiver

QUICK = {
    "HELIOGRAPH_WEBHOOKS_TIMEOUT": "1s", "HELIOGRAPH_WEBHOOKS_RETRY_FIRST": "100ms", "HELIOGRAPH_WEBHOOKS_RETRY_LONGEST": "300ms",
}
PATIENCE = 15
# What a killed process has read is taken over after 10 s at the earliest.
TAKEOVER_SECONDS = 40


@pytest.fixture(scope="module")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """A cluster with two gateways and one webhooks process."""
    with mock.patch.dict(os.environ, QUICK), running(request, gateways=2, sip_bridge=0, webhooks=1) as stack:
        yield stack


async def app_for(stack: Stack, receiver: Receiver, *options: str) -> App:
    """A new app, whose events of these options go to the receiver."""
    app = stack.create_app(unique("app"))
    stack.control("webhook", "set", app.id, receiver.url(), f"--secret={SECRET}", "--allow-loopback", *options)
    await let_pass(1.2, "services look for new webhooks once a second")
    return app


def told(receiver: Receiver) -> list[dict]:
    """The events about messages, each once."""
    return list({event["id"]: event for event in receiver.of("message")}.values())


async def all_told(receiver: Receiver, count: int, seconds: float = PATIENCE) -> list[dict]:
    await eventually(lambda: len(told(receiver)) >= count, f"{count} messages are told", seconds)
    receiver.check()
    return told(receiver)


@pytest.mark.every_redis
async def test_messages_of_clients(stack: Stack, people, receiver: Receiver):
    app = await app_for(stack, receiver, "--kinds", "message", "--message-text")
    room, absent = unique("room"), unique("absent")
    async with people(stack) as cast:
        anna, bob = await cast.login("anna", "bob", app=app)
        await anna.join(room)
        await anna.tell(bob.account, "to bob ♥ and more")
        await anna.say(room, "to the channel")
        await anna.tell(absent, "to an absent user")
        events = await all_told(receiver, 3)
        # Only the kind that was named.
        assert len(receiver.events) == 3
        for event in events:
            assert event["kind"] == "message" and event["account"] == anna.account and event["message"] > 0
        assert [{name: event.get(name) for name in ("to", "online", "channel", "size", "text")} for event in events] == [
            {"to": bob.account, "online": True, "channel": None, "size": 19, "text": "to bob ♥ and more"},
            {"to": None, "online": None, "channel": room, "size": 14, "text": "to the channel"},
            {"to": absent, "online": False, "channel": None, "size": 17, "text": "to an absent user"}]
        assert [message.content for message in bob.messages] == ["to bob ♥ and more"]
        assert events[0]["message"] == bob.version


@pytest.mark.every_redis
async def test_messages_of_servers_and_operators(stack: Stack, people, receiver: Receiver):
    app = await app_for(stack, receiver, "--kinds", "message", "--message-text")
    api = ServerAPI(stack, create_key(stack, app=app.id)["key"])
    room, bob = unique("room"), unique("bob")
    async with people(stack) as cast:
        anna, = await cast.login("anna", app=app)
        await anna.join(room)
        to_user = api.post("apps", app.id, "users", bob, "messages", body={"from": "shop", "message": "alone to bob"})
        to_channel = api.post("apps", app.id, "channels", room, "messages", body={"from": "shop", "message": "alone to all"})
        items = [item for number in range(50) for item in (
            {"user": bob, "from": "shop", "message": f"batch to bob {number}"},
            {"channel": room, "from": "shop", "message": f"batch to all {number}"})]
        batch = api.post("apps", app.id, "messages", body={"items": items})
        assert batch.body["failed"] == 0
        by_hand = json.loads(stack.control("send", "--app", app.id, "--user", bob, "--from", "desk", "--json", "from an operator"))
        # Nobody is there, so it is no event.
        nobody = api.post("apps", app.id, "channels", unique("empty"), "messages", body={"from": "shop", "message": "for nobody"})
        assert nobody.body == {"id": 0}
        events = await all_told(receiver, 103)
    accepted = [to_user.body, to_channel.body, *batch.body["results"], by_hand]
    numbers = [one["version"] if "version" in one else one["id"] for one in accepted]
    texts = ["alone to bob", "alone to all", *[item["message"] for item in items], "from an operator"]
    # Of one server of Redis in their order; those of a cluster's servers have their own clocks.
    assert sorted((event["message"], event["text"]) for event in events) == sorted(zip(numbers, texts, strict=True))
    for receiver_of in ("to", "channel"):
        ordered = [event["text"] for event in events if receiver_of in event and event["account"] == "shop"]
        assert ordered == [text for text in texts if ("bob" in text) == (receiver_of == "to") and text != "from an operator"]
    assert {event["account"] for event in events} == {"shop", "desk"}
    assert len(told(receiver)) == 103


async def test_only_where_the_kind_is_named(stack: Stack, people, receiver: Receiver):
    """By default a webhook has all kinds but this one; nothing is written for its messages."""
    app = await app_for(stack, receiver)
    shown = json.loads(stack.control("webhook", "show", app.id, "--json"))
    assert "message" not in shown["kinds"] and shown["messageText"] is False
    added = entries_added(stack)
    async with people(stack) as cast:
        anna, bob = await cast.login("anna", "bob", app=app)
        await anna.tell(bob.account, "a private message")
        await anna.logout()
    await eventually(lambda: receiver.of("offline", account=anna.account), "what happened later is told", PATIENCE)
    assert not told(receiver)
    assert entries_added(stack) == added


def entries_added(stack: Stack) -> int:
    """How many messages were ever put where webhooks are told of them."""
    streams = stack.redis_keys("mirror:messages*")
    assert streams
    facts = [stack.redis("XINFO", "STREAM", stream).split("\n") for stream in streams]
    return sum(int(words[words.index("entries-added") + 1]) for words in facts)


async def test_without_the_text_unless_that_is_asked_for(stack: Stack, people, receiver: Receiver):
    app = await app_for(stack, receiver, "--kinds", "message", "online")
    async with people(stack) as cast:
        anna, bob = await cast.login("anna", "bob", app=app)
        await anna.tell(bob.account, "a private message")
        event, = await all_told(receiver, 1)
    assert set(event) == {"id", "kind", "at", "account", "to", "online", "message", "size"}
    assert event["size"] == len("a private message")
    assert receiver.story(bob.account) == ["online"]


class Talk:
    """Sends numbered messages to a user and a channel, in turn, and notes which of them succeeded. When the connection
    breaks, the session is resumed elsewhere, and the call that was not answered is repeated, as clients do."""

    def __init__(self, stack: Stack, sender: Client, peer: str, room: str):
        self.stack, self.sender, self.peer, self.room = stack, sender, peer, room
        self.acknowledged: list[str] = []
        self.repeated = 0
        self.is_over = False

    async def run(self) -> None:
        number = 0
        while not self.is_over:
            number += 1
            text = f"message number {number}"
            call_id = 1000 + number
            arguments = {"peer": self.peer, "flag": "v1:E:3600", "t": "instant", "content": text}
            function = "user_sendmsg"
            if number % 2:
                function, arguments = "channel_sendmsg", {"name": self.room, "msg": text}
            while not await self._sent(function, call_id, arguments):
                self.repeated += 1
                await self._come_back()
            self.acknowledged.append(text)

    async def _sent(self, function: str, call_id: int, arguments: dict) -> bool:
        answer = self.sender.expect_answer(call_id)
        try:
            await self.sender.send("call2", [function, call_id, {"line": self.sender.line, **arguments}])
            error, data = await answer
        except (ConnectionClosed, ConnectionError):
            return False
        assert error == "", (error, data)
        return True

    async def _come_back(self) -> None:
        await self.sender.resume(self.stack.gateways[-1])


@pytest.mark.every_redis
@pytest.mark.parametrize("victim", ["gateway#1", "invitation#1"])
async def test_every_acknowledged_message_is_told_whoever_dies(make_stack, people, receiver: Receiver, monkeypatch, victim: str):
    for name, value in QUICK.items():
        monkeypatch.setenv(name, value)
    stack = make_stack(gateways=2, invitation=2, sip_bridge=0, webhooks=1)
    app = await app_for(stack, receiver, "--kinds", "message", "--message-text")
    # Before a gateway asks for the app's settings, so that none has older ones.
    stack.control("app", "limit", app.id, "--message-events=with-text")
    room = unique("room")
    # Listed before one of them is killed.
    first = stack.gateways[0]
    # At the gateway that lives.
    stream = await Stream(ServerAPI(stack, create_key(stack, app=app.id)["key"], 1), app.id, query="?kinds=message").started()
    async with people(stack) as cast:
        talks = []
        for name in ("anna", "berta", "carla"):
            sender = cast.make(name, app)
            await sender.login(first)
            await sender.join(room)
            talks.append(Talk(stack, sender, unique("absent"), room))
        running_talks = [asyncio.ensure_future(talk.run()) for talk in talks]
        await eventually(lambda: all(len(talk.acknowledged) > 30 for talk in talks), "messages flow", PATIENCE)
        stack.kill(victim)
        before = [len(talk.acknowledged) for talk in talks]
        await eventually(
            lambda: all(len(talk.acknowledged) > count + 30 for talk, count in zip(talks, before, strict=True)),
            "messages flow again", PATIENCE)
        for talk in talks:
            talk.is_over = True
        await asyncio.gather(*running_talks)
        wanted = {(talk.sender.account, text) for talk in talks for text in talk.acknowledged}
        await eventually(
            lambda: wanted <= {(event["account"], event["text"]) for event in told(receiver)}, "every one is told", TAKEOVER_SECONDS)
        streamed = []
        # A stream tells within a second, and those that a killed process had still to tell after they are taken over.
        while not wanted <= set(streamed):
            event = await stream.next()
            # No gap: neither the stream nor a master of Redis was away.
            assert event["event"] == "message"
            streamed.append((event["data"]["account"], event["data"]["text"]))
        stream.close()
    if victim == "gateway#1":
        assert all(talk.repeated for talk in talks)
    # A repetition makes no second event with another id.
    assert sorted(wanted) == sorted((event["account"], event["text"]) for event in told(receiver))
    assert sorted(wanted) == sorted(streamed)
    for talk in talks:
        for place in ("to", "channel"):
            texts = [event["text"] for event in sorted(told(receiver), key=lambda event: event["at"])
                     if event["account"] == talk.sender.account and place in event]
            assert texts == [text for text in talk.acknowledged if text in texts]
