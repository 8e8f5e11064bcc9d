"""`HELIOGRAPH_REDIS_DURABILITY=replica`: what is acknowledged is in a replica."""

import asyncio

from signaling import Client
from stack_control import unique
from waiting import eventually


async def repeated(client: Client, function: str, **arguments) -> None:
    """Repeats the same call until it succeeds: the replica follows again a moment after it has been thawed."""
    async def succeeds() -> bool:
        return (await client.attempt(function, **arguments)).ok

    await eventually(succeeds, f"{function} succeeds")


async def test_without_its_replica_nothing_is_acknowledged(make_stack, people, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_REDIS_DURABILITY", "replica")
    stack = make_stack("--redis", "sentinel", gateways=1)
    channel = unique("room")
    async with people(stack) as cast:
        alice = cast.make("alice")
        # The message ids of clients that poll do not count.
        await alice.login(stack.gateways[0], push=1)
        await alice.join(channel)
        bob, = await cast.members(channel, "bob")
        carol, = await cast.login("carol")
        await alice.tell(bob.account, "before")
        await alice.act("invite", unique("before"), bob.account)
        await eventually(lambda: len(bob.calls("invite")) == 1, "the invitation")

        await asyncio.to_thread(stack.freeze, "redis#2")
        message = {"peer": bob.account, "flag": "v1:E:3600", "t": "instant", "content": "meanwhile", "messageID": "m"}
        refused, call, logout = await asyncio.gather(
            alice.attempt("user_sendmsg", **message),
            alice.attempt("voip_invite", within=12, channelName=unique("meanwhile"), peer=bob.account, extra=""),
            carol.attempt("user_logout", within=12))
        assert refused.data["reason"] == "unavailable" and 0.5 <= refused.seconds < 2, refused
        assert not call.ok and logout.data["reason"] == "unavailable", (call, logout)
        # Neither messages to channels nor joins and logins wait for replicas.
        await alice.say(channel, "no replica")
        await cast.members(channel, "dora")

        await asyncio.to_thread(stack.thaw, "redis#2")
        await repeated(alice, "user_sendmsg", **message)
        await alice.tell(bob.account, "after")
        await eventually(lambda: "after" in bob.texts(), "the last message")
        assert bob.texts() == ["before", "meanwhile", "after"], "once, though it was sent more often"
        await eventually(lambda: len(bob.calls("invite")) == 2, "the call whose outcome was unknown has begun")
    assert await asyncio.to_thread(kept_by, stack, "redis#2", bob.account), "the replica has what was acknowledged"


def kept_by(stack, node: str, account: str) -> bool:
    """Whether a server has the user's mailbox."""
    return bool(stack.redis("KEYS", f"{{*}}a:{stack.open_app.id}:u:{account}:box", node=node))
