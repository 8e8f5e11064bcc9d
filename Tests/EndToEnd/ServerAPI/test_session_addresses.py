"""The address that a session comes from: who is shown it, and how long it is kept."""

import json

from proxied import api, connected, stack  # noqa: F401
from raw_socket import RawSocket
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually


def user(api: ServerAPI, stack: Stack, account: str) -> dict:
    answer = api.get("apps", stack.open_app.id, "users", account)
    assert answer.status == 200, answer.body
    return answer.body


def resumed(raw: RawSocket, line: str) -> None:
    raw.send("line_login", {"line": line})
    assert raw.message("line_login_ret")[0] == ""


def session_key(stack: Stack, account: str) -> str:
    key, = stack.redis_keys(f"*:{account}:session")
    return key


async def test_the_address_is_that_of_the_latest_connection(stack: Stack, api: ServerAPI):
    account = unique("anna")
    first = connected(stack, "203.0.113.7")
    line = first.login(stack.open_app.id, account)
    assert user(api, stack, account)["address"] == "203.0.113.7"
    first.close()
    await eventually(lambda: user(api, stack, account)["state"] == "detached", "the connection is lost")
    assert user(api, stack, account)["address"] == "203.0.113.7"
    # From elsewhere, and at another gateway.
    second = connected(stack, "2001:db8::1", gateway=1)
    resumed(second, line)
    assert user(api, stack, account)["address"] == "2001:db8::1"
    # A proxy that speaks for itself (a health check, say) has its own address.
    third = connected(stack, None)
    resumed(third, line)
    assert user(api, stack, account)["address"] == "127.0.0.1"
    # It goes with the session, and PostgreSQL never had it.
    assert api.post("apps", stack.open_app.id, "users", account, "disconnect").status == 200
    await eventually(lambda: not user(api, stack, account)["online"], "the session is over")
    assert user(api, stack, account)["address"] is None
    for raw in (second, third):
        raw.close()


async def test_only_keys_that_may_act_on_it_are_told(stack: Stack, api: ServerAPI):
    account, app = unique("anna"), stack.open_app.id
    raw = connected(stack, "203.0.113.8")
    raw.login(app, account)
    for place in (None, app):
        told = ServerAPI(stack, create_key(stack, app=place, scopes=("read", "admin"))["key"])
        assert user(told, stack, account)["address"] == "203.0.113.8"
        reader = ServerAPI(stack, create_key(stack, app=place, scopes=("read", "send"))["key"])
        seen = user(reader, stack, account)
        assert seen["online"] and "address" not in seen
    other = ServerAPI(stack, create_key(stack, app=stack.token_app.id)["key"])
    assert other.get("apps", app, "users", account).status == 403
    # Neither of many users nor in lists.
    many = api.post("apps", app, "presence", body={"users": [account]}).body
    await eventually(lambda: api.get("apps", app, "users", query=f"?prefix={account}").body["users"], "the copy is written", 30)
    listed = api.get("apps", app, "users", query=f"?prefix={account}").body
    assert "203.0.113.8" not in json.dumps([many, listed])
    raw.close()


def test_a_session_of_a_gateway_that_does_not_tell_it(stack: Stack, api: ServerAPI):
    account = unique("anna")
    raw = connected(stack, "203.0.113.9")
    raw.login(stack.open_app.id, account)
    # As the release before has recorded it.
    assert stack.redis("HDEL", session_key(stack, account), "address") == "1"
    found = user(api, stack, account)
    assert found["online"] and found["address"] is None
    raw.close()
