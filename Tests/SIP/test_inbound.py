"""Telephones, which sipp plays, call users."""

import asyncio
import re
import socket

import pytest
from acts import mail_barrier
from apps import App
from messages import SIPMessage
from peers import LOOPBACK
from scenarios import PHONE, Caller, expect, pause, sdp
from scene import accepts, finished_row, refuses, rings_at, saw, scene, words
from sipp import Sipp
from stack_control import Stack
from waiting import eventually

# Each address for one test: a bridge remembers which addresses it refused.
STRANGER, SCANNER, BRANCH, FIRST_TRUNK, SECOND_TRUNK = (f"127.0.0.{number}" for number in range(6, 11))


async def test_a_call_is_accepted_and_ended_by_the_user(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(
            call.invite(
                sdp(play.rtp.port), "P-Asserted-Identity: <sip:+4989777@pbx.example>", "X-Campaign: winter",
                "User-to-User: 1234;encoding=hex", "Subject: not for the user"),
            call.rings(), call.is_answered(), call.is_hung_up())
        channel, peer = await rings_at(bob)
        assert peer == PHONE
        extra = words(bob.calls("invite")[0])
        assert (extra["srcNum"], extra["destNum"]) == (PHONE, call.number)
        assert extra["sip_header:X-Campaign"] == "winter"
        assert extra["sip_header:P-Asserted-Identity"] == "<sip:+4989777@pbx.example>"
        assert extra["sip_header:User-to-User"] == "1234;encoding=hex"
        assert "not for the user" not in bob.calls("invite")[0]["extra"]
        await eventually(lambda: phone.received(180), "the phone hears ringing")
        assert not phone.received(200)
        await bob.act("invite_accept", channel, peer)
        await eventually(lambda: phone.received(200), "the call is answered")
        await play.rtp.hears_audio()
        await bob.act("invite_bye", channel, peer)
        await phone.done()
        check_messages(phone, play)
        row = await finished_row(play, bob)
        assert (row["caller"], row["callee"], row["direction"], row["end_code"]) == (PHONE, bob.account, "inbound", "0")
        assert row["sip_call_id"] == phone.received("BYE")[0].header("Call-ID")
        times = [row[name] for name in ("started_at", "acknowledged_at", "accepted_at", "ended_at")]
        assert all(times) and times == sorted(times)


def check_messages(phone: Sipp, play) -> None:
    """Checks the answer against RFC 3261 and 3264."""
    ok, bye = phone.received(200)[0], phone.received("BYE")[0]
    assert "m=audio" in ok.body and f"c=IN IP4 {LOOPBACK}" in ok.body
    # The answer holds offered payload types only, a codec first.
    assert re.search(r"^m=audio \d+ RTP/AVP (0|8)( 8| 96)*$", ok.body, re.MULTILINE), ok.body
    assert "a=rtpmap:96 telephone-event/8000" in ok.body
    assert ok.tag("To") == phone.received(180)[0].tag("To") == bye.tag("From") != ""
    assert f":{play.bridge[1]}" in ok.header("Contact")
    assert play.rtp.packets[0].source[1] == ok.audio_port


async def test_the_phone_hangs_up(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(
            call.invite(sdp(play.rtp.port)), call.rings(), call.is_answered(), pause(0.3), call.hangs_up())
        channel, _ = await accepts(bob)
        assert (await saw(bob, "invite_bye"))["channel"] == channel
        await phone.done()


async def test_accepted_at_once(stack: Stack, line: App):
    """Clients may accept without acknowledging first."""
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(call.invite(sdp(play.rtp.port)), call.is_answered(), call.hangs_up())
        invite = await saw(bob, "invite")
        await bob.act("invite_accept", invite["channel"], invite["peer"])
        await saw(bob, "invite_bye")
        await phone.done()


async def test_the_user_refuses(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(call.invite(sdp(play.rtp.port)), call.fails(486))
        await refuses(bob)
        await phone.done()


async def test_the_phone_gives_up(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(call.invite(sdp(play.rtp.port)), call.rings(), call.cancel())
        channel, _ = await rings_at(bob)
        await phone.done()
        assert (await saw(bob, "invite_bye"))["channel"] == channel


async def test_a_cancel_that_comes_after_the_answer(stack: Stack, line: App):
    """A CANCEL that crosses the 200 changes nothing; the phone has to hang up."""
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(
            call.invite(sdp(play.rtp.port)), expect(100, optional=True), expect(180), expect(200, attributes='rrs="true"'),
            call.send_cancel(), expect(481, optional=True, attributes='next="1"'), expect(200), '<label id="1"/>',
            call.acknowledge(), pause(0.3), call.hangs_up())
        await accepts(bob)
        await saw(bob, "invite_bye")
        await phone.done()
        assert len(bob.calls("invite_bye")) == 1


async def test_an_answer_is_repeated_until_it_is_acknowledged(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(
            call.invite(sdp(play.rtp.port)), expect(100, optional=True), expect(180), expect(200, attributes='rrs="true"'),
            pause(2), call.acknowledge(), pause(0.5), call.hangs_up())
        await accepts(bob)
        await saw(bob, "invite_bye")
        await phone.done()
        copies = [message for message in phone.received(200) if message.cseq[1] == "INVITE"]
        acknowledged = phone.sent("ACK")[0].at
        # At 0, 0.5 and 1.5 s, and no more after the ACK.
        assert len([copy for copy in copies if copy.at < acknowledged]) == 3, [copy.at for copy in copies]
        assert not [copy for copy in copies if copy.at > acknowledged + 0.1]


async def test_an_unknown_number(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        call = Caller("+49301")
        phone = await play.caller(call.invite(sdp(play.rtp.port)), call.fails(404))
        await phone.done()


async def test_an_offline_user(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        call = Caller(play.number("nobody"))
        phone = await play.caller(call.invite(sdp(play.rtp.port)), call.fails(480))
        await phone.done()


async def test_a_user_who_does_not_answer(stack: Stack):
    async with scene(stack, ring=2) as play:
        await play.settle()
        bob, call = await play.callee()
        phone = await play.caller(
            call.invite(sdp(play.rtp.port)), expect(100, optional=True), expect(180),
            expect(480, optional=True, attributes='next="1"'), expect(408), '<label id="1"/>',
            call.acknowledge(same_branch=True))
        await rings_at(bob)
        await saw(bob, "invite_bye")
        await phone.done()


async def test_an_invite_without_an_offer_gets_one(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        answer = sdp(play.rtp.port, (("0", "PCMU/8000"), ("101", "telephone-event/8000")))
        phone = await play.caller(
            call.invite(""), expect(100, optional=True), expect(180, optional=True), expect(200, attributes='rrs="true"'),
            call.acknowledge(body=answer), call.is_hung_up())
        channel, peer = await accepts(bob)
        await play.rtp.hears_audio()
        assert "RTP/AVP 0 8" in phone.received(200)[0].body
        await bob.act("invite_bye", channel, peer)
        await phone.done()


async def test_an_offer_without_a_usable_codec(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(call.invite(sdp(play.rtp.port, (("9", "G722/8000"),))), call.fails(488))
        await phone.done()
        await mail_barrier(bob)
        assert not bob.calls("invite_accept")


@pytest.mark.parametrize(("identity", "peer"), [
    ("+4930555", "+4930555"), ("030555", "030555"), ("anonymous", None), ("bob%20smith", None),
])
async def test_how_callers_are_named(stack: Stack, line: App, identity: str, peer: str | None):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee(identity)
        phone = await play.caller(call.invite(sdp(play.rtp.port)), call.fails(486))
        invite = await saw(bob, "invite")
        # Accounts have no spaces, so the name of a caller must have none either.
        assert " " not in invite["peer"] and (peer is None or invite["peer"] == peer)
        await bob.act("invite_refuse", invite["channel"], invite["peer"])
        await phone.done()


async def test_a_repeated_invite_is_one_call(stack: Stack, line: App):
    """Copies of one INVITE, as a phone sends them when every response is lost, are one call.

    A copy with another branch has come by another way, and is refused with 482 (RFC 3261, 8.2.2.2).
    """
    async with scene(stack, app=line) as play:
        bob, = await play.users("bob")
        number = play.number(bob.account)
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as phone:
            phone.bind((LOOPBACK, 0))
            phone.setblocking(False)
            port = phone.getsockname()[1]
            body = sdp(play.rtp.port).replace("\n", "\r\n")
            invite = (
                f"INVITE sip:{number}@{LOOPBACK} SIP/2.0\r\nVia: SIP/2.0/UDP {LOOPBACK}:{port};branch=z9hG4bK-BRANCH\r\n"
                f"Max-Forwards: 70\r\nFrom: <sip:{PHONE}@{LOOPBACK}>;tag=1\r\nTo: <sip:{number}@{LOOPBACK}>\r\n"
                f"Call-ID: again-{port}\r\nCSeq: 1 INVITE\r\nContact: <sip:{PHONE}@{LOOPBACK}:{port}>\r\n"
                f"Content-Type: application/sdp\r\nContent-Length: {len(body)}\r\n\r\n{body}")
            statuses = []
            for branch in ("one", "one", "one", "merged"):
                await loop.sock_sendto(phone, invite.replace("BRANCH", branch).encode(), play.bridge)
                while True:
                    answer = SIPMessage.parse((await loop.sock_recv(phone, 65_535)).decode(), True)
                    if answer.branch.endswith(branch):
                        break
                statuses.append(answer.status)
            assert statuses[-1] == 482 and all(status < 200 for status in statuses[:-1]), statuses
            channel, peer = await rings_at(bob)
            await bob.act("invite_refuse", channel, peer)
            while SIPMessage.parse((await loop.sock_recv(phone, 65_535)).decode(), True).status != 486:
                pass
            assert len(bob.calls("invite")) == 1


async def test_over_tcp(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(
            call.invite(sdp(play.rtp.port)), call.rings(), call.is_answered(), call.is_hung_up(), transport="t1")
        channel, peer = await accepts(bob)
        await eventually(lambda: phone.sent("ACK"), "the call is up")
        await bob.act("invite_bye", channel, peer)
        await phone.done()


async def test_a_stranger_rings_nobody(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(call.invite(sdp(play.rtp.port)), call.fails(403), host=STRANGER)
        await phone.done()
        assert not phone.received(180)
        await mail_barrier(bob)
        assert not bob.calls("invite")


async def test_many_strangers_get_silence_and_phones_are_served(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, = await play.users("bob")
        scan = Caller("1000")
        scanner = await play.caller(
            scan.invite(sdp(play.rtp.port)), scan.fails(403), host=SCANNER, calls=400, log_messages=False,
            extra=("-r", "400", "-max_invite_retrans", "1"))
        call = Caller(play.number(bob.account))
        phone = await play.caller(call.invite(sdp(play.rtp.port)), call.fails(486))
        await refuses(bob)
        await phone.done()
        await scanner.process.wait()
        assert scanner.process.returncode != 0, "every one of 400 calls within a second was answered"


async def test_a_stranger_with_digest(stack: Stack):
    async with scene(stack, user="branch", secret="swordfish", accept_digest=True) as play:
        await play.settle()
        bob, = await play.users("bob")
        number = play.number(bob.account)
        for secret, good in (("wrong", False), ("swordfish", True)):
            call = Caller(number)
            steps = [
                call.invite(sdp(play.rtp.port)), call.challenged(401),
                call.invite(sdp(play.rtp.port), f"[authentication username=branch password={secret}]")]
            steps += [call.is_answered(), call.hangs_up()] if good else [
                expect(100, optional=True), expect(401, optional=True, attributes='next="1"'), expect(403),
                '<label id="1"/>', call.acknowledge(same_branch=True)]
            phone = await play.caller(*steps, host=BRANCH)
            if good:
                await accepts(bob)
                await saw(bob, "invite_bye")
            await phone.done()
        assert len(bob.calls("invite")) == 1


async def test_another_apps_number_is_unknown(stack: Stack):
    """A trunk reaches the numbers of its own app only."""
    async with scene(stack, host=FIRST_TRUNK) as play, scene(stack, host=SECOND_TRUNK) as other:
        await play.settle()
        bob, = await other.users("bob")
        number = other.number(bob.account)
        call = Caller(number)
        phone = await play.caller(call.invite(sdp(play.rtp.port)), call.fails(404), host=FIRST_TRUNK)
        await phone.done()
        call = Caller(number)
        phone = await play.caller(call.invite(sdp(play.rtp.port)), call.fails(486), host=SECOND_TRUNK)
        await refuses(bob)
        await phone.done()


async def test_a_request_outside_of_any_call(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        call = Caller("+49301")
        for method in ("BYE", "INFO", "UPDATE"):
            phone = await play.caller(call.request(method).replace("[next_url]", "sip:x@[remote_ip]:[remote_port]")
                .replace("[peer_tag_param]", ";tag=none"), expect(481))
            await phone.done()

