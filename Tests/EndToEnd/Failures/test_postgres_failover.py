"""The PostgreSQL primary is killed, falls silent or hands over: whoever needs no database notices nothing, and nothing falls back."""

import asyncio
import itertools
import os
import signal
import time
from collections.abc import Awaitable, Callable

import pytest
from acts import insists
from answers import LoginRefused
from signaling import Client
from stack_control import Stack, is_running, unique
from waiting import before_next_try, eventually, let_pass

# How long after the promotion changes are taken again.
BACK_SECONDS = 5
# The longest that a message or a join may take at any time. A join may wait 1 s for the database, until that counts as down.
LONGEST_SECONDS = 2.5
# How long nobody takes writes.
OUTAGE_SECONDS = 2


class Load:
    """What users do all the time, and what they were told."""

    def __init__(self, stack: Stack, cast, channel: str):
        self.stack, self.cast, self.channel = stack, cast, channel
        # The longest time of an act that needs no database, by its name; how many there were.
        self.worst: dict[str, float] = {}
        self.done: dict[str, int] = {}
        # When each acknowledged change was begun; the last value of each attribute, with its version.
        self.changes: list[float] = []
        self.values: dict[str, int] = {}
        self.versions: list[int] = []
        self.refusals: set[str] = set()
        self.uids: dict[str, int] = {}
        self.calls = 0
        self._over = asyncio.Event()

    async def started(self) -> "Load":
        """Logs the users in, and begins."""
        talker, self.hearer = await self.cast.members(self.channel, "talker", "hearer")
        joiner, changer, caller, callee = await self.cast.login("joiner", "changer", "caller", "callee")
        self.changer = changer
        self.users = [talker, self.hearer, joiner, changer, caller, callee]
        self._tasks = [asyncio.create_task(part) for part in (
            self._repeat("message", 0.05, lambda n: talker.tell(self.hearer.account, f"message {n}")),
            self._repeat("channel message", 0.05, lambda n: talker.say(self.channel, f"channel message {n}")),
            self._repeat("join", 0.1, lambda n: self._visit(joiner, n)),
            self._repeat("call", 0.2, lambda n: self._call(caller, callee, n)),
            self._change(), self._newcomers())]
        return self

    async def end(self) -> None:
        """Ends everything; raises what a user was refused."""
        self._over.set()
        await asyncio.gather(*self._tasks)

    async def _repeat(self, name: str, pause: float, act: Callable[[int], Awaitable[object]]) -> None:
        for number in itertools.count():
            if self._over.is_set():
                return
            started = time.monotonic()
            await act(number)
            self.worst[name] = max(self.worst.get(name, 0), time.monotonic() - started)
            self.done[name] = number + 1
            await before_next_try(pause)

    async def _visit(self, client: Client, number: int) -> None:
        await client.join(f"{self.channel}-{number}")
        await client.leave(f"{self.channel}-{number}")

    async def _call(self, caller: Client, callee: Client, number: int) -> None:
        await caller.act("invite", f"{self.channel}-{number}", callee.account)
        await caller.act("invite_bye", f"{self.channel}-{number}", callee.account)
        self.calls += 1

    async def _change(self) -> None:
        key = f"{self.stack.user_prefix(self.changer.account)}:attrver"
        for number in itertools.count():
            if self._over.is_set():
                return
            started, name = time.monotonic(), f"n{number % 20}"
            reply = await self.changer.attempt("user_set_attr", name=name, value=str(number))
            if reply.ok:
                self.changes.append(started)
                self.values[name] = number
                # Whoever reads it now sees it, and with it the version is in Redis.
                read = await insists(self.hearer, "user_get_attr", account=self.changer.account, name=name)
                assert read["value"] == str(number)
                self.versions.append(int(await asyncio.to_thread(self.stack.redis, "GET", key)))
            else:
                self.refusals.add(reply.data["reason"])
                # A refused change may have taken effect.
                self.values.pop(name, None)
            await before_next_try(0.1)

    async def _newcomers(self) -> None:
        """New users, one after the other: each needs a number from the database."""
        while not self._over.is_set():
            newcomer = self.cast.make("newcomer")
            try:
                await newcomer.login(self.stack.gateways[0])
            except LoginRefused:
                await before_next_try(0.2)
                continue
            self.uids[newcomer.account] = newcomer.uid
            await newcomer.close()


