"""How audio fares, as the node's metrics have it: its loss and its jitter, to the node and from it."""

import asyncio
from contextlib import AsyncExitStack

from engine import Engine
from node_metrics import Quality
from rough_network import RoughNetwork, Weather, node_of, rough_network
from speech import Live
from stack_control import unique
from tone import Noise
from waiting import eventually

AMPLITUDE = 8_000
# What the networks do: the share that is lost, and the seconds by which packets are late at most.
UPLINK, DOWNLINK = Weather(loss=0.2), Weather(loss=0.1, jitter=0.06)
PACKETS = 150
# The jitter of delays between 0 and 60 ms is 20 ms in the mean; the network to the node delays nothing, in seconds.
ROUGH_JITTER, SMOOTH_JITTER = (0.008, 0.04), 0.008


async def test_loss_and_jitter_of_both_directions(stack, media):
    """The uplink's by what comes to the node; the downlink's by the listener's reports, in which those of the uplink do not count."""
    async with AsyncExitStack() as networks, media as cast:
        uplink, downlink = [await networks.enter_async_context(rough_network(node_of(stack), seed)) for seed in (5, 6)]
        channel = unique("quality")
        quality = await Quality.now(stack)
        ada = await cast.engine(channel, through=downlink.address)
        bob = await cast.engine(channel, through=uplink.address)
        bob.path.speak(Live(Noise(AMPLITUDE)))
        uplink.weather, downlink.weather = UPLINK, DOWNLINK
        await eventually(lambda: len(bob.path.said) >= PACKETS, "enough was said")
        await asyncio.gather(uplink.calm(), downlink.calm())
        await told(ada, bob)
        up, down = await quality.of("uplink"), await quality.of("downlink")
        assert up.expected == len(bob.path.said) and up.lost == uplink.lost > 10, up
        assert down.expected == up.expected - up.lost, (up, down)
        # One that is late for a report is lost in it, and makes up for another one later.
        assert downlink.lost <= down.lost <= downlink.lost + 4 and downlink.lost > 5, (down, downlink.lost)
        assert ROUGH_JITTER[0] < down.jitter < ROUGH_JITTER[1] and up.jitter < SMOOTH_JITTER, (up, down)


async def told(listener: Engine, speaker: Engine) -> None:
    """The speaker falls silent, and all that it has said is reported in both directions, with what was lost."""
    said = len(speaker.path.said)
    await eventually(lambda: len(speaker.path.said) > said, "a packet is said that is not lost")
    speaker.path.end()
    last = speaker.path.sequence - 1 & 0xFFFF
    await eventually(lambda: speaker.path.blocks[-1][1].sequence & 0xFFFF == last, "the uplink is reported")
    await eventually(lambda: speaker.path.said[-1] in listener.path.voices[speaker.uid].payloads, "the last packet is heard")
    listener.path.report()
    answered = listener.path.checks.answered
    listener.path.check()
    await eventually(lambda: listener.path.checks.answered > answered, "what was sent before the check has come")
