"""The call log is kept by month: the invitation service makes months, `heliographctl history` lists and removes them."""

import asyncio
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from acts import ring
from stack_control import BINARIES, Stack, run_program, unique
from waiting import eventually, eventually_blocking

MONTH = r"calls_\d{4}_\d{2}"


def history(stack: Stack, *arguments: str, code: int = 0) -> str:
    """What `heliographctl history` prints; its error when it is to fail."""
    done = run_program(
        str(BINARIES / "heliographctl"), "history", *arguments, HELIOGRAPH_POSTGRES_URL=stack.endpoints["postgres"]["url"])
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr if code else done.stdout


def make_month(stack: Stack, year: int) -> None:
    """January of a year."""
    stack.sql(
        f"CREATE TABLE calls_{year}_01 PARTITION OF calls FOR VALUES FROM ('{year}-01-01 00:00 UTC') TO ('{year}-02-01 00:00 UTC')")


@contextmanager
def reader(stack: Stack) -> Iterator[None]:
    """A transaction that has read the call log and does not end."""
    psql = ["psql", stack.endpoints["postgres"]["url"], "-X", "-q", "-v", "ON_ERROR_STOP=1"]
    with subprocess.Popen(psql, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as user:
        user.stdin.write("BEGIN;\nSELECT 'reader' FROM calls LIMIT 1;\n")
        user.stdin.flush()
        waits = "SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE 'SELECT ''reader''%'"
        eventually_blocking(lambda: stack.sql(waits), "the transaction uses the call log")
        yield


async def test_months_are_made_ahead_and_old_ones_removed(make_stack, people):
    stack: Stack = make_stack(gateways=1)
    first, = history(stack, "list").splitlines()
    assert re.fullmatch(r"calls_before  until \d{4}-\d{2}-01T00:00:00Z  \d+ KiB", first), first
    # As if the first months had passed long ago, without a service that makes others: calls have no month.
    stack.kill("invitation#1")
    stack.sql("DROP TABLE calls_before")
    for year in (2020, 2021):
        make_month(stack, year)
    present = stack.sql("SELECT to_char(now() AT TIME ZONE 'UTC', '\"calls_\"YYYY_MM')")[0][0]
    following = stack.sql("SELECT to_char(now() AT TIME ZONE 'UTC' + interval '1 month', '\"calls_\"YYYY_MM')")[0][0]
    columns = "app, id, channel, caller, callee, kind, direction, started_at"
    stack.sql(f"INSERT INTO calls ({columns}) VALUES ('a', 'waits', 'c', 'x', 'y', 'user', 'internal', now())")
    stack.start("invitation#1")
    eventually_blocking(lambda: stack.sql(f"SELECT 1 FROM pg_class WHERE relname = '{following}'"), "the next month is made", 30)
    assert stack.sql("SELECT count(*) FROM calls_rest") == [["0"]]
    assert stack.sql(f"SELECT id FROM {present}") == [["waits"]]
    # 400 days are kept (HELIOGRAPH_CALLS_KEPT_DAYS): the service removes what is older.
    oldest = stack.sql("SELECT to_char(now() AT TIME ZONE 'UTC' - interval '400 days', '\"calls_\"YYYY_MM')")[0][0]
    eventually_blocking(lambda: history(stack, "list").split()[0] >= oldest, "old months are removed, one after the other", 30)
    names = [line.split()[0] for line in history(stack, "list").splitlines()]
    assert all(re.fullmatch(MONTH, name) for name in names) and names == sorted(names)
    assert len(names) >= 14 and names[-1] >= following
    # A call goes to its month.
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await ring(alice, bob, unique("room"))
        await eventually(lambda: stack.sql(f"SELECT count(*) FROM {present}") == [["2"]], "the call is in its month", 30)
    # All but the last year, which the command names before and after it does it.
    planned = [line.removeprefix("would remove ") for line in history(stack, "keep", "365d", "--dry-run").splitlines()]
    assert planned and planned[0].startswith(f"{names[0]}  from ")
    assert json.loads(history(stack, "keep", "52w", "--dry-run", "--json"))["toRemove"][0]["name"] == names[0]
    assert names[0] in history(stack, "list")
    # The command does not wait for long, because everybody else would wait behind it.
    with reader(stack):
        refusal = await asyncio.to_thread(history, stack, "keep", "365d", code=1)
    assert refusal == (
        f"heliographctl: {names[0]} was not removed: a transaction has been using it for a second; removed before: none\n")
    removed = history(stack, "keep", "365d").splitlines()
    assert removed == [f"removed {line}" for line in planned]
    assert names[0] not in history(stack, "list")
    assert history(stack, "keep", "1y") == "nothing to remove\n"


@pytest.mark.parametrize("duration", ["0d", "36501d", "101y", "5215w", "-3d", "90", "d", "1.5y", "3m", "", "9999999999999999999d"])
def test_a_time_span_that_makes_no_sense_removes_nothing(stack: Stack, duration: str):
    refusal = history(stack, "keep", "--", duration, code=64)
    assert "must be 1d...36500d (days), 1w...5214w (weeks) or 1y...100y (years)" in refusal
