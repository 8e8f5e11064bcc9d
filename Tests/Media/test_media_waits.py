"""What the media plane does after 10 and after 15 seconds. All scenes are played at once, because each of them mostly waits."""

import asyncio
import time
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from dynamic_key import Grant, dynamic_key
from engine import Engine
from media_cast import Cast
from media_socket import MediaRefused
from node_metrics import Drops
from old_app import OldApp, old_app
from pipe_ends import PipeEnd, pipe_ends
from rough_network import node_of, rough_network
from speech import Again, spoken
from stack_control import unique
from swift_client import write_wav
from tone import RATE, Noise, last_part, snr
from waiting import eventually, let_pass

# Of consent after the last check, and of life after the last authentic packet.
CONSENT, SILENCE = 10, 15
# A participant may send so many packets of audio in a second, and more of them for so long.
PACKETS_PER_SECOND, LIMIT_SECONDS = 200, 10
PACKETS_TOO_MANY = 300
# How long the keys of these scenes are good.
KEY_SECONDS = 4
STATS_SECONDS = 2
# What a busy machine may add.
PATIENCE = 3
# How long a device may do nothing, deliver zeroes, or have another clock by a twentieth.
DEVICE_SECONDS = 10
# A disk that is full after 1.6 s of a recording: a size in units of 512 bytes, and no signal to the program.
FULL_DISK = ("sh", "-c", "trap '' XFSZ; ulimit -f 300; exec \"$0\" \"$@\"")
# Of what the SDK's engine sends, against the rest, in dB.
CLEAR_AT_32 = 34


async def consent_is_lost_and_comes_back(cast: Cast) -> None:
    """Who sends no checks for 10 s gets nothing more until the next one, though it goes on to speak; nobody is told."""
    channel = unique("waits")
    ada, bob = await cast.engine(channel, 440), await cast.engine(channel, 555)
    await bob.hears(ada, 0.5)
    bob.path.check()
    last_check = time.monotonic()
    bob.path.is_checking = False
    heard = bob.path.voices[ada.uid]
    await eventually(lambda: time.monotonic() - heard.times[-1] > 1, "nothing comes any more", CONSENT + PATIENCE)
    assert CONSENT - 0.5 <= heard.times[-1] - last_check <= CONSENT + 1
    # It is still heard itself.
    await ada.hears(bob, 0.5)
    before, moment = heard.packets, time.monotonic()
    bob.path.check()
    await bob.hears(ada, 0.5)
    assert heard.times[before] - moment < 0.5
    assert [event["uid"] for event in ada.changes()] == [bob.uid] and not bob.told("left", "state", "gone")
    # Its slot has no gap: what was not sent is not missing.
    assert (bob.path.gaps, bob.path.repeats, ada.path.gaps) == (0, 0, 0)


async def who_falls_silent_is_dropped(cast: Cast) -> None:
    """15 s after its last packet; one that only sends checks stays."""
    channel = unique("waits")
    ada, bob, cyd = await cast.engine(channel), await cast.engine(channel, 440), await cast.engine(channel)
    await ada.hears(bob, 0.3)
    bob.path.end()
    ended = time.monotonic()
    left = await ada.event("left", SILENCE + PATIENCE, uid=bob.uid)
    assert SILENCE - 0.5 <= time.monotonic() - ended
    assert left["reason"] == "dropped"
    gone = await bob.event("gone")
    assert gone["reason"] == "closed"
    with pytest.raises(MediaRefused) as caught:
        await bob.leave()
    assert (caught.value.reason, caught.value.code) == ("unknown_participant", 3)
    await let_pass(1, "one who only checks is not dropped either")
    assert not cyd.told("gone") and [event["uid"] for event in ada.told("left")] == [bob.uid]


