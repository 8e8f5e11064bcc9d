"""Digits in both directions: RFC 4733 checked packet by packet, and INFO."""

import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from apps import App
from messages import SIPMessage
from peers import LOOPBACK
from rtp import FRAME_SECONDS, Keypad
from scenarios import DTMF_RELAY, PCMU_AND_EVENTS, PCMU_ONLY, Called, expect, pause, sdp
from scene import NUMBER, Scene, accepts, answered_call, digits, heard, press, scene, words
from signaling import Client
from sipp import Sipp
from stack_control import Stack
from waiting import eventually, give_way, let_pass

SIXTEEN = "0123456789*#ABCD"


@dataclass
class Call:
    """A call that is up."""

    play: Scene
    user: Client
    phone: Sipp
    channel: str
    peer: str

    async def press(self, text: str) -> None:
        """The user sends digits."""
        await press(self.user, self.channel, self.peer, text)

    @property
    def description(self) -> SIPMessage:
        """The message with the bridge's session description: its INVITE, or its answer to the phone's."""
        return (self.phone.received("INVITE") or self.phone.received(200))[0]

    @property
    def media(self) -> tuple[str, int]:
        """The address at which the bridge receives the phone's RTP."""
        return self.play.bridge[0], self.description.audio_port

    @property
    def receiving_type(self) -> int:
        """The payload type with which the bridge expects events."""
        return self.description.event_type


@asynccontextmanager
async def outbound(
    stack: Stack, *between: str, formats: tuple[tuple[str, str], ...] = PCMU_AND_EVENTS, **trunk: object
) -> AsyncIterator[Call]:
    """The phone is called, does `between`, and is hung up by the user at the end."""
    async with scene(stack, **trunk) as play:
        alice, phone, channel = await answered_call(play, *between, body=sdp(play.rtp.port, formats))
        await eventually(lambda: phone.received("ACK"), "the ACK arrived")
        yield Call(play, alice, phone, channel, NUMBER)
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()


@asynccontextmanager
async def inbound(
    stack: Stack, line: App, *between: str, formats: tuple[tuple[str, str], ...] = PCMU_AND_EVENTS
) -> AsyncIterator[Call]:
    """The phone calls, does `between`, and is hung up by the user at the end."""
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(
            call.invite(sdp(play.rtp.port, formats)), call.is_answered(), *(
                step(call) if callable(step) else step for step in between), call.is_hung_up())
        channel, peer = await accepts(bob)
        await eventually(lambda: phone.sent("ACK"), "the call is up")
        yield Call(play, bob, phone, channel, peer)
        await bob.act("invite_bye", channel, peer)
        await phone.done()


# From the user to the phone, RFC 4733

async def test_all_sixteen_reach_a_called_phone(stack: Stack):
    async with outbound(stack) as call:
        await call.play.rtp.hears_audio()
        await call.press(SIXTEEN)
        await call.play.rtp.heard_digits(96, SIXTEEN)
        # Audio went on with its media clock.
        before = len(call.play.rtp.packets)
        await eventually(lambda: len(call.play.rtp.packets) > before + 10, "silence goes on after the digits")
    assert not call.phone.received("INFO")


async def test_digits_reach_a_calling_phone_under_the_number_that_it_offered(stack: Stack, line: App):
    formats = (("8", "PCMA/8000"), ("0", "PCMU/8000"), ("110", "telephone-event/8000"))
    async with inbound(stack, line, formats=formats) as call:
        await call.play.rtp.hears_audio()
        await call.press("12#")
        await call.press("0")
        await call.play.rtp.heard_digits(110, "12#0")
        assert call.receiving_type == 110
        # The codec that the phone prefers, or at least one that it supports.
        assert {packet.payload_type for packet in call.play.rtp.packets} <= {0, 8, 110}


async def test_a_comma_is_a_pause(stack: Stack):
    async with outbound(stack) as call:
        await call.play.rtp.hears_audio()
        await call.press("1,2")
        await call.play.rtp.heard_digits(96, "12")
        one, two = (
            [packet for packet in call.play.rtp.events(96) if packet.event == event] for event in (1, 2))
        assert 0.4 <= two[0].at - one[-1].at <= 1.0


async def test_what_is_no_digit_is_refused(stack: Stack):
    async with outbound(stack) as call:
        for text in ("12x", "1 2", "E", ""):
            reply = await call.user.attempt(
                "voip_invite_msg", channelName=call.channel, peer=call.peer,
                extra=f'{{"msgtype":"dtmf","msgdata":"{text}"}}')
            assert not reply.ok and reply.data["code"] == 1004, text
        await call.press("7")
        await call.play.rtp.heard_digits(96, "7")


