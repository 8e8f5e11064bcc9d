"""Lists that take long, and many of them, hold up neither logins nor the lists of other apps."""

import asyncio
import subprocess
import threading
import time
from contextlib import contextmanager

import pytest
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually_blocking
from web import grown, metrics


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack)["key"])


@contextmanager
def locked(stack: Stack, table: str):
    """Nobody else may read a table."""
    with subprocess.Popen(["psql", stack.endpoints["postgres"]["url"], "-X", "-q"], stdin=subprocess.PIPE, text=True) as psql:
        psql.stdin.write(f"BEGIN; LOCK TABLE {table};\n")
        psql.stdin.flush()
        held = f"SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND relation = '{table}'::regclass"
        eventually_blocking(lambda: stack.sql(held) == [["1"]], "the table is locked")
        try:
            yield
        finally:
            psql.stdin.close()
            psql.wait(30)


def presences(stack: Stack) -> dict[str, float]:
    """The metrics of all processes of presence, each sum under its name with labels."""
    found: dict[str, float] = {}
    for member in stack.endpoints["services"]:
        if member["name"].startswith("presence#"):
            for metric, value in metrics(member["http"]).items():
                found[metric] = found.get(metric, 0) + value
    return found


async def test_a_list_that_hangs_delays_no_login(stack: Stack, people, api: ServerAPI):
    app, before = stack.open_app.id, presences(stack)
    answers: list = []

    def ask() -> None:
        for _ in range(3):
            answers.append(api.get("apps", app, "channels"))

    async with people(stack) as cast:
        with locked(stack, "channel_sizes"):
            asking = asyncio.create_task(asyncio.to_thread(ask))
            slowest = 0.0
            while not asking.done():
                # A user who was never there needs PostgreSQL.
                begun = time.monotonic()
                await cast.login("new")
                slowest = max(slowest, time.monotonic() - begun)
            await asking
        assert slowest < 2
        for answer in answers:
            assert (answer.status, answer.code) == (503, "unavailable") and "2 s" in answer.body["detail"], answer.body
        after = presences(stack)
        assert grown(before, after, "postgres_breaker_opened_total") == 0
        # PostgreSQL ended the statements, and the connections are used again.
        assert grown(before, after, "presence_lists_ended_total") == 3
        assert grown(before, after, "postgres_connects_total", 'pool="lists"') <= 4
        assert api.get("apps", app, "channels").status == 200


def test_many_lists_of_an_app_do_not_hold_up_another(stack: Stack):
    own, other = stack.create_app(unique("busy")).id, stack.create_app(unique("quiet")).id
    # Each key has 16 requests in progress at most, and 20 lists of an app may wait.
    keys = [create_key(stack, app=own)["key"] for _ in range(2)]
    quiet = ServerAPI(stack, create_key(stack, app=other)["key"])
    end = time.monotonic() + 6
    outcomes: list = []

    def flood(key: str) -> None:
        api = ServerAPI(stack, key)
        while time.monotonic() < end:
            outcomes.append(api.get("apps", own, "channels"))

    before = presences(stack)
    # Each list of the busy app takes as long as a list may.
    with locked(stack, "channel_sizes"):
        threads = [threading.Thread(target=flood, args=(keys[number % 2],)) for number in range(60)]
        for thread in threads:
            thread.start()
        found, slowest = [], 0.0
        while time.monotonic() < end:
            begun = time.monotonic()
            found.append(quiet.get("apps", other, "users").status)
            slowest = max(slowest, time.monotonic() - begun)
        for thread in threads:
            thread.join()
    assert set(found) == {200} and slowest < 3, (found, slowest)
    refused = [answer for answer in outcomes if answer.status == 503 and "lists of the app wait" in answer.body["detail"]]
    assert refused and all(answer.code == "unavailable" and answer.headers["Retry-After"] == "1" for answer in refused)
    assert all(answer.body["bound"].startswith("20 lists of the app") for answer in refused)
    assert grown(before, presences(stack), "presence_lists_refused_total") == len(refused)
