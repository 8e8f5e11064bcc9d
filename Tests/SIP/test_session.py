"""Events during a call: session timers, re-INVITE, hold, UPDATE, OPTIONS."""

import re

from apps import App
from rtp import Keypad
from scenarios import Called, expect, pause, sdp
from scene import NUMBER, accepts, answered_call, dial, heard, press, saw, scene, words
from stack_control import Stack
from waiting import eventually


async def test_the_session_is_refreshed_at_half_the_interval(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        # 4 s, less than any real phone asks for, to keep the test short.
        timer = "Session-Expires: 4;refresher=uac"
        phone = await play.phone(
            Called.invited(), Called.picks_up(sdp(play.rtp.port), timer, "Require: timer", "Allow: ACK, BYE, UPDATE"),
            expect("UPDATE"), Called.confirm(200, "", timer), expect("UPDATE"), Called.confirm(200, "", timer),
            Called.is_hung_up())
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        await eventually(lambda: len(phone.received("UPDATE")) == 2, "the session is refreshed twice")
        ack, updates = phone.received("ACK")[0], phone.received("UPDATE")
        assert 1.5 <= updates[0].at - ack.at <= 2.8 and 1.5 <= updates[1].at - updates[0].at <= 2.8
        assert all(update.header("Session-Expires").startswith("4;refresher=uac") for update in updates)
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()


async def test_a_phone_without_update_is_refreshed_by_reinvite(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        timer = "Session-Expires: 4;refresher=uac"
        phone = await play.phone(
            Called.invited(), Called.picks_up(sdp(play.rtp.port), timer, "Allow: INVITE, ACK, BYE"), expect("INVITE"),
            Called.confirm(200, sdp(play.rtp.port), timer), expect("ACK"), Called.is_hung_up())
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        await eventually(lambda: len(phone.received("ACK")) == 2, "the session is refreshed")
        first, second = phone.received("INVITE")
        # An unchanged description keeps its version.
        assert re.search(r"^o=.*", first.body, re.M).group() == re.search(r"^o=.*", second.body, re.M).group()
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        assert not alice.calls("invite_bye")


async def test_a_session_that_the_phone_does_not_refresh_ends(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.picks_up(sdp(play.rtp.port), "Session-Expires: 6;refresher=uas", "Require: timer"),
            Called.is_hung_up())
        await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        assert words(await saw(alice, "invite_bye", seconds=15))["code"] == 702
        await phone.done()
        bye, ack = phone.received("BYE")[0], phone.received("ACK")[0]
        # A third of the interval before its end (RFC 4028, section 10).
        assert 3 <= bye.at - ack.at <= 6


async def test_a_422_is_tried_again_with_its_minimum(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.answer(422, "Session Interval Too Small", "", "Min-SE: 7200", retransmits=True),
            expect("ACK"), Called.invited(), Called.answer(180),
            Called.picks_up(sdp(play.rtp.port), "Session-Expires: 7200;refresher=uac"), Called.is_hung_up())
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        first, second = phone.received("INVITE")
        assert second.header("Min-SE") == "7200" and int(second.header("Session-Expires").split(";")[0]) >= 7200
        assert second.cseq[0] == first.cseq[0] + 1 and second.branch != first.branch
        assert second.header("Call-ID") == first.header("Call-ID")


async def test_a_phone_that_asks_for_too_little_gets_422(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(
            call.invite(sdp(play.rtp.port), "Session-Expires: 30", "Supported: timer"), call.fails(422))
        await phone.done()
        assert int(phone.received(422)[0].header("Min-SE")) >= 90
        assert not bob.calls("invite")


async def test_a_calling_phones_timer_is_agreed_to(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(
            call.invite(sdp(play.rtp.port), "Session-Expires: 600;refresher=uac", "Supported: timer"), call.is_answered(),
            call.request("UPDATE", "", "", "Session-Expires: 600;refresher=uac", "Supported: timer"), expect(200),
            call.hangs_up())
        await accepts(bob)
        await phone.done()
        answers = [message for message in phone.received(200) if message.cseq[1] in ("INVITE", "UPDATE")]
        assert [answer.header("Session-Expires").replace(" ", "") for answer in answers] == ["600;refresher=uac"] * 2
        assert "timer" in answers[0].header("Require")


async def test_hold_and_resume_by_the_phone(stack: Stack):
    async with scene(stack) as play:
        port = play.rtp.port
        alice, phone, channel = await answered_call(
            play, pause(0.3), Called.request("INVITE", 5, sdp(port, version=2, direction="sendonly")), expect(200),
            Called.request("ACK", 5), pause(0.5), Called.request("INVITE", 6, sdp(port, version=3)), expect(200),
            Called.request("ACK", 6))
        await play.rtp.hears_audio()
        await eventually(lambda: len(phone.sent("ACK")) == 2, "the call is resumed")
        offer = phone.received("INVITE")[0]
        hold, resume = phone.received(200)
        assert "a=recvonly" in hold.body and "a=recvonly" not in resume.body
        versions = [int(message.body.split("o=")[1].split()[2]) for message in (offer, hold, resume)]
        assert versions == [versions[0], versions[0] + 1, versions[0] + 2]
        count = len(play.rtp.packets)
        await eventually(lambda: len(play.rtp.packets) > count + 5, "media flows again")
        await press(alice, channel, NUMBER, "3")
        await play.rtp.heard_digits(96, "3")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        assert not alice.calls("invite_bye")


async def test_the_phone_moves_its_media(stack: Stack):
    async with scene(stack) as play, scene(stack) as other:
        alice, phone, channel = await answered_call(
            play, pause(0.3), Called.request("INVITE", 5, sdp(other.rtp.port, version=2)), expect(200),
            Called.request("ACK", 5))
        await play.rtp.hears_audio()
        await other.rtp.hears_audio()
        await press(alice, channel, NUMBER, "6")
        await other.rtp.heard_digits(96, "6")
        answer = phone.received(200)[0]
        other.rtp.send(Keypad(answer.event_type).press("2"), (play.bridge[0], answer.audio_port))
        await heard(alice, "2")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()


async def test_a_change_that_cannot_be_agreed_to_leaves_the_call_up(stack: Stack):
    async with scene(stack) as play:
        alice, phone, channel = await answered_call(
            play, pause(0.3), Called.request("INVITE", 5, sdp(play.rtp.port, (("9", "G722/8000"),), version=2)), expect(488),
            Called.request("ACK", 5).replace("[branch]", "[branch-2]"))
        await eventually(lambda: phone.sent("ACK"), "the change is refused")
        count = len(play.rtp.packets)
        await eventually(lambda: len(play.rtp.packets) > count + 5, "media goes on")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        assert not alice.calls("invite_bye")


async def test_unwanted_media_gets_port_0(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        video = "m=video 40000 RTP/AVP 97\na=rtpmap:97 H264/90000\n"
        phone = await play.caller(
            call.invite(sdp(play.rtp.port, more=video)), call.is_answered(), call.is_hung_up())
        channel, peer = await accepts(bob)
        await eventually(lambda: phone.sent("ACK"), "the call is up")
        assert "m=video 0 " in phone.received(200)[0].body
        await bob.act("invite_bye", channel, peer)
        await phone.done()


async def test_options_within_a_call(stack: Stack):
    async with scene(stack) as play:
        alice, phone, channel = await answered_call(play, Called.request("OPTIONS", 5), expect(200))
        await eventually(lambda: phone.received(200), "OPTIONS is answered")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