async def end_primary(stack: Stack, end: str) -> None:
    if end == "killed":
        await asyncio.to_thread(stack.kill, "postgres#1")
    elif end == "silent":
        await asyncio.to_thread(stack.freeze, "postgres#1")
    else:
        # What an operator does who wants to serve the primary: first it takes no writes any more, then it is stopped.
        stack.sql("ALTER SYSTEM SET default_transaction_read_only = on", node="postgres#1")
        stack.sql("SELECT pg_reload_conf()", node="postgres#1")
        await let_pass(0.5, "writes are refused by a server that runs")
        primary = stack.pids["postgres#1"]
        os.kill(primary, signal.SIGINT)
        await eventually(lambda: not is_running(primary), "the old primary's end", 30)


@pytest.mark.parametrize("end", ["killed", "silent", "handed over"])
async def test_only_changes_wait_for_the_new_primary(make_stack, people, end: str):
    stack: Stack = make_stack("--postgres-standby", gateways=2)
    # What is acknowledged is on the standby too: otherwise the last moment could be lost.
    stack.sql("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'", node="postgres#1")
    stack.sql("SELECT pg_reload_conf()", node="postgres#1")
    async with people(stack) as cast:
        load = await Load(stack, cast, unique("room")).started()
        await eventually(lambda: len(load.changes) >= 10 and len(load.uids) >= 5 and load.calls >= 3, "some load", 30)
        await end_primary(stack, end)
        await eventually(lambda: load.refusals, "a refused change")
        await let_pass(OUTAGE_SECONDS, "the time without a primary")
        promotion = time.monotonic()
        await asyncio.to_thread(stack.promote, "postgres#2")
        count = len(load.uids)
        await eventually(lambda: load.changes[-1] > promotion, "changes are taken again", 2 * BACK_SECONDS)
        assert next(begun for begun in load.changes if begun > promotion) - promotion < BACK_SECONDS
        await eventually(lambda: len(load.uids) >= count + 5, "first logins work again", 30)
        changes = len(load.changes)
        await eventually(lambda: len(load.changes) >= changes + 10, "changes go on", 30)
        await load.end()
        await nothing_was_disturbed(load)
        await nothing_fell_back(load, stack)


async def nothing_was_disturbed(load: Load) -> None:
    assert load.refusals == {"unavailable"}
    assert max(load.worst.values()) < LONGEST_SECONDS, load.worst
    assert not [user.account for user in load.users if user.closed.is_set()], "a connection was lost"
    assert not load.hearer.of_type("channel_user_leave"), "somebody left"
    messages = [f"message {n}" for n in range(load.done["message"])]
    await eventually(lambda: load.hearer.texts() == messages, "each message once, in order")
    said = [f"channel message {n}" for n in range(load.done["channel message"])]
    await eventually(lambda: [e.content["msg"] for e in load.hearer.of_type("channel_msg")] == said, "and each of the channel")


async def nothing_fell_back(load: Load, stack: Stack) -> None:
    def sql(statement: str) -> list[list[str]]:
        return stack.sql(statement, node="postgres#2")

    # Numbers: nobody has another's, and the database knows everybody by the number that they were told.
    uids = load.uids | {user.account: user.uid for user in load.users}
    assert len(set(uids.values())) == len(uids)
    stored = dict(sql("SELECT account, uid FROM users"))
    assert {account: int(stored.get(account, 0)) for account in uids} == uids
    # Versions grow, and no acknowledged change is lost.
    assert all(before < after for before, after in itertools.pairwise(load.versions)), load.versions
    rows = sql(f"SELECT name, value FROM user_attributes WHERE account = '{load.changer.account}'")
    kept = dict(rows)
    assert {name: int(kept.get(name, -1)) for name in load.values} == load.values
    version, = sql(f"SELECT version FROM user_attribute_versions WHERE account = '{load.changer.account}'")
    assert int(version[0]) >= load.versions[-1]
    # Each call is logged once, those of the outage too.
    counted = "SELECT count(*), count(DISTINCT id), count(DISTINCT channel), count(ended_at) FROM calls"
    await eventually(lambda: sql(counted) == [[str(load.calls)] * 4], f"{load.calls} calls in the log", 30)
