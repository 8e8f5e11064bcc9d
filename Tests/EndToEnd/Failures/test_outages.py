"""A store goes away and comes back: users see a pause, and nothing else."""

import asyncio

import pytest
from acts import barrier, insists
from fixtures import People
from signaling import Client
from stack_control import Stack, unique
from waiting import before_next_try, eventually


async def everything_works(alice: Client, bob: Client, channel: str) -> None:
    """Messages arrive, the lists are right again, and nobody has left the channel or lost the connection."""
    await insists(alice, "channel_sendmsg", name=channel, msg="back")
    await eventually(lambda: "back" in [e.content["msg"] for e in bob.of_type("channel_msg")], "the channel message", 30)
    await insists(bob, "user_sendmsg", peer=alice.account, flag="v1:E:3600", t="instant", content="back too")
    await eventually(lambda: "back too" in alice.texts(), "the instant message", 30)
    # Gateways may still be reporting their sessions and members to the services.
    async with asyncio.timeout(30):
        while (await insists(alice, "user_query_user_status", account=bob.account))["status"] != 1:
            await before_next_try(0.05)
        while (await insists(alice, "channel_query_num", name=channel))["num"] != 2:
            await before_next_try(0.05)
    assert not alice.of_type("channel_user_leave") and not bob.of_type("channel_user_leave"), "nobody left"
    assert not alice.closed.is_set() and not bob.closed.is_set(), "no connection was lost"


@pytest.mark.every_redis
async def test_redis_restarts_and_nobody_leaves(make_stack, people):
    stack = make_stack(gateways=2)
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        carol, = await cast.login("carol", gateway=1)
        await alice.say(channel, "before")
        await eventually(lambda: bob.of_type("channel_msg"), "the message before")
        await asyncio.to_thread(stack.kill_redis)
        logout = asyncio.create_task(carol.attempt("user_logout", within=20))
        await asyncio.to_thread(stack.start_redis)
        assert (await logout).ok, "a logout during the outage is confirmed, and is no kick"
        await eventually(carol.closed.is_set, "the connection's end")
        assert carol.close_frame is None
        await everything_works(alice, bob, channel)
        assert (await insists(alice, "user_query_user_status", account=carol.account))["status"] == 0


async def test_a_gateway_that_starts_without_redis_waits_for_it(make_stack, people):
    stack = make_stack(gateways=1)
    await asyncio.to_thread(stack.kill, "gateway#1")
    stack.freeze_redis()
    starting = asyncio.create_task(asyncio.to_thread(stack.start, "gateway#1"))
    log = stack.directory / "logs" / "gateway#1.log"
    try:
        await eventually(lambda: "Redis does not answer yet" in log.read_text(), "the gateway misses Redis", 20)
    finally:
        stack.thaw_redis()
    await starting
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.tell(bob.account, "here it is")
        await eventually(bob.texts, "the message")


async def test_redis_comes_back_empty_and_is_filled_again(make_stack, people):
    stack = make_stack(gateways=2)
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        await alice.say(channel, "before")
        await eventually(lambda: bob.of_type("channel_msg"), "the message before")
        stack.redis_everywhere("FUNCTION", "FLUSH")
        stack.redis_everywhere("FLUSHALL")
        await asyncio.to_thread(stack.kill_redis)
        await asyncio.to_thread(stack.start_redis)
        await everything_works(alice, bob, channel)
        # A user who logs in now finds them, and they see the login.
        carol, = await cast.login("carol", gateway=0)
        listed = await insists(carol, "channel_join", name=channel)
        assert {account for account, _ in listed["list"]} == {alice.account, bob.account, carol.account}
        await barrier(alice, channel, alice, bob, carol)


async def a_channel_with_a_detached_member(stack: Stack, cast: People, channel: str) -> tuple[Client, Client, Client]:
    """Three members; the first has no connection when Redis loses everything, and is a member again afterwards."""
    alice, bob, carol = await cast.members(channel, "alice", "bob", "carol")
    await barrier(bob, channel, alice, bob, carol)
    session = f"{stack.user_prefix(alice.account)}:session"
    alice.abort()
    await eventually(lambda: stack.redis("HGET", session, "state") == "detached", "the session is detached")
    stack.redis_everywhere("FUNCTION", "FLUSH")
    stack.redis_everywhere("FLUSHALL")
    await asyncio.to_thread(stack.kill_redis)
    await asyncio.to_thread(stack.start_redis)
    async with asyncio.timeout(30):
        while (await insists(bob, "channel_query_num", name=channel))["num"] != 3:
            await before_next_try(0.05)
    assert (await insists(bob, "user_query_user_status", account=alice.account))["status"] == 1
    return alice, bob, carol


def comings_and_goings(client: Client, account: str) -> list[str]:
    """The kinds of the events with which the account has come and gone, as the client has seen them."""
    kinds = ("channel_user_join", "channel_user_leave")
    return [event.type for event in client.events if event.type in kinds and event.content["account"] == account]


async def test_a_detached_user_resumes_after_redis_came_back_empty(make_stack, people):
    stack = make_stack(gateways=2)
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob, carol = await a_channel_with_a_detached_member(stack, cast, channel)
        seen = [comings_and_goings(client, alice.account) for client in (bob, carol)]
        line = alice.line
        await alice.resume(stack.gateways[1])
        assert alice.line == line
        await barrier(alice, channel, alice, bob, carol)
        assert [comings_and_goings(client, alice.account) for client in (bob, carol)] == seen, "nobody came or went"


async def test_a_detached_user_who_logs_in_anew_after_redis_came_back_empty_leaves_first(make_stack, people):
    stack = make_stack(gateways=2)
    channel = unique("room")
    async with people(stack) as cast:
        former, bob, carol = await a_channel_with_a_detached_member(stack, cast, channel)
        seen = [comings_and_goings(client, former.account) for client in (bob, carol)]
        alice = cast.exactly(former.account)
        await alice.login(stack.gateways[1])
        await insists(alice, "channel_join", name=channel)
        await barrier(alice, channel, alice, bob, carol)
        expected = [kinds + ["channel_user_leave", "channel_user_join"] for kinds in seen]
        assert [comings_and_goings(client, former.account) for client in (bob, carol)] == expected


async def test_while_postgres_is_away_only_attributes_fail(make_stack, people):
    stack = make_stack(gateways=2)
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        await alice.call("user_set_attr", name="mood", value="good")
        # Read once, it is cached, and the cache follows every change.
        assert (await bob.call("user_get_attr", account=alice.account, name="mood"))["value"] == "good"
        await asyncio.to_thread(stack.kill, "postgres")
        refused = await alice.attempt("user_set_attr", name="mood", value="bad")
        assert not refused.ok and refused.data["code"] == 1001, "an attribute is acknowledged only after its commit"
        other = unique("other")
        await alice.join(other)
        await bob.join(other)
        await alice.say(other, "still here")
        await bob.tell(alice.account, "me too")
        await eventually(lambda: "me too" in alice.texts(), "the instant message")
        await alice.act("invite", other, bob.account)
        await eventually(lambda: bob.calls("invite"), "the invitation")
        assert (await bob.call("user_get_attr", account=alice.account, name="mood"))["value"] == "good"
        await asyncio.to_thread(stack.start, "postgres")
        await insists(alice, "user_set_attr", name="mood", value="better")
        await eventually(
            lambda: stack.sql(f"select account from channel_member_list where channel = '{other}' order by 1")
            == sorted([[alice.account], [bob.account]]), "the mirror catches up", 30)
