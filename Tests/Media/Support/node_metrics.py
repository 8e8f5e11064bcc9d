"""What a media node has counted."""

import asyncio
import math
import re
from dataclasses import dataclass
from pathlib import Path

from metric_families import scraped
from stack_control import Stack
from waiting import before_next_try, eventually
from web import metrics

DROPPED = re.compile(r'^heliograph_media_dropped_total\{reason="(\w+)"\} (\S+)$', re.MULTILINE)
KEPT = re.compile(r'^heliograph_media_forwarding_seconds_bucket\{le="(\S+)"\} (\S+)$', re.MULTILINE)

WAY = re.compile(
    r'^heliograph_media_audio_(expected_total|lost_total|jitter_seconds_sum|jitter_seconds_count)\{direction="(\w+)"\} (\S+)$', re.MULTILINE)


class Drops:
    """`drops = await Drops.now(stack)`; then `await drops.came("forged", 5)`."""

    def __init__(self, stack: Stack, before: dict[str, int]):
        self._stack = stack
        self._before = before

    @staticmethod
    async def now(stack: Stack) -> "Drops":
        """Counts from now on."""
        return Drops(stack, await _dropped(stack))

    async def more(self, reason: str) -> int:
        """The datagrams that were dropped for this reason since then."""
        return (await _dropped(self._stack))[reason] - self._before[reason]

    async def came(self, reason: str, count: int) -> None:
        """Waits until so many were dropped for this reason."""

        async def have_come() -> bool:
            return await self.more(reason) >= count

        await eventually(have_come, f"{count} datagrams are dropped as {reason}")


class Forwarding:
    """`forwarding = await Forwarding.now(stack)`; then `await forwarding.longer_than(0.06)`: how long the node kept packets since."""

    def __init__(self, stack: Stack, before: dict[float, int]):
        self._stack = stack
        self._before = before

    @staticmethod
    async def now(stack: Stack) -> "Forwarding":
        """Counts from now on."""
        return Forwarding(stack, await _kept(stack))

    async def count(self) -> int:
        """The packets that were forwarded."""
        return (await _kept(self._stack))[math.inf] - self._before[math.inf]

    async def longer_than(self, seconds: float) -> int:
        """The packets that were kept for longer than this; more exactly, than the greatest bound of the histogram up to this."""
        kept = await _kept(self._stack)
        bound = max(bound for bound in kept if bound <= seconds)
        return (kept[math.inf] - kept[bound]) - (self._before[math.inf] - self._before[bound])


# Longer than between two counts, or reports, of one participant.
QUIET_SECONDS = 1.2


@dataclass(frozen=True)
class Way:
    """How audio has fared in one direction."""

    expected: int
    lost: int
    jitter: float
    """In the mean of all reports, in seconds."""


class Quality:
    """`quality = await Quality.now(stack)`; then `await quality.of("uplink")`: how audio has fared since."""

    def __init__(self, stack: Stack, before: dict[tuple[str, str], float]):
        self._stack = stack
        self._before = before

    @staticmethod
    async def now(stack: Stack) -> "Quality":
        """Counts from now on, when nothing is counted of those any more who took part in earlier tests."""
        ways = await _ways(stack)
        while True:
            await before_next_try(QUIET_SECONDS)
            before, ways = ways, await _ways(stack)
            if before == ways:
                return Quality(stack, ways)

    async def of(self, direction: str) -> Way:
        """`uplink`: to the node; `downlink`: from it."""
        ways = await _ways(self._stack)
        expected, lost, total, reports = (
            ways[name, direction] - self._before[name, direction]
            for name in ("expected_total", "lost_total", "jitter_seconds_sum", "jitter_seconds_count"))
        return Way(int(expected), int(lost), total / reports if reports else 0)


async def gauge(stack: Stack, name: str) -> float:
    """A metric of the node without labels."""
    return (await asyncio.to_thread(metrics, _node(stack)))[name]


def waited_seconds(pid: int) -> float:
    """How long the threads of a process have waited for a processor since they began, together."""
    return sum(int(file.read_text().split()[1]) for file in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def _node(stack: Stack) -> str:
    """Where the only node shows its metrics."""
    node, = (service for service in stack.endpoints["services"] if service["name"].startswith("media#"))
    return node["http"]


async def _kept(stack: Stack) -> dict[float, int]:
    """By the bound of a bucket: the packets that were kept for no longer."""
    found = KEPT.findall(await asyncio.to_thread(scraped, _node(stack)))
    assert found, "the node shows no times of forwarding"
    return {float(bound): int(float(count)) for bound, count in found}


async def _dropped(stack: Stack) -> dict[str, int]:
    found = DROPPED.findall(await asyncio.to_thread(scraped, _node(stack)))
    assert found, "the node shows no drops"
    return {reason: int(float(value)) for reason, value in found}


async def _ways(stack: Stack) -> dict[tuple[str, str], float]:
    """By the end of a metric's name and the direction."""
    found = WAY.findall(await asyncio.to_thread(scraped, _node(stack)))
    assert len(found) == 8, "the node does not show how audio fares in both directions"
    return {(name, direction): float(value) for name, direction, value in found}
