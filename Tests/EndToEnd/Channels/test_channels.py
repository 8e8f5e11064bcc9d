"""Channels over two gateways: membership, talk, attributes."""

import asyncio
import time

import pytest
from stack_control import Stack, unique
from waiting import eventually


@pytest.mark.every_redis
async def test_members_on_two_gateways_see_the_same_in_order(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob, carol = await cast.login("alice", "bob", "carol")
        assert (await alice.join(channel))["list"] == [[alice.account, alice.uid]]
        joined = await bob.join(channel)
        assert joined["list"] == [[bob.account, bob.uid], [alice.account, alice.uid]]
        assert joined["attrs"] == {}
        await carol.join(channel)
        for number in range(20):
            await (alice, bob, carol)[number % 3].say(channel, str(number))
        await bob.leave(channel)
        await alice.say(channel, "after bob")
        await eventually(lambda: carol.events and carol.events[-1].content.get("msg") == "after bob", "the last message")
        await eventually(lambda: alice.events[-1].content.get("msg") == "after bob", "the sender's own last message")

        def story(client) -> list:
            return [(event.type, event.account, event.content.get("msg")) for event in client.events]

        talk = [("channel_msg", (alice, bob, carol)[n % 3].account, str(n)) for n in range(20)]
        end = [("channel_user_leave", bob.account, None), ("channel_msg", alice.account, "after bob")]
        assert story(carol) == talk + end
        assert story(alice) == [("channel_user_join", client.account, None) for client in (bob, carol)] + talk + end
        # The leaver received everything up to the leave, and neither the leave itself nor anything later.
        assert story(bob) == [("channel_user_join", carol.account, None)] + talk
        assert {event.content["uid"] for event in carol.events if event.account == alice.account} == {alice.uid}
        assert {event.content["channel"] for event in carol.events} == {channel}


async def test_joining_another_channel_leaves_the_first(stack: Stack, people):
    first, second = unique("first"), unique("second")
    async with people(stack) as cast:
        alice, bob = await cast.members(first, "alice", "bob")
        await bob.join(second)
        await eventually(lambda: alice.of_type("channel_user_leave"), "the leave was seen")
        assert (await alice.call("channel_query_user_isin", name=second, account=bob.account))["isin"] == 1
        assert (await alice.call("channel_query_user_isin", name=first, account=bob.account))["isin"] == 0
        assert (await bob.call("channel_query_num", name=first))["num"] == 1
        await alice.say(first, "bob must not hear this")
        await bob.say(second, "own")
        await eventually(lambda: bob.of_type("channel_msg"), "bob hears the new channel")
        assert [event.content["msg"] for event in bob.of_type("channel_msg")] == ["own"]


async def test_queries(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        members = await cast.login("a", "b", "c")
        for member in members:
            await member.join(channel)
        latest_first = [[member.account, member.uid] for member in reversed(members)]
        asker = members[0]
        assert (await asker.call("channel_query_num", name=channel))["num"] == 3
        everyone = await asker.call("channel_query_userlist", name=channel)
        assert (everyone["num"], everyone["list"]) == (3, latest_first)
        some = await asker.call("channel_query_userlist_all", name=channel, num=2)
        assert (some["num"], some["list"]) == (3, latest_first[:2])
        assert (await asker.call("channel_query_num", name=unique("empty")))["num"] == 0


@pytest.mark.every_redis
async def test_attributes_reach_members_and_late_comers(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob, server = await cast.login("alice", "bob", "server")
        await alice.join(channel)
        await bob.join(channel)
        await alice.call("channel_set_attr", channel=channel, name="topic", value="tea")
        await bob.call("channel_set_attr", channel=channel, name="mood", value=30)
        # A user who is not a member may change them too.
        await server.call("channel_set_attr", channel=channel, name="topic", value="coffee")
        await alice.call("channel_del_attr", channel=channel, name="mood")
        assert (await server.join(channel))["attrs"] == {"topic": "coffee"}
        await alice.call("channel_clear_attr", channel=channel)
        expected = [
            (alice.account, "update", "topic", "tea"), (bob.account, "update", "mood", "30"),
            (server.account, "update", "topic", "coffee"), (alice.account, "del", "mood", ""),
            (alice.account, "clear", "", "")]
        for member in (alice, bob):
            await eventually(lambda m=member: len(m.of_type("channel_attr_update")) >= 5, "five attribute events")
            assert [(e.account, e.content["type"], e.content["name"], e.content["value"])
                    for e in member.of_type("channel_attr_update")] == expected
        await bob.leave(channel)
        assert (await bob.join(channel))["attrs"] == {}


async def test_attributes_outlive_the_members(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.join(channel)
        await alice.call("channel_set_attr", channel=channel, name="topic", value="tea")
        await alice.leave(channel)
        assert (await bob.join(channel))["attrs"] == {"topic": "tea"}


async def test_only_members_talk_unless_they_force_it(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, outsider = await cast.login("alice", "outsider")
        await alice.join(channel)
        refused = await outsider.attempt("channel_sendmsg", name=channel, msg="let me in")
        assert (refused.data["code"], refused.data["reason"]) == (400, "not_member")
        await outsider.call("channel_sendmsg", name=channel, msg="forced", force=True)
        await eventually(lambda: alice.of_type("channel_msg"), "the forced message arrived")
        assert [(e.account, e.content["uid"], e.content["msg"]) for e in alice.of_type("channel_msg")] \
            == [(outsider.account, outsider.uid, "forced")]


async def test_the_whole_channel_has_a_limit(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        members = await cast.members(channel, *[f"m{n}" for n in range(10)])
        started = time.monotonic()
        replies = await asyncio.gather(*[
            member.attempt("channel_sendmsg", name=channel, msg=f"{n}") for n in range(60) for member in members])
        # The messages may lie in one more of the channel's seconds than they took.
        seconds = int(time.monotonic() - started) + 2
        good = sum(reply.ok for reply in replies)
        refused = {(reply.data["code"], reply.data["reason"]) for reply in replies if not reply.ok}
        # 600 messages, 60 per session: only the channel's limit of 200 a second can refuse some.
        assert 200 <= good <= 200 * seconds
        assert refused <= {(400, "rate_limited")}
        await eventually(lambda: all(len(m.of_type("channel_msg")) >= good for m in members), "all accepted ones arrived")
        stories = [[(event.id, event.account, event.content["msg"]) for event in member.of_type("channel_msg")]
                   for member in members]
        assert all([entry[1:] for entry in story] == [entry[1:] for entry in stories[0]] for story in stories)
        assert len(stories[0]) == good


async def test_the_channel_without_announcements(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.join(channel)
        await alice.call("channel_set_attr", channel=channel, name="_userNotification", value="0")
        await bob.join(channel)
        await bob.say(channel, "hello")
        await eventually(lambda: alice.of_type("channel_msg"), "the message arrived")
        assert not alice.of_type("channel_user_join")


@pytest.mark.every_redis
async def test_user_attributes_and_status(stack: Stack, people):
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        assert (await bob.call("user_get_attr", account=alice.account, name="city"))["value"] == ""
        await alice.call("user_set_attr", name="city", value="Paris")
        await alice.call("user_set_attr", name="age", value=30)
        found = await bob.call("user_get_attr", account=alice.account, name="city")
        assert (found["value"], found["account"], found["name"]) == ("Paris", alice.account, "city")
        assert (await bob.call("user_get_attr_all", account=alice.account))["json"] in (
            '{"age":"30","city":"Paris"}', '{"city":"Paris","age":"30"}')
        assert (await bob.call("user_query_user_status", account=alice.account))["status"] == 1
        assert (await bob.call("user_query_user_status", account=unique("nobody")))["status"] == 0
        await alice.logout()
        assert (await bob.call("user_query_user_status", account=alice.account))["status"] == 0


async def test_a_value_that_cannot_be_stored_is_refused(stack: Stack, people):
    """PostgreSQL's texts hold no NUL. The change is refused as a whole, and later changes are made."""
    channel = unique("room")
    async with people(stack) as cast:
        alice, = await cast.members(channel, "alice")
        for refused in (await alice.attempt("channel_set_attr", channel=channel, name="k", value="a\0b"),
                        await alice.attempt("user_set_attr", name="k", value="a\0b")):
            assert (refused.data["code"], refused.data["reason"]) == (1004, "nul_character")
        await alice.call("user_set_attr", name="k", value="v")
        assert (await alice.call("user_get_attr", account=alice.account, name="k"))["value"] == "v"