async def media_outlive_their_socket(cast: Cast) -> None:
    """The socket of a participant breaks: its media go on, and nobody is told."""
    channel = unique("waits")
    ada, bob = await cast.engine(channel), await cast.engine(channel, 440)
    await ada.hears(bob, 0.3)
    await bob.socket.close()
    closed = time.monotonic()
    await let_pass(SILENCE + 2, "a participant without a socket stays longer than one that is silent")
    assert ada.path.voices[bob.uid].longest_pause(closed) < 1 and ada.path.gaps == 0
    assert not ada.told("left", "state")


async def who_sends_too_much_is_ended(cast: Cast) -> None:
    """More than 200 packets a second: those beyond are dropped, and after 10 s the participant is over."""
    channel = unique("waits")
    ada, bob = await cast.engine(channel), await cast.engine(channel)
    ada.path.is_decoding = False
    drops = await Drops.now(cast.stack)
    bob.path.speak(Again(spoken(Noise(8_000), 50)), PACKETS_TOO_MANY)
    began = time.monotonic()
    gone = await bob.event("gone", LIMIT_SECONDS + PATIENCE)
    assert gone["reason"] == "limit" and time.monotonic() - began > LIMIT_SECONDS - 1
    await ada.event("left", uid=bob.uid)
    heard = ada.path.voices[bob.uid]
    assert heard.packets <= PACKETS_PER_SECOND * (heard.times[-1] - heard.times[0] + 1.5)
    assert await drops.more("rate") > (PACKETS_TOO_MANY - PACKETS_PER_SECOND) * (LIMIT_SECONDS - 3)


# Keys that end


async def keyed(cast: Cast, channel: str, tone: int, uid: int, expiry: int = 0) -> Engine:
    """An engine with a key of the app that requires them."""
    app = cast.stack.token_app
    return await cast.engine(channel, tone, uid, app, key=dynamic_key("004", app, channel, uid, Grant(expiry=expiry)))


async def until_unheard(*pairs: tuple[Engine, Engine]) -> None:
    """Waits until none hears the other any more."""

    def is_silent() -> bool:
        return all(time.monotonic() - one.path.voices[other.uid].times[-1] > 0.5 for one, other in pairs)

    await eventually(is_silent, "they do not hear each other any more", KEY_SECONDS + PATIENCE)


async def a_key_is_renewed_in_time(cast: Cast) -> None:
    """After its end media stop both ways, and go on with a new key; the others are told nothing. A wrong one changes nothing."""
    channel, app = unique("waits"), cast.stack.token_app
    expiry = int(time.time()) + KEY_SECONDS
    ada, bob = await keyed(cast, channel, 440, 1), await keyed(cast, channel, 555, 2, expiry)
    assert (ada.answer["expiry"], bob.answer["expiry"]) == (0, expiry)
    await asyncio.gather(ada.hears(bob, 0.3), bob.hears(ada, 0.3))
    asked = await bob.event("key", KEY_SECONDS + PATIENCE)
    assert asked.fields == {"t": "key", "channel": channel, "pid": bob.pid} and expiry <= time.time() < expiry + 1.5
    await until_unheard((ada, bob), (bob, ada))
    last = max(ada.path.voices[bob.uid].times[-1], bob.path.voices[ada.uid].times[-1])
    assert last < time.monotonic() - time.time() + expiry + 1.5, "media went on after the key's end"
    known = {"channel": channel, "pid": bob.pid}
    for wrong in (dynamic_key("004", app, channel, 3), dynamic_key("004", app, f"{channel}x", 2)):
        await bob.socket.refused("wrong_key", 110, "media.renew", **known, key=wrong)
    past = dynamic_key("004", app, channel, 2, Grant(expiry=int(time.time()) - 1))
    await bob.socket.refused("key_expired", 109, "media.renew", **known, key=past)
    await let_pass(0.5, "wrong keys bring nothing back")
    await until_unheard((ada, bob), (bob, ada))
    later = int(time.time()) + 600
    assert await bob.renew(dynamic_key("004", app, channel, 2, Grant(expiry=later))) == {"result": "ok", "expiry": later}
    await asyncio.gather(ada.hears(bob, 0.5), bob.hears(ada, 0.5))
    await let_pass(SILENCE, "a renewed participant is not dropped")
    assert [event["uid"] for event in ada.changes()] == [2] and not bob.told("left", "state", "gone")
    assert bob.path.gaps == 0 and len(bob.told("key")) == 1


