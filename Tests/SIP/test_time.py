"""Tests that take half a minute each, all at once in one cluster."""

import asyncio
import time

from apps import App
from rtp import RTPEndpoint
from scenarios import Called, expect, pause, sdp
from scene import NUMBER, accepts, dial, saw, scene, words
from stack_control import Stack
from waiting import let_pass

# RFC 3261, timers B and H: 64 * T1.
TRANSACTION_SECONDS = 32
FIRST_PACKET_SECONDS = 30
TOLERANCE = 3


async def no_media(stack: Stack) -> None:
    """A phone that answers and never sends RTP is given up after 30 s."""
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.picks_up(sdp(play.rtp.port)), Called.is_hung_up(), patient=True)
        await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        started = time.monotonic()
        ended = words(await saw(alice, "invite_bye", seconds=FIRST_PACKET_SECONDS + TOLERANCE))
        assert (ended["code"], ended["reason"]) == (702, "rtp_timeout")
        assert time.monotonic() - started > FIRST_PACKET_SECONDS - TOLERANCE
        await phone.done()


async def held(stack: Stack) -> None:
    """A phone on hold sends nothing, and its call goes on."""
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.picks_up(sdp(play.rtp.port)), pause(0.3),
            Called.request("INVITE", 5, sdp(play.rtp.port, version=2, direction="inactive")), expect(200),
            Called.request("ACK", 5), Called.is_hung_up(), patient=True)
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        await let_pass(FIRST_PACKET_SECONDS + TOLERANCE, "the call outlasts the wait for a first packet")
        assert not alice.calls("invite_bye")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()


async def nobody_there(stack: Stack) -> None:
    """A trunk that answers nothing: the INVITE times out."""
    async with scene(stack) as play, RTPEndpoint() as silent:
        play.trunk(port=silent.port + 1)
        alice, = await play.users("alice")
        started = time.monotonic()
        await dial(alice, NUMBER)
        failed = words(await saw(alice, "invite_failed", seconds=TRANSACTION_SECONDS + 2 * TOLERANCE))
        assert failed["code"] == 704
        assert time.monotonic() - started > TRANSACTION_SECONDS - TOLERANCE


async def no_acknowledgement(stack: Stack, line: App) -> None:
    """The bridge hangs up on a phone that never acknowledges the answer."""
    async with scene(stack, app=line) as play:
        bob, call = await play.callee()
        phone = await play.caller(
            call.invite(sdp(play.rtp.port)), expect(100, optional=True), expect(180, optional=True), expect(200),
            call.is_hung_up(), patient=True)
        await accepts(bob)
        ended = words(await saw(bob, "invite_bye", seconds=TRANSACTION_SECONDS + TOLERANCE))
        assert (ended["code"], ended["reason"]) == (702, "unacknowledged")
        await phone.done()
        assert len(phone.received(200)) >= 8


async def test_what_runs_out_of_time(stack: Stack, line: App):
    async with asyncio.TaskGroup() as group:
        for act in (no_media(stack), held(stack), nobody_there(stack), no_acknowledgement(stack, line)):
            group.create_task(act)

