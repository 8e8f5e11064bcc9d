"""What a participant may do after it has joined: mute, resume on another socket, restart its path; and how often."""

import asyncio
import time
import uuid

import pytest
from engine import Engine
from media_keys import KeyPair
from media_socket import MediaSocket
from speech import Live
from stack_control import unique
from tone import CLEAR, TONES, Noise, last_part, level, snr
from waiting import eventually, let_pass

# The flags of a user.
AUDIO_MUTED, VIDEO_MUTED, VIDEO_ENABLED = 1, 2, 4
UNKNOWN = ("unknown_participant", 3)
# Packets that were sent before an answer to a mute may still be under way.
UNDER_WAY_SECONDS = 0.1
# What is left of a tone in a page that hears it no longer, in dB of full scale; it is at -15 when it is heard.
UNHEARD, HEARD = -60, -30
PAGE_SECONDS = 10
PAUSE_MAX = 1
CALLS_UNANSWERED = 16


async def is_unheard(listeners: list[Engine], speaker: Engine, seconds: float = 0.3) -> None:
    """From now on none of its packets comes."""
    await let_pass(UNDER_WAY_SECONDS, "what was sent before arrives")
    moment = time.monotonic()
    await let_pass(seconds, "who is muted is not heard")
    assert [one.path.voices[speaker.uid].since(moment) for one in listeners] == [0] * len(listeners)


# Mutes


async def test_all_mute_in_turn(media):
    """Who is muted is heard by nobody at once, and hears the others; the others hear each other; all but the muted one are told."""
    async with media as cast:
        channel = unique("calls")
        engines = [await cast.engine(channel, tone) for tone in TONES]
        await asyncio.gather(*(one.hears(other, 0.2) for one in engines for other in engines if one is not other))
        for muted in engines:
            others = [other for other in engines if other is not muted]
            before = len(muted.changes())
            answer = await muted.mute(audio=1)
            await is_unheard(others, muted)
            one, other = others
            await asyncio.gather(one.hears(other, 0.2), other.hears(one, 0.2), muted.hears(one, 0.2), muted.hears(other, 0.2))
            for told in others:
                event = await told.event("state", uid=muted.uid)
                assert event.fields == {
                    "t": "state", "channel": channel, "pid": told.pid, "n": event.n, "uid": muted.uid, "flags": AUDIO_MUTED}
                # So that who has muted itself need not ask for the roster.
                assert answer == {"result": "ok", "n": event.n}
            # Nothing changes: nobody is told.
            assert await muted.mute(audio=1) == {"result": "ok"}
            await muted.mute(audio=0)
            for told in others:
                await told.event("state", uid=muted.uid, flags=0)
                assert [event["flags"] for event in told.told("state") if event["uid"] == muted.uid] == [AUDIO_MUTED, 0]
            await asyncio.gather(*(told.hears(muted, 0.2) for told in others))
            assert len(muted.changes()) == before
        await asyncio.gather(*(one.hears(other, 1.3) for one in engines for other in engines if one is not other))
        for one in engines:
            assert all(snr(last_part(one.heard(other)), other.tone) >= CLEAR for other in engines if other is not one)
            assert (one.path.gaps, one.path.repeats) == (0, 0)
        # The first one was told of all changes but its own.
        assert [event.n for event in engines[2].changes()] == [engines[2].n + step for step in (1, 2, 3, 4)]


async def test_what_was_said_while_muted_is_never_heard(media):
    async with media as cast:
        channel = unique("calls")
        ada, bob = await cast.engine(channel), await cast.engine(channel)
        bob.speak(Live(Noise(8_000)))
        await eventually(lambda: bob.uid in ada.path.voices, "it is heard")
        for _ in range(3):
            await bob.mute(audio=1)
            muted = len(bob.path.said)
            await is_unheard([ada], bob, 0.2)
            unmuting = len(bob.path.said)
            await bob.mute(audio=0)
            await ada.hears(bob, 0.2)
            assert not set(bob.path.said[muted:unmuting]) & set(ada.path.voices[bob.uid].payloads)


async def test_flags_are_told_to_who_comes_later(media):
    async with media as cast:
        channel = unique("calls")
        ada, bob, cyd = await cast.engine(channel), await cast.engine(channel, muted=3), await cast.engine(channel, enabled=1)
        assert ada.members() == {} and bob.members() == {ada.uid: 0}
        await ada.mute(audio=1, video=1, enabled=1)
        await bob.mute(video=0)
        await cyd.mute(enabled=0, video=1)
        dan = await cast.engine(channel)
        assert dan.members() == {
            ada.uid: AUDIO_MUTED | VIDEO_MUTED | VIDEO_ENABLED, bob.uid: AUDIO_MUTED, cyd.uid: VIDEO_MUTED}
        await ada.event("joined", uid=dan.uid)
        assert [(event.type, event["uid"], event["flags"]) for event in ada.changes()] == [
            ("joined", bob.uid, AUDIO_MUTED | VIDEO_MUTED), ("joined", cyd.uid, VIDEO_ENABLED), ("state", bob.uid, AUDIO_MUTED),
            ("state", cyd.uid, VIDEO_MUTED), ("joined", dan.uid, 0)]


