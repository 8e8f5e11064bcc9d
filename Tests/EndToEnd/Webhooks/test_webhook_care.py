"""What operators do about webhooks: replace a secret, change a setting, look at the requests, send a test event."""

import hashlib
import hmac
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from apps import App
from certificates import make_certificate
from fixtures import running
from server_api import ServerAPI, create_key
from stack_control import BINARIES, Stack, run_program, unique
from waiting import eventually, eventually_blocking
from webhook_receiver import SECRET, Receiver

QUICK = {
    "HELIOGRAPH_WEBHOOKS_TIMEOUT": "1s", "HELIOGRAPH_WEBHOOKS_RETRY_FIRST": "100ms", "HELIOGRAPH_WEBHOOKS_RETRY_LONGEST": "300ms",
    "HELIOGRAPH_WEBHOOKS_SETTLE": "300ms", "HELIOGRAPH_WEBHOOKS_UPKEEP": "300ms",
}
PATIENCE = 15
KEPT = 1000


@pytest.fixture(scope="module")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    with mock.patch.dict(os.environ, QUICK), running(request, gateways=1, sip_bridge=0, webhooks=1) as stack:
        yield stack


def app_for(stack: Stack, url: str, *options: str) -> App:
    app = stack.create_app(unique("app"))
    stack.control("webhook", "set", app.id, url, f"--secret={SECRET}", "--allow-loopback", *options)
    return app


def webhook(stack: Stack, command: str, app: App, *arguments: str) -> dict:
    return json.loads(stack.control("webhook", command, app.id, *arguments, "--json"))


def ended(stack: Stack, *arguments: str, **settings: str) -> tuple[int, dict]:
    """The exit status of a command, and what it printed as JSON."""
    done = run_program(
        str(BINARIES / "heliographctl"), "webhook", *arguments, "--json",
        HELIOGRAPH_POSTGRES_URL=stack.endpoints["postgres"]["url"], **settings)
    return done.returncode, json.loads(done.stdout or "{}")


def queue_events(stack: Stack, app: App, first: int, last: int) -> None:
    stack.sql(f"""
        INSERT INTO webhook_events (app, at, id, kind, body)
        SELECT '{app.id}', (extract(epoch FROM now() - interval '1 hour') * 1000000)::bigint + i, 'e' || i, 'join',
            json_build_object('id', 'e' || i, 'kind', 'join', 'at', i)
        FROM generate_series({first}, {last}) i""")


async def arrived(receiver: Receiver, count: int) -> None:
    await eventually(lambda: len(receiver.events) == count, f"{count} events arrived", PATIENCE)
    receiver.check()


# Secrets

async def test_a_secret_is_replaced_without_a_gap(stack: Stack, receiver: Receiver):
    app = app_for(stack, receiver.url())
    queue_events(stack, app, 1, 2)
    await arrived(receiver, 2)
    new = webhook(stack, "rotate", app)
    assert len(new["secret"]) == 64 and new["formerSecret"] == SECRET and new["formerSecretUntil"]
    assert new["secret"] not in stack.control("webhook", "list") and SECRET not in stack.control("webhook", "list")
    # The receiver does not know of it yet.
    queue_events(stack, app, 3, 4)
    await arrived(receiver, 4)
    receiver.secret = new["secret"]
    queue_events(stack, app, 5, 6)
    await arrived(receiver, 6)
    assert webhook(stack, "rotate", app, "--finish")["formerSecret"] is None
    queue_events(stack, app, 7, 8)
    await arrived(receiver, 8)
    assert receiver.signatures[0] == 1 and receiver.signatures[-1] == 1
    assert set(receiver.signatures[1:-1]) == {2}


