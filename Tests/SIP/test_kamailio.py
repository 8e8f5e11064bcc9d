"""Calls through Kamailio, which asks for credentials and keeps a registration."""

import pytest
from kamailio import CONTACT_ONLY, REALM, SECRET, TELEPHONE_NETWORK, USER, Kamailio
from peers import free_port
from scenarios import Called, expect, sdp
from scene import NUMBER, Scene, accepts, dial, press, saw, scene, words
from stack_control import Stack
from waiting import eventually

# kamailio.cfg grants no more.
REGISTERED_SECONDS = 6


async def proxy(play: Scene, algorithm: str, *, nonce_seconds: int = 300) -> Kamailio:
    """A Kamailio that forwards calls to the phone of this scene."""
    return await play.peers.start(Kamailio(play.peers, algorithm, play.port, nonce_seconds=nonce_seconds))


@pytest.mark.parametrize("algorithm", ["MD5", "SHA-256"])
@pytest.mark.parametrize("transport", ["udp", "tcp"])
async def test_an_outbound_call_with_digest(stack: Stack, algorithm: str, transport: str):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        kamailio = await proxy(play, algorithm)
        play.trunk(port=kamailio.port, transport=transport, user=USER, secret=SECRET, from_domain=REALM)
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.picks_up(sdp(play.rtp.port)), Called.is_hung_up())
        channel = await dial(alice, NUMBER, {"srcNum": "+4989555"})
        await saw(alice, "invite_ack")
        await saw(alice, "invite_accept")
        await play.rtp.hears_audio()
        await press(alice, channel, NUMBER, "42")
        await play.rtp.heard_digits(96, "42")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        call, = kamailio.calls
        assert (call["user"], call["algorithm"]) == (USER, algorithm)
        assert call["from"] == f"sip:+4989555@{REALM}"
        # Requests within the dialog take the route that the proxy recorded.
        assert len(phone.received("BYE")[0].all("Via")) == 2 == len(phone.received("ACK")[0].all("Via"))
        assert "credentials" not in kamailio.output and SECRET not in kamailio.output


async def test_the_phone_behind_a_proxy_hangs_up(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        kamailio = await proxy(play, "SHA-256")
        play.trunk(port=kamailio.port, user=USER, secret=SECRET, from_domain=REALM)
        phone = await play.phone(Called.invited(), Called.picks_up(sdp(play.rtp.port)), Called.hangs_up())
        await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        await saw(alice, "invite_bye")
        await phone.done()


async def test_cancel_through_a_proxy(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        kamailio = await proxy(play, "MD5")
        play.trunk(port=kamailio.port, user=USER, secret=SECRET, from_domain=REALM)
        phone = await play.phone(Called.invited(), Called.answer(180), Called.cancelled())
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_ack")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        assert not alice.calls("invite_failed")


@pytest.mark.parametrize(("algorithm", "headers"), [
    ("MD5", (TELEPHONE_NETWORK,)), ("SHA-256", (TELEPHONE_NETWORK, CONTACT_ONLY))])
async def test_an_inbound_call_over_a_registration(stack: Stack, algorithm: str, headers: tuple[str, ...]):
    async with scene(stack) as play:
        # Nonces live shorter than the registration: its refresh is challenged as stale.
        kamailio = await proxy(play, algorithm, nonce_seconds=1)
        play.trunk(port=kamailio.port, user=USER, secret=SECRET, from_domain=REALM, register=True)
        await eventually(lambda: kamailio.registrations, "the bridge registers")
        first = kamailio.registrations[0]
        assert (first["user"], first["algorithm"]) == (USER, algorithm)
        bob, call = await play.callee(host=REALM)
        phone = await play.caller(
            call.invite(sdp(play.rtp.port), *headers), call.is_answered(), call.hangs_up(),
            target=(play.bridge[0], kamailio.port))
        await accepts(bob)
        await saw(bob, "invite_bye")
        await phone.done()
        await eventually(
            lambda: len(kamailio.registrations) >= 2, "the registration is refreshed", REGISTERED_SECONDS + 2)
        # Without the trunk, the bridge removes its registration.
        count = len(kamailio.registrations)
        play.stack.control("trunk", "remove", play.app.id)
        await eventually(
            lambda: any(r.get("expires") == "0" or "expires=0" in r.get("contact", "")
                        for r in kamailio.registrations[count:]), "the registration is taken back")


async def test_a_wrong_secret(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        kamailio = await proxy(play, "SHA-256")
        play.trunk(port=kamailio.port, user=USER, secret="wrong", from_domain=REALM)
        await dial(alice, NUMBER)
        extra = words(await saw(alice, "invite_failed"))
        assert (extra["code"], extra["sip_status"]) == (700, 407)
        # Tried once without and once with credentials, no more.
        assert kamailio.output.count("test: challenge INVITE") == 2


async def test_the_phone_behind_a_proxy_is_busy(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        kamailio = await proxy(play, "MD5")
        play.trunk(port=kamailio.port, user=USER, secret=SECRET, from_domain=REALM)
        phone = await play.phone(Called.invited(), Called.answer(486, "Busy Here", retransmits=True), expect("ACK"))
        await dial(alice, NUMBER)
        assert words(await saw(alice, "invite_refuse"))["sip_status"] == 486
        await phone.done()


async def test_a_proxy_that_cannot_reach_the_phone(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        kamailio = await play.peers.start(Kamailio(play.peers, "MD5", free_port(), phone_transport="tcp"))
        play.trunk(port=kamailio.port, user=USER, secret=SECRET, from_domain=REALM)
        await dial(alice, NUMBER)
        extra = words(await saw(alice, "invite_failed"))
        assert extra["sip_status"] >= 400 and extra["code"] in (700, 703, 704)
