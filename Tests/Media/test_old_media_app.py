"""An app that was written for the old media SDK, against a cluster: it hears and is heard, its callbacks come, and it leaves."""

import asyncio
import os
import re
import time
from array import array
from contextlib import AsyncExitStack

import pytest
from dynamic_key import Grant, dynamic_key
from engine import Engine
from old_app import old_app
from pipe_ends import pipe_ends
from stack_control import unique
from swift_client import hears_clearly, seconds, write_wav
from tone import ABSENT, CLEAR, PERIOD, RATE, TONES, last_part, level, snr
from waiting import eventually

# Of 255: a tone of -15.2 dBov has 190, and the app asks for a smooth rise.
LOUD = 100
VOLUME = re.compile(r"(\d+): (\d+)")
# What the SDK's engine sends has 32 kbit/s; against the rest, in dB.
CLEAR_AT_32 = 34
# Root may use every file, unless it gives that up.
OBEDIENT = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
IN, OUT = "HELIOGRAPH_AUDIO_IN", "HELIOGRAPH_AUDIO_OUT"
CALL_OVER = re.compile(r"\d+ s, [1-9]\d* bytes received, call over")


async def hears(engine: Engine, uid: int, tone: int) -> None:
    """Waits until the engine hears the app's tone for a second."""

    def is_clear() -> bool:
        voice = engine.path.voices.get(uid)
        return voice is not None and len(voice.pcm) >= RATE and snr(last_part(voice.pcm), tone) >= CLEAR_AT_32

    await eventually(is_clear, f"{uid} is heard")


