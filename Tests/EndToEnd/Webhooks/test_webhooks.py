"""Webhooks with a real receiver: every kind, in order, at least once, whatever fails."""

import json
import os
import ssl
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from acts import ring
from apps import App
from certificates import make_certificate
from fixtures import running
from stack_control import BINARIES, Stack, run_program, unique
from waiting import eventually, let_pass
from web import metric
from webhook_receiver import SECRET, Receiver

# Fast enough that a receiver can fail several times within a test.
QUICK = {
    "HELIOGRAPH_WEBHOOKS_TIMEOUT": "1s", "HELIOGRAPH_WEBHOOKS_RETRY_FIRST": "100ms", "HELIOGRAPH_WEBHOOKS_RETRY_LONGEST": "300ms",
    "HELIOGRAPH_WEBHOOKS_SETTLE": "300ms", "HELIOGRAPH_WEBHOOKS_UPKEEP": "300ms",
}
HOLD_SECONDS = 4
PATIENCE = 15
# So many that they become dead letters in several rounds.
VERY_MANY = 50_000
# The invitation service looks every 15 s, or a quarter more.
WATCH = 30
WHOLE_STORY = ["online", "join", "leave", "offline"]


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The certificate of a receiver that the processes trust."""
    return str(make_certificate(tmp_path_factory.mktemp("trusted")))


@pytest.fixture(scope="module")
def hooks(request: pytest.FixtureRequest, trusted: str) -> Iterator[Stack]:
    """A cluster with one webhooks process."""
    more = {"HELIOGRAPH_WEBHOOKS_TLS_AUTHORITY": trusted, "HELIOGRAPH_WEBHOOKS_HOLD": f"{HOLD_SECONDS}s"}
    with mock.patch.dict(os.environ, QUICK | more), \
            running(request, gateways=1, sip_bridge=0, webhooks=1) as stack:
        yield stack


def app_for(stack: Stack, url: str, *options: str) -> App:
    """A new app whose events go to the URL."""
    app = stack.create_app(unique("app"))
    set_hook(stack, app, url, *options)
    return app


def set_hook(stack: Stack, app: App, url: str, *options: str) -> dict:
    return json.loads(stack.control("webhook", "set", app.id, url, f"--secret={SECRET}", "--json", *options))


def shown(stack: Stack, app: App) -> dict:
    return json.loads(stack.control("webhook", "show", app.id, "--json"))


def queue_events(stack: Stack, app: App, count: int, age: str = "0 seconds") -> None:
    """Puts events into an app's queue, as if they had waited for some time; one a microsecond, with the numbers 1, 2, 3 ..."""
    stack.sql(f"""
        INSERT INTO webhook_events (app, at, id, kind, body, queued_at)
        SELECT '{app.id}', (extract(epoch FROM now() - interval '1 hour') * 1000000)::bigint + i, 'e' || i, 'join',
            json_build_object('id', 'e' || i, 'kind', 'join', 'at', i), now() - interval '{age}'
        FROM generate_series(1, {count}) i""")


def rows(stack: Stack, table: str, app: App) -> int:
    return int(stack.sql(f"SELECT count(*) FROM {table} WHERE app = '{app.id}'")[0][0])


def http_of(stack: Stack, kind: str) -> str:
    return next(one["http"] for one in stack.endpoints["services"] if one["name"].startswith(kind))


def webhooks_http(stack: Stack) -> str: return http_of(stack, "webhooks")


async def noticed() -> None:
    await let_pass(1.2, "services look for new webhooks once a second")


async def live(cast, stack: Stack, app: App, channel: str, *names: str) -> list[str]:
    """Users log in, join, leave and log out, one after the other; their accounts."""
    accounts = []
    for name in names:
        user = cast.make(name, app)
        await user.login(stack.gateways[0])
        await user.join(channel)
        await user.leave(channel)
        await user.logout()
        accounts.append(user.account)
    return accounts


