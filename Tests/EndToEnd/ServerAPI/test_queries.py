"""Queries about users and channels, disconnects, and what the API refuses."""

import json
import socket
import time
from urllib.parse import urlsplit

import pytest
from apps import make_token
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually, let_pass_blocking


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack)["key"])


async def test_users(stack: Stack, people, api: ServerAPI):
    app = stack.open_app.id
    name = unique("ü/?#") + "%"
    nobody = {"account": name, "online": False, "state": "offline", "uid": None, "gateway": None, "since": None, "channels": [], "address": None}
    assert api.get("apps", app, "users", name).body == nobody
    async with people(stack) as cast:
        user = cast.exactly(name)
        await user.login(stack.gateways[1])
        found = api.get("apps", app, "users", name).body
        assert abs(found.pop("since") - time.time()) < 30
        assert found.pop("gateway"), "the id of a gateway"
        assert found == {"account": name, "online": True, "state": "connected", "uid": user.uid, "channels": [], "address": found["address"]}
        room = unique("room/ü")
        await user.join(room)
        assert api.get("apps", app, "users", name).body["channels"] == [room]
        await user.leave(room)
        assert api.get("apps", app, "users", name).body["channels"] == []
        await user.call("user_set_attr", name="mood", value="fine ☀")
        assert api.get("apps", app, "users", name, "attributes").body == {"attributes": {"mood": "fine ☀"}}
        assert api.get("apps", app, "users", name, "attributes", "mood").body == {"name": "mood", "value": "fine ☀"}
        missing = api.get("apps", app, "users", name, "attributes", "none")
        assert (missing.status, missing.code) == (404, "not_found")
        assert api.post("apps", app, "users", name, "disconnect").body == {"account": name}
        await eventually(user.closed.is_set, "the client is closed")
        assert api.get("apps", app, "users", name).body["online"] is False
    # There is nothing to end; that is no error.
    assert api.post("apps", app, "users", name, "disconnect").status == 200


async def test_channels(stack: Stack, people, api: ServerAPI):
    app, room = stack.open_app.id, unique("room/of")
    assert api.get("apps", app, "channels", room).body == {"channel": room, "members": 0}
    async with people(stack) as cast:
        ann, bob = await cast.members(room, "ann", "bob")
        assert api.get("apps", app, "channels", room).body == {"channel": room, "members": 2}
        listed = api.get("apps", app, "channels", room, "members").body
        assert listed == {"total": 2, "members": [
            {"account": bob.account, "uid": bob.uid}, {"account": ann.account, "uid": ann.uid}]}
        assert len(api.get("apps", app, "channels", room, "members", query="?limit=1").body["members"]) == 1
        assert api.get("apps", app, "channels", room, "members", ann.account).body["member"] is True
        assert api.get("apps", app, "channels", room, "members", "eve").body["member"] is False


async def test_tokens(stack: Stack, people, api: ServerAPI):
    app, name = stack.token_app, unique("user")
    made = api.post("apps", app.id, "users", name, "tokens", body={"ttl": 60})
    assert made.status == 200
    assert made.body["token"] == make_token(app.id, app.certificate, name, made.body["expiry"])
    async with people(stack) as cast:
        user = cast.exactly(name, app, token=made.body["token"])
        await user.login(stack.gateways[0])
    for ttl in (0, 31_536_001, "60", None):
        refused = api.post("apps", app.id, "users", name, "tokens", body={"ttl": ttl})
        assert (refused.status, refused.body["field"]) == (400, "ttl")


def test_an_app_without_a_certificate(stack: Stack, api: ServerAPI):
    """As those that were made by hand may be: no release makes one."""
    app = stack.create_app(unique("bare")).id
    stack.sql(f"UPDATE apps SET certificate = '' WHERE id = '{app}'")
    for path, body in ((("tokens",), {"ttl": 60}), (("tokens", "revoke"), {"token": "x"})):
        refused = api.post("apps", app, "users", "ann", *path, body=body)
        assert (refused.status, refused.code) == (409, "no_certificate")


def test_every_code_is_described_where_problems_refer_to(stack: Stack, api: ServerAPI):
    problem = api.get("nothing")
    assert problem.status == 404
    described = ServerAPI(stack, "").ask("GET", *problem.body["type"].removeprefix("/v1/").split("/"))
    assert described.status == 200
    assert described.body == {"code": "not_found", "status": 404, "meaning": problem.body["title"]}


