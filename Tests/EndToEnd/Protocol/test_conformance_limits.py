"""The limits of the documents: the last value that is taken, and the first that is refused."""

import asyncio
import time

import pytest
from acts import ring
from answers import LoginRefused
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually, let_pass


def filled(name: str, size: int, letter: str = "x") -> str:
    """A unique text of exactly `size` bytes in UTF-8, filled up with `letter`."""
    text = unique(name)
    rest, odd = divmod(size - len(text), len(letter.encode()))
    return text + "-" * odd + letter * rest


@pytest.mark.parametrize("letter", ["x", "é", "\U0001f600"], ids=["1 byte", "2 bytes", "4 bytes"])
async def test_accounts(stack: Stack, people, letter: str):
    async with people(stack) as cast:
        longest = cast.exactly(filled("longest", 128, letter))
        await longest.login(stack.gateways[0])
        await longest.tell(longest.account, "note")
        await eventually(longest.texts, "the longest account works")
        for account in (filled("longer", 129, letter), "", "a b", "a\u00a0b", "a\u2028b", "a\x7f", "a\x85", ".", ".."):
            client = cast.exactly(account)
            with pytest.raises(LoginRefused) as refused:
                await client.login(stack.gateways[1])
            assert refused.value.data["code"] == 209, repr(account)
            assert refused.value.error == refused.value.data["reason"]
            await eventually(client.closed.is_set, "the close after the refusal")


