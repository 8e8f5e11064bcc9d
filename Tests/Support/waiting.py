"""How tests wait: for a condition, between two tries, at a steady rate, or for a time that is itself what a test is about.

No other file sleeps: `Scripts/check-tests` finds those that do. The functions that end in `_blocking` are for code that is not
asynchronous.
"""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable

# How long a condition may take unless the caller says otherwise.
PATIENCE_SECONDS = 10


async def eventually(
        condition: Callable[[], object | Awaitable[object]], reason: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Waits until a condition holds; `reason` says what was waited for when the time is over.

    An asynchronous condition is tried ten times a second only: it usually makes a user's call, and those have rate limits.
    """
    deadline = time.monotonic() + seconds
    while True:
        holds, pause = condition(), 0.01
        if inspect.isawaitable(holds):
            holds, pause = await holds, 0.1
        if holds:
            return
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds} s still not: {reason}")
        await asyncio.sleep(pause)


def eventually_blocking(condition: Callable[[], object], reason: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Like `eventually`, with ten looks a second."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds} s still not: {reason}")
        time.sleep(0.1)


async def before_next_try(seconds: float) -> None:
    """The pause in a loop that tries again until it succeeds or gives up by a bound of its own."""
    await asyncio.sleep(seconds)


def before_next_try_blocking(seconds: float) -> None:
    """Like `before_next_try`."""
    time.sleep(seconds)


async def paced(count: int, per_second: float) -> AsyncIterator[int]:
    """Yields 0, 1, 2... at a steady rate; numbers that are late follow at once, so that the average rate holds."""
    started = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(0, started + number / per_second - time.monotonic()))
        yield number


async def spaced(count: int, per_second: float) -> AsyncIterator[int]:
    """Yields 0, 1, 2... at most at this rate: what a busy machine delays is not made up for, so that limits of the rate hold."""
    due = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(0, due - time.monotonic()))
        yield number
        due = max(due + 1 / per_second, time.monotonic())


async def let_pass(seconds: float, why: str) -> None:
    """Lets time pass where no condition can be waited for: `why` says what the time is for.

    A test that nothing happens, that something lasts, or that a bound in seconds holds has no other way.
    """
    assert why, "a time that passes has a reason"
    await asyncio.sleep(seconds)


def let_pass_blocking(seconds: float, why: str) -> None:
    """Like `let_pass`."""
    assert why, "a time that passes has a reason"
    time.sleep(seconds)


async def give_way() -> None:
    """Lets everything else run that is ready."""
    await asyncio.sleep(0)