async def test_an_end_during_a_digit_still_ends_the_digit(stack: Stack):
    async with outbound(stack) as call:
        await call.play.rtp.hears_audio()
        await call.press("5")
        await eventually(lambda: call.play.rtp.events(96), "the digit begins")
    await eventually(lambda: sum(p.is_end for p in call.play.rtp.events(96)) == 3, "the digit is ended")


# From the phone to the user, RFC 4733

async def play_keys(call: Call, packets: list) -> None:
    """Sends packets at the rate of a real phone."""
    for packet in packets:
        call.play.rtp.send([packet], call.media)
        await let_pass(FRAME_SECONDS, "a phone sends a packet each frame")


async def test_digits_of_a_called_phone(stack: Stack):
    async with outbound(stack) as call:
        keypad = Keypad(call.receiving_type)
        for digit in SIXTEEN + "00":
            call.play.rtp.send(keypad.press(digit), call.media)
        await heard(call.user, SIXTEEN + "00")
        assert {words(message)["msgtype"] for message in call.user.calls("invite_msg")} == {"dtmf"}


async def test_digits_of_a_calling_phone(stack: Stack, line: App):
    async with inbound(stack, line, formats=(("0", "PCMU/8000"), ("99", "telephone-event/8000"))) as call:
        keypad = Keypad(99)
        await play_keys(call, keypad.press("4") + keypad.press("4") + keypad.press("#"))
        await heard(call.user, "44#")


async def test_whatever_is_lost_repeated_or_reordered(stack: Stack):
    async with outbound(stack) as call:
        keypad = Keypad(call.receiving_type)
        send = lambda packets: call.play.rtp.send(packets, call.media)  # noqa: E731
        # Only the start.
        send(keypad.press("1")[:1])
        # Only an end copy, without marker.
        send(keypad.press("2")[-1:])
        # Everything twice, and backwards.
        three = keypad.press("3")
        send(three + three[::-1])
        # A late packet of the previous digit arrives in the middle of the next one.
        four, five = keypad.press("4"), keypad.press("5")
        send(four[:-1] + five[:3] + four[-1:] + five[3:])
        # The first duration is 0, all end copies have one sequence number, no packet has the marker.
        six = keypad.press("6", first_duration=0)
        six = [packet_without_marker(p) for p in six[:-2]] + [packet_without_marker(six[-3])] * 2
        send(six)
        # Events that are no digits: 16 is a hook flash, 36 a modem's tone.
        send(keypad.press(16) + keypad.press(36))
        # Another event with the same time stamp is another digit.
        keypad.press("7")
        stamp = keypad.timestamp
        seven = keypad.press("7")
        keypad.timestamp = stamp
        send(seven + keypad.press("8"))
        await heard(call.user, "12345678")


def packet_without_marker(packet):
    return type(packet)(**(packet.__dict__ | {"marker": False}))


async def test_a_long_press_is_one_digit(stack: Stack):
    """Over 8.19 s it goes on under a new time stamp (RFC 4733, 2.5.1.3)."""
    async with outbound(stack) as call:
        keypad = Keypad(call.receiving_type)
        begin = keypad.timestamp
        first = keypad.press("9", frames=409, ends=0)
        keypad.timestamp = begin + 0xFFFF
        second = keypad.press("9", frames=5)
        for packet in [*first, packet_without_marker(second[0]), *second[1:]]:
            call.play.rtp.send([packet], call.media)
            await give_way()
        call.play.rtp.send(keypad.press("1"), call.media)
        await heard(call.user, "91")


async def test_a_repeated_info_is_one_digit(stack: Stack):
    """The phone's copies of one INFO, as after the loss of the answers; sipp can't send them on purpose."""
    async with outbound(stack, formats=PCMU_ONLY) as call:
        invite, ok = call.phone.received("INVITE")[0], call.phone.sent(200)[0]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as copies:
            copies.bind((LOOPBACK, 0))
            here = f"{LOOPBACK}:{copies.getsockname()[1]}"
            for number, digit in ((5, 4), (5, 4), (5, 4), (6, 5), (6, 5)):
                copies.sendto((
                    f"INFO sip:{call.play.bridge[0]} SIP/2.0\r\nVia: SIP/2.0/UDP {here};branch=z9hG4bK-{number}\r\n"
                    f"Max-Forwards: 70\r\nFrom: {ok.header('To')}\r\nTo: {invite.header('From')}\r\n"
                    f"Call-ID: {invite.header('Call-ID')}\r\nCSeq: {number} INFO\r\n"
                    f"Content-Type: application/dtmf\r\nContent-Length: 1\r\n\r\n{digit}").encode(), call.play.bridge)
            await heard(call.user, "45")


