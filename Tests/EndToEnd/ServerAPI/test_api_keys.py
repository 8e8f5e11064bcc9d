"""Keys of the server API that are made, listed and revoked by the server API."""

import json
import re
import time

import pytest
from described_api import is_as_described
from secrecy import SPOKEN
from server_api import ServerAPI, create_key
from stack_control import Stack
from waiting import eventually_blocking

# Docs/api.md states it.
REVOKED_WITHIN = 7


@pytest.fixture
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack)["key"])


def made(api: ServerAPI, **body) -> dict:
    answer = api.post("keys", body=body)
    assert answer.status == 200, answer.body
    SPOKEN.token(answer.body["key"].rsplit("_", 1)[-1])
    return answer.body


def test_a_key_of_an_app(stack: Stack, api: ServerAPI):
    app, before = stack.open_app.id, int(time.time())
    key = made(api, app=app, scopes=["read"], requestsPerSecond=7, ttl=600, note="shop")
    assert re.fullmatch(r"hk_[0-9a-f]{16}_[0-9a-f]{64}", key["key"]) and key["key"].split("_")[1] == key["id"]
    assert before - 2 <= key["createdAt"] <= int(time.time()) + 2
    assert before + 598 <= key["expiresAt"] <= int(time.time()) + 602
    named = {name: key[name] for name in ("app", "scopes", "requestsPerSecond", "note", "revokedAt")}
    assert named == {"app": app, "scopes": ["read"], "requestsPerSecond": 7, "note": "shop", "revokedAt": None}
    own = ServerAPI(stack, key["key"])
    assert own.get("key").body["id"] == key["id"]
    assert own.get("apps", stack.token_app.id, "users", "x").status == 403
    assert own.post("apps", app, "users", "x", "disconnect").status == 403


def test_a_key_of_the_cluster_makes_keys(stack: Stack, api: ServerAPI):
    key = made(api, cluster=True, scopes=["admin"])
    assert key["app"] is None and key["expiresAt"] is None and key["requestsPerSecond"] == 1000 and key["note"] == ""
    assert made(ServerAPI(stack, key["key"]), app=stack.open_app.id)["scopes"] == ["read", "send"]


def test_others_make_no_keys(stack: Stack):
    app = stack.open_app.id
    for key in (create_key(stack, app=app), create_key(stack, scopes=("read", "send"))):
        other = ServerAPI(stack, key["key"])
        assert other.post("keys", body={"app": app}).status == 403
        assert other.delete("keys", key["id"]).status == 403
    assert ServerAPI(stack, create_key(stack, app=app)["key"]).get("keys").status == 403


def test_a_key_is_told_once(stack: Stack, api: ServerAPI):
    """Repeated with an idempotency key, whose answers Redis would keep, it is another key."""
    bodies = [
        api.post("keys", body={"app": stack.open_app.id}, headers={"Idempotency-Key": "one"}).body for _ in range(2)]
    for body in bodies:
        SPOKEN.token(body["key"].rsplit("_", 1)[-1])
    assert bodies[0]["id"] != bodies[1]["id"]
    listed = api.get("keys", query="?limit=1000").body
    assert {body["id"] for body in bodies} <= {key["id"] for key in listed["keys"]}
    assert bodies[0]["key"].rsplit("_", 1)[-1] not in json.dumps(listed)


def test_keys_are_listed_as_the_command_line_does(stack: Stack, api: ServerAPI):
    app = stack.open_app.id
    ids = sorted(made(api, app=app, note=f"key {number}")["id"] for number in range(3))
    found, after = [], ""
    while after is not None:
        page = api.get("keys", query=f"?app={app}&limit=2&after={after}").body
        assert len(page["keys"]) <= 2
        found += page["keys"]
        after = page["next"]
    assert [key["id"] for key in found if key["id"] in ids] == ids and {key["app"] for key in found} == {app}
    assert json.loads(stack.control("key", "list", f"--app={app}", "--limit=1000", "--json")) == {"keys": found, "next": None}
    first = json.loads(stack.control("key", "list", f"--app={app}", "--limit=1", "--json"))
    assert first == {"keys": found[:1], "next": found[0]["id"]}


def test_a_revoked_key_ends(stack: Stack, api: ServerAPI):
    key = made(api, app=stack.open_app.id)
    apis = [ServerAPI(stack, key["key"], gateway) for gateway in (0, 1)]
    assert [one.get("key").status for one in apis] == [200, 200]
    for _ in range(2):
        assert api.delete("keys", key["id"]).body == {"id": key["id"]}
    eventually_blocking(
        lambda: all(one.get("key").status == 401 for one in apis), "every gateway refuses the key", REVOKED_WITHIN)
    row = next(one for one in api.get("keys", query=f"?app={stack.open_app.id}&limit=1000").body["keys"] if one["id"] == key["id"])
    assert row["revokedAt"] >= row["createdAt"]
    unknown = api.delete("keys", "0" * 16)
    assert (unknown.status, unknown.code) == (404, "not_found")


def test_the_audit_trail_says_who(stack: Stack):
    own = create_key(stack)
    api = ServerAPI(stack, own["key"])
    key = made(api, app=stack.open_app.id)
    api.delete("keys", key["id"])
    entries = stack.sql(
        f"SELECT act, app, by_kind, by_name FROM audit_trail WHERE subject = '{key['id']}' ORDER BY at, id")
    assert entries == [[act, stack.open_app.id, "key", own["id"]] for act in ("key.create", "key.revoke")]


def test_what_is_refused(stack: Stack, api: ServerAPI):
    unknown = api.post("keys", body={"app": "nothing"})
    assert (unknown.status, unknown.code) == (404, "not_found")
    for body, field in (({}, "app"), ({"cluster": False}, "cluster"), ({"app": "a", "requestsPerSecond": 0}, "requestsPerSecond")):
        refused = api.post("keys", body=body)
        assert (refused.status, refused.code, refused.body["field"]) == (400, "invalid_argument", field)


def test_so_many_keys_are_valid_at_a_time(stack: Stack, api: ServerAPI):
    # The audit trail of the tests' cluster does not tell of them.
    stack.sql(
        "SET session_replication_role = replica; INSERT INTO api_keys (id, digest, scopes, requests_per_second, note) "
        "SELECT lpad(to_hex(n), 16, '0'), repeat('d', 64), 'read', 1, 'one of many' "
        "FROM generate_series(1, 9999 - (SELECT count(*) FROM api_keys WHERE revoked_at IS NULL AND coalesce(expires_at > now(), true))) n")
    try:
        last = made(api, app=stack.open_app.id)
        full = is_as_described("createKey", api.post("keys", body={"app": stack.open_app.id}))
        assert (full.status, full.code) == (409, "too_many_keys") and "10000" in full.body["bound"]
        # Those that are revoked or have expired do not count.
        assert api.delete("keys", last["id"]).status == 200
        made(api, app=stack.open_app.id)
        assert api.post("keys", body={"app": stack.open_app.id}).code == "too_many_keys"
        stack.sql(f"UPDATE api_keys SET expires_at = now() WHERE id = '{1:016x}'")
        made(api, app=stack.open_app.id)
    finally:
        stack.sql("SET session_replication_role = replica; DELETE FROM api_keys WHERE note = 'one of many'")
