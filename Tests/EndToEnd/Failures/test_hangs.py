"""A store hangs: it neither refuses nor answers. Users who do not need it go on; those who do get an error in time."""

import asyncio
import time

from acts import insists
from stack_control import unique
from waiting import eventually


async def test_a_hung_postgres_delays_nobody_who_does_not_need_it(make_stack, people):
    stack = make_stack(gateways=1)
    channel, fresh = unique("room"), unique("fresh")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.join(channel)
        await alice.call("channel_set_attr", channel=channel, name="a", value="1")
        await alice.call("user_set_attr", name="a", value="1")
        await bob.call("user_get_attr", account=alice.account, name="a")
        # A channel that nobody has joined yet, with attributes that are no longer cached in Redis.
        await alice.call("channel_set_attr", channel=fresh, name="x", value="1")
        for key in stack.redis_keys(f"*{fresh}*"):
            stack.redis("DEL", key)
        await asyncio.to_thread(stack.freeze, "postgres")
        try:
            # At each service, the first command that needs PostgreSQL waits for the time-out; later ones do not.
            first, _ = await asyncio.gather(
                alice.attempt("channel_set_attr", channel=channel, name="a", value="2"), bob.join(fresh))
            assert first.data["reason"] == "unavailable" and first.seconds < 4, first
            for name in ("channel_set_attr", "user_set_attr"):
                more = {"channel": channel} if name == "channel_set_attr" else {}
                reply = await alice.attempt(name, name="a", value="3", **more)
                assert reply.data["reason"] == "unavailable" and reply.seconds < 4, reply
            started = time.monotonic()
            again = cast.exactly(alice.account)
            await again.login(stack.gateways[0])
            assert time.monotonic() - started < 4, "a known user logs in"
            value = await bob.call("user_get_attr", account=alice.account, name="a")
            assert value["value"] == "1"
        finally:
            await asyncio.to_thread(stack.thaw, "postgres")
        # Bob joined without the attributes, and gets them as events.
        await eventually(
            lambda: [e.content["value"] for e in bob.of_type("channel_attr_update")] == ["1"], "the attribute", 30)
        await insists(again, "channel_set_attr", channel=channel, name="a", value="4")


async def test_a_channel_can_be_joined_after_its_subscription_failed(make_stack, people):
    stack = make_stack(gateways=1)
    old, new = unique("old"), unique("new")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.join(old)
        # The gateway unsubscribes from the old channel's topic and subscribes to the new one's, and gets no answer.
        move = asyncio.create_task(alice.attempt("channel_join", name=new, within=20))
        stack.freeze_redis()
        try:
            reply = await move
            assert not reply.ok or reply.seconds < 2
            refused = await bob.attempt("channel_join", name=old, within=20)
            assert not refused.ok
        finally:
            stack.thaw_redis()
        await insists(bob, "channel_join", name=old)
        await insists(bob, "channel_join", name=new)
        await insists(bob, "channel_sendmsg", name=new, msg="here")


async def test_logins_do_not_wait_for_those_whose_master_hangs(make_stack, people):
    """A gateway asks presence for so many logins at a time; one that is not answered gives its place away."""
    stack = make_stack("--redis", "cluster", gateways=1)
    async with people(stack) as cast:
        # The app is known.
        await cast.login("first")
        clients = [cast.make(f"user{number}") for number in range(300)]
        await asyncio.to_thread(stack.freeze, "redis#2")
        try:
            logins = [asyncio.create_task(client.login(stack.gateways[0])) for client in clients]
            # Two thirds of them are at other masters, which are more than would come in until those who wait had all places. Before a
            # replica takes over.
            await eventually(lambda: sum(login.done() for login in logins) >= 180, "the others are logged in", 3)
            assert sum(login.done() for login in logins) < 250, "those of the master wait"
        finally:
            await asyncio.to_thread(stack.thaw, "redis#2")
        await asyncio.gather(*logins)