async def test_a_call(media, tmp_path):
    """All that a screen of its time does: the channel, who is there and how loud, mutes, statistics, and hanging up."""
    async with media as cast, old_app(tmp_path, TONES[0]) as screen:
        channel, app = unique("old"), cast.stack.open_app
        await screen.open("call", cast.stack.gateways[0], app, channel)
        joined = re.fullmatch(rf"hint: joined {channel} as (\d+) in \d+ ms", await screen.line("hint: joined"))
        uid = int(joined[1])
        engine = await cast.engine(channel, TONES[1], uid=9)
        assert uid in engine.members()
        await screen.line("users: 9")
        await hears(engine, uid, TONES[0])
        await hears_clearly(screen, TONES[1:2], CLEAR)

        def is_loud() -> bool:
            volumes = [dict(VOLUME.findall(line)) for line in screen.lines if line.startswith("volume: ")]
            return any(volume.keys() == {"0", "9"} and min(map(int, volume.values())) >= LOUD for volume in volumes)

        await eventually(is_loud, "both are loud")
        await screen.line("speed: ")
        # Mutes: of the other, of the app itself, and of the other for the app.
        await engine.mute(audio=1)
        await screen.line("hint: 9 is muted")
        await engine.mute(audio=0)
        await screen.line("hint: 9 talks")
        await screen.act("mute")
        await engine.event("state", uid=uid, flags=1)
        await screen.act("unmute")
        await engine.event("state", uid=uid, flags=0)
        await screen.act("mute 9")
        before = seconds(screen.heard())
        await eventually(lambda: seconds(screen.heard()) >= before + 2, "two seconds pass")
        assert level(screen.heard()[-RATE // 2 // PERIOD * PERIOD:], TONES[1]) <= ABSENT
        # There is no video, which the app gets told as the SDK would.
        await screen.act("camera")
        await screen.line("hint: voice only")
        await engine.leave()
        await screen.line("hint: 9 left")
        assert screen.lines[screen.lines.index("hint: 9 left") - 1] == "users: "
        await screen.act("hang up")
        await screen.line("closed")
        # The statistics of the call, then its end.
        assert re.fullmatch(r"duration: \d+ s", screen.lines[-2]) and int(screen.lines[-2].split()[1]) >= 4, screen.lines
        assert await screen.finish() == 0


async def test_a_room_with_a_key(media, tmp_path):
    """An app of the later headers, whose key ends and is renewed."""
    async with media as cast, old_app(tmp_path, TONES[0]) as room:
        channel, app = unique("old"), cast.stack.token_app
        engine = await cast.engine(channel, TONES[1], 9, app, key=dynamic_key("004", app, channel, 9))
        ends = int(time.time()) + 4
        key = dynamic_key("004", app, channel, 1, Grant(expiry=ends))
        await room.open("room", cast.stack.gateways[1], app, channel, "1", key)
        assert re.fullmatch(rf"in {channel} as 1, call [0-9a-f]{{32}}", await room.line("in "))
        await room.line("hears 9: quality ")
        await room.line("a key is needed")
        assert "error 109" in room.lines and time.time() >= ends
        await room.act(f"key {dynamic_key('004', app, channel, 2)}")
        await room.line("error 110")
        await room.line("a key is needed", 2)
        before = engine.path.voices[1].packets
        await room.act(f"key {dynamic_key('004', app, channel, 1)}")
        await eventually(lambda: engine.path.voices[1].packets >= before + 50, "it is heard again")
        await hears_clearly(room, TONES[1:2], CLEAR)
        assert not engine.told("left")
        await room.act("exit")
        await engine.event("left", uid=1, reason="quit")
        await eventually(lambda: CALL_OVER.fullmatch(room.lines[-1]), f"the statistics are shown: {room.lines}")
        assert await room.finish() == 0


async def test_devices_that_cannot_be_used(media, tmp_path):
    """Each ends the attempt: with the code of what it fails at, then 1002; the app can hang up."""
    secret, text, slow = tmp_path / "secret", tmp_path / "text", tmp_path / "slow"
    text.write_text("no sound")
    write_wav(slow, array("h", [1, 2, 3]), 44_100)
    write_wav(secret, array("h", [1, 2, 3]))
    secret.chmod(0)
    nowhere = tmp_path / "no directory" / "file"
    cases = [(IN, secret, 9), (OUT, secret, 9), (IN, slow, 1007), (OUT, nowhere, 1008), (OUT, tmp_path, 1008),
             (IN, nowhere, 1011), (IN, text, 1011)]
    async with media as cast, AsyncExitStack() as exits:

        async def is_refused(variable: str, path: object, code: int) -> None:
            screen = await exits.enter_async_context(old_app(tmp_path))
            screen.wrapper = OBEDIENT
            await screen.open("call", cast.stack.gateways[0], cast.stack.open_app, unique("old"), **{variable: path})
            await screen.line("hint: error 1002")
            await screen.act("hang up")
            await screen.line("closed")
            hints = [line for line in screen.lines if line.startswith("hint: ")]
            assert hints == [f"hint: error {code}", "hint: error 1002"], (variable, path, screen.lines)
            assert await screen.finish() == 0

        await asyncio.gather(*(is_refused(*case) for case in cases))


async def test_devices_that_are_unplugged(media, tmp_path):
    """Both say that they have failed, and do nothing any more; the call goes on without them."""
    async with media as cast, old_app(tmp_path) as screen, pipe_ends(tmp_path, TONES[0]) as (microphone, loudspeaker):
        channel, stack = unique("old"), cast.stack
        engine = await cast.engine(channel, TONES[1], uid=9)
        await screen.open("call", stack.gateways[0], stack.open_app, channel, microphone.path, loudspeaker.path)
        uid = int((await screen.line("hint: joined")).split()[-4])
        microphone.go_on()
        loudspeaker.go_on()
        await hears(engine, uid, TONES[0])
        await eventually(
            lambda: len(loudspeaker.played) >= RATE and snr(loudspeaker.played[-RATE:], TONES[1]) >= CLEAR, "it is heard")
        await microphone.close()
        await screen.line("hint: error 1017")
        await screen.line("warning: 1016")
        assert "hint: error 1015" not in screen.lines and "warning: 1014" not in screen.lines
        await loudspeaker.close()
        await screen.line("hint: error 1015")
        await screen.line("warning: 1014")
        await engine.mute(audio=1)
        await screen.line("hint: 9 is muted")
        assert not engine.told("left")
        await screen.act("hang up")
        await screen.line("closed")
        failures = [line for line in screen.lines if line.startswith(("hint: error", "warning"))]
        assert failures == ["hint: error 1017", "warning: 1016", "hint: error 1015", "warning: 1014"]


@pytest.mark.parametrize("end, code", [("loudspeaker", 1009), ("microphone", 1012)])
async def test_a_device_that_nobody_has(media, tmp_path, end, code):
    """A pipe that nobody reads, or writes: it is there, and cannot be started."""
    async with media as cast, old_app(tmp_path) as screen, pipe_ends(tmp_path) as (microphone, loudspeaker):
        await {"loudspeaker": loudspeaker, "microphone": microphone}[end].close()
        await screen.open("call", cast.stack.gateways[0], cast.stack.open_app, unique("old"), microphone.path, loudspeaker.path)
        await screen.line("hint: error 1002")
        assert screen.lines[-2:] == [f"hint: error {code}", "hint: error 1002"]
