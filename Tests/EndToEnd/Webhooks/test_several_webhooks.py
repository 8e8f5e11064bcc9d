"""Several webhooks of one app: each has its own kinds, queue and failures, and commands change only the one that they name."""

import json
import os
from collections.abc import Iterator
from unittest import mock

import pytest

from apps import App
from fixtures import running
from server_api import ServerAPI, create_key
from stack_control import BINARIES, Stack, run_program, unique
from waiting import eventually, let_pass
from webhook_receiver import Receiver

QUICK = {
    "HELIOGRAPH_WEBHOOKS_TIMEOUT": "1s", "HELIOGRAPH_WEBHOOKS_RETRY_FIRST": "100ms", "HELIOGRAPH_WEBHOOKS_RETRY_LONGEST": "300ms",
}
ARCHIVE_SECRET = "whsec-of-the-archive-9876543210"
URL = "https://hooks.example.com/heliograph"
PATIENCE = 15
MOST = 16
RULE = "1 to 32 characters a-z, 0-9 and -, the first one a letter"
TEXT = "a message for the archive"


@pytest.fixture(scope="module")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    with mock.patch.dict(os.environ, QUICK), running(request, gateways=1, sip_bridge=0, webhooks=1) as stack:
        yield stack


@pytest.fixture
def archive() -> Iterator[Receiver]:
    """A second server of an app, with a secret of its own."""
    with Receiver(secret=ARCHIVE_SECRET) as receiver:
        yield receiver


def webhook(stack: Stack, command: str, app: App, name: str, *arguments: str) -> dict:
    """What a command prints; the one with the name `default` is what it means without a name."""
    naming = [] if name == "default" else [f"--name={name}"]
    return json.loads(stack.control("webhook", command, app.id, *arguments, *naming, "--json"))


def refused(stack: Stack, *arguments: str) -> tuple[int, str]:
    """The exit status of a command that fails, and what it says."""
    done = run_program(
        str(BINARIES / "heliographctl"), "webhook", *arguments, HELIOGRAPH_POSTGRES_URL=stack.endpoints["postgres"]["url"])
    assert done.returncode != 0
    return done.returncode, done.stderr.strip().removeprefix("heliographctl: ")


def set_both(stack: Stack, receivers: dict[str, Receiver], *options: str, **more: list[str]) -> App:
    """A new app with a webhook for each receiver, by its name."""
    app = stack.create_app(unique("app"))
    for name, receiver in receivers.items():
        webhook(stack, "set", app, name, receiver.url(), f"--secret={receiver.secret}", "--allow-loopback", *options, *more.get(name, []))
    return app


def held(stack: Stack, **events: int) -> App:
    """A new app with webhooks of these names; so many events wait for each, and nothing is sent for an hour."""
    app = stack.create_app(unique("app"))
    for name, count in events.items():
        webhook(stack, "set", app, name, URL)
        stack.sql(f"UPDATE webhooks SET next_attempt_at = now() + interval '1 hour' WHERE app = '{app.id}'")
        stack.sql(f"""
            INSERT INTO webhook_events (app, webhook, at, id, kind, body)
            SELECT '{app.id}', '{name}', i, 'e' || i, 'join', '{{}}' FROM generate_series(1, {count}) i""")
    return app


async def noticed() -> None:
    await let_pass(1.2, "services look for new webhooks once a second")


@pytest.mark.every_redis
async def test_each_gets_its_kinds_and_texts_only_where_asked(stack: Stack, people, receiver: Receiver, archive: Receiver):
    app = set_both(
        stack, {"default": receiver, "archive": archive}, default=["--kinds", "message", "online"],
        archive=["--kinds", "message", "--message-text"])
    await noticed()
    async with people(stack) as cast:
        anna, bob = await cast.login("anna", "bob", app=app)
        await anna.tell(bob.account, TEXT)
        await eventually(lambda: len(receiver.events) >= 3 and archive.events, "both have what they want", PATIENCE)
    assert sorted(event["kind"] for event in receiver.events) == ["message", "online", "online"]
    told, = receiver.of("message")
    assert "text" not in told and (told["to"], told["size"]) == (bob.account, len(TEXT))
    assert archive.events == [told | {"text": TEXT}]
    # Each checks its own secret.
    receiver.check()
    archive.check()


@pytest.mark.every_redis
@pytest.mark.parametrize("bad", ["default", "archive"])
async def test_one_that_fails_holds_up_no_other(stack: Stack, people, receiver: Receiver, archive: Receiver, bad: str):
    receivers = {"default": receiver, "archive": archive}
    failing, well = receivers.pop(bad), *receivers.values()
    good, = receivers
    failing.mode = "503"
    app = set_both(stack, {bad: failing, good: well}, "--kinds", "online", "offline", "--batch=2")
    await noticed()
    async with people(stack) as cast:
        for name in ("one", "two", "three"):
            user = cast.make(name, app)
            await user.login(stack.gateways[0])
            await user.logout()
    await eventually(lambda: len(well.events) == 6, "the other has everything", PATIENCE)
    await eventually(lambda: failing.attempts >= 3, "the first is tried again and again", PATIENCE)
    await eventually(lambda: webhook(stack, "show", app, good)["waiting"] == 0, "nothing waits for the other", PATIENCE)
    shown = {name: webhook(stack, "show", app, name) for name in (bad, good)}
    assert (shown[bad]["name"], shown[bad]["waiting"], shown[bad]["lastError"]) == (bad, 6, "the receiver answered with 503")
    assert shown[bad]["failures"] >= 2 and shown[bad]["deliveredAt"] is None and not failing.events
    assert (shown[good]["failures"], shown[good]["failingSince"], shown[good]["lastError"]) == (0, None, None)
    failing.mode = "ok"
    await eventually(lambda: len(failing.events) == 6, "everything follows", PATIENCE)
    assert failing.events == well.events
    for each in (failing, well):
        each.check()