async def arrived(receiver: Receiver, accounts: list[str], seconds: float = PATIENCE) -> None:
    """Waits until the whole story of each account has been told, in order."""
    await eventually(
        lambda: all(len(receiver.story(account)) == len(WHOLE_STORY) for account in accounts),
        "every event arrived", seconds)
    assert {account: receiver.story(account) for account in accounts} == {account: WHOLE_STORY for account in accounts}
    receiver.check()


@pytest.mark.every_redis
async def test_every_kind_arrives_once_and_in_order(hooks: Stack, people, receiver: Receiver):
    app = app_for(hooks, receiver.url(), "--allow-loopback")
    await noticed()
    channel, gateway = unique("room"), hooks.gateways[0]
    async with people(hooks) as cast:
        anna, bob = cast.make("anna", app), cast.make("bob", app)
        await anna.login(gateway)
        await bob.login(gateway)
        await anna.join(channel)
        await anna.call("channel_set_attr", channel=channel, name="_channel_ttl", value="1")
        await bob.join(channel)
        await ring(anna, bob, channel)
        await bob.act("invite_accept", channel, anna.account)
        await eventually(lambda: anna.calls("invite_accept"), "the acceptance arrived")
        await anna.act("invite_bye", channel, bob.account)
        await bob.leave(channel)
        await anna.leave(channel)
        await eventually(lambda: receiver.of("channel_destroyed"), "the channel's end arrived", PATIENCE)
        # Used again it is a new one.
        await bob.join(channel)
        await anna.logout()
        await bob.logout()
    # What follows from a logout is told after it.
    await eventually(lambda: len(receiver.of("leave")) == 3, "the leave that follows from the logout arrived", PATIENCE)
    assert receiver.story(anna.account) == WHOLE_STORY
    assert receiver.story(bob.account) == ["online", "join", "leave", "join", "offline", "leave"]
    about = [(event["kind"], event.get("account")) for event in receiver.events if event.get("channel") == channel and event["kind"] != "call"]
    assert about == [
        ("channel_created", None), ("join", anna.account), ("join", bob.account), ("leave", bob.account), ("leave", anna.account),
        ("channel_destroyed", None), ("channel_created", None), ("join", bob.account), ("leave", bob.account)]
    calls = receiver.of("call")
    assert [call["state"] for call in calls] == ["invited", "ringing", "accepted", "ended"]
    assert {(call["caller"], call["callee"], call["channel"], call["direction"]) for call in calls} == {
        (anna.account, bob.account, channel, "internal")}
    assert [call.get("reason") for call in calls] == [None, None, None, 0]
    assert [event["reason"] for event in receiver.of("online", "join", account=bob.account)] == [0, 0, 0]
    assert [event["reason"] for event in receiver.of("leave", account=bob.account)] == [602, 603]
    assert receiver.of("offline", account=anna.account)[0]["reason"] == 603
    assert receiver.of("online", account=anna.account)[0]["uid"] == anna.uid
    ids = [event["id"] for event in receiver.events]
    assert len(ids) == len(set(ids)), "while nothing fails, nothing comes twice"
    receiver.check()


async def test_replaced_and_resumed_sessions_are_not_told(hooks: Stack, people, receiver: Receiver):
    app = app_for(hooks, receiver.url(), "--allow-loopback")
    await noticed()
    async with people(hooks) as cast:
        first = cast.make("anna", app)
        await first.login(hooks.gateways[0])
        first.abort()
        await first.resume(hooks.gateways[0])
        second = cast.exactly(first.account, app)
        await second.login(hooks.gateways[0])
        await second.logout()
    await eventually(lambda: receiver.of("offline"), "the logout arrived", PATIENCE)
    assert receiver.story(first.account) == ["online", "offline"]


async def test_only_the_kinds_that_the_app_wants_in_batches_of_its_size(hooks: Stack, people, receiver: Receiver):
    receiver.mode = "503"
    app = app_for(hooks, receiver.url(), "--allow-loopback", "--batch=3", "--kinds", "join", "leave")
    await noticed()
    async with people(hooks) as cast:
        accounts = await live(cast, hooks, app, unique("room"), *["user"] * 5)
    await eventually(lambda: shown(hooks, app)["waiting"] == 10, "everything is in the queue", PATIENCE)
    receiver.mode = "ok"
    await eventually(lambda: len(receiver.events) == 10, "everything arrived", PATIENCE)
    assert [(event["kind"], event["account"]) for event in receiver.events] == [
        (kind, account) for account in accounts for kind in ("join", "leave")]
    assert [len(request) for request in receiver.requests] == [3, 3, 3, 1]