@pytest.mark.parametrize("flags", [{}, {"audio": 2}, {"audio": "yes"}, {"video": -1}], ids=str)
async def test_mutes_that_say_nothing(media, flags: dict):
    async with media as cast:
        ada = await cast.engine(unique("calls"))
        await ada.socket.refused("invalid_args", 2, "media.mute", channel=ada.channel, pid=ada.pid, **flags)


async def test_only_the_own_socket_may_mute(media):
    async with media as cast:
        ada, bob = [await cast.engine(channel) for channel in [unique("calls")] * 2]
        await bob.socket.refused(*UNKNOWN, "media.mute", channel=ada.channel, pid=ada.pid, audio=1)
        await bob.socket.refused(*UNKNOWN, "media.mute", channel=ada.channel, pid=uuid.uuid4().hex, audio=1)
        await bob.socket.refused(*UNKNOWN, "media.mute", channel=unique("calls"), pid=bob.pid, audio=1)
        await bob.mute(audio=1)
        assert (await ada.event("state"))["uid"] == bob.uid and not bob.told("state")


async def test_pages_mute_and_hear_mutes(stack, media, visit):
    async with media as cast, visit(TONES[0]) as page:
        channel = unique("calls")
        bob = await cast.engine(channel, TONES[1])
        await page.join(stack.gateways[0], stack.open_app, channel)

        async def tone_in_page() -> float:
            heard = await page.voices()
            return level(last_part(heard[bob.uid]), bob.tone) if bob.uid in heard else UNHEARD

        async def is_heard() -> bool:
            return await tone_in_page() >= HEARD

        async def is_silent() -> bool:
            return await tone_in_page() <= UNHEARD

        await eventually(is_heard, "the page hears the engine", PAGE_SECONDS)
        await eventually(lambda: len(bob.heard(page)) > 0, "the engine hears the page")
        await page.mute(audio=1)
        await is_unheard([bob], page)
        assert (await bob.event("state", uid=page.uid))["flags"] == AUDIO_MUTED
        await page.mute(audio=0)
        await bob.hears(page, 0.3)
        await bob.mute(audio=1)
        await eventually(is_silent, "the page does not hear the engine", PAGE_SECONDS)
        await bob.mute(audio=0)
        await eventually(is_heard, "the page hears the engine again", PAGE_SECONDS)
        states = await page.told("state")
        assert [(event["uid"], event["flags"]) for event in states] == [(bob.uid, AUDIO_MUTED), (bob.uid, 0)]
        assert [event["uid"] for event in bob.told("state")] == [page.uid, page.uid]


# Sockets


async def test_a_participant_goes_on_over_another_gateway(stack, media):
    """Its media flow on meanwhile; what it has missed is in the roster that it gets."""
    async with media as cast:
        channel = unique("calls")
        ada = await cast.engine(channel, 440)
        bob = await cast.engine(channel, 555)
        await asyncio.gather(ada.hears(bob, 0.2), bob.hears(ada, 0.2))
        old, moment = bob.socket, time.monotonic()
        other = MediaSocket(stack.open_app)
        cast.opened.append(other)
        # Engines take the gateways in turn: the first one is ada's.
        await other.open(stack.gateways[0])
        await ada.mute(audio=1)
        answer = await bob.resume(other)
        assert [user[:2] for user in answer["users"]] == [[ada.uid, AUDIO_MUTED], [bob.uid, 0]]
        assert set(answer) >= {"result", "n", "users"} and answer["n"] == bob.n + 1
        await ada.mute(audio=0)
        event = await bob.event("state", flags=0)
        assert event.n == answer["n"] + 1
        await old.refused(*UNKNOWN, "media.mute", channel=channel, pid=bob.pid, audio=1)
        await old.refused(*UNKNOWN, "media.leave", channel=channel, pid=bob.pid)
        assert not [event for event in old.events if event.type == "state" and event["flags"] == 0]
        await bob.mute(audio=1)
        await ada.event("state", uid=bob.uid)
        await bob.mute(audio=0)
        await old.close()
        await ada.hears(bob, 0.3)
        assert ada.path.gaps == 0 and [event.type for event in ada.changes()] == ["joined", "state", "state"]
        assert bob.path.wire.times[-1] > moment
        await bob.leave()
        assert (await ada.event("left", uid=bob.uid))["reason"] == "quit"