async def test_a_secret_that_settings_replace_leaves_no_gap(stack: Stack, receiver: Receiver):
    """As files and the server API set it; whoever checks has a day to learn of it."""
    app = app_for(stack, receiver.url())
    new = "whsec-another-secret-9876543210"
    api = ServerAPI(stack, create_key(stack)["key"])
    answer = api.post("settings", body={"apps": {app.id: {"webhook": {"secret": {"value": new}}}}})
    assert answer.status == 200, answer.body
    shown = webhook(stack, "show", app)
    hours, = stack.sql(f"SELECT extract(epoch FROM former_secret_until - now()) / 3600 FROM webhooks WHERE app = '{app.id}'")[0]
    assert 23.9 < float(hours) <= 24 and shown["formerSecretUntil"]
    queue_events(stack, app, 1, 1)
    await arrived(receiver, 1)
    receiver.secret = new
    queue_events(stack, app, 2, 2)
    await arrived(receiver, 2)
    assert receiver.signatures == [2, 2]


async def test_the_former_secret_ends_by_itself(stack: Stack, receiver: Receiver):
    app = app_for(stack, receiver.url())
    new = "whsec-another-secret-9876543210"
    webhook(stack, "set", app, receiver.url(), f"--secret={new}", "--overlap=2s")
    await eventually(
        lambda: stack.sql(f"SELECT former_secret IS NULL FROM webhooks WHERE app = '{app.id}'") == [["t"]],
        "the secret is forgotten", PATIENCE)
    receiver.secret = new
    queue_events(stack, app, 1, 1)
    await arrived(receiver, 1)
    assert receiver.signatures == [1]


def test_a_lost_secret_ends_at_once(stack: Stack):
    app = app_for(stack, "https://hooks.example.com/")
    lost = webhook(stack, "rotate", app, "--overlap=0")
    assert lost["formerSecret"] is None and lost["secret"] != SECRET
    assert webhook(stack, "rotate", app, f"--secret={SECRET}")["secret"] == SECRET
    assert ended(stack, "rotate", app.id, f"--secret={SECRET}")[0] == 1
    webhook(stack, "rotate", app, "--finish")
    assert ended(stack, "rotate", app.id, "--finish")[0] == 1
    other = stack.create_app(unique("app"))
    assert ended(stack, "rotate", other.id)[0] == 1


@pytest.mark.parametrize("options", [
    ["--overlap=8d"], ["--overlap=x"], ["--overlap=-1"], ["--overlap=1w"], ["--secret=short"],
    ["--finish", f"--secret={SECRET}"]], ids="".join)
def test_bounds_of_a_rotation(stack: Stack, options: list[str]):
    assert ended(stack, "rotate", "a", *options)[0] == 64


# What is not named stays

def test_what_is_not_named_stays_as_it_was(stack: Stack):
    url = "https://hooks.example.com/"
    app = app_for(stack, url, "--kinds", "message", "online", "--message-text", "--batch=7", "--allow-private")
    before = webhook(stack, "show", app, "--with-secret")
    after = webhook(stack, "set", app, url + "new")
    assert after == before | {"url": url + "new"}
    assert (before["batch"], before["allowPrivate"], before["allowLoopback"]) == (7, True, True)
    changed = webhook(stack, "set", app, url, "--no-allow-private", "--no-message-text")
    assert changed == before | {"allowPrivate": False, "messageText": False}
    # The texts go with the kind.
    webhook(stack, "set", app, url, "--message-text")
    assert webhook(stack, "set", app, url, "--kinds", "online")["messageText"] is False
    assert webhook(stack, "set", app, url, "--kinds", "online", "message")["messageText"] is False


# Requests

async def test_each_request_is_noted(stack: Stack, receiver: Receiver):
    receiver.mode = "503"
    app = app_for(stack, receiver.url(), "--batch=2")
    queue_events(stack, app, 1, 3)
    await eventually(lambda: receiver.attempts >= 2, "it fails", PATIENCE)
    receiver.mode = "ok"
    await arrived(receiver, 3)
    await eventually(lambda: webhook(stack, "show", app)["waiting"] == 0, "it is noted", PATIENCE)
    noted = webhook(stack, "deliveries", app)["deliveries"]
    assert [(one["events"], one["status"], one["error"]) for one in noted[:2]] == [(1, 200, None), (2, 200, None)]
    assert [one["attempt"] for one in noted] == [1, *range(len(noted) - 1, 0, -1)]
    failed = webhook(stack, "deliveries", app, "--failed")["deliveries"]
    assert failed == noted[2:] and len(noted) == receiver.attempts
    assert {(one["status"], one["error"]) for one in failed} == {(503, "the receiver answered with 503")}
    assert all(0 <= one["duration"] < 1000 for one in noted)
    assert noted == sorted(noted, key=lambda one: one["at"], reverse=True)
    assert webhook(stack, "deliveries", app, "--limit=1")["deliveries"] == noted[:1]
    text = stack.control("webhook", "deliveries", app.id).splitlines()
    assert "2 events  attempt" in text[1] and "status 200" in text[1] and "attempt 2" in text[-2] and "answered with 503" in text[-1]
    counted = stack.sql(f"SELECT count(*), count(error) FROM webhook_deliveries WHERE app = '{app.id}'")
    assert counted == [[str(len(noted)), str(len(failed))]]