@pytest.mark.parametrize("mode", Receiver.MODES)
async def test_a_receiver_that_failed_gets_everything_in_order(hooks: Stack, people, receiver: Receiver, mode: str):
    app = app_for(hooks, receiver.url(), "--allow-loopback", "--batch=4")
    await noticed()
    async with people(hooks) as cast:
        accounts = await live(cast, hooks, app, unique("room"), "before")
        await arrived(receiver, accounts)
        receiver.mode, attempts = mode, receiver.attempts
        accounts += await live(cast, hooks, app, unique("room"), "one", "two", "three")
        await eventually(lambda: receiver.attempts >= attempts + 3, "it was tried again and again", PATIENCE)
        assert shown(hooks, app)["failures"] >= 2
        # With the channel's beginning.
        assert len(receiver.events) == len(WHOLE_STORY) + 1
        receiver.mode = "ok"
        accounts += await live(cast, hooks, app, unique("room"), "after")
    await arrived(receiver, accounts)
    assert receiver.redirected == 0
    await eventually(lambda: shown(hooks, app)["waiting"] == 0, "nothing waits", PATIENCE)
    assert shown(hooks, app)["lastError"] is None


@pytest.mark.every_redis
async def test_a_killed_process_loses_nothing(hooks: Stack, people, receiver: Receiver):
    receiver.mode = "hang"
    app = app_for(hooks, receiver.url(), "--allow-loopback", "--batch=5")
    await noticed()
    async with people(hooks) as cast:
        accounts = await live(cast, hooks, app, unique("room"), "one", "two")
        await eventually(lambda: receiver.attempts, "a request is under way", PATIENCE)
        hooks.kill("webhooks#1")
        accounts += await live(cast, hooks, app, unique("room"), "three")
        receiver.mode = "ok"
        receiver.released.set()
        hooks.start("webhooks#1")
        accounts += await live(cast, hooks, app, unique("room"), "four")
    await arrived(receiver, accounts)


async def test_another_process_takes_over(make_stack, people, receiver: Receiver, monkeypatch):
    for name, value in QUICK.items():
        monkeypatch.setenv(name, value)
    stack = make_stack(gateways=1, presence=2, channel_state=2, sip_bridge=0, webhooks=2)
    app = app_for(stack, receiver.url(), "--allow-loopback", "--batch=2")
    await noticed()
    async with people(stack) as cast:
        accounts = await live(cast, stack, app, unique("room"), "one", "two")
        for name in ("webhooks#1", "presence#1", "channel-state#1"):
            stack.kill(name)
        accounts += await live(cast, stack, app, unique("room"), "three")
    # What the killed services had read of their mirrors is taken over after 10 s at the earliest.
    await arrived(receiver, accounts, 2 * PATIENCE)


async def test_stopping_finishes_what_is_under_way(hooks: Stack, people, receiver: Receiver):
    app = app_for(hooks, receiver.url(), "--allow-loopback", "--batch=1")
    await noticed()
    async with people(hooks) as cast:
        accounts = await live(cast, hooks, app, unique("room"), "one", "two", "three")
        await eventually(lambda: receiver.events, "some arrived", PATIENCE)
        hooks.drain("webhooks#1")
        assert hooks.sql(f"SELECT count(*) FROM webhooks WHERE app = '{app.id}' AND lease IS NOT NULL") == [["0"]]
        hooks.start("webhooks#1")
    await arrived(receiver, accounts)
    assert len(receiver.events) == len({event["id"] for event in receiver.events}), "nothing was sent twice"


