"""What users of media channels notice when Redis, a gateway or a media node fails: two of each, on a cluster that is broken here."""

import asyncio
import time
import uuid
from collections.abc import Callable, Iterator

import pytest
from engine import Engine, join_arguments
from fixtures import running
from media_cast import Cast, cast_of
from media_socket import MediaRefused, MediaSocket
from stack_control import Stack, unique
from swift_client import SwiftClient
from tone import RATE, TONES, last_part, level
from waiting import before_next_try, eventually, let_pass

# Of silence that nobody calls a gap: what fails must not be heard.
GAP_SECONDS = 0.25
# From the death of a node until its channels are heard at another one.
NODE_SECONDS = 5
RETRY_SECONDS = 0.5
# The same for Swift clients, which also pause between their attempts.
SWIFT_SECONDS = 15
# Of a tone that is there, in dB of full scale.
HEARD = -30
# How long a node is listed that says nothing.
LEASE_SECONDS = 3
# How old a gateway's list of nodes may be, and some more.
LISTED_SECONDS = 2
# Until all processes have found Redis again.
REDIS_SECONDS = 15
# Why a join may fail that would succeed a little later.
AGAIN = {"no_node": 103, "node_unreachable": 104, "moved": 107, "draining": 107, "timeout": 10}
UIDS = (7, 8)


@pytest.fixture(scope="module")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    with running(request, gateways=2, media=2) as stack:
        yield stack


async def two_who_talk(cast: Cast, channel: str, **more: object) -> tuple[Engine, Engine]:
    """One on each gateway."""
    ada, bob = [await cast.engine(channel, tone, uid, **more) for tone, uid in zip(TONES, UIDS, strict=False)]
    await asyncio.gather(ada.hears(bob, 0.3), bob.hears(ada, 0.3))
    return ada, bob


def nobody_noticed(one: Engine, other: Engine, since: float) -> None:
    """The two have heard each other without a gap, and were told nothing."""
    for listener, speaker in ((one, other), (other, one)):
        pause = listener.path.voices[speaker.uid].longest_pause(since - 0.1)
        assert pause <= GAP_SECONDS, f"{listener.uid} heard nothing of {speaker.uid} for {pause:.2f} s"
        assert (listener.path.gaps, listener.path.repeats) == (0, 0)
        assert not listener.told("gone", "left")


async def join_until_in(cast: Cast, engine: Engine, seconds: float, **more: object) -> Engine:
    """Joins under the same uid on the same socket as a client does: again and again, and elsewhere than where nobody has answered."""
    deadline, avoid = time.monotonic() + seconds, []
    while True:
        asked = time.monotonic()
        try:
            return await cast.engine(engine.channel, engine.tone, engine.uid, socket=engine.socket, avoid=avoid, **more)
        except MediaRefused as refused:
            assert AGAIN.get(refused.reason) == refused.code, refused
            assert time.monotonic() < deadline, f"after {seconds} s still {refused}"
            print(f"{refused.reason} after {time.monotonic() - asked:.1f} s")
            if refused.reason == "node_unreachable":
                avoid = [engine.answer["node"]]
            await before_next_try(RETRY_SECONDS)


def node_name(stack: Stack, engine: Engine) -> str:
    """The member of the stack that an engine's media go to."""
    address = (engine.path.address.host, engine.path.address.port)
    return next(node["name"] for node in stack.endpoints["media"] if (node["host"], node["port"]) == address)


# Redis


@pytest.mark.parametrize(("away", "back"), [
    (Stack.freeze_redis, Stack.thaw_redis), (Stack.kill_redis, Stack.start_redis)], ids=["frozen", "killed"])
