"""Bridges that die or are stopped: their calls end with a code, and the log says why. Also the telephone options of `Scripts/stack`."""

import asyncio
import time
from collections.abc import Iterator

import pytest
from fixtures import running
from peers import LOOPBACK, free_port
from scenarios import Called, Caller, expect, pause, sdp
from scene import NUMBER, accepts, answered_call, dial, finished_row, refuses, saw, scene, words
from sipp import Sipp
from stack_control import Stack
from waiting import eventually

RECEPTION, RECEPTIONIST = "4930999", "reception"
# What Docs/failure-modes.md promises.
LOST_SECONDS = 10
DRAIN_SECONDS = 4
# The time that stopping takes besides the drain.
STOP_SECONDS = 10


@pytest.fixture(scope="module")
def trunk_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def bridges(request: pytest.FixtureRequest, trunk_port: int) -> Iterator[Stack]:
    """Two bridges, and telephones of the demo app by the options that acceptance suites use."""
    options = (
        "--sip-trunk", f"{LOOPBACK}:{trunk_port}", "--sip-number", f"{RECEPTION}={RECEPTIONIST}", "--sip-ring", "2",
        "--sip-dtmf", "rfc4733")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HELIOGRAPH_SIP_DRAIN", f"{DRAIN_SECONDS}s")
        with running(request, *options, sip_bridge=2) as stack:
            yield stack


def bridge_of(stack: Stack, phone: Sipp) -> str:
    """Which bridge called this phone."""
    via = phone.received("INVITE")[0].header("Via").split(";")[0]
    return next(
        bridge["name"] for bridge in stack.endpoints["sip"]["bridges"] if via.endswith(f":{bridge['port']}"))


async def test_the_demo_apps_telephones(bridges: Stack, trunk_port: int):
    async with scene(bridges, app=bridges.open_app, port=trunk_port) as play:
        alice, = await play.users("alice")
        reception = await play.cast.exactly(RECEPTIONIST).login(bridges.gateways[0])
        phone = await play.phone(Called.invited(), Called.answer(180), Called.cancelled())
        await dial(alice, NUMBER)
        # After the two seconds of --sip-ring.
        assert words(await saw(alice, "invite_failed"))["code"] == 704
        await phone.done()
        call = Caller(RECEPTION)
        phone = await play.caller(call.invite(sdp(play.rtp.port)), call.fails(486))
        await refuses(reception)
        await phone.done()


async def test_a_bridge_that_is_stopped_finishes_its_calls(bridges: Stack):
    async with scene(bridges) as play:
        alice, phone, channel = await answered_call(play)
        name = bridge_of(bridges, phone)
        draining = asyncio.create_task(asyncio.to_thread(bridges.drain, name))
        await play.rtp.hears_audio()
        count = len(play.rtp.packets)
        await eventually(lambda: len(play.rtp.packets) > count + 25, "the call goes on while its bridge drains")
        assert not draining.done()
        # Meanwhile the other bridge takes new calls. Their phone has another port: the first phone still uses the trunk's.
        await play.move_trunk()
        again = await play.phone(
            Called.invited(), Called.answer(486, "Busy Here", retransmits=True), expect("ACK"))
        await dial(alice, "+4930333")
        await saw(alice, "invite_refuse")
        await again.done()
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        await asyncio.wait_for(draining, STOP_SECONDS)
        assert not alice.calls("invite_bye")
        await asyncio.to_thread(bridges.start, name)


async def test_a_bridge_that_is_stopped_ends_the_calls_that_do_not_finish(bridges: Stack):
    async with scene(bridges) as play:
        alice, phone, _ = await answered_call(play)
        name, started = bridge_of(bridges, phone), time.monotonic()
        draining = asyncio.create_task(asyncio.to_thread(bridges.drain, name))
        ended = words(await saw(alice, "invite_bye"))
        assert time.monotonic() - started >= DRAIN_SECONDS - 0.5
        assert (ended["code"], ended["reason"]) == (702, "bridge_stopped")
        await phone.done()
        await asyncio.wait_for(draining, STOP_SECONDS)
        await asyncio.to_thread(bridges.start, name)


async def test_a_killed_bridges_calls_end_within_ten_seconds(bridges: Stack):
    async with scene(bridges) as play:
        alice, bob, carol = await play.users("alice", "bob", "carol")
        await play.settle()
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.picks_up(sdp(play.rtp.port)), pause(60))
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        incoming = Caller(play.number(bob.account), "+4930111")
        caller = await play.caller(incoming.invite(sdp(play.rtp.port)), incoming.is_answered(), pause(60))
        await accepts(bob)
        await eventually(lambda: caller.sent("ACK"), "the inbound call is up")
        await phone.stop()
        ringing = await play.phone(Called.invited(), Called.answer(180), pause(60))
        await dial(carol, "+4930222")
        await saw(carol, "invite_ack")
        for name in ("sip-bridge#1", "sip-bridge#2"):
            bridges.kill(name)
        killed = time.monotonic()
        ended = await asyncio.gather(
            saw(alice, "invite_bye", seconds=LOST_SECONDS), saw(bob, "invite_bye", seconds=LOST_SECONDS),
            saw(carol, "invite_failed", seconds=LOST_SECONDS))
        assert time.monotonic() - killed < LOST_SECONDS
        assert [(words(call)["code"], words(call)["reason"]) for call in ended] == [(702, "bridge_lost")] * 3
        assert ended[0]["channel"] == channel
        log = (bridges.directory / "logs" / "invitation#1.log").read_text()
        assert "sip-bridge is lost" in log
        assert (await finished_row(play, alice))["end_code"] == "702"
        # After a restart the bridges take new calls.
        for name in ("sip-bridge#1", "sip-bridge#2"):
            bridges.start(name)
        await ringing.stop()
        again = await play.phone(Called.invited(), Called.answer(486, "Busy Here", retransmits=True), expect("ACK"))
        await dial(alice, "+4930333")
        await saw(alice, "invite_refuse")
        await again.done()
