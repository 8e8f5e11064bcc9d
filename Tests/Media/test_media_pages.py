"""Pages of Chromium hear each other's tones, and engines and pages hear each other."""

import asyncio
from contextlib import AsyncExitStack

from engine import Engine
from media_page import MediaPage
from stack_control import unique
from tone import ABSENT, CLEAR, TONES, last_part, level, snr
from waiting import eventually


async def hears_clearly(page: MediaPage, others: list[MediaPage | Engine]) -> None:
    """Waits until a page hears each of the others, from a slot that has its tone alone.

    A browser stretches what it plays while it learns how packets arrive, so the first seconds are less clear.
    """
    found: dict[int, float] = {}

    async def is_clear() -> bool:
        voices = await page.voices()
        for other in others:
            if other.uid in voices:
                found[other.uid] = round(snr(last_part(voices[other.uid]), other.tone), 1)
        return set(voices) == {other.uid for other in others} and min(found.values()) >= CLEAR

    try:
        await eventually(is_clear, "", 15)
    except AssertionError:
        expected = {other.uid: other.tone for other in others}
        raise AssertionError(f"the page with {page.tone} Hz should hear {expected}, with dB: {found}") from None
    own = [level(last_part(pcm), page.tone) for pcm in (await page.voices()).values()]
    assert max(own) <= ABSENT, f"its own {page.tone} Hz: {own}"


async def test_pages_hear_each_other(stack, visit):
    async with AsyncExitStack() as stacked:
        channel = unique("pages")
        pages = [await stacked.enter_async_context(visit(tone)) for tone in TONES]
        for page in pages:
            await page.join(stack.gateways[0], stack.open_app, channel)
        await asyncio.gather(*(hears_clearly(page, [other for other in pages if other is not page]) for page in pages))
        assert [await page.lost() for page in pages] == [0, 0, 0]


async def test_pages_and_engines_hear_each_other(stack, media, visit):
    async with media as cast, visit(TONES[0]) as page:
        channel = unique("pages")
        bob = await cast.engine(channel, TONES[1])
        await page.join(stack.gateways[1], stack.open_app, channel)
        cyd = await cast.engine(channel, TONES[2])
        await hears_clearly(page, [bob, cyd])
        for engine in (bob, cyd):
            await engine.hears(page, 1.3)
            pcm = last_part(engine.heard(page))
            assert snr(pcm, page.tone) >= CLEAR, f"{engine.tone} Hz hears the page with {snr(pcm, page.tone):.1f} dB"
            assert (engine.path.gaps, engine.path.repeats) == (0, 0)