async def test_a_request_without_an_answer_is_noted(stack: Stack):
    app = app_for(stack, "http://127.0.0.1:1/")
    queue_events(stack, app, 1, 1)
    await eventually(lambda: len(webhook(stack, "deliveries", app)["deliveries"]) >= 2, "it is noted", PATIENCE)
    first = webhook(stack, "deliveries", app, "--failed")["deliveries"][-1]
    assert (first["attempt"], first["status"], first["error"]) == (1, None, "could not connect: Connection refused")


def test_the_latest_requests_are_kept(stack: Stack):
    app = app_for(stack, "https://hooks.example.com/")

    def remember(count: int, age: str) -> None:
        stack.sql(f"""
            INSERT INTO webhook_requests (app, at, events, attempt, status, duration_ms)
            SELECT '{app.id}', now() - interval '{age}', i, 1, 200, 5 FROM generate_series(1, {count}) i""")

    def is_kept(first: int, last: int) -> bool:
        found = stack.sql(f"SELECT min(events), max(events), count(*) FROM webhook_requests WHERE app = '{app.id}'")
        return found == [[str(first), str(last), str(last - first + 1)]]

    remember(KEPT + 10, "1 hour")
    eventually_blocking(lambda: is_kept(11, KEPT + 10), "the oldest are forgotten", PATIENCE)
    stack.sql(f"UPDATE webhook_requests SET at = now() - interval '73 hours' WHERE app = '{app.id}' AND events < 500")
    eventually_blocking(lambda: is_kept(500, KEPT + 10), "those before three days are forgotten", PATIENCE)
    stack.control("webhook", "remove", app.id)
    assert stack.sql(f"SELECT count(*) FROM webhook_requests WHERE app = '{app.id}'") == [["0"]]
    assert ended(stack, "deliveries", app.id)[0] == 1


@pytest.mark.parametrize("limit", ["0", "1001"])
def test_bounds_of_the_list(stack: Stack, limit: str):
    assert ended(stack, "deliveries", "a", f"--limit={limit}")[0] == 64


# Dead letters

async def test_dead_letters_of_a_time_are_replayed(stack: Stack, receiver: Receiver):
    app = app_for(stack, receiver.url())
    began = int(time.time()) - 3600
    # One was given up in each minute.
    stack.sql(f"""
        INSERT INTO webhook_dead (app, at, id, kind, body, queued_at, died_at, error)
        SELECT '{app.id}', i, 'e' || i, 'join', json_build_object('id', 'e' || i, 'kind', 'join', 'at', i), now(),
            to_timestamp({began} + 60 * i), 'down'
        FROM generate_series(1, 6) i""")
    letters = webhook(stack, "dead", app)["letters"]
    assert [letter["diedAt"] for letter in letters] == [1000 * (began + 60 * number) for number in range(1, 7)]
    for options, expected in (
        ([f"--until={began + 120}"], ["e1"]), ([f"--since={began + 120}", f"--until={began + 240}"], ["e2", "e3"]),
        ([f"--since={began + 361}"], []), ([f"--since={began + 300}", "--limit=1"], ["e5"]), ([f"--since={began + 300}"], ["e6"]),
    ):
        before = len(receiver.events)
        assert webhook(stack, "replay", app, *options) == {"replayed": str(len(expected))}, options
        await arrived(receiver, before + len(expected))
        assert [event["id"] for event in receiver.events[before:]] == expected, options
    assert [letter["id"] for letter in webhook(stack, "dead", app)["letters"]] == ["e4"]