async def test_events_wait_for_earlier_ones_but_not_for_ever(hooks: Stack, people, receiver: Receiver):
    app = app_for(hooks, receiver.url(), "--allow-loopback")
    await noticed()
    async with people(hooks) as cast:
        hooks.freeze("channel-state#1")
        try:
            # Something that channel-state has not passed on yet.
            hooks.redis("XADD", hooks.redis_keys("mirror:channel-state*")[0], "*", "r", "held")
            user = cast.make("user", app)
            await user.login(hooks.gateways[0])
            await user.logout()
            await let_pass(HOLD_SECONDS / 2, "nothing is sent that earlier events could be missing of")
            assert shown(hooks, app)["waiting"] == 2 and not receiver.events
            await eventually(lambda: receiver.story(user.account) == ["online", "offline"], "their order is given up", PATIENCE)
        finally:
            hooks.thaw("channel-state#1")


async def test_a_hanging_receiver_holds_up_no_other_app(hooks: Stack, people, receiver: Receiver):
    with Receiver() as hanging:
        hanging.mode = "hang"
        apps = [app_for(hooks, one.url(), "--allow-loopback") for one in (hanging, receiver)]
        await noticed()
        async with people(hooks) as cast:
            await live(cast, hooks, apps[0], unique("room"), "anna")
            await eventually(lambda: hanging.attempts, "a request hangs", PATIENCE)
            for name in ("one", "two", "three"):
                await arrived(receiver, await live(cast, hooks, apps[1], unique("room"), name))
        assert shown(hooks, apps[0])["lastError"] in (None, "no answer in time") and not hanging.events


async def test_a_new_url_and_secret_are_used_while_requests_succeed(hooks: Stack, receiver: Receiver):
    other = "whsec-another-secret-9876543210"
    with Receiver(secret=other) as new:
        receiver.answers_after_seconds = 0.2
        app = app_for(hooks, receiver.url(), "--allow-loopback", "--batch=1")
        queue_events(hooks, app, 60)
        await eventually(lambda: receiver.attempts >= 2, "the first receiver gets them one by one", PATIENCE)
        hooks.control("webhook", "set", app.id, new.url(), f"--secret={other}", "--allow-loopback")
        taken = receiver.attempts
        await eventually(lambda: shown(hooks, app)["waiting"] == 0, "the second receiver gets the rest", PATIENCE)
        # One request was under way, and one may have been about to begin.
        assert receiver.attempts <= taken + 2
        assert len(new.events) >= 60 - taken - 2
        new.check()


async def test_each_busy_app_gets_its_turn(make_stack, monkeypatch):
    for name, value in (QUICK | {"HELIOGRAPH_WEBHOOKS_TARGETS": "1"}).items():
        monkeypatch.setenv(name, value)
    stack = make_stack(gateways=1, sip_bridge=0, webhooks=1)
    with Receiver() as one, Receiver() as two, Receiver() as three:
        receivers = [one, two, three]
        for receiver in receivers:
            receiver.answers_after_seconds = 0.2
        # More than can be sent within the test.
        for receiver in receivers:
            queue_events(stack, app_for(stack, receiver.url(), "--allow-loopback", "--batch=1"), 500)
        await eventually(lambda: all(receiver.attempts >= 2 for receiver in receivers), "each has its turn", 2 * PATIENCE)
        again = [receiver.attempts for receiver in receivers]
        await eventually(
            lambda: all(receiver.attempts >= count + 2 for receiver, count in zip(receivers, again, strict=True)),
            "each has another one", 2 * PATIENCE)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.255.255.1", "169.254.169.254"])
async def test_private_networks_are_refused_unless_allowed(hooks: Stack, people, receiver: Receiver, host: str):
    app = app_for(hooks, receiver.url(host))
    await noticed()
    async with people(hooks) as cast:
        accounts = await live(cast, hooks, app, unique("room"), "anna")
        await eventually(lambda: shown(hooks, app)["failures"] >= 2, "it was refused", PATIENCE)
        assert shown(hooks, app)["lastError"] == "the host is in a private, loopback or link-local network that is not allowed"
        assert receiver.attempts == 0
        set_hook(hooks, app, receiver.url(), "--allow-loopback")
    await arrived(receiver, accounts)


