"""The peers talk to each other without any bridge, so that what they say of the bridge can be trusted."""

from dataclasses import replace

import pytest
from baresip import Baresip
from kamailio import SECRET, USER, Kamailio
from peers import LOOPBACK, Peers, free_port, is_bound
from rtp import FRAME_SECONDS, Keypad, RTPEndpoint, check_events
from scenarios import DTMF_RELAY, Called, Caller, expect, pause, scenario, sdp
from sipp import Sipp
from waiting import let_pass


async def test_sipp_calls_sipp():
    async with Peers() as peers:
        info = ("INFO", "Signal=5\nDuration=160\n", DTMF_RELAY)
        called = await peers.start(Sipp(peers, scenario(
            Called.invited(), Called.answer(180), Called.picks_up(sdp(4000)), expect("INFO"), Called.confirm(),
            Called.request("INFO", 5, *info[1:]), expect(200), Called.is_hung_up())))
        call = Caller("+4930111")
        caller = await peers.start(Sipp(peers, scenario(
            call.invite(sdp(4002)), call.rings(), call.is_answered(), call.request(*info), expect(200), expect("INFO"),
            call.confirm(), call.hangs_up()), target=(LOOPBACK, called.port)))
        await caller.done()
        await called.done()
        invite, ack = called.received("INVITE")[0], called.received("ACK")[0]
        assert invite.uri == f"sip:+4930111@{LOOPBACK}:{called.port}" and "m=audio 4002" in invite.body
        assert ack.branch != invite.branch and caller.sent("INFO")[0].cseq == (2, "INFO")
    assert not is_bound(called.port)


async def test_sipp_gives_up_on_sipp():
    async with Peers() as peers:
        called = await peers.start(Sipp(peers, scenario(Called.invited(), Called.answer(180), Called.cancelled())))
        call = Caller("1")
        caller = await peers.start(Sipp(
            peers, scenario(call.invite(sdp(4000)), call.rings(), call.cancel()), target=(LOOPBACK, called.port)))
        await caller.done()
        await called.done()


async def test_a_scenario_that_is_not_followed_fails():
    async with Peers() as peers:
        called = await peers.start(Sipp(peers, scenario(Called.invited(), Called.answer(486), expect("ACK"))))
        call = Caller("1")
        caller = await peers.start(Sipp(
            peers, scenario(call.invite(sdp(4000)), call.is_answered(), call.hangs_up()), target=(LOOPBACK, called.port)))
        with pytest.raises(AssertionError, match="sipp ended with 1"):
            await caller.done()


@pytest.mark.parametrize("algorithm", ["MD5", "SHA-256"])
async def test_kamailio_asks_for_credentials(algorithm: str):
    async with Peers() as peers:
        port = free_port()
        proxy = await peers.start(Kamailio(peers, algorithm, port))
        call = Caller("+4930111")
        steps = [call.invite(sdp(4000)), expect(100, optional=True), expect(407), call.acknowledge(same_branch=True)]
        caller = await peers.start(Sipp(peers, scenario(*steps), target=(LOOPBACK, proxy.port)))
        await caller.done()
        assert f"algorithm={algorithm}" in caller.received(407)[0].header("Proxy-Authenticate")
        assert 'qop="auth"' in caller.received(407)[0].header("Proxy-Authenticate")
        if algorithm == "MD5":
            # sipp itself can do no more than MD5.
            called = await peers.start(Sipp(
                peers, scenario(Called.invited(), Called.picks_up(sdp(4000)), Called.is_hung_up()), port=port))
            call = Caller("+4930111", USER)
            caller = await peers.start(Sipp(peers, scenario(
                call.invite(sdp(4000)), call.challenged(407),
                call.invite(sdp(4000), f"[authentication username={USER} password={SECRET}]"), call.is_answered(),
                call.hangs_up()), target=(LOOPBACK, proxy.port)))
            await caller.done()
            await called.done()
            assert [told["user"] for told in proxy.calls] == [USER]


async def test_baresip_and_our_media_hear_each_other():
    async with Peers() as peers, RTPEndpoint() as rtp:
        phone = await peers.start(Baresip(peers))
        call = Caller("phone")
        caller = await peers.start(Sipp(
            peers, scenario(call.invite(sdp(rtp.port)), call.is_answered(), call.is_hung_up()),
            target=(LOOPBACK, phone.sip_port)))
        await phone.happens("CALL_INCOMING")
        await phone.accept()
        await phone.happens("CALL_ESTABLISHED")
        await rtp.hears_audio()
        keypad = Keypad(96)
        for packet in keypad.press("7") + keypad.press("*") + keypad.press("7"):
            rtp.send([packet], rtp.packets[0].source)
            await let_pass(FRAME_SECONDS, "a phone sends a packet each frame")
        await phone.hears("7*7")
        await phone.press("12#")
        await rtp.heard_digits(96, "12#")
        await phone.hang_up()
        await caller.done()


def faulty(kind: str):
    """The packets of two digits with one mistake."""
    keypad = Keypad(96)
    packets = keypad.press("1") + keypad.press("2")
    last = len(packets) - 1
    match kind:
        case "none":
            return packets
        case "marker":
            packets[3] = replace(packets[3], marker=True)
        case "two ends":
            del packets[last]
        case "number":
            packets[last] = replace(packets[last], sequence=packets[last - 1].sequence)
        case "time stamp":
            packets[2] = replace(packets[2], timestamp=packets[2].timestamp + 1)
        case "duration":
            packets[2] = replace(packets[2], payload=packets[1].payload)
        case "starts at 0":
            packets[0] = replace(packets[0], payload=packets[0].payload[:2] + b"\0\0")
        case "gap":
            packets[8:] = [replace(packet, timestamp=packets[0].timestamp + 300) for packet in packets[8:]]
        case "two streams":
            packets[5] = replace(packets[5], ssrc=1)
    return packets


def test_good_digits_are_good():
    check_events(faulty("none"), 96, "12")


@pytest.mark.parametrize(
    "kind", ["marker", "two ends", "number", "time stamp", "duration", "starts at 0", "gap", "two streams"])
def test_bad_digits_are_noticed(kind: str):
    with pytest.raises(AssertionError):
        check_events(faulty(kind), 96, "12")


def test_wrong_digits_are_noticed():
    with pytest.raises(AssertionError):
        check_events(faulty("none"), 96, "13")


async def test_a_pause_delays_a_scenario():
    async with Peers() as peers:
        called = await peers.start(Sipp(peers, scenario(
            Called.invited(), pause(0.7), Called.answer(404, retransmits=True), expect("ACK"))))
        call = Caller("1")
        caller = await peers.start(Sipp(
            peers, scenario(call.invite(sdp(4000)), call.fails(404)), target=(LOOPBACK, called.port)))
        await caller.done()
        assert 0.6 <= caller.received(404)[0].at - caller.sent("INVITE")[0].at <= 1.5