async def a_key_is_renewed_before_its_end(cast: Cast) -> None:
    channel, app = unique("waits"), cast.stack.token_app
    ada = await keyed(cast, channel, 0, 1)
    bob = await keyed(cast, channel, 440, 2, int(time.time()) + KEY_SECONDS)
    await ada.hears(bob, 0.2)
    await bob.socket.refused(
        "wrong_key", 110, "media.renew", channel=channel, pid=bob.pid, key=dynamic_key("004", app, channel, 3))
    moment = time.monotonic()
    assert (await bob.renew(dynamic_key("004", app, channel, 2)))["expiry"] == 0
    await let_pass(KEY_SECONDS + 2, "the first key would have ended")
    assert ada.path.voices[bob.uid].longest_pause(moment) < 1 and ada.path.gaps == 0
    assert not bob.told("key", "gone") and [event["uid"] for event in ada.changes()] == [2]


async def a_key_ends(cast: Cast) -> None:
    """Without another key the participant is over after 15 s, though it sends all the while."""
    channel = unique("waits")
    expiry = int(time.time()) + KEY_SECONDS
    ada, bob = await keyed(cast, channel, 0, 1), await keyed(cast, channel, 440, 2, expiry)
    await ada.hears(bob, 0.2)
    await bob.event("key", KEY_SECONDS + PATIENCE)
    gone = await bob.event("gone", SILENCE + PATIENCE)
    assert gone["reason"] == "key" and time.time() >= expiry + SILENCE - 0.5
    assert (await ada.event("left", uid=2))["reason"] == "dropped"
    await bob.socket.refused(
        "unknown_participant", 3, "media.renew", channel=channel, pid=bob.pid,
        key=dynamic_key("004", cast.stack.token_app, channel, 2))


# How it goes


async def all_are_told_how_uplinks_are(cast: Cast) -> None:
    """Every two seconds: the delay and the loss of each one's way to the node."""
    async with rough_network(node_of(cast.stack), 3) as uplink:
        channel = unique("waits")
        ada, bob = await cast.engine(channel, 440), await cast.engine(channel, 555, through=uplink.address)
        await ada.hears(bob, 0.2)
        uplink.weather.loss = 0.2
        await eventually(lambda: len(ada.told("stats")) >= 6, "six events", 6 * STATS_SECONDS + PATIENCE)
        by_uid = {uid: (delay, loss) for uid, delay, loss in ada.told("stats")[-1]["users"]}
        assert by_uid.keys() <= {ada.uid, bob.uid} and bob.uid in by_uid
        delay, loss = by_uid[bob.uid]
        assert 0 <= delay < 100 and 5 <= loss <= 40, by_uid
        assert all(loss == 0 for uid, (_, loss) in by_uid.items() if uid != bob.uid)
        assert bob.told("stats")
        uplink.weather.loss = 0
        before = len(ada.told("stats"))
        await eventually(lambda: len(ada.told("stats")) >= before + 2, "two more events", 3 * STATS_SECONDS + PATIENCE)
        loss = next(loss for uid, _, loss in ada.told("stats")[-1]["users"] if uid == bob.uid)
        assert loss == 0


# Devices of the old media SDK's apps


@asynccontextmanager
async def screen_at(cast: Cast, directory: Path, channel: str, ends: tuple[PipeEnd, ...]) -> AsyncIterator[OldApp]:
    """An app that has joined with these pipes as its devices, at which frames pass from now on."""
    async with old_app(directory) as screen:
        stack = cast.stack
        await screen.open("call", stack.gateways[0], stack.open_app, channel, *(end.path for end in ends))
        await screen.line("hint: joined")
        for end in ends:
            end.go_on()
        yield screen


