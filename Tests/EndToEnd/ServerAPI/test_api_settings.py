"""`POST` and `GET /v1/settings`: what `heliographctl apply` and `export` do, by the server API."""

import json
import subprocess
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from described_api import is_as_described
from secrecy import SPOKEN
from server_api import Answer, ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually_blocking

CERTIFICATE = "certificate-in-a-request-5d0c"
HOOK_SECRET = "secret-of-a-receiver-91fe"
TRUNK_SECRET = "secret-of-a-trunk-77ab"
SECRETS = (CERTIFICATE, HOOK_SECRET, TRUNK_SECRET)
LARGEST_BODY = 1 << 20


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack)["key"])


def apply(api: ServerAPI, settings: object, query: str = "", headers: dict | None = None) -> Answer:
    """The words of settings are no texts of users; the secrets are noted, and must be in no log."""
    for secret in SECRETS:
        SPOKEN.certificate(secret)
    body = settings if isinstance(settings, bytes) else json.dumps(settings).encode()
    return api.post("settings", body=body, query=query, headers={"Content-Type": "application/json"} | (headers or {}))


def everything(number: str) -> dict[str, object]:
    """What can be said of an app."""
    return {
        "certificate": {"value": CERTIFICATE},
        "limits": {"messagesPerSecond": 100, "specialChannels": "closed"},
        "webhook": {"url": "https://a.example/events", "kinds": ["online"], "secret": {"value": HOOK_SECRET}},
        "hook": {"url": "https://a.example/ask", "on": ["send"], "deadline": 70, "secret": {"value": HOOK_SECRET}},
        "trunk": {"host": "sip.example.org", "user": "u", "secret": {"value": TRUNK_SECRET}, "allow": ["+49"]},
        "numbers": {number: "anna"},
    }


def apps(stack: Stack) -> dict[str, dict]:
    return {app["appId"]: app for app in json.loads(stack.control("app", "list", "--show-certificates", "--json"))["apps"]}


def entries(stack: Stack, app: str) -> list[dict]:
    return json.loads(stack.control("audit", "--app", app, "--limit", "1000", "--json"))["entries"]


def test_apply_then_again(stack: Stack, api: ServerAPI):
    app, number = unique("app"), unique("+49").replace("_", "-")
    content = {"version": 1, "apps": {app: everything(number)}}
    planned = apply(api, content, "?dryRun=true")
    assert planned.status == 200 and planned.body["dryRun"] is True
    assert app not in apps(stack) and not entries(stack, app)
    done = apply(api, content, headers={"X-Request-Id": "the-request-of-this-test"})
    assert done.status == 200 and done.body == {"changes": planned.body["changes"], "dryRun": False}
    assert {"action": "change", "after": 100, "app": app, "before": 60, "kind": "limit", "name": "messagesPerSecond"} in done.body["changes"]
    made = apps(stack)[app]
    assert (made["certificate"], made["messagesPerSecond"], made["specialChannels"]) == (CERTIFICATE, 100, "closed")
    assert json.loads(stack.control("webhook", "show", app, "--with-secret", "--json"))["secret"] == HOOK_SECRET
    assert stack.sql(f"SELECT secret FROM sip_trunks WHERE app = '{app}'") == [[TRUNK_SECRET]]
    noted = entries(stack, app)
    assert {entry["act"] for entry in noted} == {"app.create", "webhook.set", "hook.set", "trunk.set", "number.set"}
    key = api.get("key").body["id"]
    assert {(entry["by"], entry["name"], entry["requestId"]) for entry in noted} == {("key", key, "the-request-of-this-test")}
    assert apply(api, content).body == {"changes": [], "dryRun": False}
    assert entries(stack, app) == noted
    told = json.dumps([planned.body, done.body, noted, api.get("settings").body, api.get("audit", query=f"?app={app}").body])
    assert not [secret for secret in SECRETS if secret in told]


def test_an_export_is_what_the_command_line_writes(stack: Stack, api: ServerAPI):
    app, number = unique("app"), unique("+49").replace("_", "-")
    apply(api, {"apps": {app: everything(number)}})
    assert api.get("settings").body == json.loads(stack.control("export"))
    exported = api.get("settings", query=f"?app={app}")
    assert exported.body == json.loads(stack.control("export", "--app", app)) and list(exported.body["apps"]) == [app]
    assert apply(api, exported.body).body["changes"] == []
    missing = api.get("settings", query="?app=nobodys")
    assert (missing.status, missing.code) == (404, "not_found")


