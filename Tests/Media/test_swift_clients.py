"""The Swift client talks with itself, with the tests' engine, and through a bad network."""

import math
import time
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from dynamic_key import Grant, dynamic_key
from media_cast import Cast
from stack_control import unique
from swift_client import SwiftClient, seconds
from tone import ABSENT, CLEAR, PERIOD, RATE, TONES, last_part, level, power, snr
from waiting import eventually

# Against the rest, at 32 kbit/s, in dB.
CLEAR_AT_32 = 34
# As `hearing.py` says of pages.
CLEAR_SECONDS = 20


@asynccontextmanager
async def clients(cast: Cast, directory: Path, *tones: int, **more: object) -> AsyncIterator[list[SwiftClient]]:
    """Swift clients in one channel, each with a tone, 0 for none."""
    channel, present = unique("swift"), []
    try:
        for number, tone in enumerate(tones, 1):
            client = SwiftClient(directory, tone)
            present.append(client)
            gateway = cast.stack.gateways[number % len(cast.stack.gateways)]
            await client.join(gateway, cast.stack.open_app, channel, uid=number, volumes=200, **more)
        for client in present:
            client.channel = channel
        yield present
    finally:
        for client in present:
            await client.close()


def clearness(pcm: array, tones: tuple[int, ...]) -> float:
    """These tones against all the rest, in dB."""
    signal = sum(power(pcm, tone) for tone in tones)
    rest = sum(sample * sample for sample in pcm) / len(pcm) - signal
    return 10 * math.log10(signal / max(rest, signal * 1e-12)) if signal else -150.0


async def hears_clearly(client: SwiftClient, tones: tuple[int, ...], clear: float) -> None:
    """Waits for one second in which it hears these tones, and neither its own nor anything else."""

    def is_clear() -> bool:
        pcm = client.heard()
        part = pcm[-RATE:]
        return len(part) == RATE and clearness(part, tones) >= clear \
            and (not client.tone or level(part, client.tone) <= ABSENT)

    assert RATE % PERIOD == 0
    await eventually(is_clear, f"{client.tone} Hz hears {tones} with {clear} dB", CLEAR_SECONDS)


async def test_three_swift_clients_hear_each_other(media, tmp_path):
    async with media as cast, clients(cast, tmp_path, *TONES, bits=96_000) as present:
        for client in present:
            await hears_clearly(client, tuple(tone for tone in TONES if tone != client.tone), CLEAR)
        ada, bob, carl = present
        # A tone of -15.2 dBov is 190 of 255.
        volumes = dict(pair.split(":") for pair in (await ada.line("volumes ", 8)).split()[2:])
        assert {uid: round(int(volume), -1) for uid, volume in volumes.items()} == {"0": 190, "2": 190, "3": 190}
        assert "lost=0" in await ada.line("statistics ")
        # Who left is not heard any more, and the others know.
        assert (await carl.leave()).startswith("ended by leaving seconds=")
        await ada.line("user 3 left quit")
        await bob.line("user 3 left quit")
        await hears_clearly(ada, TONES[1:2], CLEAR)


async def test_a_tone_at_32_kbit_s(media, tmp_path):
    async with media as cast, clients(cast, tmp_path, 0, TONES[0], bits=32_000) as (listener, _):
        await hears_clearly(listener, TONES[:1], CLEAR_AT_32)


async def test_a_swift_client_and_an_engine(media, tmp_path):
    async with media as cast, clients(cast, tmp_path, TONES[0], bits=96_000) as (client,):
        engine = await cast.engine(client.channel, TONES[1], uid=9)
        await client.line("user 9 joined")
        await hears_clearly(client, TONES[1:2], CLEAR)
        await eventually(
            lambda: (voice := engine.path.voices.get(1)) and len(voice.pcm) >= 2 * RATE
            and snr(voice.pcm[-RATE:], TONES[0]) >= CLEAR,
            "the engine hears the client")
        # Mutes: of the other, of the client itself, and of the other for the client.
        await engine.mute(audio=1)
        await client.line("user 9 muted")
        await engine.mute(audio=0)
        await client.line("user 9 unmuted")
        await client.act("mute")
        await engine.event("state", uid=1, flags=1)
        await client.act("mute 9")
        before = seconds(client.heard())
        await eventually(lambda: seconds(client.heard()) >= before + 2, "two seconds pass")
        assert level(client.heard()[-RATE // 2 // PERIOD * PERIOD:], TONES[1]) <= ABSENT
        await client.act("unmute")
        await engine.event("state", uid=1, flags=0)


async def test_a_swift_client_and_a_page(media, visit, tmp_path):
    async with media as cast, clients(cast, tmp_path, TONES[0], bits=96_000) as (client,), visit(TONES[1]) as page:
        await page.join(cast.stack.gateways[0], cast.stack.open_app, client.channel)
        await client.line(f"user {page.uid} joined")
        await hears_clearly(client, TONES[1:2], CLEAR)

        async def page_hears() -> bool:
            voice = (await page.voices()).get(1)
            return voice is not None and snr(last_part(voice), TONES[0]) >= CLEAR

        await eventually(page_hears, "the page hears the client", CLEAR_SECONDS)


async def test_a_key_that_ends_is_renewed(media, tmp_path):
    async with media as cast:
        channel, app = unique("swift"), cast.stack.token_app
        client = SwiftClient(tmp_path, TONES[0])
        engine = await cast.engine(channel, 0, 9, app, key=dynamic_key("004", app, channel, 9))
        try:
            key = dynamic_key("004", app, channel, 1, Grant(expiry=int(time.time()) + 4))
            await client.join(cast.stack.gateways[0], app, channel, uid=1, key=key)
            await eventually(lambda: 1 in engine.path.voices, "the client is heard")
            await client.line("key expired")
            before = engine.path.voices[1].packets
            await client.act(f"renew {dynamic_key('004', app, channel, 2)}")
            await client.line("key refused wrong_key (110)")
            await client.act(f"renew {dynamic_key('004', app, channel, 1)}")
            await client.line("key renewed")
            await eventually(lambda: engine.path.voices[1].packets >= before + 50, "the client is heard again")
            assert not engine.told("left")
        finally:
            await client.close()


async def test_refusals_have_their_codes(media, tmp_path):
    async with media as cast:
        for channel, app, code in (("room*", cast.stack.open_app, 102), ("room", cast.stack.token_app, 110)):
            client = SwiftClient(tmp_path)
            await client.start(cast.stack.gateways[0], app, channel)
            assert f"({code})" in await client.ended()