async def devices_stand_still(cast: Cast) -> None:
    """After half a second the app is warned, after ten they have failed; they go on when they can."""
    with TemporaryDirectory() as name:
        directory, channel = Path(name), unique("waits")
        engine = await cast.engine(channel)
        async with pipe_ends(directory, 440) as ends, screen_at(cast, directory, channel, ends) as screen:
            microphone, loudspeaker = ends
            uid = (await engine.event("joined"))["uid"]
            await eventually(lambda: len(loudspeaker.played) >= RATE and uid in engine.path.voices, "both devices work")
            await microphone.stall()
            await loudspeaker.stall()
            began = time.monotonic()
            for line in ("warning: 1016", "warning: 1014"):
                await screen.line(line)
            for line in ("hint: error 1018", "hint: error 1015"):
                await screen.line(line, seconds=DEVICE_SECONDS + PATIENCE)
            assert time.monotonic() - began >= DEVICE_SECONDS - 0.5
            assert "hint: error 1017" not in screen.lines, "only a device that says so has failed at once"
            before = len(loudspeaker.played)
            microphone.go_on()
            loudspeaker.go_on()
            voice = engine.path.voices[uid]
            packets = voice.packets
            await eventually(
                lambda: voice.packets >= packets + 75 and snr(last_part(voice.pcm), 440) >= CLEAR_AT_32, "it is heard again")
            await eventually(lambda: len(loudspeaker.played) >= before + RATE, "it plays again")


async def devices_have_wrong_clocks(cast: Cast) -> None:
    """A microphone that is a tenth too fast, and a loudspeaker that is as much too slow."""
    with TemporaryDirectory() as name:
        directory = Path(name)
        async with pipe_ends(directory, 440, said=1.1, played=0.9) as ends, \
                screen_at(cast, directory, unique("waits"), ends) as screen:
            for line in ("warning: 1021", "warning: 1020"):
                await screen.line(line, seconds=2 * DEVICE_SECONDS + PATIENCE)
            assert not [line for line in screen.lines if line.startswith("hint: error")]


async def a_microphone_of_zeroes_and_a_full_disk(cast: Cast) -> None:
    """The app is told of both, once, and the call goes on."""
    with TemporaryDirectory() as name:
        directory, stack = Path(name), cast.stack
        silence = directory / "silence.wav"
        write_wav(silence, array("h", [0] * RATE))
        async with old_app(directory) as screen:
            screen.wrapper = FULL_DISK
            await screen.open("call", stack.gateways[0], stack.open_app, unique("waits"), HELIOGRAPH_AUDIO_IN=silence)
            await screen.line("hint: joined")
            joined = time.monotonic()
            await screen.line("hint: error 1015")
            await screen.line("warning: 1019", seconds=DEVICE_SECONDS + PATIENCE)
            assert time.monotonic() - joined >= DEVICE_SECONDS - 0.5
            await screen.act("hang up")
            await screen.line("closed")
            told = [line for line in screen.lines if line.startswith(("hint: error", "warning"))]
            assert told == ["hint: error 1015", "warning: 1019"]


SCENES: list[Callable[[Cast], Awaitable[None]]] = [
    consent_is_lost_and_comes_back, who_falls_silent_is_dropped, media_outlive_their_socket, who_sends_too_much_is_ended,
    a_key_is_renewed_in_time, a_key_is_renewed_before_its_end, a_key_ends, all_are_told_how_uplinks_are,
    devices_stand_still, devices_have_wrong_clocks, a_microphone_of_zeroes_and_a_full_disk]


@pytest.mark.parametrize("scene", [scene.__name__ for scene in SCENES])
def test_scenes(played: dict[str, BaseException | None], scene: str):
    if outcome := played[scene]:
        raise outcome