async def test_a_large_answer_is_not_read(hooks: Stack, people, receiver: Receiver):
    receiver.mode = "large"
    app = app_for(hooks, receiver.url("localhost"), "--allow-loopback")
    await noticed()
    async with people(hooks) as cast:
        accounts = await live(cast, hooks, app, unique("room"), "anna")
    await arrived(receiver, accounts)
    assert len(receiver.events) == len(WHOLE_STORY) + 1


@pytest.mark.parametrize("url, error", [
    ("http://127.0.0.1:1/", "could not connect: Connection refused"),
    ("http://no-such-host.invalid/", "the host's name has no address"),
])
async def test_why_a_webhook_fails(hooks: Stack, people, url: str, error: str):
    app = app_for(hooks, url, "--allow-loopback")
    await noticed()
    async with people(hooks) as cast:
        await live(cast, hooks, app, unique("room"), "anna")
        await eventually(lambda: shown(hooks, app)["lastError"] == error, error, PATIENCE)


async def test_tls(hooks: Stack, people, trusted: str, tmp_path):
    async with people(hooks) as cast:
        with Receiver(trusted) as good, Receiver(make_certificate(tmp_path)) as bad:
            apps = [app_for(hooks, one.url(), "--allow-loopback") for one in (good, bad)]
            await noticed()
            accounts = [await live(cast, hooks, app, unique("room"), "anna") for app in apps]
            await arrived(good, accounts[0])
            await eventually(lambda: shown(hooks, apps[1])["lastError"] == "TLS failed", "the stranger is refused", PATIENCE)
            assert bad.attempts == 0
            set_hook(hooks, apps[1], good.url(), "--allow-loopback")
            await eventually(lambda: len(good.story(accounts[1][0])) == len(WHOLE_STORY), "they arrived elsewhere", PATIENCE)


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
async def test_tls_before_1_2_is_refused(hooks: Stack, trusted: str):
    with Receiver(trusted, newest_tls=ssl.TLSVersion.TLSv1_1) as old, Receiver(trusted, newest_tls=ssl.TLSVersion.TLSv1_2) as good:
        apps = [app_for(hooks, one.url(), "--allow-loopback") for one in (old, good)]
        for app in apps:
            queue_events(hooks, app, 1)
        await eventually(lambda: len(good.events) == 1, "TLS 1.2 is spoken", PATIENCE)
        await eventually(lambda: shown(hooks, apps[0])["lastError"] == "TLS failed", "TLS 1.1 is not", PATIENCE)
        assert old.attempts == 0


async def test_after_a_success_the_pauses_begin_anew(make_stack, receiver: Receiver, monkeypatch):
    for name, value in (QUICK | {"HELIOGRAPH_WEBHOOKS_RETRY_LONGEST": "60s"}).items():
        monkeypatch.setenv(name, value)
    stack = make_stack(gateways=1, sip_bridge=0, webhooks=1)
    receiver.mode = "503"
    app = app_for(stack, receiver.url(), "--allow-loopback", "--batch=1")
    queue_events(stack, app, 400)
    # The pause that comes next is 3.2 to 6.4 s, and that after another failure 6.4 to 12.8 s.
    await eventually(lambda: shown(stack, app)["failures"] == 6, "it fails again and again", PATIENCE)
    receiver.mode = "ok"
    await eventually(lambda: len(receiver.events) >= 2, "it succeeds again", PATIENCE)
    receiver.mode = "503"
    await eventually(lambda: shown(stack, app)["failures"] >= 3, "three failures have their short pauses", 3)


