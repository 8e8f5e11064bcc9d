"""Engines hear each other's tones, and never their own."""

import asyncio
import uuid

import pytest
from engine import Engine
from hearing import NotHeard, hears_right
from stack_control import unique
from tone import ABSENT, CLEAR, TONES, last_part, level, snr


async def hear_each_other(*engines: Engine) -> None:
    """Waits until each has heard each other one for longer than is judged: an Opus decoder needs a moment to settle."""
    await asyncio.gather(*(one.hears(other, 1.3) for one in engines for other in engines if one is not other))


def judge(engine: Engine, others: list[Engine], tones: tuple[int, ...] = TONES) -> None:
    """Each of the others is heard clearly, from a stream that has its tone alone; nobody else is heard, and no packet is missing."""
    assert set(engine.path.voices) == {other.uid for other in others}
    assert (engine.path.gaps, engine.path.repeats) == (0, 0), "packets are missing, or came twice"
    for other in others:
        pcm = last_part(engine.heard(other))
        clear = snr(pcm, other.tone)
        assert clear >= CLEAR, f"{engine.tone} Hz hears {other.tone} Hz with {clear:.1f} dB"
        for tone in tones:
            beside = level(pcm, tone) - level(pcm, other.tone)
            assert tone == other.tone or beside <= ABSENT, f"{tone} Hz in {other.tone} Hz: {beside:.1f} dB"
    used = [slot.packets for slot in engine.path.slots.values() if slot.packets]
    assert len(used) == len(others), f"packets of slots: {used}"


async def test_two_engines_hear_each_other(media):
    async with media as cast:
        channel = unique("tones")
        ada, bob = await cast.engine(channel, TONES[0]), await cast.engine(channel, TONES[1])
        await hear_each_other(ada, bob)
        judge(ada, [bob])
        judge(bob, [ada])
        # The node says how their packets arrive.
        assert ada.path.reports and bob.path.reports


async def test_three_engines_hear_each_other(media):
    async with media as cast:
        channel = unique("tones")
        engines = [await cast.engine(channel, tone) for tone in TONES]
        await hear_each_other(*engines)
        for engine in engines:
            judge(engine, [other for other in engines if other is not engine])


async def test_channels_stay_apart(media):
    """Two channels whose speakers have the same uids; and a channel of the same name in another app."""
    async with media as cast:
        one, other = unique("tones"), unique("tones")
        stranger = cast.stack.create_app(uuid.uuid4().hex)
        rooms = [
            [await cast.engine(name, TONES[room - turn], 11 + turn, app) for turn in range(2)]
            for room, (name, app) in enumerate(((one, None), (other, None), (one, stranger)))]
        await asyncio.gather(*(hear_each_other(*room) for room in rooms))
        for room in rooms:
            judge(room[0], [room[1]])
            judge(room[1], [room[0]])


async def test_who_comes_later_is_heard_and_who_left_is_not(media):
    async with media as cast:
        channel = unique("tones")
        ada, bob = await cast.engine(channel, TONES[0]), await cast.engine(channel, TONES[1])
        await ada.hears(bob)
        await bob.leave()
        await ada.socket.event("left", uid=bob.uid)
        before = len(ada.heard(bob))
        cyd = await cast.engine(channel, TONES[2])
        await ada.hears(cyd, 1.3)
        assert len(ada.heard(bob)) == before
        assert snr(last_part(ada.heard(cyd)), cyd.tone) >= CLEAR
        assert bob.uid not in cyd.path.voices


async def test_who_is_not_heard_or_not_expected_is_told(media):
    """What `Scripts/demo-media` judges by."""
    async with media as cast:
        channel = unique("tones")
        ada, bob, cyd = [await cast.engine(channel, tone) for tone in TONES]
        assert {one.uid for one in await hears_right(ada, [bob, cyd])} == {bob.uid, cyd.uid}
        # Somebody who is not expected.
        with pytest.raises(NotHeard) as caught:
            await hears_right(ada, [bob], 0)
        assert [one.uid for one in caught.value.heard if not one.is_right] == [cyd.uid]
        # The tone of the one who listens.
        ada.tone, tone = bob.tone, ada.tone
        with pytest.raises(NotHeard) as caught:
            await hears_right(ada, [bob, cyd], 0)
        assert [one.uid for one in caught.value.heard if not one.is_right] == [bob.uid]
        ada.tone = tone
        # Somebody who says nothing.
        dan = await cast.engine(channel)
        with pytest.raises(NotHeard) as caught:
            await hears_right(ada, [bob, cyd, dan], 0)
        assert [one.uid for one in caught.value.heard if not one.is_right] == [dan.uid]
