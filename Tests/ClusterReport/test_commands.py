"""Point 2: how many commands one Redis carries out for each act, calls inside functions included."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
from apps import App
from redis_nodes import calls
from sheet import Sheet
from signaling import Client
from stack_control import Stack, unique
from waiting import let_pass

IDLE_SECONDS = 10
# What no act causes: a gateway's search of all buckets once a minute, and reports of a store's state.
PERIODIC = ("sscan", "info", "xlen", "function|list", "xinfo|consumers")
PAUSE_SECONDS = 0.02
# What one Redis carried out per act before there were clusters, counted by this test with the programs of 76a8eb12. The count varies by
# a command: how many acknowledgements share one XACK depends on the moment.
BOUNDS = {
    "login": 29.1, "login of a known user": 28.5, "join": 36.4, "leave": 28.7, "user message": 8, "channel message": 8,
    "lost connection": 19.1, "resume elsewhere": 31, "logout": 35.2}


@dataclass(frozen=True)
class Form:
    """The long form of the test, or the short one."""

    settle_seconds: float
    """Between two acts, twice."""
    slack: float
    """How many commands more than the bound one act may take, on average."""


# The bounds are of so many users: what a leave causes depends on the size of the channel, and with 15 users it takes 38 commands.
USERS = 60
LONG, SHORT = Form(2, 1), Form(1, 2)


class Counting:
    """Counts the commands of acts, and subtracts those of an idle cluster."""

    def __init__(self, stack: Stack, settle_seconds: float):
        self.stack, self.settle_seconds = stack, settle_seconds
        self.idle_rates: dict[str, float] = {}
        self.counts: dict[str, dict[str, float]] = {}
        """Of each act: how often it causes each command."""

    def commands(self) -> Counter:
        """How often each command has been carried out."""
        counts = calls(self.stack.redis("INFO", "commandstats"))
        return Counter({name: count for name, count in counts.items() if name not in PERIODIC})

    async def idle(self) -> None:
        before, begun = await asyncio.to_thread(self.commands), time.monotonic()
        await let_pass(IDLE_SECONDS, "an idle cluster's own commands are counted")
        seconds = time.monotonic() - begun
        self.idle_rates = {name: count / seconds for name, count in (await asyncio.to_thread(self.commands) - before).items()}

    async def count(self, name: str, clients: list[Client], act: Callable[[Client], Awaitable[object]]) -> None:
        """Lets all clients do it, one after the other."""
        await let_pass(self.settle_seconds, "the act before is over")
        before, begun = await asyncio.to_thread(self.commands), time.monotonic()
        for client in clients:
            await act(client)
            await let_pass(PAUSE_SECONDS, "acts share no round trip")
        await let_pass(self.settle_seconds, "what follows the last act is counted too")
        used = await asyncio.to_thread(self.commands)
        seconds = time.monotonic() - begun
        self.counts[name] = {
            command: (used[command] - before[command] - self.idle_rates.get(command, 0) * seconds) / len(clients) for command in used}


async def count_all(stack: Stack, clients: list[Client], counting: Counting) -> None:
    """Every act, in an order in which each finds what it needs."""
    one, two = stack.gateways
    room, first = unique("room"), Client(stack.open_app, unique("first"))
    # The channel exists, with a member, before and after.
    await first.login(one)
    await first.join(room)
    peers = dict(zip(clients, [*clients[1:], clients[0]], strict=True))
    await counting.idle()
    await counting.count("login", clients, lambda client: client.login(one))
    await counting.count("logout", clients, Client.logout)
    await counting.count("login of a known user", clients, lambda client: client.login(one))
    await counting.count("join", clients, lambda client: client.join(room))
    await counting.count("channel message", clients, lambda client: client.say(room, "hello"))
    await counting.count("leave", clients, lambda client: client.leave(room))

    async def lose(client: Client) -> None:
        client.abort()

    await counting.count("user message", clients, lambda client: client.tell(peers[client].account, "hello"))
    await counting.count("lost connection", clients, lose)
    await counting.count("resume elsewhere", clients, lambda client: client.resume(two))
    await first.close()


@pytest.mark.parametrize("form", [
    pytest.param(LONG, id="long", marks=pytest.mark.long), pytest.param(SHORT, id="short", marks=pytest.mark.short)])
async def test_acts_take_no_more_commands_on_a_single_redis(make_stack, form: Form):
    stack = make_stack(gateways=2)
    app: App = stack.open_app
    clients = [Client(app, unique(f"user{number}")) for number in range(USERS)]
    counting = Counting(stack, form.settle_seconds)
    try:
        await count_all(stack, clients, counting)
    finally:
        for client in clients:
            await client.close()
    with Sheet(2) as sheet:
        sheet.note("commands of an idle cluster on one Redis, a second", f"{sum(counting.idle_rates.values()):.1f}")
        for name, used in counting.counts.items():
            print(name, {command: round(count, 2) for command, count in used.items() if abs(count) > 0.05})
            sheet.at_most(f"commands of a {name}", round(sum(used.values()), 1), BOUNDS[name] + form.slack)