async def test_dead_letters_can_be_replayed(make_stack, people, receiver: Receiver, monkeypatch):
    for name, value in (QUICK | {"HELIOGRAPH_WEBHOOKS_RETRY_FOR": "1s", "HELIOGRAPH_WEBHOOKS_BACKLOG": "7"}).items():
        monkeypatch.setenv(name, value)
    stack = make_stack(gateways=1, sip_bridge=0, webhooks=1)
    http = webhooks_http(stack)
    receiver.mode = "503"
    app = app_for(stack, receiver.url(), "--allow-loopback", "--kinds", *WHOLE_STORY)
    await noticed()
    async with people(stack) as cast:
        first, second = await live(cast, stack, app, unique("room"), "one", "two")
    await eventually(lambda: metric(http, "heliograph_webhook_dead_letters_deleted_total") == 1, "the oldest is deleted", PATIENCE)
    assert metric(http, "heliograph_webhook_events_dead_total") == 8
    assert shown(stack, app)["dead"] == 7
    dead = json.loads(stack.control("webhook", "dead", app.id, "--json"))["letters"]
    assert [letter["kind"] for letter in dead] == (WHOLE_STORY * 2)[1:]
    assert {letter["error"] for letter in dead} <= {"the receiver answered with 503", "more events waited than may"}
    assert stack.sql(f"SELECT count(*), min(kind) FROM webhook_dead_letters WHERE app = '{app.id}'") == [["7", "join"]]
    assert len(stack.control("webhook", "dead", app.id, "--limit=3").splitlines()) == 3
    # Old ones are deleted.
    aged = dead.pop(0)
    stack.sql(f"UPDATE webhook_dead SET died_at = died_at - interval '7 days' WHERE id = '{aged['id']}'")
    await eventually(lambda: shown(stack, app)["dead"] == 6, "the oldest is deleted", PATIENCE)
    receiver.mode = "ok"
    replayed = json.loads(stack.control("webhook", "replay", app.id, f"--id={dead[0]['id']}", "--json"))
    assert replayed == {"replayed": "1"}
    await eventually(lambda: len(receiver.events) == 1, "one arrived", PATIENCE)
    assert receiver.events[0]["id"] == dead[0]["id"]
    stack.control("webhook", "replay", app.id)
    await arrived(receiver, [second])
    assert receiver.story(first) == WHOLE_STORY[2:]
    assert shown(stack, app)["dead"] == 0


async def test_above_the_backlog_the_oldest_are_dead_letters(make_stack, people, receiver: Receiver, monkeypatch):
    for name, value in (QUICK | {"HELIOGRAPH_WEBHOOKS_BACKLOG": "4"}).items():
        monkeypatch.setenv(name, value)
    stack = make_stack(gateways=1, sip_bridge=0, webhooks=1)
    http = webhooks_http(stack)
    receiver.mode = "503"
    app = app_for(stack, receiver.url(), "--allow-loopback", "--kinds", "join", "leave")
    await noticed()
    async with people(stack) as cast:
        accounts = await live(cast, stack, app, unique("room"), "one", "two", "three")
    await eventually(lambda: (shown(stack, app)["waiting"], shown(stack, app)["dead"]) == (4, 2), "two are dead", PATIENCE)
    await eventually(lambda: metric(http, "heliograph_webhook_backlog") == 4, "the others are counted", PATIENCE)
    assert metric(http, "heliograph_webhook_oldest_seconds") > 0
    await eventually(lambda: metric(http, "heliograph_webhook_requests_failed_total") > 0, "a request has failed", PATIENCE)
    errors = [letter["error"] for letter in json.loads(stack.control("webhook", "dead", app.id, "--json"))["letters"]]
    assert errors == ["more events waited than may"] * 2
    watch = http_of(stack, "invitation")

    def watched() -> tuple[float, float]:
        return tuple(metric(watch, f"heliograph_invitation_webhook_{name}") for name in ("failing_apps", "dead_letters"))
    await eventually(lambda: watched() == (1, 2), "the invitation service sees both", WATCH)
    receiver.mode = "ok"
    await eventually(lambda: len(receiver.events) == 4, "the others arrived", PATIENCE)
    assert [event["account"] for event in receiver.events] == [accounts[1]] * 2 + [accounts[2]] * 2
    await eventually(lambda: metric(http, "heliograph_webhook_backlog") == 0, "nothing waits")
    assert metric(http, "heliograph_webhook_events_delivered_total") == 4
    await eventually(lambda: watched() == (0, 2), "no receiver fails, and the dead letters are kept", WATCH)


