"""What the media plane does after 10 and after 15 seconds. All scenes are played at once, because each of them mostly waits."""

import time
from collections.abc import Awaitable, Callable

import pytest
from media_cast import Cast
from media_socket import MediaRefused
from node_metrics import Drops
from speech import Again, spoken
from stack_control import unique
from tone import Noise
from waiting import eventually, let_pass

# Of consent after the last check, and of life after the last authentic packet.
CONSENT, SILENCE = 10, 15
# A participant may send so many packets of audio in a second, and more of them for so long.
PACKETS_PER_SECOND, LIMIT_SECONDS = 200, 10
PACKETS_TOO_MANY = 300
# What a busy machine may add.
PATIENCE = 3


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


SCENES: list[Callable[[Cast], Awaitable[None]]] = [
    consent_is_lost_and_comes_back, who_falls_silent_is_dropped, media_outlive_their_socket, who_sends_too_much_is_ended]


@pytest.mark.parametrize("scene", [scene.__name__ for scene in SCENES])
def test_scenes(played: dict[str, BaseException | None], scene: str):
    if outcome := played[scene]:
        raise outcome
