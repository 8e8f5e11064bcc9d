"""Talks of many minutes, and thousands of joins: nothing is missing, nothing grows. Long: `make test-media-long`."""

import asyncio
import os
import sys
import time
from itertools import permutations

import pytest
from engine import Engine, join_arguments
from hearing import hears_right
from media_cast import Cast, cast_of
from media_socket import MediaSocket
from node_metrics import Forwarding, gauge, waited_seconds
from speech import Again, Live, spoken
from stack_control import Stack, resident_mebibytes, unique
from tone import TONES, Tone
from waiting import eventually, let_pass, paced, spaced

SECONDS = float(os.environ.get("HELIOGRAPH_TALK_SECONDS") or 600)
WARM_SECONDS = 10
# What comes and goes: a join and a leave each second, of guests who stay for two.
GUESTS, GUEST_UIDS, GUEST_STAYS = 3, 1_000, 2
# A fourth tone: guests are not listened to.
GUEST_TONE = 880
# The joins of a whole run, of which a shorter one makes its share; the first of them warm up.
JOINS, WARM_JOINS = 10_000, 500
# A socket may join five times in ten seconds.
JOINERS, JOINER_RATE = 120, 0.45
# The longest that a node may keep a packet: three packets' time.
KEPT_SECONDS = 0.06
# What a node waits for a processor in a second on a machine that is too busy to judge it.
WAITED_SECONDS = 0.04
# Of packets that are kept longer while thousands join, on any machine.
KEPT_SHARE = 0.02
# Of memory, against what it was after the warming.
GROWTH = 1.1
# A channel without participants is kept for 10 s, a participant without packets for 15 s.
IDLE_SECONDS = 30

pytestmark = pytest.mark.long


def memory(stack: Stack) -> dict[str, int]:
    """The resident memory of nodes and gateways, in MiB."""
    return {name: resident_mebibytes(pid) for name, pid in stack.pids.items() if name.startswith(("media#", "gateway#"))}


def did_not_grow(before: dict[str, int], after: dict[str, int], names: tuple[str, ...] = ("media#",)) -> None:
    print("MiB before and after: " + ", ".join(f"{name} {before[name]} {after[name]}" for name in before))
    for name in before:
        if name.startswith(names):
            assert after[name] <= before[name] * GROWTH, f"{name} grew from {before[name]} to {after[name]} MiB"


async def come_and_go(cast: Cast, channel: str, over: asyncio.Event) -> None:
    """Guests come and go, one each second, who say something meanwhile; until it is over."""
    frames = spoken(Tone(GUEST_TONE), 100)
    sockets = [await cast.socket() for _ in range(GUESTS)]

    async def visit(number: int) -> None:
        guest = await Engine(cast.stack.open_app, GUEST_TONE, sockets[number % GUESTS]).join(
            "", channel, GUEST_UIDS + number % GUESTS)
        guest.path.is_decoding = False
        guest.speak(Again(frames))
        await let_pass(GUEST_STAYS, "a guest is heard")
        await guest.leave()
        guest.path.close()

    async with asyncio.TaskGroup() as visits:
        async for number in spaced(sys.maxsize, 1):
            if over.is_set():
                break
            visits.create_task(visit(number))


