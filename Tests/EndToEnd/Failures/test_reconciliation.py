"""The cluster repairs by itself what a gateway has missed or Redis has forgotten."""

import asyncio
import os
import signal
import subprocess

from answers import LoginRefused
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually

HEALED_SECONDS = 15


async def logs_in_while_nobody_hears(stack: Stack, client: Client, url: str) -> None:
    """Logs in while all subscriptions are cut again and again for a second, so that nobody receives the kick of the older session.

    An answer can be lost with the kick: the client is told `timeout` then, and logs in again, as people do.
    """
    login = asyncio.create_task(client.login(url))
    again_and_again = "timeout 1 bash -c 'while sleep 0.005; do echo CLIENT KILL TYPE pubsub; done'"
    cuts = "".join(f"{again_and_again} | redis-cli -u {url} & " for url in stack.redis_urls) + "wait"
    await asyncio.to_thread(subprocess.run, ["bash", "-c", cuts], check=True, capture_output=True)
    try:
        await login
    except LoginRefused as refused:
        assert refused.error == "timeout"
        await client.login(url)


async def test_a_missed_kick_is_made_up_for(make_stack, people):
    stack = make_stack(gateways=2)
    async with people(stack) as cast:
        first, = await cast.login("alice", gateway=0)
        second = cast.exactly(first.account)
        await logs_in_while_nobody_hears(stack, second, stack.gateways[1])
        await eventually(first.closed.is_set, "the close of the older login", HEALED_SECONDS)
        assert first.close_frame == "kick"
        bob, = await cast.login("bob", gateway=0)
        await bob.tell(second.account, "to the newer one")
        await eventually(lambda: "to the newer one" in second.texts(), "the message")


async def test_a_frozen_gateway_brings_what_was_sent_meanwhile(make_stack, people):
    stack = make_stack(gateways=2)
    async with people(stack) as cast:
        alice, = await cast.login("alice", gateway=0)
        bob, = await cast.login("bob", gateway=1)
        name = stack.endpoints["gateways"][0]["name"]
        os.kill(stack.pids[name], signal.SIGSTOP)
        try:
            account = f"account = '{alice.account}'"
            await eventually(
                lambda: asyncio.to_thread(lambda: stack.sql(f"select state from online_users where {account}") == [["detached"]]),
                "the session counts as detached from its frozen gateway", 30)
            await bob.tell(alice.account, "meanwhile")
        finally:
            os.kill(stack.pids[name], signal.SIGCONT)
        await eventually(lambda: "meanwhile" in alice.texts(), "the message of the frozen time", HEALED_SECONDS)
        assert not alice.closed.is_set()
        assert (await bob.call("user_query_user_status", account=alice.account))["status"] == 1


async def test_a_ghost_of_a_session_goes(make_stack, people):
    """Redis has forgotten a logout: it holds a session at a living gateway that does not know it."""
    stack = make_stack(gateways=1)
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob", gateway=0)
        await alice.call("user_set_attr", name="_conn_timeout", value="20")
        user = stack.user_prefix(alice.account)
        bucket = user[:user.index("}") + 1]
        name = user.removeprefix(bucket)
        # In the same slot of a cluster.
        kept = f"{bucket}kept"
        key, route = next(
            (key, route) for key in stack.redis_keys(f"{bucket}r:*")
            for route in stack.redis("SMEMBERS", key).splitlines() if route.endswith(f" {name}"))
        stack.redis("COPY", f"{user}:session", kept)
        await alice.logout()
        stack.redis("COPY", kept, f"{user}:session")
        stack.redis("SADD", key, route)
        stack.redis("DEL", kept)
        assert (await bob.call("user_query_user_status", account=alice.account))["status"] == 1
        # A gateway that lost its subscriptions compares its sessions with those in Redis.
        stack.redis_everywhere("CLIENT", "KILL", "TYPE", "pubsub")

        async def is_gone() -> bool:
            return (await bob.call("user_query_user_status", account=alice.account))["status"] == 0
        await eventually(is_gone, "the ghost is gone", 45)


async def test_a_second_login_harms_nothing(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice", gateway=0)
        await alice.send("line_login", {"line": alice.line})
        await eventually(lambda: any(frame[0] == "line_login_ret" for frame in alice.other_frames), "the refusal")
        before = len([frame for frame in alice.frames if frame[0] == "login_ret"])
        await alice.send("login", {"vid": alice.app.id, "account": unique("other"), "uid": 0, "token": alice.token, "device": "x"})
        await eventually(lambda: len([frame for frame in alice.frames if frame[0] == "login_ret"]) > before, "the refusal")
        await alice.tell(alice.account, "still here")
        await eventually(lambda: "still here" in alice.texts(), "the message")


async def test_a_close_frame_and_a_resume(stack: Stack, people):
    """A client that leaves with a close frame and resumes at the same gateway at once stays online."""
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob", gateway=0)
        for turn in range(5):
            line = alice.line
            former = alice._socket
            closing = asyncio.create_task(former.close())
            await alice.resume(stack.gateways[0])
            await closing
            assert alice.line == line
            await bob.tell(alice.account, f"turn {turn}")
            await alice.call("user_getmsg", ver_clear=0, max=30)
        assert stack.redis("HGET", f"{stack.user_prefix(alice.account)}:session", "state") == "online"
