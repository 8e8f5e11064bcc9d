"""What a media node has counted."""

import asyncio
import re

from metric_families import scraped
from stack_control import Stack
from waiting import eventually

DROPPED = re.compile(r'^heliograph_media_dropped_total\{reason="(\w+)"\} (\S+)$', re.MULTILINE)


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


async def _dropped(stack: Stack) -> dict[str, int]:
    node, = (service for service in stack.endpoints["services"] if service["name"].startswith("media#"))
    found = DROPPED.findall(await asyncio.to_thread(scraped, node["http"]))
    assert found, "the node shows no drops"
    return {reason: int(float(value)) for reason, value in found}
