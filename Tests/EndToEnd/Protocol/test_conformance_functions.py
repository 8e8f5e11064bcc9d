"""The functions of `call2`: every answer in the form that each of the old clients reads, good or bad."""

import asyncio
import json

import pytest
from fixtures import People
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually

# Function, arguments (PEER, ROOM stand for a user and the channel the caller is in), types of the reply's fields.
GOOD = [
    ("user_getmsg", {"ver_clear": 0, "max": 30}, {"ver_clear": int, "msgs": list}),
    ("user_sendmsg", {"peer": "PEER", "flag": "v1:E:3600", "t": "instant", "content": "x"}, {}),
    ("user_query_user_status", {"account": "PEER"}, {"account": str, "status": int}),
    ("user_set_attr", {"name": "city", "value": "Paris"}, {}),
    ("user_get_attr", {"account": "PEER", "name": "city"}, {"value": str, "account": str, "name": str}),
    ("user_get_attr_all", {"account": "PEER"}, {"json": str}),
    ("channel_join", {"name": "ROOM"}, {"list": list, "attrs": dict}),
    ("channel_sendmsg", {"name": "ROOM", "msg": "x"}, {}),
    ("channel_sendmsg", {"name": "ROOM", "msg": "x", "force": True}, {}),
    ("channel_set_attr", {"channel": "ROOM", "name": "topic", "value": "tea"}, {}),
    ("channel_del_attr", {"channel": "ROOM", "name": "topic"}, {}),
    ("channel_clear_attr", {"channel": "ROOM"}, {}),
    ("channel_query_num", {"name": "ROOM"}, {"num": int}),
    ("channel_query_user_isin", {"name": "ROOM", "account": "PEER"}, {"isin": int}),
    ("channel_query_userlist", {"name": "ROOM"}, {"num": int, "list": list}),
    ("channel_query_userlist_all", {"name": "ROOM"}, {"num": int, "list": list}),
    ("channel_query_userlist_all", {"name": "ROOM", "num": 1}, {"num": int, "list": list}),
    ("voip_invite", {"channelName": "ROOM", "peer": "PEER", "extra": ""}, {}),
    ("voip_invite_bye", {"channelName": "ROOM", "peer": "PEER", "extra": ""}, {}),
    ("channel_leave", {"name": "ROOM"}, {}),
    ("user_logout", {}, {}),
]
# Arguments that each function refuses.
BAD = [
    ("user_sendmsg", {"peer": "a b", "flag": "v1:E:3600", "t": "instant", "content": "x"}),
    ("user_sendmsg", {"peer": "PEER", "flag": "nonsense", "t": "instant", "content": "x"}),
    ("user_query_user_status", {}), ("user_set_attr", {"name": ""}), ("user_get_attr", {"account": "PEER"}),
    ("user_get_attr_all", {}), ("channel_join", {"name": ""}), ("channel_leave", {}),
    ("channel_sendmsg", {"name": "not joined", "msg": "x"}), ("channel_set_attr", {"channel": "ROOM", "name": "n"}),
    ("channel_del_attr", {"channel": "ROOM", "name": "_member_num"}), ("channel_clear_attr", {"name": "ROOM"}),
    ("channel_query_num", {}), ("channel_query_user_isin", {"name": "ROOM"}), ("channel_query_userlist", {}),
    ("channel_query_userlist_all", {"name": "ROOM", "num": "many"}), ("voip_invite", {"channelName": "ROOM"}),
    ("voip_invite_ack", {"channelName": "no call", "peer": "PEER", "extra": ""}),
    ("voip_invite_accept", {"channelName": "no call", "peer": "PEER", "extra": ""}),
    ("voip_invite_refuse", {"channelName": "no call", "peer": "PEER", "extra": ""}),
    ("voip_invite_msg", {"channelName": "no call", "peer": "PEER", "extra": ""}),
    ("user_ext_call", {"package": "io.agora.media.bc", "func": "f", "args": "{}", "callid": ""}),
    ("no_such_function", {}), ("io.agora.signal.channel_query_num", {"name": "ROOM"}),
]


class Caller:
    """Makes calls of raw numbers and looks at the raw answers."""

    def __init__(self, client: Client, peer: str, room: str):
        self.client, self.words = client, {"PEER": peer, "ROOM": room}

    async def answer(self, function: str, arguments: dict, number: int) -> list:
        """The second element of the `call2-ret` frame, as it was received."""
        filled = {name: self.words.get(value, value) if isinstance(value, str) else value
                  for name, value in arguments.items()}
        start = len(self.client.frames)
        self.client.expect_answer(number)
        await self.client.send("call2", [function, number, {"line": self.client.line, **filled}])

        def found() -> list:
            return [frame for frame in self.client.frames[start:] if frame[0] == "call2-ret"]

        await eventually(found, f"{function} answered")
        frame, = found()
        assert len(frame) == 2 and len(frame[1]) == 3
        return frame[1]


