"""`heliographctl bench`: real clients under load, within bounds, and nothing is left of it."""

import json
import os
import pty
import select
import signal
import subprocess
import time

import pytest
from stack_control import BINARIES, Stack, clean_environment, run_program
from waiting import eventually_blocking

CONTROL = str(BINARIES / "heliographctl")
# The tables with rows of an app.
TABLES = (
    "users", "user_attribute_versions", "user_attributes", "channel_attribute_versions", "channel_attributes", "calls",
    "presence_sessions", "channel_members", "attribute_history", "app_logins", "app_users", "waiting_mail",
    "app_days", "gateway_days")
DAY_MS = 86_400_000


def settings(stack: Stack) -> dict[str, str]:
    found = stack.endpoints
    return {"HELIOGRAPH_REDIS_URL": found["redis"]["url"], "HELIOGRAPH_POSTGRES_URL": found["postgres"]["url"]}


def bench_rows(stack: Stack) -> dict[str, int]:
    """The rows of benches by table, of those that have any."""
    counts = {table: f"SELECT '{table}', count(*) FROM {table} WHERE app LIKE 'bench-%'" for table in TABLES}
    counts["apps"] = "SELECT 'apps', count(*) FROM apps WHERE id LIKE 'bench-%'"
    return {table: int(count) for table, count in stack.sql(" UNION ALL ".join(counts.values())) if count != "0"}


def nothing_is_left(stack: Stack) -> None:
    """No row; in Redis no session and no message, and only what ends by itself."""
    assert bench_rows(stack) == {}
    keys = stack.redis_keys("*a:bench-*")
    assert [key for key in keys if key.endswith((":session", ":ending"))] == []
    # Messages that a user has processed may wait to be removed with later ones; these ended with their time to live, 20 s.
    eventually_blocking(
        lambda: [key for key in stack.redis_keys("*a:bench-*") if key.endswith((":mbox", ":mcall", ":mfrom"))] == [],
        "no message is left in Redis", 40)
    for key in stack.redis_keys("*a:bench-*"):
        left = int(stack.redis("PTTL", key))
        # -2: it has ended since they were listed.
        assert left == -2 or 0 <= left <= DAY_MS, f"{key} stays"
    # Nothing that was under way has brought a row back.
    assert bench_rows(stack) == {}


def test_a_run(stack: Stack):
    done = run_program(
        CONTROL, "bench", "--users=20", "--rate=100", "--seconds=3", "--size=200", "--json", **settings(stack))
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["users"] == 20
    for name in ("failedLogins", "messagesFailed", "lostUsers", "sessionsLeft"):
        assert report[name] == 0, name
    assert report["messagesSent"] == report["messagesDelivered"] == 300 and report["messageBytes"] == 200
    assert 50 < report["messagesPerSecond"] <= 110 and report["loginsPerSecond"] > 10
    assert 0 <= report["ownCores"] < 4 and report["firstError"] is None and report["wasStopped"] is False
    for name in ("loginMilliseconds", "answerMilliseconds", "deliveryMilliseconds"):
        times = report[name]
        assert 0 < times["p50"] <= times["p95"] <= times["p99"] <= times["max"] < 10_000
    nothing_is_left(stack)


def until_shown(terminal: int, words: str) -> str:
    """What a program shows until it has shown these words."""
    shown, deadline = "", time.monotonic() + 60
    while words not in shown:
        assert time.monotonic() < deadline, f"{words!r} is not in {shown!r}"
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 4096).decode()
    return shown


@pytest.mark.parametrize(("options", "phase"), [
    (["--users=10", "--rate=50", "--seconds=600"], "] messages "),
    # Of 200 seconds' logins, a few have been made.
    (["--users=2000", "--logins-per-second=10"], "] logins 5"),
])
def test_it_ends_early_and_cleans_up(stack: Stack, options: list[str], phase: str):
    main, side = pty.openpty()
    with subprocess.Popen(
            [CONTROL, "bench", *options], stdout=subprocess.PIPE, stderr=side, text=True,
            env=clean_environment(**settings(stack))) as process:
        os.close(side)
        shown = until_shown(main, phase)
        # A bar, drawn over itself.
        assert "\r[" in shown
        process.send_signal(signal.SIGINT)
        text = process.stdout.read()
        assert process.wait(30) == 0, text
    os.close(main)
    assert "ended early" in text and "login ms   p50" in text
    nothing_is_left(stack)


def test_failures_are_told(make_stack):
    stack = make_stack(gateways=1)
    where = settings(stack)
    stack.kill("presence#1")
    # Logins are tried for 30 s.
    done = run_program(CONTROL, "bench", "--users=2", "--rate=1", "--seconds=1", "--json", **where)
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["failedLogins"] == 2 and report["firstError"] and report["messagesSent"] == 0
    assert bench_rows(stack) == {}


def test_an_app_that_could_not_be_removed_is_named(make_stack):
    stack = make_stack(gateways=1)
    with subprocess.Popen(
            [CONTROL, "bench", "--users=2", "--rate=5", "--seconds=600"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=clean_environment(**settings(stack))) as process:
        eventually_blocking(lambda: stack.sql("SELECT count(*) FROM online_users") == [["2"]], "the users are online", 30)
        app = stack.sql("SELECT id FROM apps WHERE id LIKE 'bench-%'")[0][0]
        stack.kill("postgres")
        process.send_signal(signal.SIGINT)
        error = process.stderr.read()
        assert process.wait(60) == 69, error
    assert f"heliographctl app remove {app}" in error


def test_without_a_gateway_nothing_is_made(make_stack):
    stack = make_stack(gateways=0)
    done = run_program(CONTROL, "bench", "--users=2", **settings(stack))
    assert done.returncode == 69 and "no gateway runs" in done.stderr
    assert bench_rows(stack) == {}


@pytest.mark.parametrize(("option", "words"), [
    ("--users=1", "--users must be 2...20000"), ("--users=20001", "--users must be 2...20000"),
    ("--rate=0", "--rate must be 1...100000"), ("--rate=100001", "--rate must be 1...100000"),
    ("--seconds=0", "--seconds must be 1...3600"), ("--seconds=3601", "--seconds must be 1...3600"),
    ("--logins-per-second=0", "--logins-per-second must be 1...10000"),
    ("--logins-per-second=10001", "--logins-per-second must be 1...10000"),
    ("--size=31", "--size must be 32...8192"), ("--size=8193", "--size must be 32...8192"),
    ("--gateway=127.0.0.1", "--gateway"),
])
def test_bounds(option: str, words: str):
    done = run_program(CONTROL, "bench", option)
    assert done.returncode == 64 and words in done.stderr


def test_the_limit_of_open_files_is_checked(stack: Stack):
    found = subprocess.run(
        ["bash", "-c", f"ulimit -n 1024 && exec '{CONTROL}' bench --users=5000"], capture_output=True, text=True, check=False,
        env=clean_environment(**settings(stack)))
    assert found.returncode == 1 and "5000 users need 5064 open files; this process may have 1024" in found.stderr