def test_the_removal_of_one_leaves_the_others(stack: Stack):
    app = held(stack, default=3, archive=5)
    assert [webhook(stack, "show", app, name)["waiting"] for name in ("default", "archive")] == [3, 5]
    webhook(stack, "remove", app, "archive")
    assert webhook(stack, "show", app, "default")["waiting"] == 3
    for command in ("show", "remove", "rotate", "test", "deliveries", "replay"):
        assert refused(stack, command, app.id, "--name=archive") == (1, f"the app {app.id} has no webhook archive"), command
    # Set anew, nothing waits.
    assert webhook(stack, "set", app, "archive", URL)["waiting"] == 0
    webhook(stack, "remove", app, "default")
    assert refused(stack, "show", app.id) == (1, f"the app {app.id} has no webhook")
    assert webhook(stack, "show", app, "archive")["url"] == URL
    assert stack.sql(f"SELECT count(*) FROM webhook_events WHERE app = '{app.id}'") == [["0"]]


async def test_commands_touch_only_the_one_that_they_name(stack: Stack, receiver: Receiver, archive: Receiver):
    app = set_both(stack, {"default": receiver, "archive": archive})
    before = webhook(stack, "show", app, "default", "--with-secret")
    stack.sql(f"""
        INSERT INTO webhook_dead (app, webhook, at, id, kind, body, queued_at, error)
        SELECT '{app.id}', name, 1, 'of-' || name, 'join', json_build_object('id', 'of-' || name, 'kind', 'join', 'at', 1), now(), 'too old'
        FROM webhooks WHERE app = '{app.id}'""")
    rotated = webhook(stack, "rotate", app, "archive")
    assert (rotated["name"], rotated["formerSecret"]) == ("archive", ARCHIVE_SECRET)
    webhook(stack, "test", app, "archive")
    assert [event["kind"] for event in archive.events] == ["test"]
    letters = {name: [one["id"] for one in webhook(stack, "dead", app, name)["letters"]] for name in ("default", "archive")}
    assert letters == {"default": ["of-default"], "archive": ["of-archive"]}
    webhook(stack, "replay", app, "archive")
    await eventually(lambda: archive.of("join"), "the letter arrives", PATIENCE)
    await eventually(lambda: webhook(stack, "deliveries", app, "archive")["deliveries"], "the request is noted", PATIENCE)
    assert [event["id"] for event in archive.of("join")] == ["of-archive"] and archive.signatures == [2, 2]
    assert webhook(stack, "deliveries", app, "default")["deliveries"] == [] and receiver.attempts == 0
    assert webhook(stack, "show", app, "default", "--with-secret") == before | {"dead": 1}
    assert webhook(stack, "show", app, "archive")["dead"] == 0


def test_sixteen_at_most_and_all_are_listed(stack: Stack):
    app, other = (stack.create_app(unique("app")) for _ in range(2))
    names = ["default", "longest" + "-0" * 12 + "z", *[f"w{number}" for number in range(MOST - 2)]]
    for name in names:
        webhook(stack, "set", app, name, URL)
    assert refused(stack, "set", app.id, URL, "--name=another") == (1, f"the app {app.id} has 16 webhooks, as many as it may")
    # Those that are there are changed, and other apps have their own.
    assert webhook(stack, "set", app, "w7", URL, "--batch=7")["batch"] == 7
    webhook(stack, "set", other, "another", URL)
    listed = [(one["app"], one["name"]) for one in json.loads(stack.control("webhook", "list", "--json"))["webhooks"]]
    assert listed == sorted(listed) and [name for id, name in listed if id == app.id] == sorted(names)
    begins = [line.split()[0] for line in stack.control("webhook", "list").splitlines()]
    assert {app.id, f"{app.id}/w7", f"{other.id}/another"} <= set(begins) and other.id not in begins
    api = ServerAPI(stack, create_key(stack)["key"])
    paged, after = [], ""
    while after is not None:
        page = api.get("webhooks", query=f"?limit=1&after={api.escape(after)}").body
        paged += page["webhooks"]
        after = page["next"]
        assert after in (None, f"{paged[-1]['app']}/{paged[-1]['name']}")
    assert [(one["app"], one["name"]) for one in paged] == listed
    of_app = api.get("apps", app.id, "webhooks").body
    assert of_app == {"webhooks": [one for one in paged if one["app"] == app.id], "next": None}
    assert api.get("apps", app.id, "webhook").body == of_app["webhooks"][0]
    assert api.get("apps", other.id, "webhook").code == "not_found"
    assert api.get("apps", unique("nobody"), "webhooks").code == "not_found"
    own = ServerAPI(stack, create_key(stack, app=app.id, scopes=("read",))["key"])
    assert own.get("apps", app.id, "webhooks").body == of_app and own.get("apps", other.id, "webhooks").code == "forbidden"


@pytest.mark.parametrize("name", ["A", "1a", "-a", "a_b", "a/b", "a b", "ä", "a" * 33])
def test_bounds_of_a_name(stack: Stack, name: str):
    for arguments in (["set", "a", URL], ["show", "a"]):
        code, why = refused(stack, *arguments, f"--name={name}")
        assert code == 64 and RULE in why