async def new_caller(stack: Stack, cast: People) -> Caller:
    """A user on the first gateway who never polls, and whose PEER is online on the second."""
    alice = await cast.make("alice", polls=False).login(stack.gateways[0])
    bob = await cast.make("bob").login(stack.gateways[1])
    return Caller(alice, bob.account, unique("room"))


async def test_good_answers(stack: Stack, people):
    async with people(stack) as cast:
        caller = await new_caller(stack, cast)
        # Counted from 0 on, as the Python client does.
        for number, (function, arguments, fields) in enumerate(GOOD):
            returned, error, text = await caller.answer(function, arguments, number)
            assert type(returned) is int and returned == number, function
            assert error == "" and type(error) is str, function
            data = json.loads(text)
            assert data["result"] == "ok", function
            assert {name: type(data.get(name)) for name in fields} == fields, function
        await eventually(caller.client.closed.is_set, "the close after the logout")


async def test_error_answers(stack: Stack, people):
    async with people(stack) as cast:
        caller = await new_caller(stack, cast)
        for number, (function, arguments) in enumerate(BAD):
            returned, error, text = await caller.answer(function, arguments, number)
            assert type(returned) is int and returned == number, function
            assert type(error) is str and error, f"{function} {arguments}"
            data = json.loads(text)
            assert data["result"] == "failed" and data["reason"] == error and data["data"]["result"] == error, function
            assert type(data["code"]) is int and data["code"] > 0, function
        assert await caller.client.ping(1) == 1


async def test_the_number_comes_back_as_it_is(stack: Stack, people):
    async with people(stack) as cast:
        alice = await cast.make("alice", polls=False).login(stack.gateways[0])
        caller = Caller(alice, alice.account, unique("room"))
        for number in (0, 1, -1, 2**31, 2**53):
            for function in ("channel_query_num", "no_such_function"):
                returned, _, _ = await caller.answer(function, {"name": "ROOM"}, number)
                assert type(returned) is int and returned == number


async def test_answers_keep_the_order_of_the_calls(stack: Stack, people):
    rooms = [unique("room") for _ in range(3)]
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        # Some go to a service, some to a store, some are refused at once; the client checks the order of the answers.
        mixed = [call for n in range(15) for call in (
            ("channel_join", {"name": rooms[n % 3]}), ("no_such_function", {}),
            ("channel_sendmsg", {"name": rooms[n % 3], "msg": str(n)}),
            ("user_sendmsg", {"peer": bob.account, "flag": "v1:E:60", "t": "instant", "content": str(n)}),
            ("user_query_user_status", {"account": bob.account}), ("user_get_attr", {}),
            ("channel_set_attr", {"channel": rooms[n % 3], "name": "n", "value": n}),
            ("voip_invite_ack", {"channelName": "none", "peer": bob.account, "extra": ""}))]
        replies = await asyncio.gather(*[alice.attempt(function, within=60, **args) for function, args in mixed])
        for (function, args), reply in zip(mixed, replies, strict=True):
            assert reply.ok == (function not in ("no_such_function", "voip_invite_ack") and args != {}), function
        assert not alice.violations
        # In order, so each message was sent in the channel that was joined before it.
        assert [e.content["msg"] for e in alice.of_type("channel_msg")] == [str(n) for n in range(15)]


async def test_every_call_nobody_waits_for_is_answered(stack: Stack, people):
    """Calls whose answers no client reads; `attempt` fails when none comes."""
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        for verb in ("invite_ack", "invite_accept", "invite_refuse", "invite_bye", "invite_msg", "invite"):
            await alice.attempt(f"voip_{verb}", channelName=unique("call"), peer=bob.account, extra="")
        for function in ("voip_invite_ack", "voip_nonsense"):
            await alice.attempt(function)


@pytest.mark.parametrize("arguments", [
    {}, {"ver_clear": 0}, {"max": 5}, {"ver_clear": "0", "max": "30"}, {"ver_clear": None, "max": None},
    {"ver_clear": -1, "max": 0}, {"ver_clear": 1.5, "max": 1e9}, {"ver_clear": {}, "max": []}, {"ver_clear": 2**53},
], ids=str)
async def test_a_poll_is_always_answered(stack: Stack, people, arguments: dict):
    async with people(stack) as cast:
        alice = await cast.make("alice", polls=False).login(stack.gateways[0])
        answer = await alice.call("user_getmsg", **arguments)
        assert type(answer["ver_clear"]) is int and answer["msgs"] == []
        # The odd poll has done no harm: the next message is announced and fetched. Its notify may come before the sender's answer.
        before = len(alice.frames)
        await alice.tell(alice.account, "note")
        await eventually(
            lambda: any(frame[0] == "notify" for frame in alice.frames[before:]), "a notify for the message")
        answer = await alice.call("user_getmsg", ver_clear=0, max=30)
        assert [line.split(" ", 6)[6] for _, line in answer["msgs"]] == ["note"]


