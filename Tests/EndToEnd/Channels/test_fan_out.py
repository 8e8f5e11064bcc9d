"""Many messages, and members who read them slowly or not at all: nothing is lost, and the others do not wait."""

import asyncio
import socket
import struct

import pytest
from seccomp import IO_URING_SETUP, programs_without
from server_api import ServerAPI, create_key
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually
from web import metric

LARGE = "x" * 8000
MESSAGES = 2500  # 20 MB: more than the kernel keeps for a connection
# How often each of those who reset their connections does so.
RESETS = 12
# So many that a write to all of them is followed by a pause of more than ten milliseconds.
CROWD = 200


async def say_all(sender: Client, channel: str, count: int, filler: str = "", first: int = 0) -> None:
    """Says the numbers from `first` on, each followed by the filler."""
    end = first + count
    for start in range(first, end, 100):
        said = [sender.call("channel_sendmsg", name=channel, msg=f"{n} {filler}") for n in range(start, min(start + 100, end))]
        await asyncio.gather(*said)


def heard(client: Client) -> list[int]:
    return [int(event.content["msg"].split()[0]) for event in client.of_type("channel_msg")]


def rings(stack: Stack) -> float:
    return sum(metric(gateway["http"], "heliograph_gateway_rings") for gateway in stack.endpoints["gateways"])


def slow_clients(stack: Stack) -> float:
    """How many clients were cut off because they did not read."""
    return sum(metric(gateway["http"], "heliograph_gateway_slow_clients_total") for gateway in stack.endpoints["gateways"])


def pause(client: Client) -> None:
    """The client reads nothing more from its socket."""
    client._socket.transport.pause_reading()


def go_on(client: Client) -> None:
    client._socket.transport.resume_reading()


def reset(client: Client) -> None:
    """The client's connection ends by a TCP reset, whatever is under way."""
    lingering = struct.pack("ii", 1, 0)
    client._socket.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, lingering)
    client.abort()


async def reset_often(client: Client, gateway: str) -> None:
    """Resets the client's connection as soon as an event has come by it, and resumes, again and again."""
    for _ in range(RESETS):
        before = len(client.events)
        await eventually(lambda b=before: len(client.events) > b, "an event by the new connection", 20)
        reset(client)
        assert (await client.resume(gateway))["resumed"]


async def test_an_unlimited_app_is_not_bounded_by_rates(make_stack, people):
    stack = make_stack("--unlimited", gateways=2)
    channel = unique("room")
    async with people(stack) as cast:
        sender, receiver = await cast.members(channel, "sender", "receiver")
        await say_all(sender, channel, 500)
        await asyncio.gather(*(sender.tell(receiver.account, f"note {n}") for n in range(200)))
        await eventually(lambda: len(heard(receiver)) == 500, "500 channel messages")
        assert heard(receiver) == list(range(500))
        await eventually(lambda: len(receiver.texts()) == 200, "200 instant messages")
        # The session keeps its rates when it resumes at another gateway.
        sender.abort()
        await sender.resume(stack.gateways[1])
        await say_all(sender, channel, 100)
        await eventually(lambda: len(heard(receiver)) == 600, "100 more")


@pytest.mark.parametrize("by_ring", [True, False])
async def test_a_member_who_pauses_gets_all_in_order(make_stack, people, monkeypatch, by_ring):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_SEND_BUFFER", str(64 << 20))
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_IO_URING", str(by_ring))
    stack = make_stack("--unlimited", gateways=1)
    channel = unique("room")
    async with people(stack) as cast:
        # As many as a ring is used for.
        sender, eager, lazy, *others = await cast.members(channel, "sender", "eager", "lazy", *(f"other{n}" for n in range(7)))
        assert (rings(stack) > 0) == by_ring
        pause(lazy)
        await say_all(sender, channel, MESSAGES, LARGE)
        await eventually(lambda: len(heard(eager)) == MESSAGES, "the others do not wait for the lazy one", 30)
        assert len(heard(lazy)) < MESSAGES
        # While it catches up its socket takes a little now and then: nothing new may overtake what waits.
        go_on(lazy)
        await say_all(sender, channel, MESSAGES)
        for client in (lazy, eager, *others):
            await eventually(lambda c=client: len(heard(c)) == 2 * MESSAGES, f"{client.account} has all", 30)
            assert heard(client) == 2 * list(range(MESSAGES))


async def test_a_kernel_that_refuses_the_ring(make_stack, people, monkeypatch, tmp_path):
    """Containers' seccomp profiles do: each send is a system call then."""
    monkeypatch.setenv("HELIOGRAPH_BIN", str(programs_without(IO_URING_SETUP, "gateway", tmp_path)))
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_EVENT_LOOPS", "3")
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_IO_URING", "true")
    stack = make_stack("--unlimited", gateways=1)
    channel = unique("room")
    async with people(stack) as cast:
        sender, *others = await cast.members(channel, "sender", *(f"other{n}" for n in range(9)))
        assert rings(stack) == 0
        told, = [line for line in (stack.directory / "logs" / "gateway#1.log").read_text().splitlines() if "no io_uring" in line]
        assert "Operation not permitted" in told
        await say_all(sender, channel, 50)
        await eventually(lambda: all(heard(other) == list(range(50)) for other in others), "all have all")


