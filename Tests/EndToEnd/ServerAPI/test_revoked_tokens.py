"""Revoked login tokens: refused at every gateway, whatever Redis has lost."""

import time

import pytest
from answers import LoginRefused
from apps import App, make_token
from server_api import ServerAPI, create_key
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack)["key"])


@pytest.fixture
def app(stack: Stack) -> App:
    return stack.token_app


def mint(api: ServerAPI, app: App, account: str, ttl: int) -> dict:
    answer = api.post("apps", app.id, "users", account, "tokens", body={"ttl": ttl})
    assert answer.status == 200, answer.body
    return answer.body


def revoke(api: ServerAPI, app: App, account: str, **body: object) -> int:
    """Until when the revoked tokens end."""
    answer = api.post("apps", app.id, "users", account, "tokens", "revoke", body=body)
    assert answer.status == 200, answer.body
    assert answer.body["account"] == account
    return answer.body["until"]


async def admitted(people, stack: Stack, app: App, account: str, token: str, gateway: int) -> bool:
    """Whether a login with the token succeeds; it is ended again."""
    async with people(stack) as cast:
        user: Client = cast.exactly(account, app, token=token)
        try:
            await user.login(stack.gateways[gateway])
        except LoginRefused as refusal:
            assert (refusal.error, refusal.data["code"]) == ("TokenErrorExpired", 204), refusal.data
            await user.closed.wait()
            return False
        await user.logout()
    return True


async def test_all_tokens_made_until_now(stack: Stack, people, api: ServerAPI, app: App):
    name, other = unique("usér/"), unique("other")
    old, longer = mint(api, app, name, 60), mint(api, app, name, 7200)
    assert await admitted(people, stack, app, name, old["token"], 0)
    before = int(time.time())
    until = revoke(api, app, name, ttl=3600)
    assert before + 3600 <= until <= int(time.time()) + 3600
    for gateway in (0, 1):
        assert not await admitted(people, stack, app, name, old["token"], gateway)
        assert await admitted(people, stack, app, name, longer["token"], gateway)
    # A new one holds, though it was asked for with a shorter life.
    new = mint(api, app, name, 60)
    assert new["expiry"] == until + 1
    assert await admitted(people, stack, app, name, new["token"], 1)
    assert not await admitted(people, stack, app, name, make_token(app.id, app.certificate, name, until), 1)
    assert await admitted(people, stack, app, other, mint(api, app, other, 60)["token"], 0)
    # An earlier time revokes nothing that is not revoked.
    assert revoke(api, app, name, ttl=60) == until


async def test_one_token(stack: Stack, people, api: ServerAPI, app: App):
    name = unique("never")
    end = int(time.time()) + 600
    first, second = (make_token(app.id, app.certificate, name, end + more) for more in (0, 1))
    assert revoke(api, app, name, token=first) == end
    assert not await admitted(people, stack, app, name, first, 0)
    assert await admitted(people, stack, app, name, second, 1)
    for token in (first[:-1] + ("0" if first[-1] != "0" else "1"), "x", make_token(app.id, app.certificate, "another", end)):
        answer = api.post("apps", app.id, "users", name, "tokens", "revoke", body={"token": token})
        assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", "token")
        assert token not in str(answer.body)


async def test_a_session_goes_on_until_it_is_ended(stack: Stack, people, api: ServerAPI, app: App):
    async with people(stack) as cast:
        name = unique("user")
        user = cast.exactly(name, app, token=mint(api, app, name, 60)["token"])
        await user.login(stack.gateways[0])
        revoke(api, app, name, ttl=60)
        assert api.get("apps", app.id, "users", name).body["online"] is True
        assert api.post("apps", app.id, "users", name, "disconnect").status == 200
        await eventually(user.closed.is_set, "the session has ended")
        with pytest.raises(LoginRefused):
            await user.login(stack.gateways[1])


async def test_a_revocation_outlives_redis(stack: Stack, people, api: ServerAPI, app: App):
    """Also when a good token makes the user known to Redis again."""
    name = unique("user")
    old = mint(api, app, name, 60)["token"]
    assert await admitted(people, stack, app, name, old, 0)
    revoke(api, app, name, ttl=60)
    new = mint(api, app, name, 3600)["token"]
    box, = stack.redis_keys(f"{{*}}a:{app.id}:u:{name}:box")
    prefix = box.removesuffix(":box")
    for tokens in ((old,), (new, old)):
        stack.redis("DEL", prefix + ":box", prefix + ":attrver", prefix + ":attrs")
        for token in tokens:
            for gateway in (0, 1):
                assert await admitted(people, stack, app, name, token, gateway) == (token == new)


async def test_a_ban_and_a_revocation_leave_each_other(stack: Stack, people, api: ServerAPI, app: App):
    name = unique("user")
    old = mint(api, app, name, 60)["token"]
    until = revoke(api, app, name, ttl=60)
    assert api.get("apps", app.id, "users", name, "ban").status == 404
    ban = ("apps", app.id, "users", name, "ban")
    assert api.put(*ban, body={"seconds": 60}).status == 200
    assert revoke(api, app, name, ttl=1) == until
    assert api.get(*ban).status == 200
    new = make_token(app.id, app.certificate, name, until + 100)
    async with people(stack) as cast:
        with pytest.raises(LoginRefused) as refused:
            await cast.exactly(name, app, token=new).login(stack.gateways[0])
        assert refused.value.error == "banned"
    assert api.delete(*ban).status == 200
    assert await admitted(people, stack, app, name, new, 0)
    assert not await admitted(people, stack, app, name, old, 1)


def test_revocations_out_of_range(stack: Stack, api: ServerAPI, app: App):
    path = ("apps", app.id, "users", "u", "tokens", "revoke")
    for body, field in (
            ({}, "token"), ({"ttl": 0}, "ttl"), ({"ttl": 31_536_001}, "ttl"), ({"ttl": "1"}, "ttl"), ({"token": ""}, "token"),
            ({"token": "x" * 257}, "token"), ({"token": "x", "ttl": 1}, "ttl"), ({"until": 1}, "until")):
        answer = api.post(*path, body=body)
        assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", field)
        assert answer.body["bound"]
    sender = ServerAPI(stack, create_key(stack, app=app.id, scopes=("read", "send"))["key"])
    assert sender.post(*path, body={"ttl": 1}).status == 403