@pytest.mark.parametrize("options", [
    ["--since=-1"], ["--until=10000000000"], ["--since=2026-01-31"], ["--since=2", "--until=2"]], ids="".join)
def test_bounds_of_a_replay(stack: Stack, options: list[str]):
    assert ended(stack, "replay", "a", *options)[0] == 64


# Test events

def test_a_test_event_arrives_past_what_waits(stack: Stack, receiver: Receiver):
    app = app_for(stack, receiver.url())
    # What waits is not sent within the test.
    stack.sql(f"UPDATE webhooks SET next_attempt_at = now() + interval '1 hour' WHERE app = '{app.id}'")
    queue_events(stack, app, 1, 3)
    code, told = ended(stack, "test", app.id)
    assert code == 0 and (told["app"], told["status"], told["error"]) == (app.id, 200, None)
    assert 0 <= told["duration"] < 1000
    assert [(event["kind"], event["id"]) for event in receiver.events] == [("test", told["id"])]
    # Both secrets sign it too.
    webhook(stack, "rotate", app)
    assert "status 200" in stack.control("webhook", "test", app.id)
    assert receiver.signatures == [1, 2]
    receiver.check()
    shown = webhook(stack, "show", app)
    assert (shown["waiting"], shown["deliveredAt"]) == (3, None)
    assert webhook(stack, "deliveries", app)["deliveries"] == []


@pytest.mark.parametrize("mode, status, error", [
    ("503", 503, "the receiver answered with 503"), ("redirect", 302, "the receiver answered with 302, which is not followed"),
    ("hang", None, "no answer in time"), ("reset", None, None)])
def test_what_a_test_event_finds(stack: Stack, receiver: Receiver, mode: str, status: int | None, error: str | None):
    receiver.mode = mode
    app = app_for(stack, receiver.url())
    code, told = ended(stack, "test", app.id, HELIOGRAPH_WEBHOOKS_TIMEOUT="500ms")
    assert code == 1 and told["status"] == status and told["error"]
    assert error is None or told["error"] == error
    assert webhook(stack, "show", app)["failures"] == 0


def test_a_test_event_keeps_to_the_rules_of_addresses(stack: Stack, receiver: Receiver):
    app = app_for(stack, receiver.url(), "--no-allow-loopback")
    code, told = ended(stack, "test", app.id)
    assert code == 1 and "network that is not allowed" in told["error"] and receiver.attempts == 0


def test_a_test_event_over_tls(stack: Stack, tmp_path: Path):
    certificate = make_certificate(tmp_path)
    with Receiver(certificate) as receiver:
        app = app_for(stack, receiver.url())
        assert ended(stack, "test", app.id)[1]["error"] == "TLS failed"
        assert ended(stack, "test", app.id, HELIOGRAPH_WEBHOOKS_TLS_AUTHORITY=str(certificate))[0] == 0
        assert len(receiver.events) == 1
        missing = ended(stack, "test", app.id, HELIOGRAPH_WEBHOOKS_TLS_AUTHORITY=f"{tmp_path}/missing")
        assert missing == (1, {})


def test_a_test_event_needs_a_webhook(stack: Stack):
    app = stack.create_app(unique("app"))
    assert ended(stack, "test", app.id) == (1, {})


# The checking code of the documents

def test_checking_code_of_before_knows_the_former_secret(stack: Stack, receiver: Receiver):
    """Receivers whose code keeps only the last signature go on while the secret is replaced."""
    headers: list[tuple[str, bytes]] = []
    verify = receiver._verify

    def keep(handler, body: bytes) -> int:
        headers.append((handler.headers["Heliograph-Signature"], body))
        return verify(handler, body)

    receiver._verify = keep
    app = app_for(stack, receiver.url())
    webhook(stack, "rotate", app)
    assert ended(stack, "test", app.id)[0] == 0
    header, body = headers[0]
    parts = dict(part.split("=", 1) for part in header.split(","))
    wanted = hmac.new(SECRET.encode(), parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
    assert parts["v1"] == wanted
