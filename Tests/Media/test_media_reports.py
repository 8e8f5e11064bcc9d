"""Reports (RTCP) between engines and the node: how packets arrive, how long their way is, and what time it is for who speaks."""

import asyncio

from engine import Engine
from reports import SHORT_UNIT, Block, Report, middle
from rough_network import node_of, rough_network
from speech import Live
from stack_control import unique
from tone import RATE, Noise
from waiting import eventually

AMPLITUDE = 8_000
# Of a packet to the node on the same machine, and its answer, in seconds.
ROUND_TRIP = 0.05
# A clock may differ by this from the one that it was made from, in seconds.
CLOCK_ERROR = 0.03
# The share of packets that a network drops, and how far from it the node's reports may be.
LOSS, LOSS_ERROR = 0.1, 0.04
# Below the 200 a second that a participant may send.
FAST = 150


async def test_a_sender_report_is_answered(media):
    """The node says which report it has got, and how long ago: the sender knows the round trip."""
    async with media as cast:
        channel = unique("reports")
        ada, bob = await cast.engine(channel), await cast.engine(channel, 440)
        await ada.hears(bob, 0.1)
        assert all(block.last_report == 0 for _, block in bob.path.blocks), "an answer to a report that was not sent"
        bob.path.report()
        reported = bob.path.reported[-1].ntp

        def answers() -> list[tuple[int, Block]]:
            return [(came, block) for came, block in bob.path.blocks if block.last_report == middle(reported)]

        await eventually(lambda: len(answers()) >= 4, "the report is answered four times")
        trips = [block.round_trip(came) for came, block in answers()]
        # A machine that does other things too wakes the test late now and then.
        assert -0.001 < min(trips) < ROUND_TRIP and sorted(trips)[1] < ROUND_TRIP, trips
        delays = [block.delay / SHORT_UNIT for _, block in answers()]
        since = [(came - reported) / 2**32 for came, _ in answers()]
        assert delays == sorted(delays) and all(0 <= delay <= age for delay, age in zip(delays, since, strict=True)), delays
        # The reports are 100 ms apart.
        assert 0.25 < delays[3] - delays[0] < 0.9, delays
        assert all(block.lost == 0 for _, block in answers())


async def test_a_listener_is_told_the_time_of_who_speaks(media):
    """Each slot has reports of its own, whose pair of clocks is the one that its speaker has told."""
    async with media as cast:
        channel = unique("reports")
        ada = await cast.engine(channel)
        speakers = [await cast.engine(channel), await cast.engine(channel)]
        for seed, speaker in enumerate(speakers):
            speaker.path.speak(Live(Noise(AMPLITUDE, seed)))
        await asyncio.gather(*(ada.hears(speaker, 0.2) for speaker in speakers))
        assert not ada.path.sender_reports, "a report about somebody who has sent none"
        for speaker in speakers:
            speaker.path.report()
        for speaker in speakers:
            slot, = set(ada.path.voices[speaker.uid].slots)
            # The second one is a second later: made by the node from a report before it, or from the speaker's next one.
            await eventually(lambda slot=slot: len(reports_of(ada, slot)) >= 2, f"two reports about {speaker.uid}", 4)
            for report in reports_of(ada, slot):
                error = clock_error(ada, speaker, report)
                assert abs(error) < CLOCK_ERROR, f"{1000 * error:.1f} ms"
            # A machine that does other things too reads one of them late now and then.
            ages = [(report.came - report.sent.ntp) / 2**32 for report in reports_of(ada, slot)]
            assert 0 <= min(ages) < 0.5, "the time is not that of the report"
            first, second = reports_of(ada, slot)[:2]
            assert second.sent.packets > first.sent.packets > 0 and second.sent.size > first.sent.size > 0


def reports_of(listener: Engine, slot: int) -> list[Report]:
    return [report for report in listener.path.sender_reports if report.ssrc == slot]


def clock_error(listener: Engine, speaker: Engine, report: Report) -> float:
    """By how many seconds the pair of a slot's report differs from the pair that its speaker has told."""
    voice, path = listener.path.voices[speaker.uid], speaker.path
    # How much the slot's timestamps are ahead of the speaker's: by a packet that both know.
    ahead = voice.timestamps[0] - path.said_timestamps[path.said.index(voice.payloads[0])]
    told = max((sent for sent in path.reported if sent.ntp <= report.sent.ntp), key=lambda sent: sent.ntp)
    samples = (report.sent.timestamp - ahead - told.timestamp + 2**31) % 2**32 - 2**31
    return (report.sent.ntp - told.ntp) / 2**32 - samples / RATE


async def test_lost_packets_are_reported(stack, media):
    """A tenth of the uplink: the sender is told of each packet that is missing."""
    async with rough_network(node_of(stack), 4) as uplink, media as cast:
        channel = unique("reports")
        await cast.engine(channel)
        bob = await cast.engine(channel, through=uplink.address)
        bob.path.speak(Live(Noise(AMPLITUDE)), FAST)
        await eventually(lambda: bob.path.blocks, "a first report")
        first = bob.path.blocks[-1][1]
        assert first.lost == 0
        uplink.weather.loss = LOSS
        await eventually(lambda: bob.path.blocks[-1][1].sequence - first.sequence >= 2 * FAST, "two seconds of packets are reported")
        await uplink.calm()
        said = bob.path.sequence
        await eventually(
            lambda: (bob.path.blocks[-1][1].sequence - said) & 0xFFFF < 0x8000, "a packet that came since then is reported")
        blocks = [block for _, block in bob.path.blocks]
        last = blocks[-1]
        assert last.lost == uplink.lost > 5
        share = uplink.lost / (last.sequence - first.sequence)
        assert abs(share - LOSS) < LOSS_ERROR, share
        # And the fractions of the reports, each of the packets since the one before.
        news = [(block.sequence - before.sequence, block.fraction) for before, block in zip(blocks, blocks[1:], strict=False)]
        told = sum(count * fraction / 256 for count, fraction in news)
        assert abs(told / (last.sequence - first.sequence) - LOSS) < LOSS_ERROR, told
