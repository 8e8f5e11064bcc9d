"""Pages of Chromium hear each other's tones, and engines and pages hear each other.

A page's tone is not clear all the time: Chromium's file microphone gives something else in its first seconds, and skips now and then,
which all who hear the page hear at the same time, though no packet is missing. A page also stretches what it plays while it learns how
packets arrive. So a tone must be clear for one second within CLEAR_SECONDS, and no packet may be lost at any time.
"""

import asyncio
from array import array
from contextlib import AsyncExitStack

from engine import Engine
from media_page import MediaPage
from stack_control import unique
from tone import ABSENT, CLEAR, RATE, TONES, last_part, level, snr
from waiting import eventually

CLEAR_SECONDS = 20


async def page_hears_clearly(page: MediaPage, others: list[MediaPage | Engine]) -> None:
    """Waits until a page hears each of the others, from a slot that has its tone alone."""
    heard: dict[int, array] = {}
    clear: dict[int, float] = {}

    async def is_clear() -> bool:
        heard.update(await page.voices())
        clear.update({other.uid: snr(last_part(heard[other.uid]), other.tone) for other in others if other.uid in heard})
        return len(clear) == len(others) and min(clear.values()) >= CLEAR

    try:
        await eventually(is_clear, "all are clear", CLEAR_SECONDS)
    except AssertionError:
        expected = {other.uid: other.tone for other in others}
        raise AssertionError(f"the page with {page.tone} Hz should hear {expected}, with dB: {clear}") from None
    # Neither itself nor anybody else.
    assert set(heard) == {other.uid for other in others}
    own = [level(last_part(pcm), page.tone) for pcm in heard.values()]
    assert max(own) <= ABSENT, f"its own {page.tone} Hz: {own}"


async def engine_hears_clearly(engine: Engine, page: MediaPage) -> None:
    """The same for an engine, which gets every packet."""

    # Asynchronous, so that it is tried ten times a second only: it takes time in which no engine sends.
    async def is_clear() -> bool:
        pcm = engine.heard(page)
        return len(pcm) > RATE and snr(last_part(pcm), page.tone) >= CLEAR

    await eventually(is_clear, f"{engine.tone} Hz hears the page's {page.tone} Hz clearly", CLEAR_SECONDS)
    assert (engine.path.gaps, engine.path.repeats) == (0, 0), "packets are missing, or came twice"
    assert engine.uid not in engine.path.voices


async def test_pages_hear_each_other(stack, visit):
    async with AsyncExitStack() as stacked:
        channel = unique("pages")
        pages = [await stacked.enter_async_context(visit(tone)) for tone in TONES]
        for page in pages:
            await page.join(stack.gateways[0], stack.open_app, channel)
        for page in pages:
            await page_hears_clearly(page, [other for other in pages if other is not page])
        assert [await page.lost() for page in pages] == [0, 0, 0]


async def test_pages_and_engines_hear_each_other(stack, media, visit):
    async with media as cast, visit(TONES[0]) as page:
        channel = unique("pages")
        bob = await cast.engine(channel, TONES[1])
        await page.join(stack.gateways[1], stack.open_app, channel)
        cyd = await cast.engine(channel, TONES[2])
        await page_hears_clearly(page, [bob, cyd])
        for engine in (bob, cyd):
            await engine_hears_clearly(engine, page)
