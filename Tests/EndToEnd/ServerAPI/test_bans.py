"""Bans: they end the session, hold at every gateway until their time, and outlive Redis."""

import time

import pytest
from answers import LoginRefused
from server_api import ServerAPI, create_key
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack)["key"])


async def refused(user: Client, gateway: str) -> bool:
    """Whether a login fails because of a ban."""
    try:
        await user.login(gateway)
    except LoginRefused as refusal:
        assert (refusal.error, refusal.data["code"]) == ("banned", 202), refusal.data
        await user.closed.wait()
        return True
    return False


async def test_a_ban_ends_the_session_and_holds_until_it_is_lifted(stack: Stack, people, api: ServerAPI):
    app, name = stack.open_app.id, unique("bän/")
    path = ("apps", app, "users", name, "ban")
    assert (api.get(*path).status, api.get(*path).code) == (404, "not_found")
    async with people(stack) as cast:
        user = cast.exactly(name)
        await user.login(stack.gateways[1])
        before = int(time.time())
        made = api.put(*path, body={"seconds": 3600, "reason": "spam ☹"})
        assert made.status == 200, made.body
        assert made.body["account"] == name and made.body["reason"] == "spam ☹"
        assert before + 3600 <= made.body["until"] <= int(time.time()) + 3600
        assert before - 2 <= made.body["createdAt"] <= int(time.time()) + 2
        await eventually(user.closed.is_set, "the session has ended")
        assert api.get("apps", app, "users", name).body["online"] is False
        assert api.get(*path).body == made.body
        for gateway in stack.gateways * 2:
            assert await refused(user, gateway)
        # Others are as before.
        await cast.login("other")
        assert api.delete(*path).body == {"account": name}
        assert api.get(*path).status == 404
        await user.login(stack.gateways[0])
        await user.logout()
    assert api.delete(*path).status == 200


async def test_a_detached_session_cannot_be_resumed(stack: Stack, people, api: ServerAPI):
    app = stack.open_app.id
    async with people(stack) as cast:
        user, = await cast.login("user")
        user.abort()
        await user.closed.wait()
        assert api.put("apps", app, "users", user.account, "ban", body={"seconds": 60}).status == 200
        await user.connect(stack.gateways[1])
        await user.send("line_login", {"line": user.line})
        await user.closed.wait()
        assert user.close_frame is not None
        assert await refused(user, stack.gateways[1])


async def test_a_ban_ends_by_itself(stack: Stack, people, api: ServerAPI):
    app = stack.open_app.id
    async with people(stack) as cast:
        user = cast.make("user")
        path = ("apps", app, "users", user.account, "ban")
        # It replaces an earlier one, and bans a user who was never there.
        assert api.put(*path, body={"seconds": 3600}).status == 200
        assert api.put(*path, body={"until": int(time.time()) + 3}).status == 200
        assert await refused(user, stack.gateways[0])

        async def admitted() -> bool:
            return not await refused(user, stack.gateways[0])

        until = time.monotonic() + 15
        while not await admitted():
            assert time.monotonic() < until
        assert api.get(*path).status == 404
        await user.logout()


@pytest.mark.parametrize("loss", [("DEL", ":box"), ("HDEL", ":box", "ban", "uid")])
async def test_a_ban_outlives_redis(stack: Stack, people, api: ServerAPI, loss: tuple[str, ...]):
    app = stack.open_app.id
    async with people(stack) as cast:
        user, = await cast.login("user")
        prefix = stack.user_prefix(user.account)
        assert api.put("apps", app, "users", user.account, "ban", body={"seconds": 60}).status == 200
        await eventually(user.closed.is_set, "the session has ended")
        command, suffix, *fields = loss
        stack.redis(command, prefix + suffix, *fields)
        for gateway in stack.gateways:
            assert await refused(user, gateway)
        # Mail makes a new box.
        assert api.post("apps", app, "users", user.account, "messages", body={"from": "x", "message": "y"}).status == 200
        assert await refused(user, stack.gateways[0])


async def test_banned_users_are_listed(stack: Stack, api: ServerAPI):
    app = stack.create_app(unique("bans")).id
    for name in ("a", "b", "c"):
        assert api.put("apps", app, "users", name, "ban", body={"seconds": 60, "reason": name}).status == 200
    first = api.get("apps", app, "bans", query="?limit=2").body
    assert [ban["account"] for ban in first["bans"]] == ["a", "b"]
    second = api.get("apps", app, "bans", query=f"?limit=2&after={first['next']}").body
    assert [(ban["account"], ban["reason"]) for ban in second["bans"]] == [("c", "c")] and second["next"] is None
    rows = stack.sql(f"SELECT account, reason FROM bans WHERE app = '{app}' ORDER BY 1")
    assert rows == [["a", "a"], ["b", "b"], ["c", "c"]]


@pytest.mark.parametrize(("body", "field"), [
    ({}, "seconds"), ({"seconds": 0}, "seconds"), ({"seconds": 315_360_001}, "seconds"), ({"until": 5}, "until"),
    ({"until": 1 << 40}, "until"), ({"seconds": 1, "until": 5}, "until"), ({"seconds": 1, "reason": "x" * 513}, "reason"),
    ({"seconds": 1, "reason": "\0"}, "reason"), ({"seconds": 1, "user": "x"}, "user")])
def test_bans_out_of_range(stack: Stack, api: ServerAPI, body: dict, field: str):
    answer = api.put("apps", stack.open_app.id, "users", "x", "ban", body=body)
    assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", field)
    assert answer.body["bound"]


def test_who_may_ban(stack: Stack):
    app = stack.open_app.id
    reader = ServerAPI(stack, create_key(stack, app=app, scopes=("read", "send"))["key"])
    path = ("apps", app, "users", "x", "ban")
    assert reader.put(*path, body={"seconds": 1}).status == 403
    assert reader.delete(*path).status == 403
    assert reader.get(*path).status == 404
    other = ServerAPI(stack, create_key(stack, app=stack.token_app.id)["key"])
    assert other.put(*path, body={"seconds": 1}).status == 403