async def test_redis_away(stack, away: Callable[[Stack], None], back: Callable[[Stack], None]):
    """Those who talk notice nothing; who wants to join is told to try again, and succeeds when Redis is back."""
    async with cast_of(stack) as cast:
        ada, bob = await two_who_talk(cast, unique("redis"))
        socket = await cast.socket()
        moment = time.monotonic()
        await asyncio.to_thread(away, stack)
        try:
            asked = time.monotonic()
            reply = await socket.attempt("media.join", **join_arguments(ada.channel))
            print(f"{reply.error} after {time.monotonic() - asked:.1f} s")
            assert AGAIN.get(reply.error) == reply.data["code"], reply
            await let_pass(max(0, LEASE_SECONDS + 1 - (time.monotonic() - moment)), "the nodes' leases end, and nobody hears of it")
        finally:
            await asyncio.to_thread(back, stack)
        first, cyd = Engine(stack.open_app, 0, socket), Engine(stack.open_app, TONES[2], await cast.socket())
        cast.opened += [first, cyd]
        await came_in(first, unique("redis"))
        # Nodes list themselves again one after another, and gateways place channels at those that are listed.
        await let_pass(LISTED_SECONDS, "both nodes are listed again")
        await came_in(cyd, ada.channel)
        await asyncio.gather(cyd.hears(ada, 0.3), cyd.hears(bob, 0.3), ada.hears(cyd, 0.3), bob.hears(cyd, 0.3))
        nobody_noticed(ada, bob, moment)
        assert cyd.path.address.port == ada.path.address.port, "the channel is at another node"


async def test_redis_comes_back_empty(stack):
    """Those who talk notice nothing, and who joins afterwards finds them where they are."""
    async with cast_of(stack) as cast:
        ada, bob = await two_who_talk(cast, unique("redis"))
        moment = time.monotonic()
        await asyncio.to_thread(stack.run, "empty", "redis")
        cyd = Engine(stack.open_app, TONES[2], await cast.socket())
        cast.opened.append(cyd)
        await came_in(cyd, ada.channel)
        await asyncio.gather(cyd.hears(ada, 0.3), cyd.hears(bob, 0.3), ada.hears(cyd, 0.3), bob.hears(cyd, 0.3))
        nobody_noticed(ada, bob, moment)
        assert cyd.path.address.port == ada.path.address.port, "the channel is at another node"
        assert set(cyd.members()) == {ada.uid, bob.uid} and cyd.n == ada.n + 2
        # Events go on too. The join's own may have been published before a gateway's subscription was back: the
        # statistics tell by their number that something is missing.
        for one in (ada, bob):
            await learns_of(one, cyd)


async def learns_of(one: Engine, other: Engine) -> None:
    """Waits until the other's join is told, or a number of statistics after which the roster has it."""

    def told() -> bool:
        return any(event.n == other.n for event in one.told("joined"))

    def told_of_more() -> bool:
        return any(event.n >= other.n for event in one.told("stats"))

    await eventually(lambda: told() or told_of_more(), f"{one.uid} is told of {other.uid}")
    if not told():
        roster = await one.resume()
        assert roster["n"] >= other.n and other.uid in [uid for uid, _, _ in roster["users"]]


async def came_in(engine: Engine, channel: str) -> None:
    """Joins until it is let in."""
    started = time.monotonic()

    async def is_in() -> bool:
        try:
            await engine.join("", channel)
        except MediaRefused as refused:
            assert refused.reason in (*AGAIN, "rate_limited"), refused
            await before_next_try(RETRY_SECONDS)
            return False
        return True

    await eventually(is_in, "a join succeeds", REDIS_SECONDS)
    print(f"joined {time.monotonic() - started:.1f} s after Redis was back")


# Gateways


async def test_a_gateway_is_killed(stack):
    """Media go on; control goes on by the other gateway, with what was missed."""
    async with cast_of(stack) as cast:
        channel = unique("gateway")
        ada, bob = await two_who_talk(cast, channel)
        moment = time.monotonic()
        try:
            await asyncio.to_thread(stack.kill, "gateway#1")
            await eventually(ada.socket.closed.is_set, "the socket is closed")
            await bob.mute(video=1)
            other = MediaSocket(stack.open_app)
            cast.opened.append(other)
            await other.open(stack.gateways[1])
            answer = await ada.resume(other)
            assert {uid: flags for uid, flags, _ in answer["users"]} == {ada.uid: 0, bob.uid: 2}
            await bob.mute(video=0)
            assert (await ada.event("state")).n == answer["n"] + 1
            await asyncio.gather(ada.hears(bob, 0.3), bob.hears(ada, 0.3))
            nobody_noticed(ada, bob, moment)
            await ada.leave()
            assert (await bob.event("left"))["reason"] == "quit"
        finally:
            await asyncio.to_thread(stack.start, "gateway#1")


