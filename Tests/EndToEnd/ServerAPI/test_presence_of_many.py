"""The presence of many users in one request, and of one user whose connection is lost."""

import time

import pytest
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack, app=stack.open_app.id, scopes=("read",))["key"])


def ask(api: ServerAPI, stack: Stack, accounts: list) -> list[dict]:
    answer = api.post("apps", stack.open_app.id, "presence", body={"users": accounts})
    assert answer.status == 200, answer.body
    assert [user["account"] for user in answer.body["users"]] == accounts
    return answer.body["users"]


async def test_each_user_at_its_place(stack: Stack, people, api: ServerAPI):
    async with people(stack) as cast:
        ann, bob = await cast.login("ann", "bob")
        nobody = unique("ü/nobody")
        found = ask(api, stack, [nobody, bob.account, ann.account, nobody, bob.account])
        assert [user["state"] for user in found] == ["offline", "connected", "connected", "offline", "connected"]
        assert [user["uid"] for user in found] == [None, bob.uid, ann.uid, None, bob.uid]
        assert found[0] == {"account": nobody, "state": "offline", "uid": None, "since": None}
        assert abs(found[1]["since"] - time.time()) < 30
        ann.abort()
        await eventually(lambda: ask(api, stack, [ann.account])[0]["state"] == "detached", "the connection is lost")
        # Its session goes on, at no gateway.
        one = api.get("apps", stack.open_app.id, "users", ann.account).body
        assert one == {
            "account": ann.account, "online": True, "state": "detached", "uid": ann.uid, "gateway": None,
            "since": found[2]["since"], "channels": []}
        await ann.resume(stack.gateways[1])
        assert ask(api, stack, [ann.account])[0] == found[2], "since its beginning, not since it was resumed"
        await bob.logout()
        assert ask(api, stack, [bob.account])[0]["state"] == "offline"


async def test_a_thousand_users(stack: Stack, people, api: ServerAPI):
    async with people(stack) as cast:
        online = await cast.login(*(f"u{number}" for number in range(20)))
        accounts = [unique("away") for _ in range(980)]
        for number, user in enumerate(online):
            accounts.insert(number * 49, user.account)
        found = ask(api, stack, accounts)
        connected = {user["account"]: user["uid"] for user in found if user["state"] == "connected"}
        assert connected == {user.account: user.uid for user in online}


def test_what_is_refused(stack: Stack, api: ServerAPI):
    path = ("apps", stack.open_app.id, "presence")
    for users, field in (
            (["u"] * 1001, "users"), ([], "users"), ("u", "users"), (None, "users"), (["u", ""], "users[1]"),
            (["u", "a b"], "users[1]"), (["u"] * 999 + [7], "users[999]")):
        answer = api.post(*path, body={"users": users})
        assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", field)
        assert "1000" in answer.body["bound"] if field == "users" else answer.body["bound"]
    sender = ServerAPI(stack, create_key(stack, app=stack.open_app.id, scopes=("send", "admin"))["key"])
    assert (sender.post(*path, body={"users": ["u"]}).status) == 403


def test_ten_users_count_as_a_request(stack: Stack):
    key = create_key(stack, app=stack.open_app.id, scopes=("read",), rate=5)["key"]
    api = ServerAPI(stack, key)
    path = ("apps", stack.open_app.id, "presence")
    asked = api.post(*path, body={"users": ["u"] * 300})
    assert asked.status == 200
    # Thirty are six times what the key has in a second.
    refused = api.post(*path, body={"users": ["u"]})
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert int(refused.headers["Retry-After"]) >= 3