def test_several_webhooks(stack: Stack, api: ServerAPI):
    app, url = unique("app"), "https://archive.example/events"
    settings = {"webhook": {"url": "https://a.example/events"}, "webhooks": {
        "archive": {"url": url, "kinds": ["message"], "secret": {"value": HOOK_SECRET}}, "push": {"url": url}}}
    added = apply(api, {"apps": {app: settings}}).body["changes"]
    assert [one["name"] for one in added if one["kind"] == "webhook" and one["action"] == "add"] == [None, "archive", "push"]
    assert apply(api, {"apps": {app: settings}}).body["changes"] == []
    assert json.loads(stack.control("webhook", "show", app, "--name=archive", "--with-secret", "--json"))["secret"] == HOOK_SECRET
    change = {"apps": {app: {"webhooks": {"archive": {"kinds": ["online"]}, "push": {"remove": True}}}}}
    assert [(one["action"], one["name"], one["before"], one["after"]) for one in apply(api, change).body["changes"]] == [
        ("change", "archive.kinds", ["message"], ["online"]), ("remove", "push", None, None)]
    assert [(one["name"], one["kinds"]) for one in api.get("apps", app, "webhooks").body["webhooks"] if one["name"] != "default"] == [
        ("archive", ["online"])]
    exported = api.get("settings", query=f"?app={app}").body
    assert exported == json.loads(stack.control("export", "--app", app)) and HOOK_SECRET not in json.dumps(exported)
    assert list(exported["apps"][app]["webhooks"]) == ["archive"] and apply(api, exported).body["changes"] == []
    named = [entry["details"]["name"] for entry in entries(stack, app) if entry["act"] == "webhook.set"]
    assert sorted(named) == ["archive", "archive", "default", "push"]
    wrong = apply(api, {"apps": {app: {"webhooks": {"An-archive": {"url": url}}}}})
    assert (wrong.status, wrong.body["bound"]) == (400, "must be a name of 1 to 32 characters a-z, 0-9 and -, the first one a letter")
    assert wrong.body["field"].startswith(f"apps.{app}.webhooks")


@pytest.mark.parametrize(("wrong", "field", "bound"), [
    ({"limits": {"messagesPerSecond": 0}}, "limits.messagesPerSecond", "must be 1...1000000"),
    ({"limit": {}}, "limit", "is unknown: there are tokenRequired, certificate, limits, webhook, webhooks, hook, trunk, numbers"),
    ({"trunk": {"register": True}}, "trunk.host", "is needed for a new trunk"),
    ({"hook": {"url": "https://a/", "secret": {"value": "short"}}}, "hook.secret", "must have 16...128 bytes"),
    ({"certificate": {"value": "with space"}}, "certificate", "must have 1 to 128 visible ASCII characters"),
    ({"webhooks": {"default": {"url": "https://a/"}}}, "webhooks.default", "is written as webhook"),
    ({"webhooks": {"archive": {"url": "https://a/", "batch": 0}}}, "webhooks.archive.batch", "must be 1...1000"),
], ids=str)
def test_a_bad_field_changes_nothing(stack: Stack, api: ServerAPI, wrong: dict, field: str, bound: str):
    good, bad = unique("good"), unique("bad")
    for query in ("", "?dryRun=true"):
        answer = apply(api, {"apps": {good: {}, bad: wrong}}, query)
        assert (answer.status, answer.code) == (400, "invalid_argument")
        assert (answer.body["field"], answer.body["bound"]) == (f"apps.{bad}.{field}", bound)
        assert "nothing was changed" in answer.body["detail"]
    assert not {good, bad} & apps(stack).keys()


@pytest.mark.parametrize("secret", [
    {"env": "HELIOGRAPH_POSTGRES_URL"}, {"file": "/etc/hostname"}, CERTIFICATE, {"value": CERTIFICATE, "env": "PATH"}, {"value": [CERTIFICATE]}], ids=str)
def test_secrets_are_given_in_clear_only(stack: Stack, api: ServerAPI, secret: object):
    app = unique("app")
    for place, settings in (("certificate", {"certificate": secret}), ("webhook.secret", {"webhook": {"url": "https://a/", "secret": secret}})):
        answer = apply(api, {"apps": {app: settings}})
        assert (answer.status, answer.body["field"]) == (400, f"apps.{app}.{place}")
        assert answer.body["bound"].startswith('must be {"value": "SECRET"}') and CERTIFICATE not in json.dumps(answer.body)
    assert app not in apps(stack)


