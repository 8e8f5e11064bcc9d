"""The built-in attributes, each in a test of its name, through real gateways."""

import asyncio
import time

import pytest
from acts import barrier
from signaling import Client
from stack_control import Stack, unique
from waiting import before_next_try, eventually, eventually_blocking, let_pass

READ_ONLY = ("_member_num", "_total_member_num")
RANGES = {
    "_userNotification": (0, 1), "_channel_ttl": (0, 31_536_000), "_auto_update_num": (0, 86_400),
    "_auto_update_total_num": (0, 86_400), "_sendmsg_limit": (1, 1_000_000), "_setattr_limit": (1, 1_000_000)}


async def put(client: Client, channel: str, **attributes: object) -> None:
    for name, value in attributes.items():
        await client.call("channel_set_attr", channel=channel, name=name, value=value)


def numbers(client: Client, name: str) -> list[tuple[str, str]]:
    """The updates of an attribute that the client received: by whom, and the value."""
    return [(event.account, event.content["value"]) for event in client.of_type("channel_attr_update")
            if event.content["name"] == name and event.content["type"] == "update"]


async def test_user_notification(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.join(channel)
        await put(alice, channel, _userNotification="0")
        await bob.join(channel)
        await bob.leave(channel)
        await bob.join(channel)
        await bob.say(channel, "hello")
        await eventually(lambda: alice.of_type("channel_msg"), "the message arrived")
        assert [event.type for event in alice.events] == ["channel_attr_update", "channel_msg"]
        await put(alice, channel, _userNotification="1")
        await bob.leave(channel)
        await eventually(lambda: alice.of_type("channel_user_leave"), "the leave is announced again")


async def test_channel_ttl(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.join(channel)
        await put(alice, channel, topic="tea", _channel_ttl="2")
        await let_pass(3, "a channel with a member outlives its time to live")
        # A user who joins within the time to live keeps the attributes too.
        await alice.leave(channel)
        assert (await bob.join(channel))["attrs"] == {"topic": "tea", "_channel_ttl": "2"}
        await bob.leave(channel)
        await asyncio.to_thread(wait_for_end, stack, channel)
        assert (await alice.join(channel))["attrs"] == {}


async def test_channel_ttl_of_zero_ends_it_with_the_last_leave(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, = await cast.members(channel, "alice")
        await put(alice, channel, topic="tea", _channel_ttl=0)
        await alice.leave(channel)
        await asyncio.to_thread(wait_for_end, stack, channel)
        assert (await alice.join(channel))["attrs"] == {}


def wait_for_end(stack: Stack, channel: str) -> None:
    """Waits until a channel's attributes are gone from the database."""
    eventually_blocking(
        lambda: not stack.sql(f"SELECT name FROM channel_attributes WHERE channel = '{channel}'"), "the channel has ended", 15)


async def test_member_num_and_auto_update_num(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob, carol = await cast.login("alice", "bob", "carol")
        await alice.join(channel)
        assert (await bob.join(channel))["attrs"] == {}
        await put(alice, channel, _auto_update_num=2)
        assert (await carol.join(channel))["attrs"] == {"_auto_update_num": "2", "_member_num": "3"}
        await eventually(lambda: numbers(alice, "_member_num"), "the first member count is announced")
        started = time.monotonic()
        await bob.leave(channel)
        await eventually(lambda: len(numbers(alice, "_member_num")) == 2, "the second member count is announced")
        # Ids of events are microseconds.
        first, second = [event.id for event in alice.of_type("channel_attr_update")
                         if event.content["name"] == "_member_num"]
        assert second - first >= 2_000_000 and time.monotonic() - started < 5
        assert numbers(alice, "_member_num") == [(carol.account, "3"), (bob.account, "2")]
        await barrier(alice, channel, carol)
        assert numbers(carol, "_member_num") == numbers(alice, "_member_num")
        # A count that changes and changes back is not announced, nor is anything once announcements are off.
        await bob.join(channel)
        await bob.leave(channel)
        await let_pass(3, "a count that is what it was before is not announced, not even after the interval of 2 s")
        await put(alice, channel, _auto_update_num=0)
        assert (await bob.join(channel))["attrs"] == {"_auto_update_num": "0"}
        await let_pass(1, "with announcements off, none may come")
        await barrier(alice, channel, alice)
        assert len(numbers(alice, "_member_num")) == 2


async def test_total_member_num_and_auto_update_total_num(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.join(channel)
        await put(alice, channel, _auto_update_total_num=1)
        # Announcing the total needs both attributes.
        assert (await bob.join(channel))["attrs"] == {"_auto_update_total_num": "1"}
        await let_pass(1, "the total alone may not be announced")
        await barrier(alice, channel, alice)
        assert not numbers(alice, "_total_member_num")
        await put(alice, channel, _auto_update_num=60)
        for _ in range(2):
            await bob.leave(channel)
            joined = await bob.join(channel)
        assert joined["attrs"] == {
            "_auto_update_num": "60", "_auto_update_total_num": "1", "_member_num": "2", "_total_member_num": "4"}
        await eventually(
            lambda: numbers(alice, "_total_member_num")[-1:] == [(bob.account, "4")], "the total of all joins is announced")
        ids = [event.id for event in alice.of_type("channel_attr_update")
               if event.content["name"] == "_total_member_num"]
        assert all(later - earlier >= 1_000_000 for earlier, later in zip(ids, ids[1:], strict=False))


@pytest.mark.parametrize("name", READ_ONLY)
async def test_what_the_system_keeps_is_read_only(stack: Stack, people, name: str):
    channel = unique("room")
    async with people(stack) as cast:
        alice, = await cast.members(channel, "alice")
        for refused in (await alice.attempt("channel_set_attr", channel=channel, name=name, value="5"),
                        await alice.attempt("channel_del_attr", channel=channel, name=name)):
            assert (refused.data["code"], refused.data["reason"]) == (1004, "read_only")


@pytest.mark.parametrize("name", RANGES)
async def test_values_have_their_range(stack: Stack, people, name: str):
    channel = unique("room")
    least, most = RANGES[name]
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        for bad in (least - 1, most + 1, "", "many", f"0{most}", f"+{most}", 1.5, True):
            refused = await alice.attempt("channel_set_attr", channel=channel, name=name, value=bad)
            assert refused.data["code"] == 1004, bad
        # The lowest limit first: it applies to changes of the limit too.
        for good in (least, str(most)):
            await put(alice, channel, **{name: good})
        await alice.call("channel_del_attr", channel=channel, name=name)


async def test_sendmsg_limit_on_two_gateways(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        members = await cast.members(channel, *[f"m{n}" for n in range(4)])
        await put(members[0], channel, _sendmsg_limit=10)

        async def burst() -> list:
            return await asyncio.gather(*[
                member.attempt("channel_sendmsg", name=channel, msg=f"{n}") for n in range(10) for member in members])

        replies = await burst()
        refused = [reply for reply in replies if not reply.ok]
        assert {(reply.data["code"], reply.data["reason"]) for reply in refused} == {(400, "rate_limited")}
        # The calls may lie in one window of a second or in two.
        assert 10 <= len(replies) - len(refused) <= 20
        # Once it is deleted, the default applies again.
        await members[0].call("channel_del_attr", channel=channel, name="_sendmsg_limit")
        assert all(reply.ok for reply in await burst())


async def test_setattr_limit_on_two_gateways_and_two_instances(make_stack, people):
    channel = unique("room")
    async with people(make_stack(gateways=2, channel_state=2)) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        await put(alice, channel, _setattr_limit=5)
        replies = await asyncio.gather(*[
            member.attempt("channel_set_attr", channel=channel, name="a", value=n)
            for n in range(10) for member in (alice, bob)])
        refused = [reply for reply in replies if not reply.ok]
        assert {(reply.data["code"], reply.data["reason"]) for reply in refused} == {(1001, "rate_limited")}
        # If each instance counted by itself, twice as many would pass. The calls lie in at most two windows.
        seconds = int(max(reply.seconds for reply in replies)) + 2
        assert 5 <= len(replies) - len(refused) <= min(5 * seconds, 15)
        await put(bob, channel, b="another attribute")
        await eventually(
            lambda: len(numbers(alice, "a")) == len(replies) - len(refused), "the accepted ones are announced")
        await barrier(alice, channel, alice, bob)
        assert numbers(alice, "a") == numbers(bob, "a")


async def test_numbers_are_told_when_the_instances_die(make_stack, people):
    channel = unique("room")
    stack = make_stack(gateways=2, channel_state=2)
    async with people(stack) as cast:
        alice, bob, carol = await cast.login("alice", "bob", "carol")
        await alice.join(channel)
        await put(alice, channel, _auto_update_num=4)
        await bob.join(channel)
        await eventually(lambda: numbers(alice, "_member_num"), "the first member count is announced")
        # A timer for the next announcement is set now; the instances that set it are killed.
        await carol.join(channel)
        services = [name for name in stack.pids if name.startswith("channel-state")]
        assert len(services) == 2
        for name in services:
            await asyncio.to_thread(stack.kill, name)
        assert len(numbers(alice, "_member_num")) == 1
        await asyncio.to_thread(stack.start, services[0])
        await eventually(lambda: len(numbers(alice, "_member_num")) == 2, "the waiting member count is announced", 30)
        assert numbers(alice, "_member_num") == [(bob.account, "2"), (carol.account, "3")]


async def test_clear_resets_them(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.join(channel)
        await put(
            alice, channel, _userNotification=0, _auto_update_num=1, _sendmsg_limit=1, _setattr_limit=1, topic="x")
        await alice.call("channel_clear_attr", channel=channel)
        assert (await bob.join(channel))["attrs"] == {}
        await eventually(lambda: alice.of_type("channel_user_join"), "joins are announced")
        for number in range(5):
            await put(bob, channel, topic=number)
            await bob.say(channel, number)
        await barrier(alice, channel, alice)
        assert not numbers(alice, "_member_num")


async def test_conn_timeout(stack: Stack, people):
    async with people(stack) as cast:
        alice, bob, watcher = await cast.login("alice", "bob", "watcher")
        for bad in ("soon", "", "1.5"):
            refused = await alice.attempt("user_set_attr", name="_conn_timeout", value=bad)
            assert refused.data["code"] == 1004, bad
        # Values below 20 count as 20. Bob has the default of 120.
        await alice.call("user_set_attr", name="_conn_timeout", value="1")

        async def is_online(client: Client) -> bool:
            return (await watcher.call("user_query_user_status", account=client.account))["status"] == 1

        alice.abort()
        bob.abort()
        await alice.closed.wait()
        cut = time.monotonic()
        while time.monotonic() < cut + 18:
            assert await is_online(alice)
            await before_next_try(1)
        while await is_online(alice):
            assert time.monotonic() < cut + 26, "alice should be offline after 20 s"
            await before_next_try(0.2)
        assert time.monotonic() > cut + 19
        assert await is_online(bob)