@pytest.mark.parametrize(("body", "field"), [
    ({"from": "a", "message": "x" * 8193}, "message"), ({"from": "", "message": "x"}, "from"),
    ({"from": "a b", "message": "x"}, "from"), ({"from": "a", "message": "x", "ttl": -1}, "ttl"),
    ({"from": "a", "message": "x", "ttl": 2_592_001}, "ttl"), ({"from": "a", "message": "x", "more": 1}, "more"),
    ({"from": "a", "message": None}, "message"), ({"from": "a", "message": "\ud800"}, None)])
def test_arguments_out_of_range(stack: Stack, api: ServerAPI, body: dict, field: str | None):
    path = ("apps", stack.open_app.id, "users", unique("user"), "messages")
    answer = api.post(*path, body=json.dumps(body).encode())
    if field is None:
        # A lone surrogate becomes U+FFFD, as on the WebSocket.
        assert answer.status == 200
        return
    assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", field)
    assert answer.body["bound"]


def test_what_is_no_request(stack: Stack, api: ServerAPI):
    path = ("apps", stack.open_app.id, "users", "x", "messages")
    for body in (b"", b"{", b"[]", b"\xff", b'{"from": "a"} x', b"[" * 100_000):
        answer = api.post(*path, body=body)
        assert (answer.status, answer.code) == (400, "malformed"), body[:20]
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        assert api.post(*path, body=b"{}", headers={"Content-Type": kind}).status == 415
    answer = api.put(*path, body={})
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    fitting = json.dumps({"from": "a", "message": "x"}).encode()
    many = json.dumps({"items": [{"user": "x", "from": "a", "message": "x"}]}).encode()
    for place, body, bound in ((path, fitting, 128 << 10), (("apps", stack.open_app.id, "messages"), many, 1 << 20)):
        assert api.post(*place, body=body + b" " * (bound - len(body))).status == 200
        refused = api.post(*place, body=body + b" " * (bound - len(body) + 1))
        assert (refused.status, refused.body["bound"]) == (413, f"{bound} bytes")
    # Without a length, in chunks.
    assert api.session.post(
        api.url + "/v1/" + "/".join(path), data=(b" " * 65_536 for _ in range(17)), timeout=20,
        headers={"Authorization": f"Bearer {api.key}", "Content-Type": "application/json"}).status_code == 413
    assert api.get("apps", "x" * 65, "users", "u").body["field"] == "app"
    assert api.get("apps", stack.open_app.id, "users", "x" * 129).body["field"] == "account"


def test_bytes_that_are_no_http(api: ServerAPI):
    """The connection ends, and the API goes on."""
    place = urlsplit(api.url)
    for sent in (b"\x16\x03\x01\x02\x00" * 20, b"GET /v1/key HTTP/9.9\r\n\r\n", b"GET " + b"/" * 200_000 + b" HTTP/1.1\r\n\r\n"):
        with socket.create_connection((place.hostname, place.port), timeout=10) as connection:
            try:
                connection.sendall(sent)
                assert b"200 OK" not in connection.recv(65_536)
            except ConnectionError:
                pass
    assert api.get("key").status == 200


@pytest.mark.parametrize("key", ["", "Authorization: Bearer {key}\r\n"])
def test_a_body_that_does_not_end(api: ServerAPI, key: str):
    """It is dropped, with or without a valid key, and its connection ends."""
    place = urlsplit(api.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        connection.sendall(
            f"POST /v1/key HTTP/1.1\r\nHost: x\r\n{key.format(key=api.key)}Transfer-Encoding: chunked\r\n\r\n".encode())
        part = b"10000\r\n" + b" " * 65_536 + b"\r\n"
        until = time.monotonic() + 20
        with pytest.raises(ConnectionError):
            while time.monotonic() < until:
                connection.sendall(part)
    assert api.get("key").status == 200


def test_a_body_that_does_not_end_after_it_was_refused(api: ServerAPI, stack: Stack):
    """Of an operation that has a body: the connection ends, however slowly the rest comes."""
    place = urlsplit(api.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        connection.sendall(
            f"POST /v1/apps/{stack.open_app.id}/users/x/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api.key}\r\n"
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        part = b"10000\r\n" + b" " * 65_536 + b"\r\n"
        for _ in range(17):
            connection.sendall(part)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 413")
        until = time.monotonic() + 15
        with pytest.raises(ConnectionError):
            while time.monotonic() < until:
                connection.sendall(b"1\r\nx\r\n")
                let_pass_blocking(0.5, "the rest comes slowly")


def test_a_body_that_nobody_needs_leaves_the_connection_usable(api: ServerAPI):
    place = urlsplit(api.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        for _ in range(3):
            connection.sendall(b"POST /v1/key HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
            assert connection.recv(65_536).startswith(b"HTTP/1.1 405")
