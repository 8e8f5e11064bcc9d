"""Paths that move, lose, delay and reorder; what participants and strangers send that they should not; floods."""

import asyncio
import os
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

from engine import Engine
from ice import Checks
from node_metrics import Drops
from rough_network import Weather, node_of, rough_network
from speech import spoken
from stack_control import unique
from stranger import stranger
from stun import Check
from tone import Noise, Tone, last_part, snr
from waiting import eventually

FLOOD = Path(__file__).resolve().parent / "Support" / "flood.py"
# A tone that has whole periods in a packet: one that is missing makes no break in it.
EVEN_TONE = 600
# What is left of it when a tenth of its packets is missing, in dB.
FAIRLY_CLEAR = 20
AMPLITUDE = 8_000
# A pause that nobody hears as one, on a machine that does other things too: no timer of the media plane is shorter.
SHORT_PAUSE = 0.9
# How a ClientHello of DTLS 1.2 begins.
CLIENT_HELLO = bytes.fromhex("16fefd0000000000000000003001000024000000000000002400") + bytes(35)


async def talks(cast) -> tuple[Engine, Engine]:
    """Two in a channel; the first hears the second."""
    channel = unique("paths")
    ada, bob = await cast.engine(channel), await cast.engine(channel, 440)
    await ada.hears(bob, 0.2)
    return ada, bob


async def undisturbed(listener: Engine, speaker: Engine) -> None:
    """The speaker goes on to be heard, without a gap, and nobody was told anything."""
    await listener.hears(speaker, 0.5)
    assert (listener.path.gaps, listener.path.repeats, listener.path.late) == (0, 0, 0)
    assert [event["uid"] for event in listener.changes() if event.type != "joined"] == []


# Addresses


async def test_a_participant_may_change_its_address(media):
    """As a phone that leaves a network: the next check moves both directions, and nobody is told."""
    async with media as cast:
        channel = unique("paths")
        ada, bob = await cast.engine(channel, 440), await cast.engine(channel, 555)
        await asyncio.gather(ada.hears(bob, 0.3), bob.hears(ada, 0.3))
        moved = time.monotonic()
        left = await bob.path.move()
        await eventually(lambda: bob.path.wire.times, "audio comes to the new address")
        arrived = time.monotonic()
        await asyncio.gather(ada.hears(bob, 0.5), bob.hears(ada, 0.5))
        assert bob.path.checks.address == bob.path.own_address != left.transport.get_extra_info("sockname")
        assert not [moment for moment in left.times if moment > arrived + 0.1], "audio still comes to the old address"
        for one, other in ((ada, bob), (bob, ada)):
            assert one.path.voices[other.uid].longest_pause(moved - 0.1) < SHORT_PAUSE
            assert (one.path.gaps, one.path.repeats) == (0, 0)
        assert [event["uid"] for event in ada.changes()] == [bob.uid] and not bob.changes()


async def test_nobody_else_can_move_a_path(stack, media):
    """A nomination from another address with a wrong password, and with the right one of another participant."""
    async with media as cast:
        ada, bob = await talks(cast)
        drops = await Drops.now(stack)
        async with stranger(*node_of(stack)) as mallory:
            own = ada.path.address
            mallory.send(Checks(own.ufrag, "x" * len(own.password)).request())
            mallory.send(Checks(own.ufrag, bob.path.address.password).request())
            mallory.send(Checks("nobody00", own.password).request())
            await drops.came("stun_forged", 2)
            await drops.came("stun_unknown_ufrag", 1)
            moment = time.monotonic()
            await undisturbed(ada, bob)
            assert mallory.came == [] and ada.path.wire.times[-1] > moment


async def test_the_node_is_the_controlled_side(media):
    """A check of a participant that says that it is controlled too is refused, and changes nothing."""
    async with media as cast:
        ada, bob = await talks(cast)
        answered = ada.path.checks.answered
        ada.path.send(ada.path.checks.request(is_controlled=True))
        await eventually(lambda: ada.path.checks.refusals, "the check is refused")
        assert ada.path.checks.refusals == [487]
        await undisturbed(ada, bob)
        ada.path.check()
        await eventually(lambda: ada.path.checks.answered > answered, "the next check is answered")


async def test_strangers_are_not_answered(stack, media):
    async with media as cast:
        ada, bob = await talks(cast)
        drops = await Drops.now(stack)
        host, port = node_of(stack)
        async with stranger(host, port) as mallory:
            mallory.send(Check("nobody00:me", "a password of nobody", 1).encoded())
            # Without credentials, as to a public STUN server.
            mallory.send(bytes.fromhex("000100002112a442") + os.urandom(12))
            mallory.send(CLIENT_HELLO)
            mallory.send(bob.path.sent[-1])
            mallory.send(b"\x80\x6f" + os.urandom(60))
            mallory.send(b"\xff" * 40)
            for reason, count in (("stun_unknown_ufrag", 1), ("stun_invalid", 1), ("stranger", 3), ("unknown", 1)):
                await drops.came(reason, count)
            await undisturbed(ada, bob)
            assert mallory.came == []


# Packets


async def test_replayed_packets_are_dropped(stack, media):
    """From another address, and from the participant's own."""
    async with media as cast:
        ada, bob = await talks(cast)
        drops = await Drops.now(stack)
        replay = list(bob.path.sent)[-10:]
        async with stranger(*node_of(stack)) as mallory:
            for data in replay:
                mallory.send(data)
                bob.path.send(data)
            await drops.came("stranger", len(replay))
            await drops.came("replayed", len(replay))
            await undisturbed(ada, bob)
            assert mallory.came == []
        heard = ada.path.voices[bob.uid].payloads
        assert heard == bob.path.said[:len(heard)]