def test_keys_that_may_not(stack: Stack, api: ServerAPI):
    app = unique("app")
    of_an_app = ServerAPI(stack, create_key(stack, app=stack.open_app.id)["key"])
    reading = ServerAPI(stack, create_key(stack, scopes=("read", "send"))["key"])
    for key in (of_an_app, reading):
        for answer in (apply(key, {"apps": {app: {}}}), apply(key, {"apps": {app: {}}}, "?dryRun=true"), key.get("settings")):
            assert (answer.status, answer.code) == (403, "forbidden")
    assert app not in apps(stack)


def test_bounds(stack: Stack, api: ServerAPI):
    assert apply(api, b"{}" + b" " * (LARGEST_BODY - 2)).body == {"changes": [], "dryRun": False}
    long = apply(api, b"{}" + b" " * (LARGEST_BODY - 1))
    assert (long.status, long.code, long.body["bound"]) == (413, "body_too_large", f"{LARGEST_BODY} bytes")
    many = apply(api, {"apps": {f"a{n}": {} for n in range(1001)}})
    assert (many.status, many.body["field"], many.body["bound"]) == (400, "apps", "must have at most 1000 apps")
    numbers = apply(api, {"apps": {"a": {"numbers": {str(n): "x" for n in range(10_001)}}}})
    assert (numbers.status, numbers.body["field"], numbers.body["bound"]) == (400, "the body", "must have at most 10000 numbers")
    # More changes than may be told: none is made.
    hook = {"url": "https://a/", "on": ["send"], "deadline": 60, "failOpen": True, "refuseBusy": True, "requests": 9}
    trunk = {"host": "a", "port": 1, "transport": "tls", "user": "u", "secret": {"value": "s"}, "fromDomain": "a", "register": True, "allow": ["+49"]}
    webhook = {"url": "https://a/", "kinds": ["online"], "batch": 3}
    prefix = unique("many")
    told = apply(api, {"apps": {f"{prefix}-{n}": {"hook": hook, "trunk": trunk, "webhook": webhook} for n in range(1000)}})
    assert (told.status, told.body["field"]) == (400, "the body") and "at most 3145728 bytes" in told.body["bound"]
    assert not [app for app in apps(stack) if app.startswith(prefix)]


def test_a_change_that_fails_undoes_those_before(stack: Stack, api: ServerAPI):
    app, refused = unique("app"), unique("refused")
    name = unique("refuse").replace("-", "_")
    stack.sql(f"""CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$;
        CREATE TRIGGER {name} BEFORE INSERT ON apps FOR EACH ROW WHEN (NEW.id = '{refused}') EXECUTE FUNCTION {name}()""")
    try:
        answer = apply(api, {"apps": {app: {}, refused: {}}})
        assert (answer.status, answer.code) == (503, "unavailable")
    finally:
        stack.sql(f"DROP TRIGGER {name} ON apps; DROP FUNCTION {name}()")
    assert not {app, refused} & apps(stack).keys() and not entries(stack, app)


def test_others_who_change_settings(stack: Stack, api: ServerAPI):
    """A request waits for what changes an app meanwhile, and not without end; a dry run and an export wait for nobody."""
    app, label = unique("app"), unique("holds")
    holder = subprocess.Popen(
        ["psql", stack.endpoints["postgres"]["url"], "-X", "-q", "-c", f"SET application_name = '{label}'", "-c",
         "BEGIN; LOCK TABLE apps IN ROW EXCLUSIVE MODE; SELECT pg_sleep(60)"], stdout=subprocess.DEVNULL)
    try:
        eventually_blocking(lambda: stack.sql(
            "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE mode = 'RowExclusiveLock' AND granted "
            f"AND application_name = '{label}'") == [["1"]], "the lock to be held")
        once = {"Idempotency-Key": unique("settings")}
        waited = apply(api, {"apps": {app: {}}}, headers=once)
        assert (waited.status, waited.code) == (409, "settings_changing") and "nothing was changed" in waited.body["detail"]
        assert waited.headers["Retry-After"] == "1"
        assert apply(api, {"apps": {app: {}}}, "?dryRun=true").status == 200 == api.get("settings").status
    finally:
        stack.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{label}'")
        holder.wait(timeout=60)
    assert app not in apps(stack)
    # The same request again is carried out: what it was refused for is not kept.
    again = apply(api, {"apps": {app: {}}}, headers=once)
    assert again.status == 200 and "Idempotency-Replayed" not in again.headers and app in apps(stack)


