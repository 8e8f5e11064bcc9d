"""Who is heard where more speak than a receiver has slots: the loudest, from their first syllable on."""

import asyncio
import time

from engine import Engine
from speech import Again, Frame, Live, spoken
from stack_control import unique
from tone import CLEAR, FRAME, RATE, Noise, Tone, last_part, snr
from waiting import eventually, let_pass

SLOTS = 6
# In dBov: -15, -35, and -5 of a tone; -73 of noise.
LOUD, QUIET, LOUDEST = 8_000, 800, 26_000
ROOM_NOISE = 13
# A holder keeps its slot for one second.
SWITCH_SECONDS = 3
# Somebody who is 9 dB louder than all holders takes a slot after so long, with the last packets before.
SHOUT_SECONDS, SHOUT_LOST = 0.8, 20
FRAMES_PER_SECOND = RATE // FRAME
CALL_JOINS = 5


def heard_since(listener: Engine, moment: float) -> dict[int, int]:
    """By uid: the packets that came since then, of everybody who was heard."""
    counts = {uid: voice.since(moment) for uid, voice in listener.path.voices.items()}
    return {uid: count for uid, count in counts.items() if count}


async def speakers(cast, channel: str, tones: list[int], amplitude: int) -> list[Engine]:
    """Engines that say these tones, one each, and decode nothing."""
    engines = [await cast.engine(channel) for _ in tones]
    for engine, tone in zip(engines, tones, strict=True):
        engine.tone = tone
        engine.path.is_decoding = False
        engine.speak(Live(Tone(tone, amplitude)))
    return engines


async def test_the_loudest_six_of_ten_are_heard(media):
    """Ten speakers, and one who listens. The loudest take the slots of the others, and one who becomes louder takes one of theirs."""
    async with media as cast:
        channel = unique("speakers")
        ada = await cast.engine(channel)
        quiet = await speakers(cast, channel, [300, 350, 400, 450], QUIET)
        loud = await speakers(cast, channel, [500, 600, 700, 800, 900, 1_000], LOUD)
        wanted = {engine.uid for engine in loud}
        began = time.monotonic()
        await eventually(
            lambda: set(heard_since(ada, time.monotonic() - 0.3)) == wanted, "the loudest are heard, and nobody else",
            SWITCH_SECONDS)
        assert {uid for uid in heard_since(ada, began - 10)} >= {engine.uid for engine in quiet}
        await asyncio.gather(*(ada.hears(engine, 1.3) for engine in loud))
        for engine in loud:
            clear = snr(last_part(ada.heard(engine)), engine.tone)
            assert clear >= CLEAR, f"{engine.tone} Hz with {clear:.1f} dB"
        # Speakers hear five of the loudest besides themselves, and one of the others or none.
        assert all(heard_since(one, began)[other.uid] for one in loud for other in loud if one is not other)

        # One of the quiet ones raises its voice. Only its beginning is lost: it has to be louder for a while.
        bob = quiet[0]
        shouted, before, quietly = time.monotonic(), len(bob.path.said), ada.path.voices[bob.uid].packets
        bob.speak(Live(Noise(LOUDEST, 7)))
        await eventually(lambda: bob.uid in heard_since(ada, shouted), "the one who shouts is heard", SWITCH_SECONDS)
        assert ada.path.voices[bob.uid].times[quietly] - shouted < SHOUT_SECONDS
        await ada.hears(bob, 0.5)
        heard = ada.path.voices[bob.uid].payloads[quietly:]
        first = bob.path.said.index(heard[0])
        assert first - before < SHOUT_LOST and heard == bob.path.said[first:first + len(heard)]
        assert len(heard_since(ada, time.monotonic() - 0.3)) == SLOTS
        assert (ada.path.gaps, ada.path.repeats) == (0, 0)


async def test_a_first_syllable_is_not_clipped(media):
    """Eight are there, four speak: two slots are free. One who begins to speak is heard from its first packet on."""
    async with media as cast:
        channel = unique("speakers")
        ada = await cast.engine(channel)
        talking = await speakers(cast, channel, [500, 600, 700, 800], LOUD)
        room = spoken(Noise(ROOM_NOISE), 50)
        silent = [await cast.engine(channel) for _ in range(4)]
        for engine in silent:
            engine.speak(Again(room))
        bob = silent[0]
        # Those who are silent lose the slots that they had while there were enough.
        await eventually(lambda: all(len(engine.path.said) > 1.2 * FRAMES_PER_SECOND for engine in silent), "all send")
        await eventually(
            lambda: set(heard_since(ada, time.monotonic() - 0.3)) == {engine.uid for engine in talking},
            "only those are heard who speak", SWITCH_SECONDS)
        unheard = {bob.uid: 0} | {uid: voice.packets for uid, voice in ada.path.voices.items()}
        silence = len(bob.path.said)
        bob.speak(Again(spoken(Noise(LOUD, 5), 2 * FRAMES_PER_SECOND)))
        await eventually(lambda: bob.uid in ada.path.voices and ada.path.voices[bob.uid].packets > unheard[bob.uid] + 10, "it is heard")
        heard = ada.path.voices[bob.uid].payloads[unheard[bob.uid]:]
        # And what was just before it: three packets, with the one that took the slot.
        first = bob.path.said.index(heard[0], silence - 10)
        assert silence - 2 <= first < silence, f"the first packet that is heard is number {first - silence} of the speech"
        assert heard == bob.path.said[first:first + len(heard)]
        assert (ada.path.gaps, ada.path.repeats) == (0, 0)


async def test_sixty_who_are_unmuted_and_one_who_speaks(media):
    """Sixty microphones that are open in quiet rooms do not keep the one who speaks from being heard in full."""
    async with media as cast:
        channel = unique("speakers")
        room = spoken(Noise(ROOM_NOISE), 100)
        crowd: list[Engine] = []
        for _ in range(12):
            socket = await cast.socket()
            for _ in range(CALL_JOINS):
                crowd.append(await cast.engine(channel, socket=socket))
                crowd[-1].path.is_decoding = False
        for number, engine in enumerate(crowd):
            engine.speak(Again([Frame(frame.payload, frame.level) for frame in room[number:] + room[:number]]))
        await eventually(lambda: all(len(engine.path.said) > 1.2 * FRAMES_PER_SECOND for engine in crowd), "all send")
        await eventually(
            lambda: not any(heard_since(one, time.monotonic() - 0.3) for one in crowd),
            "those who are silent lose the slots that they had while there were enough")
        bob = await cast.engine(channel)
        bob.path.is_decoding = False
        said = spoken(Noise(LOUD), 2 * FRAMES_PER_SECOND)
        bob.speak(Again(said))
        began = time.monotonic()
        await eventually(
            lambda: all(bob.uid in one.path.voices and one.path.voices[bob.uid].packets >= len(said) for one in crowd),
            "all have heard two seconds of the one who speaks")
        for one in crowd:
            heard = one.path.voices[bob.uid].payloads[:len(said)]
            assert heard == [frame.payload for frame in said]
            assert set(heard_since(one, began + 0.2)) == {bob.uid}
            assert (one.path.gaps, one.path.repeats) == (0, 0)
