"""The lists that operators look at: the audit trail, webhooks, trunks, before-hooks, and what gateways tell of themselves."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = json.loads((ROOT / "Docs" / "openapi.json").read_text(encoding="utf-8"))
SECRET = "s3cret-that-nobody-sees"
# Gateways tell of their connections every few seconds.
TOLD = 20


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack, scopes=("read",))["key"])


def read(api: ServerAPI, schema: str, *path: str, query: str = "") -> dict:
    """An answer, which is as the file says and has no secret."""
    answer = api.get(*path, query=query)
    assert answer.status == 200, answer.body
    Draft202012Validator({"$ref": f"#/components/schemas/{schema}", "components": DOCUMENT["components"]}).validate(answer.body)
    assert SECRET not in json.dumps(answer.body)
    return answer.body


def walk(api: ServerAPI, schema: str, name: str, query: str = "") -> list[dict]:
    """All records of a list, in pages of two."""
    records, after = [], ""
    while after is not None:
        page = read(api, schema, *([name] if name != "entries" else ["audit"]), query=f"?limit=2&after={api.escape(after)}{query}")
        assert len(page[name]) <= 2
        records += page[name]
        after = page["next"]
    return records


def test_webhooks_and_trunks(stack: Stack, api: ServerAPI):
    apps = sorted(stack.create_app(unique("operators")).id for _ in range(3))
    for app in apps:
        stack.control("webhook", "set", app, f"https://{app}.example.com/hook?key={SECRET}", f"--secret={SECRET}", "--kinds", "join", "call")
        login = (f"--user={SECRET}", f"--secret={SECRET}", "--register")
        stack.control("trunk", "set", app, "sip.example.com:5070", "--transport=tcp", "--allow=none", *login)
    stack.sql(f"""
        INSERT INTO webhook_events (app, at, id, kind, body, queued_at)
        SELECT '{apps[1]}', i, 'e' || i, 'join', '{{}}', now() - interval '90 seconds' FROM generate_series(1, 7) i""")
    stack.sql(f"""
        UPDATE webhooks SET attempts = 3, failing_since = now() - interval '1 minute', last_error = 'no', next_attempt_at = now() + interval '1 hour'
        WHERE app = '{apps[1]}'""")
    # As bridges tell it.
    stack.sql(f"""
        INSERT INTO sip_registrations (app, bridge, state, status, since, ends_at) VALUES
        ('{apps[0]}', 'told-1', 'registered', NULL, to_timestamp(1700000000), to_timestamp(3000000000)),
        ('{apps[0]}', 'told-2', 'refused', 403, to_timestamp(1700000000), to_timestamp(3000000000)),
        ('{apps[1]}', 'told-1', 'unanswered', NULL, to_timestamp(1700000000), to_timestamp(1700000060))""")
    hooks = {one["app"]: one for one in walk(api, "WebhookPage", "webhooks")}
    trunks = {one["app"]: one for one in walk(api, "TrunkPage", "trunks")}
    assert list(hooks) == sorted(hooks) and list(trunks) == sorted(trunks) and set(apps) <= set(hooks) & set(trunks)
    for app in apps:
        assert hooks[app]["url"] == f"https://{app}.example.com/hook" and hooks[app]["kinds"] == ["call", "join"]
        assert (trunks[app]["host"], trunks[app]["port"], trunks[app]["transport"], trunks[app]["register"]) == ("sip.example.com", 5070, "tcp", True)
    def registrations(app: str) -> list[dict]:
        return [one for one in trunks[app]["registrations"] if one["bridge"].startswith("told-")]
    assert registrations(apps[0]) == [
        {"bridge": "told-1", "state": "registered", "status": None, "since": 1700000000, "until": 3000000000},
        {"bridge": "told-2", "state": "refused", "status": 403, "since": 1700000000, "until": None}]
    assert registrations(apps[1]) == registrations(apps[2]) == []
    told = json.loads(stack.control("webhook", "show", apps[1], "--json"))
    failing = hooks[apps[1]]
    assert [failing[name] for name in ("waiting", "dead", "failures", "lastError")] == [told[name] for name in (
        "waiting", "dead", "failures", "lastError")] == [7, 0, 3, "no"]
    assert failing["failingSince"] == told["failingSince"] // 1000 and 90 <= failing["oldestSeconds"] <= told["oldest"] + 1
    # An app's key gets what is its own app's, and no more.
    own = ServerAPI(stack, create_key(stack, app=apps[0], scopes=("read",))["key"])
    assert read(own, "Webhook", "apps", apps[0], "webhook") == hooks[apps[0]]
    shown = read(own, "Trunk", "apps", apps[0], "trunk")
    # A bridge may tell meanwhile.
    assert shown | {"registrations": []} == trunks[apps[0]] | {"registrations": []} and shown["registrations"]
    for path in (("webhooks",), ("trunks",), ("audit",), ("apps", apps[1], "webhook"), ("apps", apps[1], "trunk")):
        answer = own.get(*path)
        assert (answer.status, answer.code) == (403, "forbidden"), path
    for kind in ("webhook", "trunk"):
        stack.control(kind, "remove", apps[0])
        answer = own.get("apps", apps[0], kind)
        assert (answer.status, answer.code, answer.body["field"]) == (404, "not_found", "app") and kind in answer.body["detail"]


def test_before_hooks(stack: Stack, api: ServerAPI):
    apps = sorted(stack.create_app(unique("operators")).id for _ in range(3))
    for app in apps:
        stack.control(
            "hook", "set", app, f"https://{app}.example.com/ask?key={SECRET}", f"--secret={SECRET}", "--on", "send", "login", "--deadline=300",
            "--requests=9", "--fail-open", *(["--refuse-busy"] if app == apps[1] else []))
    hooks = {one["app"]: one for one in walk(api, "HookPage", "hooks")}
    assert list(hooks) == sorted(hooks) and set(apps) <= set(hooks)
    for app in apps:
        told = json.loads(stack.control("hook", "show", app, "--json"))
        assert hooks[app] == {
            "app": app, "url": f"https://{app}.example.com/ask", "on": ["login", "send"], "deadline": 300, "failOpen": True,
            "refuseBusy": app == apps[1], "requests": 9, "updatedAt": told["setAt"] // 1000}
    # An app's key gets what is its own app's, and no more.
    own = ServerAPI(stack, create_key(stack, app=apps[0], scopes=("read",))["key"])
    assert read(own, "Hook", "apps", apps[0], "hook") == read(api, "Hook", "apps", apps[0], "hook") == hooks[apps[0]]
    for path in (("hooks",), ("apps", apps[1], "hook")):
        answer = own.get(*path)
        assert (answer.status, answer.code) == (403, "forbidden"), path
    sending = ServerAPI(stack, create_key(stack, scopes=("send",))["key"])
    for path in (("hooks",), ("apps", apps[0], "hook")):
        answer = sending.get(*path)
        assert (answer.status, answer.code) == (403, "forbidden"), path
    stack.control("hook", "remove", apps[0])
    answer = own.get("apps", apps[0], "hook")
    assert (answer.status, answer.code, answer.body["field"]) == (404, "not_found", "app") and "before-hook" in answer.body["detail"]


def test_the_audit_trail(stack: Stack, api: ServerAPI):
    app = stack.create_app(unique("operators")).id
    key = create_key(stack, app=app)
    acting = ServerAPI(stack, key["key"])
    for account in ("ann", "bob"):
        assert acting.put("apps", app, "users", account, "ban", body={"seconds": 60, "reason": "spam"}).status == 200
    stack.control("trunk", "set", app, "sip.example.com", f"--user={SECRET}", f"--secret={SECRET}", "--allow=none")
    stack.control("app", "remove", app)
    entries = walk(api, "AuditPage", "entries", f"&app={app}")
    assert [one["act"] for one in entries] == ["app.remove", "trunk.set", "user.ban", "user.ban", "key.create", "app.create"]
    assert [(one["subject"], one["by"], one["name"]) for one in entries[2:4]] == [("bob", "key", key["id"]), ("ann", "key", key["id"])]
    assert all(one["app"] == app for one in entries)
    latest = read(api, "AuditPage", "audit", query="?limit=1000")["entries"]
    assert [one for one in latest if one["app"] == app] == entries
    assert [one["at"] for one in latest] == sorted((one["at"] for one in latest), reverse=True)
    assert read(api, "AuditPage", "audit", query="?app=nothing-of-this") == {"entries": [], "next": None}
    assert latest[0] == json.loads(stack.control("audit", "--limit", "1", "--json"))["entries"][0]


@pytest.mark.parametrize(("place", "query", "field"), [
    ("audit", "app=%C3%BC", "app"), ("audit", "after=1.x", "after"), ("audit", "limit=1001", "limit"), ("webhooks", "limit=0", "limit"),
    ("trunks", "after=" + "x" * 1025, "after"), ("trunks", "app=a", "app"),
    ("hooks", "limit=0", "limit"), ("hooks", "app=a", "app")])
def test_out_of_range(api: ServerAPI, place: str, query: str, field: str):
    answer = api.get(place, query="?" + query)
    assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", field)
    assert answer.body["bound"]


async def test_each_gateway_tells_of_its_connections(stack: Stack, people, api: ServerAPI):
    def connections() -> dict[str, int | None]:
        processes = read(api, "ProcessList", "processes")["processes"]
        assert all(one["connections"] is None for one in processes if one["kind"] != "gateway")
        return {one["id"]: one["connections"] for one in processes if one["kind"] == "gateway"}

    async with people(stack) as cast:
        for index in range(5):
            user = cast.exactly(unique(f"user{index}"))
            await user.login(stack.gateways[0 if index < 3 else 1])
        await eventually(lambda: sorted(connections().values())[-2:] == [2, 3], "both gateways have told of their clients", TOLD)
    await eventually(lambda: set(connections().values()) == {0}, "they have told that the clients left", TOLD)