async def test_a_long_talk(stack, media, visit):
    """Three engines and a page talk while others come and go: no packet is missing or kept, and memory stays as it was."""
    async with media as cast, visit(TONES[0]) as page:
        channel = unique("endurance")
        engines = [await cast.engine(channel) for _ in range(3)]
        for engine, tone in zip(engines, (*TONES[1:], 770), strict=True):
            engine.tone = tone
            engine.path.is_decoding = False
            engine.speak(Live(Tone(tone)))
        await page.join(stack.gateways[0], stack.open_app, channel)
        over = asyncio.Event()
        guests = asyncio.create_task(come_and_go(cast, channel, over))
        await watched(stack, WARM_SECONDS, guests)
        before, forwarding, began = memory(stack), await Forwarding.now(stack), time.monotonic()
        late = await watched(stack, SECONDS, guests)
        over.set()
        await guests
        pauses = {
            (one.tone, other.tone): one.path.voices[other.uid].longest_pause(began)
            for one, other in [*permutations(engines, 2), *((engine, page) for engine in engines)]}
        print(f"{SECONDS:.0f} s: {await forwarding.longer_than(KEPT_SECONDS)} of {await forwarding.count()} packets kept for more than "
              f"{KEPT_SECONDS} s; longest pause in a voice {max(pauses.values()):.3f} s; missing {[one.path.gaps for one in engines]}, "
              f"in the page {await page.lost()}")
        assert not late, f"seconds in which packets were kept, though the node had the time: {late}"
        assert [(one.path.gaps, one.path.repeats) for one in engines] == [(0, 0)] * 3
        assert await page.lost() == 0
        for engine in engines:
            engine.path.is_decoding = True
        everybody = [page, *engines]
        for one in engines:
            # The guests' voices were not decoded.
            await hears_right(one, [other for other in everybody if other is not one])
        did_not_grow(before, memory(stack))


async def watched(stack: Stack, seconds: float, guests: asyncio.Task) -> list[str]:
    """Lets the talk go on while guests come; the seconds in which the node kept packets for too long.

    Those in which it had to wait for a processor are only printed: that is the machine's doing.
    """
    late = []
    async for _ in paced(round(seconds), 1):
        assert not guests.done(), guests.exception()
        forwarding, waited = await Forwarding.now(stack), waited_seconds(stack.pids["media#1"])
        await let_pass(0.95, "packets are forwarded, and none is kept")
        waited = waited_seconds(stack.pids["media#1"]) - waited
        if kept := await forwarding.longer_than(KEPT_SECONDS):
            text = f"{kept} packets, while the node waited {waited:.3f} s for a processor"
            print(text)
            if waited < WAITED_SECONDS:
                late.append(text)
    return late


async def test_thousands_of_joins(stack):
    """Two talk while others join and leave by the hundred; nothing of these is left, and the two miss nothing."""
    async with cast_of(stack) as cast:
        channel = unique("endurance")
        ada, bob = await cast.engine(channel, TONES[0]), await cast.engine(channel, TONES[1])
        for one in (ada, bob):
            one.path.is_decoding = False
        sockets = [await cast.socket() for _ in range(JOINERS)]
        await join_and_leave(sockets, WARM_JOINS)
        before, forwarding, began = memory(stack), await Forwarding.now(stack), time.monotonic()
        count = max(WARM_JOINS, round(JOINS * min(1, SECONDS / 600)))
        await join_and_leave(sockets, count)
        lasted = time.monotonic() - began
        kept, packets = await forwarding.longer_than(KEPT_SECONDS), await forwarding.count()
        print(f"{count} joins and leaves in {lasted:.0f} s; {kept} of {packets} packets kept for more than {KEPT_SECONDS} s")
        assert kept <= packets * KEPT_SHARE and (ada.path.gaps, bob.path.gaps) == (0, 0)

        here: list[float] = []

        async def are_gone() -> bool:
            here[:] = [await gauge(stack, f"heliograph_media_{what}") for what in ("participants", "channels")]
            return here == [2, 1]

        try:
            await eventually(are_gone, "the two are the only ones left, in the only channel", IDLE_SECONDS)
        finally:
            print(f"participants, channels: {here}")
        did_not_grow(before, memory(stack), ("media#", "gateway#"))


async def join_and_leave(sockets: list[MediaSocket], count: int) -> None:
    """So many joins, each in a channel of its own, each followed by a leave."""
    await asyncio.gather(*(
        _join_and_leave(socket, count // len(sockets) + (number < count % len(sockets))) for number, socket in enumerate(sockets)))


async def _join_and_leave(socket: MediaSocket, count: int) -> None:
    # The first turn is for the joins before.
    async for number in spaced(count + 1, JOINER_RATE):
        if number == 0:
            continue
        arguments = join_arguments(unique("joins"))
        answer = await socket.call("media.join", **arguments)
        await socket.call("media.leave", channel=arguments["channel"], pid=answer["pid"])