async def test_a_backlog_far_above_its_bound_is_shed_at_once(make_stack, receiver: Receiver, monkeypatch):
    # A process looks at the queue when it starts; the next look comes long after the test.
    for name, value in (QUICK | {"HELIOGRAPH_WEBHOOKS_BACKLOG": "100", "HELIOGRAPH_WEBHOOKS_UPKEEP": "600s"}).items():
        monkeypatch.setenv(name, value)
    stack = make_stack(gateways=1, sip_bridge=0, webhooks=1)
    stack.kill("webhooks#1")
    receiver.mode = "503"
    app = app_for(stack, receiver.url(), "--allow-loopback")
    queue_events(stack, app, 60_000)
    stack.start("webhooks#1")
    await eventually(lambda: rows(stack, "webhook_events", app) == 100, "the bound holds", 2 * PATIENCE)
    await eventually(lambda: rows(stack, "webhook_dead", app) == 100, "that of dead letters too", PATIENCE)
    waiting = stack.sql(f"SELECT min(body::json->>'at')::int, max(body::json->>'at')::int FROM webhook_events WHERE app = '{app.id}'")
    assert waiting == [["59901", "60000"]], "the latest wait"


async def test_while_nobody_delivers_the_queue_is_bounded(make_stack, people, receiver: Receiver, monkeypatch):
    for name, value in (QUICK | {"HELIOGRAPH_WEBHOOKS_BACKLOG": "5"}).items():
        monkeypatch.setenv(name, value)
    stack = make_stack(gateways=1, sip_bridge=0, webhooks=1)
    stack.kill("webhooks#1")
    app = app_for(stack, receiver.url(), "--allow-loopback", "--kinds", "online", "offline")
    queue_events(stack, app, 8)
    await noticed()
    async with people(stack) as cast:
        await live(cast, stack, app, unique("room"), "one", "two")
        http = http_of(stack, "presence")
        await eventually(lambda: metric(http, "heliograph_webhook_events_refused_total") == 2, "two are not queued", PATIENCE)
        assert rows(stack, "webhook_events", app) == 10, "twice the backlog"
        # Nothing else is lost, and what is delivered makes room.
        stack.start("webhooks#1")
        await eventually(lambda: rows(stack, "webhook_events", app) == 0, "the queue is empty", PATIENCE)
        await let_pass(1.2, "for a second it is remembered that there was no room")
        (last,) = await live(cast, stack, app, unique("room"), "three")
        await eventually(lambda: receiver.story(last) == ["online", "offline"], "later events arrive", PATIENCE)
    assert metric(http, "heliograph_webhook_events_refused_total") == 2


async def test_very_many_old_events_become_dead_letters(hooks: Stack, receiver: Receiver):
    receiver.mode = "503"
    app = app_for(hooks, receiver.url(), "--allow-loopback")
    # While it is filled nothing is sent.
    hooks.sql(f"UPDATE webhooks SET next_attempt_at = now() + interval '1 hour' WHERE app = '{app.id}'")
    queue_events(hooks, app, VERY_MANY, age="2 days")
    hooks.sql(f"UPDATE webhooks SET next_attempt_at = now() WHERE app = '{app.id}'")
    await eventually(lambda: rows(hooks, "webhook_events", app) == 0, "all are dead letters", 60)
    assert rows(hooks, "webhook_dead", app) == VERY_MANY
    assert shown(hooks, app)["failures"] >= 1
    queue_events(hooks, app, VERY_MANY)
    hooks.control("webhook", "remove", app.id)
    assert rows(hooks, "webhook_events", app) == 0


def test_the_command_shows_lists_and_removes(hooks: Stack):
    app = hooks.create_app(unique("app"))
    made = set_hook(hooks, app, "https://hooks.example.com/x", "--kinds", "leave", "online")
    assert made == {
        "app": app.id, "name": "default", "url": "https://hooks.example.com/x", "kinds": ["online", "leave"], "batch": 100, "messageText": False,
        "allowPrivate": False, "allowLoopback": False,
        "waiting": 0, "oldest": None, "dead": 0, "failures": 0, "failingSince": None, "deliveredAt": None, "lastError": None,
        "formerSecretUntil": None, "formerSecret": None, "secret": SECRET}
    # The secret stays, and is shown only when asked for.
    again = json.loads(hooks.control("webhook", "set", app.id, "https://hooks.example.com/y", "--json"))
    assert again["secret"] == SECRET and again["kinds"] == ["online", "leave"]
    assert "secret" not in shown(hooks, app) and SECRET in hooks.control("webhook", "show", app.id, "--with-secret")
    assert app.id in hooks.control("webhook", "list") and SECRET not in hooks.control("webhook", "list")
    assert json.loads(hooks.control("webhook", "remove", app.id, "--json")) == {"removed": app.id}
    for arguments in (["show", app.id], ["remove", app.id], ["replay", app.id], ["set", "no-such-app", "https://a/"]):
        assert refused(hooks, *arguments) == 1
    secret = json.loads(hooks.control("webhook", "set", app.id, "https://a/", "--json"))["secret"]
    assert len(secret) == 64


