"""Redis comes back older than it was: what is acknowledged from then on arrives, once and in order."""

import asyncio

import pytest
from acts import insists
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually

BEFORE, LOST, AFTER = 5, 8, 20


async def tell_all(sender: Client, receiver: Client, channel: str, words: list[str]) -> None:
    """Sends each word to the user and to the channel, repeating what fails; both are acknowledged at the end."""
    for word in words:
        await insists(sender, "user_sendmsg", peer=receiver.account, flag="v1:E:3600", t="instant", content=word)
        await insists(sender, "channel_sendmsg", name=channel, msg=word)


def heard(client: Client) -> list[str]:
    return [event.content["msg"] for event in client.of_type("channel_msg")]


@pytest.mark.single_redis("the stack turns back a single server only")
async def test_messages_after_a_rollback_arrive(make_stack, people):
    stack: Stack = make_stack(gateways=2)
    channel = unique("room")
    before, lost, after = ([f"{kind} {n}" for n in range(count)] for kind, count in (
        ("before", BEFORE), ("lost", LOST), ("after", AFTER)))
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        await tell_all(alice, bob, channel, before)
        await eventually(lambda: bob.texts() == heard(bob) == before, "the messages before")
        await asyncio.to_thread(stack.run, "snapshot", "redis")
        # Bob sees and acknowledges these, then Redis forgets them: its versions and event ids fall behind those that he has seen.
        await tell_all(alice, bob, channel, lost)
        await eventually(lambda: bob.texts() == heard(bob) == before + lost, "the messages that Redis will forget")
        await asyncio.to_thread(stack.run, "rollback", "redis")
        await tell_all(alice, bob, channel, after)
        await eventually(lambda: {*after} <= {*bob.texts()} and {*after} <= {*heard(bob)}, "the messages after", 30)
        assert bob.texts() == heard(bob) == before + lost + after
        moves = alice.of_type("channel_user_leave") + bob.of_type("channel_user_leave")
        assert not moves and not alice.closed.is_set() and not bob.closed.is_set()
        # What bob has acknowledged does not come again at his next login.
        await bob.call("user_getmsg", ver_clear=bob.version, max=1)
        await bob.logout()
        again, = await cast.login("again", gateway=0)
        await again.tell(bob.account, "the last")
        back = await cast.exactly(bob.account).login(stack.gateways[0])
        await eventually(lambda: "the last" in back.texts(), "the message after the login")
        assert back.texts() == ["the last"]


async def test_mail_to_strangers_leaves_nothing(stack: Stack, people):
    prefix = unique("stranger")
    async with people(stack) as cast:
        alice, = await cast.login("alice", gateway=0)
        await asyncio.gather(*[
            alice.call("user_sendmsg", peer=f"{prefix}-{n}", flag="v1:E:1", t="instant", content="x") for n in range(20)])
        await eventually(lambda: not stack.redis_keys(f"*{prefix}*"), "nothing is kept of them", 20)