@pytest.mark.parametrize("by_ring", [True, False])
async def test_members_who_reset_their_connections_disturb_nobody(make_stack, people, monkeypatch, by_ring):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_IO_URING", str(by_ring))
    stack: Stack = make_stack("--unlimited", gateways=1)
    channel = unique("room")
    async with people(stack) as cast:
        # As many as a ring is used for, even when all of the others are away.
        sender, *_ = staying = await cast.members(channel, "sender", *(f"other{n}" for n in range(11)))
        restless = await cast.members(channel, *(f"restless{n}" for n in range(4)))
        assert (rings(stack) > 0) == by_ring
        said = 0
        async with asyncio.timeout(28):
            resets = asyncio.gather(*(reset_often(client, stack.gateways[0]) for client in restless))
            while not resets.done():
                assert said < MESSAGES, "the restless ones hear nothing of what is said meanwhile"
                # Not more at once, so that there are many resets in a short stream.
                await say_all(sender, channel, 20, LARGE, first=said)
                said += 20
            await resets
            # What came twice would have come before this.
            await sender.say(channel, f"{said} the last")
            await eventually(lambda: all(heard(client)[-1:] == [said] for client in staying), "the last message", 20)
        assert all(heard(client) == list(range(said + 1)) for client in staying)
        assert not any(client.closed.is_set() for client in staying), "nobody else was disconnected"
        assert (rings(stack) > 0) == by_ring, "no client makes the ring fail"


@pytest.mark.parametrize("by_ring", [True, False])
async def test_a_member_who_reads_nothing_is_cut_off_and_resumes(make_stack, people, monkeypatch, by_ring):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_IO_URING", str(by_ring))
    stack: Stack = make_stack("--unlimited", gateways=1)
    channel = unique("room")
    async with people(stack) as cast:
        # As many as a ring is used for.
        sender, eager, stuck, *others = await cast.members(channel, "sender", "eager", "stuck", *(f"other{n}" for n in range(7)))
        assert (rings(stack) > 0) == by_ring
        pause(stuck)
        await say_all(sender, channel, MESSAGES, LARGE)
        await eventually(lambda: len(heard(eager)) == MESSAGES, "the others do not wait", 30)
        assert slow_clients(stack) == 1
        go_on(stuck)
        await eventually(stuck.closed.is_set, "the stuck one was cut off", 30)
        assert heard(stuck) == list(range(len(heard(stuck)))), "what it received has no gaps"
        answer = await stuck.resume(stack.gateways[0])
        assert answer["resumed"]
        await sender.say(channel, "9999 again")
        await eventually(lambda: heard(stuck)[-1:] == [9999], "it is back in the channel")
        everything = [*range(MESSAGES), 9999]
        await eventually(lambda: all(heard(other) == everything for other in (sender, eager, *others)), "the others have all")
        assert (rings(stack) > 0) == by_ring, "no client makes the ring fail"


async def test_who_leaves_a_busy_channel_gets_what_was_said_before(make_stack, people, monkeypatch):
    """After a write to many members the gateway pauses, and gathers what is said meanwhile."""
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_CHANNEL_PAUSE", "250ms")
    stack: Stack = make_stack("--unlimited", gateways=1)
    api = ServerAPI(stack, create_key(stack)["key"])
    channel, other = unique("room"), unique("other")
    async with people(stack) as cast:
        sender, guest, *crowd = await cast.members(channel, "sender", "guest", *(f"other{n}" for n in range(CROWD)))
        for client in crowd:
            pause(client)

        async def is_removed() -> None:
            told = len(guest.of_type("channel_user_leave"))
            ban = ("apps", stack.open_app.id, "channels", channel, "bans", guest.account)
            assert api.put(*ban, body={"seconds": 60}).body["removed"]
            await eventually(lambda: len(guest.of_type("channel_user_leave")) > told, "it is told")
            api.delete(*ban)

        said = 0
        try:
            for leave in 5 * (lambda: guest.leave(channel), lambda: guest.join(other), is_removed):
                # The first one is written at once, the second one waits.
                await say_all(sender, channel, 1, first=said)
                await say_all(sender, channel, 1, first=said + 1)
                await leave()
                said += 2
                assert heard(guest) == list(range(said))
                await guest.join(channel)
        finally:
            for client in crowd:
                go_on(client)
        await eventually(lambda: all(heard(client) == list(range(said)) for client in crowd), "all have all, in order", 30)