def test_requests_that_wait(stack: Stack, api: ServerAPI):
    """Of many at once a process of presence handles one, and eight wait; the others are refused at once."""
    label = unique("holds")
    # Acts of one key that are in progress have a bound of their own.
    keys = [create_key(stack)["key"] for _ in range(4)]
    holder = subprocess.Popen(
        ["psql", stack.endpoints["postgres"]["url"], "-X", "-q", "-c", f"SET application_name = '{label}'", "-c",
         "BEGIN; LOCK TABLE apps IN ROW EXCLUSIVE MODE; SELECT pg_sleep(60)"], stdout=subprocess.DEVNULL)
    try:
        eventually_blocking(lambda: stack.sql(
            f"SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE granted AND application_name = '{label}' AND mode = 'RowExclusiveLock'"
        ) == [["1"]], "the lock to be held")
        with ThreadPoolExecutor(48) as pool:
            answers = list(pool.map(lambda number: apply(ServerAPI(stack, keys[number % 4]), {"apps": {unique("app"): {}}}), range(48)))
    finally:
        stack.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{label}'")
        holder.wait(timeout=60)
    refused = [answer for answer in answers if "8 queries already wait" in answer.body["detail"]]
    assert refused and all((answer.status, answer.headers["Retry-After"]) == (503, "1") for answer in refused)
    assert {answer.status for answer in answers} <= {409, 503, 504}
    assert apply(api, {"apps": {}}).status == 200


def test_secrets_do_not_stay_in_redis(stack: Stack, api: ServerAPI):
    """Neither in the streams of commands nor among the answers that are kept for repetitions."""
    app = unique("app")
    content = {"apps": {app: everything(unique("+49").replace("_", "-"))}}
    headers = {"Idempotency-Key": unique("key")}
    first = apply(api, content, headers=headers)
    again = apply(api, content, headers=headers)
    assert first.status == 200 and again.body == first.body and again.headers["Idempotency-Replayed"] == "true"
    wrong = {"apps": {app: everything("+1") | {"limits": {"actsPerSecond": 0}}}}
    assert apply(api, wrong, headers={"Idempotency-Key": unique("key")}).status == 400
    streams = [key for key in stack.redis_keys("*") if stack.redis("TYPE", key).strip() == "stream"]
    assert any("presence" in key for key in streams)

    def kept() -> str:
        texts = [stack.redis("XRANGE", key, "-", "+") for key in streams]
        texts += [stack.redis("HGETALL", key) for key in stack.redis_keys("*") if stack.redis("TYPE", key).strip() == "hash"]
        return "".join(texts)

    eventually_blocking(lambda: not [secret for secret in SECRETS if secret in kept()], "the command is gone")


def test_without_postgres(make_stack):
    stack: Stack = make_stack(gateways=1)
    api = ServerAPI(stack, create_key(stack)["key"])
    app = unique("app")
    assert apply(api, {"apps": {app: {}}}, "?dryRun=true").status == 200
    stack.freeze("postgres")
    try:
        answer = apply(api, {"apps": {app: {}}})
        assert answer.status in (503, 504) and answer.code in ("unavailable", "timeout")
    finally:
        stack.thaw("postgres")
    eventually_blocking(lambda: apply(api, {"apps": {app: {}}}, "?dryRun=true").status == 200, "PostgreSQL is back")


def test_an_app_is_removed(stack: Stack):
    app = unique("removed")
    key = create_key(stack)
    api = ServerAPI(stack, key["key"])
    assert api.post("settings", body={"apps": {app: {"numbers": {f"+49{uuid.uuid4().int % 10 ** 9}": "ada"}}}}).status == 200
    own = create_key(stack, app=app)
    assert is_as_described("removeApp", ServerAPI(stack, own["key"]).delete("apps", app)).status == 403
    assert is_as_described("removeApp", api.delete("apps", app)).body == {"app": app}
    for table, column in (("apps", "id"), ("sip_numbers", "app"), ("api_keys", "app")):
        assert stack.sql(f"SELECT count(*) FROM {table} WHERE {column} = '{app}'") == [["0"]]
    assert stack.sql(f"SELECT act, by_name FROM audit_trail WHERE subject = '{app}' ORDER BY at DESC, id DESC LIMIT 1") == [["app.remove", key["id"]]]
    gone = is_as_described("removeApp", api.delete("apps", app))
    assert (gone.status, gone.code) == (404, "not_found")