async def test_a_participant_goes_on_after_its_socket_broke(media):
    async with media as cast:
        channel = unique("calls")
        ada, bob = await cast.engine(channel), await cast.engine(channel, 440)
        await ada.hears(bob, 0.2)
        await bob.socket.close()
        cyd = await cast.engine(channel)
        moment = time.monotonic()
        answer = await bob.resume(await cast.socket())
        assert {user[0] for user in answer["users"]} == {ada.uid, bob.uid, cyd.uid} and answer["n"] == cyd.n
        await ada.hears(bob, 0.2)
        assert ada.path.voices[bob.uid].longest_pause(moment) < PAUSE_MAX
        await cyd.leave()
        for other in (ada, bob):
            await other.event("left", uid=cyd.uid)
        assert [event["uid"] for event in ada.changes()] == [bob.uid, cyd.uid, cyd.uid]


async def test_who_may_not_resume_or_restart(media):
    async with media as cast:
        ada = await cast.engine(unique("calls"))
        other = await cast.socket()
        known = {"channel": ada.channel, "pid": ada.pid, "secret": ada.answer["secret"]}
        path = {"kind": "engine", "pub": KeyPair().public, "codecs": ["opus"]}
        for wrong in ({"secret": uuid.uuid4().hex}, {"pid": uuid.uuid4().hex}, {"channel": unique("calls")}):
            await other.refused(*UNKNOWN, "media.resume", **{**known, "n": ada.n, **wrong})
            await other.refused(*UNKNOWN, "media.restart", **{**known, **path, **wrong})
            await ada.socket.refused(*UNKNOWN, "media.restart", **{**known, **path, **wrong})
        await ada.mute(audio=1)


# Paths


async def test_an_engine_gets_another_path(media):
    """The same participant with the same slots, whose numbers go on; nobody is told."""
    async with media as cast:
        channel = unique("calls")
        ada, bob = await cast.engine(channel, 440), await cast.engine(channel, 555)
        await asyncio.gather(ada.hears(bob, 0.3), bob.hears(ada, 0.3))
        for _ in range(2):
            old, moment = bob.path.address, time.monotonic()
            answer = await bob.restart()
            assert answer["slots"] == bob.answer["slots"] and answer["ufrag"] != old.ufrag and answer["pwd"] != old.password
            await asyncio.gather(ada.hears(bob, 0.5), bob.hears(ada, 0.5))
            for one, other in ((ada, bob), (bob, ada)):
                assert one.path.voices[other.uid].longest_pause(moment - 0.1) < PAUSE_MAX
            # What was under way by the old path is missing, and told as missing.
            assert ada.path.gaps < 20 and ada.path.repeats == 0
            assert (bob.path.gaps, bob.path.repeats) == (0, 0)
        assert set(ada.path.voices) == {bob.uid} and set(bob.path.voices) == {ada.uid}
        assert [event["uid"] for event in ada.changes()] == [bob.uid] and not bob.told("left", "state", "gone")


async def test_a_page_restarts_its_ice(stack, media, visit):
    async with media as cast, visit(TONES[0]) as page:
        channel = unique("calls")
        bob = await cast.engine(channel, TONES[1])
        await page.join(stack.gateways[0], stack.open_app, channel)
        await bob.hears(page, 0.5)
        moment = time.monotonic()
        answer = await page.restart()
        assert answer["answer"] and page.answer["answer"] != answer["answer"]
        received = (await page.page.run("counts"))["received"]

        async def has_more() -> bool:
            return (await page.page.run("counts"))["received"] > received + 20

        await asyncio.gather(bob.hears(page, 0.5), eventually(has_more, "the page goes on to hear"))
        assert bob.path.voices[page.uid].longest_pause(moment - 0.1) < PAUSE_MAX
        assert await page.lost() == 0 and not await page.told("left", "gone")
        assert [event["uid"] for event in bob.changes()] == [page.uid]


# How often


async def test_a_socket_has_sixteen_calls_unanswered(media):
    async with media as cast:
        channel = unique("calls")
        ada = await cast.engine(channel)
        replies = await asyncio.gather(*(
            ada.socket.attempt("media.mute", channel=channel, pid=ada.pid, audio=number % 2) for number in range(60)))
        refused = [reply for reply in replies if reply.error]
        assert {(reply.error, reply.data["code"]) for reply in refused} == {("rate_limited", 12)}
        assert len(replies) - len(refused) >= CALLS_UNANSWERED

        async def is_taken() -> bool:
            return not (await ada.socket.attempt("media.mute", channel=channel, pid=ada.pid, audio=1)).error

        # Those that were not refused have used up the socket's rate.
        await eventually(is_taken, "the socket goes on")