# Nodes


async def test_a_node_is_stopped(stack):
    """It tells its participants that they are over; they join again at once, at the other node."""
    async with cast_of(stack) as cast:
        ada, bob = await two_who_talk(cast, unique("node"))
        name = node_name(stack, ada)
        stopping = asyncio.create_task(asyncio.to_thread(stack.drain, name))
        try:
            assert [(await one.event("gone"))["reason"] for one in (ada, bob)] == ["closed"] * 2
            gone = time.monotonic()
            for one in (ada, bob):
                one.path.end()
                one.path.forgive()
            again = [await join_until_in(cast, one, NODE_SECONDS) for one in (ada, bob)]
            await asyncio.gather(again[0].hears(again[1], 0.1), again[1].hears(again[0], 0.1))
            print(f"heard at the other node {time.monotonic() - gone:.1f} s after the end")
            assert node_name(stack, again[0]) != name
        finally:
            await stopping
            await asyncio.to_thread(stack.start, name)
            # Else each would place a channel of its own accord, and who joins over one would not hear who joins over the other.
            await let_pass(LISTED_SECONDS, "both gateways list it again")


async def test_swift_clients_come_back_when_their_node_dies(stack, tmp_path):
    """They notice it by silence, join at another node, hear each other again, and neither ends."""
    channel, pair = unique("swift"), [SwiftClient(tmp_path, tone) for tone in TONES[:2]]

    def hear_each_other() -> bool:
        return all(
            level(last_part(listener.heard(), 0.4), speaker.tone) > HEARD for listener, speaker in (pair, reversed(pair)))

    async with cast_of(stack) as cast:
        try:
            for uid, client in enumerate(pair, 1):
                await client.join(stack.gateways[uid - 1], stack.open_app, channel, uid=uid)
            await eventually(lambda: all(len(one.heard()) > RATE for one in pair), "a second was played")
            await eventually(hear_each_other, "they hear each other")
            engine = await cast.engine(channel, 0, 9)
            name = node_name(stack, engine)
            engine.forgive()
            await asyncio.to_thread(stack.kill, name)
            await eventually(lambda: not hear_each_other(), "the node is dead")
            await eventually(hear_each_other, "they hear each other again", SWIFT_SECONDS)
            for client in pair:
                assert not [line for line in client.lines if line.startswith(("ended", "lost"))], client.lines
        finally:
            for client in pair:
                await client.close()
        await asyncio.to_thread(stack.start, name)
        await let_pass(LISTED_SECONDS, "both gateways list it again")


async def test_a_node_is_killed(stack):
    """Its participants are told nothing; those who join again hear each other within five seconds, at the other node.

    The last test of this cluster: the node stays down.
    """
    async with cast_of(stack) as cast:
        channel, calls = unique("node"), [uuid.uuid4().hex for _ in UIDS]
        ada, bob = [
            await cast.engine(channel, tone, uid, call=call) for tone, uid, call in zip(TONES, UIDS, calls, strict=False)]
        await asyncio.gather(ada.hears(bob, 0.3), bob.hears(ada, 0.3))
        name = node_name(stack, ada)
        await asyncio.to_thread(stack.kill, name)
        killed = time.monotonic()
        for one in (ada, bob):
            # Its port is closed, which the system tells.
            one.path.end()
            one.path.forgive()
        again = await asyncio.gather(*(
            join_until_in(cast, one, NODE_SECONDS, call=call) for one, call in zip((ada, bob), calls, strict=True)))
        await asyncio.gather(again[0].hears(again[1], 0.1), again[1].hears(again[0], 0.1))
        lasted = time.monotonic() - killed
        print(f"heard at the other node {lasted:.1f} s after the kill")
        assert lasted <= NODE_SECONDS and node_name(stack, again[0]) != name
        assert not [event for one in (ada, bob) for event in one.socket.events if event.type in ("gone", "left")]
        assert again[0].n > ada.n