async def test_forged_packets_change_nothing(stack, media):
    """From the participant's own address, with its SSRC and the sequence numbers that come next, or after a wrap."""
    async with media as cast:
        ada, bob = await talks(cast)
        drops = await Drops.now(stack)
        good = bob.path.sent[-1]
        for number in range(20):
            head = good[:2] + ((bob.path.sequence + 3000 * number) & 0xFFFF).to_bytes(2) + good[4:12]
            bob.path.send(head + os.urandom(100))
        flipped = bytearray(bob.path.packet(spoken(Tone(440), 1)[0]))
        flipped[-1] ^= 1
        bob.path.send(bytes(flipped))
        await drops.came("forged", 21)
        await ada.hears(bob, 0.5)
        # The packet whose tag was changed is missing, and only that one.
        assert (ada.path.gaps, ada.path.repeats) == (1, 0)


async def test_only_the_announced_source_is_heard(stack, media):
    async with media as cast:
        ada, bob = await talks(cast)
        drops = await Drops.now(stack)
        other = bob.path.address.ssrc ^ 1
        frame = spoken(Tone(555), 1)[0]
        for _ in range(5):
            bob.path.send(bob.path.packet(frame, other))
        await drops.came("source", 5)
        await ada.hears(bob, 0.3)
        # Their numbers were taken from the same sequence.
        assert frame.payload not in ada.path.voices[bob.uid].payloads and ada.path.gaps == 5


async def test_gaps_of_the_uplink_are_kept(media):
    """So that a receiver's loss is that of the whole way."""
    async with media as cast:
        ada, bob = await talks(cast)
        assert ada.path.gaps == 0
        bob.path.skip(3)
        await ada.hears(bob, 0.3)
        assert (ada.path.gaps, ada.path.repeats, ada.path.late) == (3, 0, 0)


async def test_a_late_packet_at_the_wrap_of_sequence_numbers(media):
    async with media as cast:
        channel = unique("paths")
        ada, bob = await cast.engine(channel), await cast.engine(channel)
        bob.path.sequence = 65_533
        frames = spoken(Noise(AMPLITUDE), 16)
        packets = {(65_533 + number) & 0xFFFF: bob.path.packet(frame) for number, frame in enumerate(frames)}
        for sequence in (65_533, 65_535, 0, 1, 65_534, *range(2, 13)):
            bob.path.send(packets[sequence])
        await eventually(
            lambda: bob.uid in ada.path.voices and ada.path.voices[bob.uid].packets == len(frames), "all are heard")
        assert (ada.path.gaps, ada.path.repeats, ada.path.late) == (0, 0, 1)
        assert sorted(ada.path.voices[bob.uid].payloads) == sorted(frame.payload for frame in frames)


# Networks


async def test_bad_networks_on_both_sides(stack, media):
    """One packet in ten is lost, and they come by 10 to 60 ms late and in another order: what is left is heard, and no more is lost."""
    async with AsyncExitStack() as networks, media as cast:
        uplink, downlink = [await networks.enter_async_context(rough_network(node_of(stack), seed)) for seed in (1, 2)]
        channel = unique("paths")
        ada = await cast.engine(channel, through=downlink.address)
        bob = await cast.engine(channel, EVEN_TONE, through=uplink.address)
        await ada.hears(bob, 0.2)
        uplink.weather, downlink.weather = Weather(loss=0.1), Weather(loss=0.1, jitter=0.06)
        await ada.hears(bob, 2)
        uplink.weather.jitter = 0.06
        await ada.hears(bob, 2)
        await asyncio.gather(uplink.calm(), downlink.calm())
        await ada.hears(bob, 0.2)
        lost = uplink.lost + downlink.lost
        assert uplink.lost > 5 and downlink.lost > 5 and ada.path.late > 5
        assert (ada.path.gaps, ada.path.repeats) == (lost, 0)
        clear = snr(last_part(ada.heard(bob), 2), EVEN_TONE)
        assert clear >= FAIRLY_CLEAR, f"{clear:.1f} dB"


async def test_a_flood_of_garbage_disturbs_nobody(stack, media):
    async with media as cast:
        channel = unique("paths")
        ada, bob = await cast.engine(channel, 440), await cast.engine(channel, 555)
        await asyncio.gather(ada.hears(bob, 0.3), bob.hears(ada, 0.3))
        drops = await Drops.now(stack)
        began = time.monotonic()
        flood = await asyncio.create_subprocess_exec(
            sys.executable, str(FLOOD), *map(str, (*node_of(stack), 200_000, 50_000)), stdout=asyncio.subprocess.PIPE)
        said, _ = await flood.communicate()
        assert flood.returncode == 0 and int(said) == 200_000
        await asyncio.gather(ada.hears(bob, 0.3), bob.hears(ada, 0.3))
        for one, other in ((ada, bob), (bob, ada)):
            assert (one.path.gaps, one.path.repeats) == (0, 0)
            assert one.path.voices[other.uid].longest_pause(began) < SHORT_PAUSE
        reasons = {reason: await drops.more(reason) for reason in ("stun_invalid", "stranger")}
        assert min(reasons.values()) > 10_000, reasons