async def test_channel_names(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        for name in (filled("room", 128), filled("room", 128, "é"), filled("room with spaces ", 128, " ")):
            assert (await alice.join(name))["list"] == [[alice.account, alice.uid]]
            await alice.say(name, name)
            await eventually(lambda n=name: [e for e in alice.of_type("channel_msg") if e.content["msg"] == n], "the echo")
        for name in (filled("room", 129), filled("room", 129, "é"), "", "a\tb", "a\x00b", "a\nb"):
            for function in ("channel_join", "channel_leave", "channel_query_num", "channel_query_userlist"):
                reply = await alice.attempt(function, name=name)
                assert reply.data.get("code") == 1004, (function, name)
            assert (await alice.attempt("channel_sendmsg", name=name, msg="x", force=True)).data.get("code") == 1004
            assert (await alice.attempt("channel_clear_attr", channel=name)).data.get("code") == 1004


async def test_names_that_paths_cannot_have(stack: Stack, people):
    """HTTP clients leave out the segments . and .. of paths, so that users of the server API could not reach these names."""
    channel = unique("room")
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        for name in (".", ".."):
            for refused, reason in (
                (await alice.attempt("user_sendmsg", peer=name, content="to nobody at all"), "invalid_account"),
                (await alice.attempt("channel_join", name=name), "invalid_channel"),
                (await alice.attempt("channel_sendmsg", name=name, msg="to no channel", force=True), "invalid_channel"),
                (await alice.attempt("channel_set_attr", channel=name, name="n", value="1"), "invalid_channel"),
                (await alice.attempt("channel_set_attr", channel=channel, name=name, value="1"), "invalid_attribute_name"),
                (await alice.attempt("user_set_attr", name=name, value="1"), "invalid_attribute_name"),
                (await alice.attempt("voip_invite", channelName=channel, peer=name), "invalid_account"),
                (await alice.attempt("voip_invite", channelName=name, peer="bob"), "invalid_channel"),
            ):
                assert not refused.ok and refused.data["reason"] == reason, (name, refused)
            # What an older version has stored can be read and deleted.
            assert (await alice.attempt("user_query_user_status", account=name)).ok
            assert (await alice.attempt("channel_del_attr", channel=name, name=name)).ok


async def test_attribute_names(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        longest = filled("name", 128, "é")
        await alice.call("user_set_attr", name=longest, value="1")
        await alice.call("channel_set_attr", channel=channel, name=longest, value="2")
        assert (await alice.call("user_get_attr", account=alice.account, name=longest))["value"] == "1"
        assert (await alice.join(channel))["attrs"] == {longest: "2"}
        await alice.call("channel_del_attr", channel=channel, name=longest)
        for name in (filled("name", 129), filled("name", 129, "é"), ""):
            assert (await alice.attempt("user_set_attr", name=name, value="1")).data.get("code") == 1004
            assert (await alice.attempt("user_get_attr", account=alice.account, name=name)).data.get("code") == 1004
            assert (await alice.attempt("channel_set_attr", channel=channel, name=name, value="1")).data["code"] == 1004
            assert (await alice.attempt("channel_del_attr", channel=channel, name=name)).data.get("code") == 1004


async def test_leading_underscores_are_the_systems(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, = await cast.members(channel, "alice")
        for name in ("_", "_x", "_conn_timeout", "_Member_num", "_no_such_builtin"):
            reply = await alice.attempt("channel_set_attr", channel=channel, name=name, value="30")
            assert reply.data.get("code") == 1004, name
        for name in ("_", "_x", "_channel_ttl"):
            assert (await alice.attempt("user_set_attr", name=name, value="30")).data.get("code") == 1004, name
        assert (await alice.join(channel))["attrs"] == {}


@pytest.mark.parametrize("letter", ["x", "é"], ids=["1 byte", "2 bytes"])
async def test_attribute_values(stack: Stack, people, letter: str):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.join(channel)
        largest, larger = filled("value", 8096, letter), filled("value", 8097, letter)
        await alice.call("user_set_attr", name="large", value=largest)
        await alice.call("channel_set_attr", channel=channel, name="large", value=largest)
        assert (await alice.attempt("user_set_attr", name="large", value=larger)).data.get("code") == 1005
        reply = await alice.attempt("channel_set_attr", channel=channel, name="large", value=larger)
        assert reply.data.get("code") == 1005
        assert (await bob.call("user_get_attr", account=alice.account, name="large"))["value"] == largest
        assert (await bob.join(channel))["attrs"] == {"large": largest}
        assert [event.content["value"] for event in alice.of_type("channel_attr_update")] == [largest]


@pytest.mark.parametrize("letter", ["x", "é"], ids=["1 byte", "2 bytes"])
async def test_channel_messages(stack: Stack, people, letter: str):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        largest = filled("body", 8192, letter)
        for force in (False, True):
            more = {"force": True} if force else {}
            reply = await alice.attempt("channel_sendmsg", name=channel, msg=filled("body", 8193, letter), **more)
            assert reply.data.get("code") == 1005
            await alice.call("channel_sendmsg", name=channel, msg=largest, **more)
        await eventually(lambda: len(bob.of_type("channel_msg")) == 2, "both of the largest")
        assert [event.content["msg"] for event in bob.of_type("channel_msg")] == [largest, largest]


async def test_extra_of_an_invitation(stack: Stack, people):
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        largest = '{"n":"' + "é" * ((8192 - 8) // 2) + '"}'
        assert len(largest.encode()) == 8192
        invite = {"channelName": unique("call"), "peer": bob.account}
        for extra, code in ((largest + " ", 1005), ("no JSON", 1004), ("{", 1004)):
            assert (await alice.attempt("voip_invite", extra=extra, **invite)).data.get("code") == code
        await alice.call("voip_invite", extra=largest, **invite)
        await eventually(lambda: bob.calls("invite"), "the invitation arrived")
        assert bob.calls("invite")[0]["extra"] == largest


async def test_sixty_of_each_kind_in_a_second(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.join(channel)
        # 60 of each kind are allowed, wherever the second begins; with one counter for both kinds half of these would be refused.
        replies = await asyncio.gather(*[call for number in range(60) for call in (
            alice.attempt("channel_sendmsg", name=channel, msg=str(number)),
            alice.attempt("user_sendmsg", peer=bob.account, flag="v1:E:60", t="instant", content=str(number)))])
        assert all(reply.ok for reply in replies), {reply.error for reply in replies}
        numbers = [str(number) for number in range(60)]
        await eventually(lambda: len(bob.texts()) == len(alice.of_type("channel_msg")) == 60, "all of them")
        assert bob.texts() == numbers == [event.content["msg"] for event in alice.of_type("channel_msg")]


async def test_the_sixty_first_channel_message_of_a_second(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        started = time.monotonic()
        replies = await asyncio.gather(*[
            alice.attempt("channel_sendmsg", name=channel, msg=str(number)) for number in range(180)])
        seconds = int(time.monotonic() - started) + 1
        sent = [str(number) for number, reply in enumerate(replies) if reply.ok]
        refused = {(reply.data["code"], reply.data["reason"]) for reply in replies if not reply.ok}
        assert sent[:60] == [str(number) for number in range(60)]
        assert len(sent) <= 60 * seconds and refused <= {(400, "rate_limited")}
        await eventually(lambda: len(bob.of_type("channel_msg")) >= len(sent), "what was accepted")
        # Another session has a count of its own.
        await bob.say(channel, "last")
        await eventually(lambda: bob.of_type("channel_msg")[-1].content["msg"] == "last", "the last")
        assert [event.content["msg"] for event in bob.of_type("channel_msg")] == [*sent, "last"]


async def burst(members: list[Client], each: int, function: str, **args) -> tuple[list, int]:
    """Every member makes `each` calls at once. Returns the replies, and over how many of the channel's seconds they may be spread."""
    started = time.monotonic()
    replies = await asyncio.gather(*[member.attempt(function, **args) for _ in range(each) for member in members])
    return replies, int(time.monotonic() - started) + 2


async def test_two_hundred_of_a_channel_from_all_gateways(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        members = await cast.members(channel, *[f"m{n}" for n in range(10)])
        replies, seconds = await burst(members, 60, "channel_sendmsg", name=channel, msg="x")
        good = sum(reply.ok for reply in replies)
        assert 200 <= good <= 200 * seconds
        assert {reply.data["reason"] for reply in replies if not reply.ok} <= {"rate_limited"}
        await eventually(lambda: all(len(m.of_type("channel_msg")) >= good for m in members), "what was accepted")
        assert {len(member.of_type("channel_msg")) for member in members} == {good}


async def test_a_channels_own_limit_from_all_gateways(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        members = await cast.members(channel, *[f"m{n}" for n in range(4)])
        await members[0].call("channel_set_attr", channel=channel, name="_sendmsg_limit", value="5")
        replies, seconds = await burst(members, 50, "channel_sendmsg", name=channel, msg="x")
        good = sum(reply.ok for reply in replies)
        assert 5 <= good <= 5 * seconds < len(replies)
        assert {(reply.data["code"], reply.data["reason"]) for reply in replies if not reply.ok} == {(400, "rate_limited")}
        # More than the usual 200, when the attribute says so.
        await members[0].call("channel_set_attr", channel=channel, name="_sendmsg_limit", value="1000")
        more = await cast.members(channel, *[f"n{n}" for n in range(4)])
        replies, _ = await burst(more, 60, "channel_sendmsg", name=channel, msg="y")
        assert all(reply.ok for reply in replies)


async def test_changes_of_an_attribute_from_all_gateways(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        members = await cast.members(channel, *[f"m{n}" for n in range(2)])
        await members[0].call("channel_set_attr", channel=channel, name="_setattr_limit", value="3")
        replies, seconds = await burst(members, 30, "channel_set_attr", channel=channel, name="topic", value="x")
        good = sum(reply.ok for reply in replies)
        assert 3 <= good <= 3 * seconds < len(replies)
        assert {reply.data["reason"] for reply in replies if not reply.ok} == {"rate_limited"}
        # Each attribute has a count of its own.
        for name in "abcdef":
            await members[1].call("channel_set_attr", channel=channel, name=name, value="x")
        await eventually(lambda: all(len(m.of_type("channel_attr_update")) >= good + 6 for m in members), "the events")


async def test_lists_have_the_latest_two_hundred(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        members = await cast.members(channel, *[f"m{n}" for n in range(202)])
        last, = await cast.login("last")
        newest_first = [[one.account, one.uid] for one in (last, *reversed(members))]
        assert (await last.join(channel))["list"] == newest_first[:200]
        latest = await last.call("channel_query_userlist", name=channel)
        assert (latest["num"], latest["list"]) == (203, newest_first[:200])
        everyone = await last.call("channel_query_userlist_all", name=channel)
        assert (everyone["num"], everyone["list"]) == (203, newest_first)
        some = await last.call("channel_query_userlist_all", name=channel, num=201)
        assert (some["num"], some["list"]) == (203, newest_first[:201])
        assert (await last.call("channel_query_num", name=channel))["num"] == 203


async def test_digits(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await ring(alice, bob, channel)
        await bob.act("invite_accept", channel, alice.account)

        def extra(digits: str) -> str:
            return '{"msgtype":"dtmf","msgdata":"' + digits + '"}'

        for digits in ("12x", "", "a", "+", "1 2", "E", ",,"):
            reply = await alice.attempt("voip_invite_msg", channelName=channel, peer=bob.account, extra=extra(digits))
            assert reply.data.get("code") == 1004, digits
        await alice.act("invite_msg", channel, bob.account, extra("0123456789*#,,ABCD"))
        await bob.act("invite_msg", channel, alice.account, extra("7"))
        await eventually(lambda: alice.calls("invite_msg") and bob.calls("invite_msg"), "the digits arrived")
        assert [call["extra"] for call in bob.calls("invite_msg")] == [extra("0123456789*#,,ABCD")]
        assert [call["extra"] for call in alice.calls("invite_msg")] == [extra("7")]


async def test_a_full_mailbox_tells_the_sender(stack: Stack, people):
    bound, each, outcomes = 10_000, 50, []
    async with people(stack) as cast:
        senders = await cast.login(*[f"sender{n}" for n in range(20)])
        bob = cast.make("bob", polls=False)

        async def send(sender: Client, number: int) -> None:
            # 50 a second per session, below its limit of 60; what is refused all the same is replaced by the next second's messages.
            while not any(outcome == (400, "mailbox_full") for outcome in outcomes):
                started = time.monotonic()
                replies = await asyncio.gather(*[sender.attempt(
                    "user_sendmsg", peer=bob.account, flag="v1:E:3600", t="instant", content="x", within=60)
                    for _ in range(number)])
                outcomes.extend((reply.data.get("code", 0), reply.data.get("reason", "")) for reply in replies)
                await let_pass(started + 1.02 - time.monotonic(), "the limit is per second")

        await asyncio.gather(*[send(sender, each) for sender in senders])
        assert set(outcomes) <= {(0, ""), (400, "mailbox_full"), (400, "rate_limited")}
        assert outcomes.count((0, "")) == bound
        # An entry that the receiver acknowledges makes room for one more.
        await bob.login(stack.gateways[0])
        answer = await bob.call("user_getmsg", ver_clear=0, max=1000)
        await bob.call("user_getmsg", ver_clear=answer["msgs"][0][0], max=1)
        newcomer, = await cast.login("newcomer")
        await newcomer.tell(bob.account, "one more")
        reply = await newcomer.attempt("user_sendmsg", peer=bob.account, flag="v1:E:3600", t="instant", content="x")
        assert reply.data.get("reason") == "mailbox_full"