async def test_a_digit_by_rtp_and_by_info_is_one(stack: Stack):
    """A peer that sends a digit both as telephone-event and by INFO: only one of the two counts in a dialog."""
    async with outbound(
        stack, Called.request("INFO", 5, "Signal=3\nDuration=160\n", DTMF_RELAY), expect(200)) as call:
        keypad = Keypad(call.receiving_type)
        call.play.rtp.send(keypad.press("3"), call.media)
        await eventually(lambda: call.phone.received(200), "the INFO is answered")
        await heard(call.user, "3")


# INFO

async def test_info_to_a_phone_without_telephone_events(stack: Stack):
    async with outbound(
        stack, expect("INFO"), pause(0.3), Called.confirm(), expect("INFO"), Called.confirm(), expect("INFO"),
        Called.confirm(), formats=PCMU_ONLY) as call:
        await call.play.rtp.hears_audio()
        await call.press("1#A")
        await eventually(lambda: len(call.phone.received("INFO")) == 3, "three INFOs arrived")
        infos = call.phone.received("INFO")
        assert [info.header("Content-Type").lower() for info in infos] == [DTMF_RELAY] * 3
        assert [re.search(r"(?i)Signal\s*=\s*(\S+)", info.body).group(1) for info in infos] == ["1", "#", "A"]
        assert all(40 <= int(re.search(r"(?i)Duration\s*=\s*(\d+)", info.body).group(1)) <= 500 for info in infos)
        # One at a time: the second was sent after the first was answered.
        assert infos[1].at >= call.phone.sent(200)[1].at
        numbers = [info.cseq[0] for info in infos]
        assert numbers == list(range(numbers[0], numbers[0] + 3))
        assert {packet.payload_type for packet in call.play.rtp.packets} == {0}


async def test_info_because_the_trunk_says_so(stack: Stack):
    async with outbound(stack, expect("INFO"), Called.confirm(), dtmf="info") as call:
        await call.play.rtp.hears_audio()
        await call.press("8")
        await eventually(lambda: call.phone.received("INFO"), "the INFO arrived")
        before = len(call.play.rtp.packets)
        await eventually(lambda: len(call.play.rtp.packets) > before + 20, "media goes on")
        assert {packet.payload_type for packet in call.play.rtp.packets} == {0}, "digits were sent as telephone-events too"


async def test_info_falls_back_to_the_other_type(stack: Stack):
    async with outbound(
        stack, expect("INFO"), Called.confirm(415, "", "Accept: application/dtmf"), expect("INFO"), Called.confirm(),
        formats=PCMU_ONLY) as call:
        await call.press("*")
        await eventually(lambda: len(call.phone.received("INFO")) == 2, "the second try arrived")
        first, second = call.phone.received("INFO")
        assert first.header("Content-Type").lower() == DTMF_RELAY
        assert second.header("Content-Type").lower() == "application/dtmf" and second.body.strip() in ("*", "10")


@pytest.mark.parametrize(("kind", "body", "digit"), [
    (DTMF_RELAY, "Signal=5\nDuration=160\n", "5"), (DTMF_RELAY, "Signal= 7\nDuration= 100\n", "7"),
    (DTMF_RELAY, "Signal=*\n", "*"), (DTMF_RELAY, "Signal=11\nDuration=160\n", "#"), ("application/dtmf", "9", "9"),
    ("application/dtmf", "10", "*"), ("application/dtmf", "#", "#"),
])
async def test_info_of_a_calling_phone(stack: Stack, line: App, kind: str, body: str, digit: str):
    async with inbound(
        stack, line, lambda call: call.request("INFO", body, kind), expect(200), formats=PCMU_ONLY) as call:
        await eventually(lambda: len(call.phone.received(200)) == 2, "the INFO is answered")
        await heard(call.user, digit)


async def test_info_of_a_called_phone(stack: Stack):
    async with outbound(
        stack, Called.request("INFO", 5, "Signal=4\nDuration=160\n", DTMF_RELAY), expect(200),
        Called.request("INFO", 6, "Signal=4\nDuration=160\n", DTMF_RELAY), expect(200), formats=PCMU_ONLY) as call:
        await heard(call.user, "44")


async def test_an_info_of_another_kind_does_no_harm(stack: Stack):
    async with outbound(
        stack, Called.request("INFO", 5, "<x/>", "application/media_control+xml"),
        expect(200, optional=True, attributes='next="1"'), expect(415), '<label id="1"/>',
        Called.request("OPTIONS", 6), expect(200), formats=PCMU_ONLY) as call:
        await eventually(lambda: len(call.phone.received(200)) >= 1, "OPTIONS in the dialog is answered")
        assert digits(call.user) == ""