@pytest.mark.parametrize("kind", ["webhook", "hook"])
def test_a_secret_may_be_in_a_file(hooks: Stack, tmp_path: Path, kind: str):
    app = hooks.create_app(unique("app"))
    file = tmp_path / "secret"
    file.write_text(SECRET + "\n")
    made = hooks.control(kind, "set", app.id, "https://a/", f"--secret-file={file}", "--json")
    assert json.loads(made)["secret"] == SECRET
    for options in ([f"--secret={SECRET}"], [f"--secret-file={tmp_path}/missing"], [f"--secret-file={tmp_path}"]):
        both = [f"--secret-file={file}"] if options[0].startswith("--secret=") else []
        assert refused(hooks, "set", app.id, "https://a/", *options, *both, kind=kind) == 64, options
    file.write_text("x" * 15)
    assert refused(hooks, "set", app.id, "https://a/", f"--secret-file={file}", kind=kind) == 64


@pytest.mark.parametrize("arguments", [
    ["ftp://a/"], ["http://user:password@a/"], ["http://a/#x"], ["http://" + "a" * 254 + "/"], ["http://a/" + "x" * 1992],
    ["http://a/", "--batch=0"], ["http://a/", "--batch=1001"], ["http://a/", "--secret=" + "x" * 15],
    ["http://a/", "--secret=" + "x" * 129], ["http://a/", "--kinds", "messages"],
    ["http://a/", "--message-text"], ["http://a/", "--message-text", "--kinds", "online"],
], ids=lambda words: " ".join(words)[:30])
def test_bounds_of_a_webhook(hooks: Stack, arguments: list[str]):
    app = hooks.create_app(unique("app"))
    assert refused(hooks, "set", app.id, *arguments) == 64
    assert refused(hooks, "show", app.id) == 1


@pytest.mark.parametrize("arguments", [["dead", "--limit=0"], ["dead", "--limit=100001"], ["replay", "--limit=0"]], ids="".join)
def test_bounds_of_lists(hooks: Stack, arguments: list[str]):
    command, *options = arguments
    assert refused(hooks, command, "a", *options) == 64


def refused(stack: Stack, *arguments: str, kind: str = "webhook") -> int:
    """The exit status of a command that fails."""
    done = run_program(
        str(BINARIES / "heliographctl"), kind, *arguments, HELIOGRAPH_POSTGRES_URL=stack.endpoints["postgres"]["url"])
    assert done.returncode != 0
    return done.returncode


@pytest.mark.parametrize("setting, values", [
    ("TIMEOUT", ("99ms", "61s")), ("RETRY_FIRST", ("9ms", "3601s")), ("RETRY_LONGEST", ("9ms", "86401s")),
    ("RETRY_FOR", ("999ms", "721h")), ("SETTLE", ("61s",)), ("HOLD", ("99ms", "3601s")), ("TARGETS", ("0", "1001")),
    ("BACKLOG", ("0", "100000001")), ("DEAD_DAYS", ("366",)), ("UPKEEP", ("99ms", "601s")),
])
def test_bounds_of_settings(setting: str, values: tuple[str, ...]):
    for value in values:
        done = run_program(str(BINARIES / "webhooks"), "--check-configuration", **{f"HELIOGRAPH_WEBHOOKS_{setting}": value})
        assert done.returncode == 1
        assert f"HELIOGRAPH_WEBHOOKS_{setting} must be" in done.stderr