async def test_values_that_are_no_texts(stack: Stack, people):
    channel = unique("room")
    values = [(30, "30"), (1.50, "1.5"), (True, "true"), (None, "null"), ([1, {"a": " b"}], '[1,{"a":" b"}]'), ({}, "{}")]
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        for number, (value, _) in enumerate(values):
            await alice.say(channel, value)
            await alice.tell(bob.account, value)
            await alice.call("channel_set_attr", channel=channel, name=f"n{number}", value=value)
            await alice.call("user_set_attr", name=f"n{number}", value=value)
        texts = [text for _, text in values]
        named = {f"n{number}": text for number, text in enumerate(texts)}
        await eventually(lambda: len(bob.of_type("channel_attr_update")) == len(bob.texts()) == len(values), "all")
        assert bob.texts() == [event.content["msg"] for event in bob.of_type("channel_msg")] == texts
        assert [event.content["value"] for event in bob.of_type("channel_attr_update")] == texts
        assert (await bob.join(channel))["attrs"] == named
        assert json.loads((await bob.call("user_get_attr_all", account=alice.account))["json"]) == named


async def test_numbers_for_names(stack: Stack, people):
    async with people(stack) as cast:
        number = int(unique("9").split("-")[1], 16)
        bob = await cast.exactly(str(number)).login(stack.gateways[1])
        alice, = await cast.login("alice")
        assert (await alice.call("user_query_user_status", account=number))["status"] == 1
        await alice.call("user_sendmsg", peer=number, flag="v1:E:60", t="instant", content="hello")
        await alice.join(number)
        await bob.join(str(number))
        assert (await alice.call("channel_query_user_isin", name=number, account=number))["isin"] == 1
        await alice.call("channel_set_attr", channel=number, name=7, value=8)
        await alice.call("voip_invite", channelName=number, peer=number, extra="")
        await eventually(lambda: bob.calls("invite") and bob.of_type("channel_attr_update"), "all arrived")
        assert bob.texts() == ["hello"] and bob.calls("invite")[0]["channel"] == str(number)
        update, = bob.of_type("channel_attr_update")
        assert (update.content["name"], update.content["value"]) == ("7", "8")


async def test_extras_of_some_clients_change_nothing(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        for _ in range(2):
            # Web SDK 1.3 adds ids that it repeats in different messages: here they must not make one message of two.
            await alice.call("user_sendmsg", peer=bob.account, flag="v1:E:2592000", t="instant", content="a", messageID="1")
            await alice.call("channel_sendmsg", name=channel, msg="b", msgID="1", force=False)
        await eventually(lambda: len(bob.texts()) == len(bob.of_type("channel_msg")) == 2, "both, both times")


async def test_status_and_membership_are_numbers(stack: Stack, people):
    channel, nobody = unique("room"), unique("nobody")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.join(channel)
        for account, expected in ((alice.account, 1), (bob.account, 0), (nobody, 0)):
            isin = (await bob.call("channel_query_user_isin", name=channel, account=account))["isin"]
            assert type(isin) is int and isin == expected
        for account, expected in ((alice.account, 1), (nobody, 0)):
            answer = await bob.call("user_query_user_status", account=account)
            assert type(answer["status"]) is int and answer["status"] == expected and answer["account"] == account


async def test_what_is_missing_is_empty(stack: Stack, people):
    nobody, nowhere = unique("nobody"), unique("nowhere")
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        value = await alice.call("user_get_attr", account=nobody, name="city")
        assert (value["value"], value["account"], value["name"]) == ("", nobody, "city")
        everything = await alice.call("user_get_attr_all", account=nobody)
        assert type(everything["json"]) is str and json.loads(everything["json"]) == {}
        assert (await alice.call("channel_query_num", name=nowhere))["num"] == 0
        assert (await alice.call("channel_query_userlist", name=nowhere))["list"] == []
        assert (await alice.call("channel_query_userlist_all", name=nowhere))["list"] == []
        await alice.call("channel_del_attr", channel=nowhere, name="none")
        await alice.call("channel_clear_attr", channel=nowhere)
        assert (await alice.join(nowhere))["attrs"] == {}
        await alice.call("channel_sendmsg", name=unique("empty"), msg="to nobody", force=True)


async def test_no_such_function(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        for function in ("no_such_function", "", "user_getmsg2", "user_ext_call", "USER_GETMSG", "io.agora.signal.user_set_attr"):
            reply = await alice.attempt(function, name="n", value="v", account=alice.account)
            assert reply.data.get("code") == 1002, function
