"""Many messages, and members who read them slowly or not at all: nothing is lost, and the others do not wait."""

import asyncio

import pytest
from seccomp import IO_URING_SETUP, programs_without
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually
from web import metric

LARGE = "x" * 8000
MESSAGES = 2500  # 20 MB: more than the kernel keeps for a connection


async def say_all(sender: Client, channel: str, count: int, filler: str = "") -> None:
    """Says `0`, `1`, ... followed by the filler."""
    for start in range(0, count, 100):
        said = [sender.call("channel_sendmsg", name=channel, msg=f"{n} {filler}") for n in range(start, min(start + 100, count))]
        await asyncio.gather(*said)


def heard(client: Client) -> list[int]:
    return [int(event.content["msg"].split()[0]) for event in client.of_type("channel_msg")]


def rings(stack: Stack) -> float:
    return sum(metric(gateway["http"], "heliograph_gateway_rings") for gateway in stack.endpoints["gateways"])


def pause(client: Client) -> None:
    """The client reads nothing more from its socket."""
    client._socket.transport.pause_reading()


def go_on(client: Client) -> None:
    client._socket.transport.resume_reading()


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
        await eventually(lambda: len(heard(lazy)) == 2 * MESSAGES, "the lazy one catches up", 30)
        assert heard(lazy) == heard(eager) == 2 * list(range(MESSAGES))
        await eventually(lambda: all(heard(other) == heard(eager) for other in others), "so have the others")


async def test_a_kernel_that_refuses_the_ring(make_stack, people, monkeypatch, tmp_path):
    """Containers' seccomp profiles do: each send is a system call then."""
    monkeypatch.setenv("HELIOGRAPH_BIN", str(programs_without(IO_URING_SETUP, "gateway", tmp_path)))
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_EVENT_LOOPS", "3")
    stack = make_stack("--unlimited", gateways=1)
    channel = unique("room")
    async with people(stack) as cast:
        sender, *others = await cast.members(channel, "sender", *(f"other{n}" for n in range(9)))
        assert rings(stack) == 0
        told, = [line for line in (stack.directory / "logs" / "gateway#1.log").read_text().splitlines() if "no io_uring" in line]
        assert "Operation not permitted" in told
        await say_all(sender, channel, 50)
        await eventually(lambda: all(heard(other) == list(range(50)) for other in others), "all have all")


async def test_a_member_who_reads_nothing_is_cut_off_and_resumes(make_stack, people):
    stack: Stack = make_stack("--unlimited", gateways=1)
    channel = unique("room")
    async with people(stack) as cast:
        sender, eager, stuck = await cast.members(channel, "sender", "eager", "stuck")
        pause(stuck)
        await say_all(sender, channel, MESSAGES, LARGE)
        await eventually(lambda: len(heard(eager)) == MESSAGES, "the others do not wait", 30)
        go_on(stuck)
        await eventually(stuck.closed.is_set, "the stuck one was cut off", 30)
        assert heard(stuck) == list(range(len(heard(stuck)))), "what it received has no gaps"
        answer = await stuck.resume(stack.gateways[0])
        assert answer["resumed"]
        await sender.say(channel, "9999 again")
        await eventually(lambda: heard(stuck)[-1:] == [9999], "it is back in the channel")
