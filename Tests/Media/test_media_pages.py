"""Pages of Chromium hear each other's tones, and engines and pages hear each other; how long a page takes to come in.

What they say must be clear for one second within CLEAR_SECONDS (`hearing.py` says why not always), and no packet may be lost at any time.
"""

import statistics
import time
from contextlib import AsyncExitStack

import pytest
from hearing import hears_right
from media_page import MediaPage
from node_metrics import Drops
from rough_network import node_of, rough_network
from stack_control import unique
from tone import TONES
from waiting import before_next_try, eventually

JOINS = 20
# From the request to join until the page is connected, in milliseconds: on a machine that does other things, and on one that does not.
BUSY_MS, QUIET_MS = 1000, 50
# A page that does not know of a new address checks its path each 2.5 s, and is heard from there on.
MOVE_SECONDS = 3


async def test_pages_hear_each_other(stack, visit):
    async with AsyncExitStack() as stacked:
        channel = unique("pages")
        pages = [await stacked.enter_async_context(visit(tone)) for tone in TONES]
        for page in pages:
            await page.join(stack.gateways[0], stack.open_app, channel)
        for page in pages:
            await hears_right(page, [other for other in pages if other is not page])
        assert [await page.lost() for page in pages] == [0, 0, 0]


async def test_pages_and_engines_hear_each_other(stack, media, visit):
    async with media as cast, visit(TONES[0]) as page:
        channel = unique("pages")
        bob = await cast.engine(channel, TONES[1])
        await page.join(stack.gateways[1], stack.open_app, channel)
        cyd = await cast.engine(channel, TONES[2])
        all_three = [page, bob, cyd]
        for one in all_three:
            await hears_right(one, [other for other in all_three if other is not one])
        for engine in (bob, cyd):
            assert (engine.path.gaps, engine.path.repeats) == (0, 0), "packets are missing, or came twice"


async def test_a_page_may_change_its_address(stack, media, visit):
    """A router on its way gives it another one, of which the page knows nothing: its next check moves both directions."""
    async with rough_network(node_of(stack), 7) as network, media as cast, visit(TONES[0]) as page:
        channel = unique("pages")
        bob = await cast.engine(channel, TONES[1])
        await page.join(stack.gateways[0], stack.open_app, channel, through=network.address)
        await eventually(lambda: page.uid in bob.path.voices, "the engine hears the page")
        assert await longest_pause(page, 0.5) < MOVE_SECONDS / 3
        drops, moved = await Drops.now(stack), time.monotonic()
        await network.move()
        pause = await longest_pause(page, MOVE_SECONDS + 0.5)
        there = bob.path.voices[page.uid].longest_pause(moved - 0.1)
        print(f"after a change of address, the page heard nothing for {pause:.2f} s, and was not heard for {there:.2f} s")
        assert there < MOVE_SECONDS and pause < MOVE_SECONDS
        assert await drops.more("stranger") > 0, "its address was known before"
        assert await page.page.evaluate("states") == ["connecting", "connected"]
        assert [event.type for event in bob.told("joined", "left", "state")] == ["joined"]
        assert [event["t"] for event in await page.told("joined", "left", "state", "gone", "moved")] == []


async def longest_pause(page: MediaPage, seconds: float) -> float:
    """The longest time without a packet to the page within the next seconds."""
    began = last = time.monotonic()
    longest, received = 0.0, await page.received()
    while time.monotonic() < began + seconds:
        await before_next_try(0.05)
        if (count := await page.received()) > received:
            last, received = time.monotonic(), count
        longest = max(longest, time.monotonic() - last)
    return longest


async def join_times(stack, visit, count: int) -> list[tuple[float, float]]:
    """For so many pages one after another, the milliseconds from the request to join until the answer, and until the connection."""
    times = []
    for number in range(count):
        async with visit(TONES[0]) as page:
            await page.join(stack.gateways[number % 2], stack.open_app, unique("pages"))
            times.append((await page.answered_after(), await page.connected_after()))
    return times


def reported(times: list[tuple[float, float]]) -> float:
    """Prints what was measured; the 95th percentile until the connection."""
    p95 = 0.0
    for name, values in zip(("answered", "connected"), map(sorted, zip(*times, strict=True)), strict=True):
        p95 = statistics.quantiles(values, n=20, method="inclusive")[-1]
        print(f"{len(values)} joins of a page, from the request until {name}: median {statistics.median(values):.0f} ms, "
              f"p95 {p95:.0f} ms, longest {values[-1]:.0f} ms")
    return p95


async def test_a_page_comes_in_at_once(stack, visit):
    assert reported(await join_times(stack, visit, JOINS)) <= BUSY_MS


@pytest.mark.long
async def test_a_page_comes_in_within_the_bar(stack, visit):
    """On a machine that does nothing else, with release programs."""
    await join_times(stack, visit, 3)
    assert reported(await join_times(stack, visit, 2 * JOINS)) <= QUIET_MS
