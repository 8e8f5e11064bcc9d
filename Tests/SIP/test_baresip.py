"""Calls with baresip, a softphone: its own telephone-events, SRTP, TLS and hold."""

from pathlib import Path

import pytest
from apps import App
from baresip import Baresip
from certificates import make_certificate
from scene import NUMBER, Scene, accepts, dial, heard, press, rings_at, saw, scene, words
from signaling import Client
from stack_control import Stack
from waiting import eventually


async def softphone(play: Scene, **options: object) -> Baresip:
    """A baresip that ends with the test."""
    return await play.peers.start(Baresip(play.peers, **options))


async def call_softphone(play: Scene, phone: Baresip, **trunk: object) -> tuple[Client, str, str]:
    """A user calls the phone by the scene's trunk, and it rings; the user, the channel and the phone's URI."""
    alice, = await play.users("alice")
    play.trunk(port=phone.sip_port, **trunk)
    channel = await dial(alice, phone.uri)
    await phone.happens("CALL_INCOMING")
    return alice, channel, phone.uri


async def talk(play: Scene, phone: Baresip, **trunk: object) -> None:
    """A call to the phone, with digits in both directions, that the phone ends."""
    alice, channel, number = await call_softphone(play, phone, **trunk)
    await saw(alice, "invite_ack")
    await phone.accept()
    await saw(alice, "invite_accept")
    await phone.happens("CALL_RTPESTAB")
    await press(alice, channel, number, "19*#0")
    await phone.hears("19*#0")
    await phone.press("2580")
    await heard(alice, "2580")
    assert phone.digits == "19*#0"
    await phone.hang_up()
    await saw(alice, "invite_bye")


@pytest.mark.parametrize("transport", ["udp", "tcp"])
async def test_it_is_called_and_digits_go_both_ways(stack: Stack, transport: str):
    async with scene(stack) as play:
        await talk(play, await softphone(play, transport=transport), transport=transport)


async def test_it_calls_and_digits_go_both_ways(stack: Stack, line: App):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await softphone(play)
        await phone.dial(f"sip:{call.number}@{play.bridge[0]}:{play.bridge[1]}")
        channel, peer = await rings_at(bob)
        await phone.happens("CALL_RINGING")
        await bob.act("invite_accept", channel, peer)
        await phone.happens("CALL_ESTABLISHED")
        await phone.happens("CALL_RTPESTAB")
        await phone.press("7A")
        await heard(bob, "7A")
        await press(bob, channel, peer, "33")
        await phone.hears("33")
        await bob.act("invite_bye", channel, peer)
        await phone.happens("CALL_CLOSED")


@pytest.mark.parametrize(("policy", "encryption"), [("optional", "srtp"), ("required", "srtp-mand")])
async def test_srtp(stack: Stack, policy: str, encryption: str):
    async with scene(stack) as play:
        phone = await softphone(play, modules=("srtp",), account=f";mediaenc={encryption}")
        await talk(play, phone, srtp=policy)
        assert "SRTP is Enabled" in phone.output


async def test_srtp_is_optional(stack: Stack):
    """A phone without SRTP gets unencrypted media."""
    async with scene(stack) as play:
        await talk(play, await softphone(play), srtp="optional")


async def test_srtp_is_required(stack: Stack):
    """A call to a phone without SRTP fails."""
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await softphone(play)
        play.trunk(port=phone.sip_port, srtp="required")
        await dial(alice, phone.uri)
        told = words(await saw(alice, "invite_failed"))
        assert told["code"] == 700
        assert not alice.calls("invite_accept")


async def test_tls_and_srtp(stack: Stack, certificate: Path):
    async with scene(stack) as play:
        phone = await softphone(
            play, transport="tls", settings=f"sip_certificate {certificate}\n", modules=("srtp",),
            account=";mediaenc=srtp-mand")
        await talk(play, phone, transport="tls", srtp="required")


async def test_it_calls_over_tls(stack: Stack, line: App, certificate: Path):
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await softphone(
            play, transport="tls", settings=f"sip_certificate {certificate}\nsip_cafile {certificate}\n")
        await phone.dial(f"sip:{call.number}@{play.bridge[0]}:{play.bridge[1] + 1};transport=tls")
        channel, peer = await accepts(bob)
        await phone.happens("CALL_ESTABLISHED")
        await bob.act("invite_bye", channel, peer)
        await phone.happens("CALL_CLOSED")


async def test_a_certificate_of_nobody_we_trust(stack: Stack, tmp_path: Path):
    """The call fails before anything is sent to the untrusted peer."""
    other = make_certificate(tmp_path)
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await softphone(play, transport="tls", settings=f"sip_certificate {other}\n")
        play.trunk(port=phone.sip_port, transport="tls")
        await dial(alice, NUMBER)
        assert words(await saw(alice, "invite_failed"))["code"] == 702
        assert "INVITE" not in phone.output


async def test_hold_and_resume(stack: Stack):
    async with scene(stack) as play:
        phone = await softphone(play)
        alice, channel, number = await call_softphone(play, phone)
        await phone.accept()
        await saw(alice, "invite_accept")
        await phone.happens("CALL_RTPESTAB")
        await phone.command("hold")
        await eventually(lambda: "a=recvonly" in phone.output, "the bridge answers the hold")
        await phone.command("resume")
        await press(alice, channel, number, "5")
        await phone.hears("5")
        await alice.act("invite_bye", channel, number)
        await phone.happens("CALL_CLOSED")
        assert not alice.calls("invite_bye")


async def test_it_rejects(stack: Stack):
    async with scene(stack) as play:
        phone = await softphone(play)
        alice, _, _ = await call_softphone(play, phone)
        await phone.hang_up()
        refused = words(await saw(alice, "invite_refuse"))
        assert refused["sip_status"] in (486, 603)


async def test_the_user_gives_up(stack: Stack):
    async with scene(stack) as play:
        phone = await softphone(play)
        alice, channel, number = await call_softphone(play, phone)
        await alice.act("invite_bye", channel, number)
        await phone.happens("CALL_CLOSED")
