"""Keys of the server API: what they may do, when they end, and that nobody learns them."""

import re

import pytest
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually_blocking, let_pass_blocking

# Docs/api.md states it.
REVOKED_WITHIN = 7


def test_a_key_is_shown_once_and_stored_as_a_digest(stack: Stack):
    made = create_key(stack, app=stack.open_app.id, scopes=("read",), rate=7)
    assert re.fullmatch(r"hk_[0-9a-f]{16}_[0-9a-f]{64}", made["key"])
    assert made["scopes"] == ["read"] and made["requestsPerSecond"] == 7 and made["app"] == stack.open_app.id
    secret = made["key"].rsplit("_", 1)[-1]
    assert secret not in stack.control("key", "list", "--json")
    row, = stack.sql(f"SELECT api_keys::text FROM api_keys WHERE id = '{made['id']}'")
    assert secret not in row[0] and made["id"] in row[0]


def test_every_column_has_a_comment(stack: Stack):
    without = stack.sql(
        "SELECT attname FROM pg_attribute WHERE attrelid = 'api_keys'::regclass AND attnum > 0 AND NOT attisdropped "
        "AND col_description(attrelid, attnum) IS NULL")
    assert without == []


def test_the_api_tells_a_key_what_it_may_do(stack: Stack):
    made = create_key(stack, app=stack.open_app.id, scopes=("send", "read"), rate=50)
    answer = ServerAPI(stack, made["key"]).get("key")
    assert answer.status == 200
    assert answer.body == {
        "id": made["id"], "app": stack.open_app.id, "scopes": ["read", "send"], "requestsPerSecond": 50, "expiresAt": None}


@pytest.mark.parametrize("change", [
    lambda key: "", lambda key: key[:-1], lambda key: key[:-1] + ("0" if key[-1] != "0" else "1"), lambda key: key.upper(),
    lambda key: "hk_" + "0" * 16 + "_" + key.rsplit("_", 1)[-1], lambda key: key + " x", lambda key: "x" * 5000])
def test_wrong_keys(stack: Stack, change):
    answer = ServerAPI(stack, change(create_key(stack)["key"])).get("key")
    assert (answer.status, answer.code) == (401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_no_key(stack: Stack):
    api = ServerAPI(stack, "")
    for header in ({"Authorization": ""}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer"}):
        assert api.get("key", headers=header).status == 401


def test_scopes_and_apps(stack: Stack):
    app = stack.open_app.id
    message = {"from": "server", "message": "hello"}
    reader = ServerAPI(stack, create_key(stack, app=app, scopes=("read",))["key"])
    refused = reader.post("apps", app, "users", unique("nobody"), "messages", body=message)
    assert (refused.status, refused.code, refused.body["bound"]) == (403, "forbidden", "send")
    assert reader.post("apps", app, "users", "x", "disconnect").status == 403
    assert reader.get("apps", app, "users", "x").status == 200
    sender = ServerAPI(stack, create_key(stack, app=app, scopes=("send",))["key"])
    assert sender.get("apps", app, "users", "x").status == 403
    # Of another app, whether it exists or not.
    for other in (stack.token_app.id, "nothing"):
        assert reader.get("apps", other, "users", "x").status == 403
    cluster = ServerAPI(stack, create_key(stack)["key"])
    assert cluster.get("apps", stack.token_app.id, "users", "x").status == 200
    missing = cluster.get("apps", "nothing", "users", "x")
    assert (missing.status, missing.code) == (404, "not_found")


def test_a_revoked_key_ends(stack: Stack):
    made = create_key(stack)
    apis = [ServerAPI(stack, made["key"], gateway) for gateway in (0, 1)]
    assert [api.get("key").status for api in apis] == [200, 200]
    stack.control("key", "revoke", made["id"])
    eventually_blocking(
        lambda: all(api.get("key").status == 401 for api in apis), "every gateway refuses the key", REVOKED_WITHIN)
    assert [api.get("key").status for api in apis] == [401, 401]


def test_the_rate_of_a_key(stack: Stack):
    api = ServerAPI(stack, create_key(stack, scopes=("read", "send"), rate=5)["key"])
    answers = [api.get("key") for _ in range(12)]
    assert {answer.status for answer in answers} == {200, 429}
    limited = next(answer for answer in answers if answer.status == 429)
    assert limited.code == "rate_limited" and int(limited.headers["Retry-After"]) >= 1
    assert limited.headers["RateLimit-Limit"] == "5" and limited.headers["RateLimit-Remaining"] == "0"
    assert int(answers[0].headers["RateLimit-Remaining"]) == 4
    # A batch counts as its messages.
    let_pass_blocking(1.2, "the key's rate is whole again")
    users = [unique("user") for _ in range(15)]
    sent = api.post("apps", stack.open_app.id, "broadcasts", body={"from": "s", "message": "m", "users": users})
    assert sent.status == 200 and sent.headers["RateLimit-Remaining"] == "0"
    assert int(sent.headers["RateLimit-Reset"]) >= 2
