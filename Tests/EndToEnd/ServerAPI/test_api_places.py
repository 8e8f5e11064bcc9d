"""Places at the port of the server API: nobody keeps others out, with a key or without."""

import json
import os
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
import requests
from fixtures import running
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually_blocking
from web import metric

PLACES = 4
# APIConnection.patience
PATIENCE = 30


@pytest.fixture(scope="module")
def small(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """A gateway with few places, at which 127.0.0.2 may have two, and other addresses any number."""
    variables = {"API_CONNECTIONS": str(PLACES), "API_ADDRESS_CONNECTIONS": "2", "ADDRESS_EXEMPT": "127.0.0.1"}
    with ExitStack() as stacks:
        # Not longer than it takes to start: other stacks have the usual places.
        with pytest.MonkeyPatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(f"HELIOGRAPH_GATEWAY_{name}", value)
            stack = stacks.enter_context(running(request, gateways=1))
        yield stack


def connect(api: ServerAPI, source: str = "127.0.0.1", received: int | None = None) -> socket.socket:
    place = urlsplit(api.url)
    connection = socket.socket()
    if received is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, received)
    connection.bind((source, 0))
    connection.settimeout(10)
    connection.connect((place.hostname, place.port))
    return connection


def base(stack: Stack) -> str:
    """Where the first gateway's metrics are."""
    return stack.endpoints["gateways"][0]["http"]


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def test_idle_connections_give_their_places_up(small: Stack):
    """To whoever comes: the one that has waited longest first."""
    api = ServerAPI(small, create_key(small)["key"])
    with ExitStack() as opened:
        idle = [opened.enter_context(connect(api)) for _ in range(3 * PLACES)]
        assert api.get("key").status == 200
        assert is_closed(idle[0])
        assert metric(base(small), "heliograph_gateway_api_connections") <= PLACES


def test_an_address_has_so_many_places(small: Stack):
    api = ServerAPI(small, create_key(small)["key"])
    with ExitStack() as opened:
        third = [opened.enter_context(connect(api, "127.0.0.2")) for _ in range(3)][-1]
        assert is_closed(third)
        assert api.get("key").status == 200


def test_whoever_takes_nothing_of_its_answers_is_closed(small: Stack):
    """All places are taken by connections that ask and do not read. Others are served within seconds after the patience is over."""
    api = ServerAPI(small, create_key(small)["key"])
    app, room = small.open_app.id, unique("room")
    # Long answers, which fill all buffers soon.
    for number in range(60):
        path = ("apps", app, "channels", room, "attributes", f"a{number}")
        assert api.put(*path, body={"value": os.urandom(4000).hex()}).status == 200
    asked = (f"GET /v1/apps/{app}/channels/{room}/attributes HTTP/1.1\r\nHost: x\r\n"
             f"Authorization: Bearer {api.key}\r\n\r\n").encode()
    with ExitStack() as opened:
        connections = [opened.enter_context(connect(api, received=4096)) for _ in range(PLACES)]

        over = threading.Event()

        def flood(connection: socket.socket) -> None:
            """Asks as long as it can, so that answers fill all buffers however large they are."""
            connection.settimeout(0.2)
            left = memoryview(asked * 50)
            while not over.is_set():
                try:
                    left = left[connection.send(left):] or memoryview(asked * 50)
                except TimeoutError:
                    continue
                except OSError:
                    return

        floods = [threading.Thread(target=flood, args=(connection,)) for connection in connections]
        for thread in floods:
            thread.start()

        def is_served() -> bool:
            try:
                return ServerAPI(small, api.key).get("key").status == 200
            except requests.ConnectionError:
                return False

        try:
            stalled = "heliograph_gateway_api_connections_stalled_total"
            eventually_blocking(lambda: metric(base(small), stalled) >= 1, "one is closed", 2 * PATIENCE)
            eventually_blocking(is_served, "others are served", 2 * PATIENCE)
        finally:
            over.set()
            for thread in floods:
                thread.join()


def test_bodies_in_progress_have_a_bound(stack: Stack):
    """Of a key: its further requests are refused, and others' are not."""
    app = stack.open_app.id
    api, other = (ServerAPI(stack, create_key(stack, app=app)["key"]) for _ in range(2))
    head = (f"POST /v1/apps/{app}/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api.key}\r\n"
            "Content-Type: application/json\r\nContent-Length: 1048576\r\n\r\n").encode()
    with ExitStack() as opened:
        connections = [opened.enter_context(connect(api)) for _ in range(17)]
        for connection in connections:
            connection.sendall(head + b" " * 1000)
        eventually_blocking(
            lambda: metric(base(stack), "heliograph_gateway_api_bodies_refused_total") > 0, "one of them is refused")
        assert metric(base(stack), "heliograph_gateway_api_body_bytes") == 16 << 20
        message = {"from": "shop", "message": "a short one"}
        refused = api.post("apps", app, "users", "x", "messages", body=message)
        assert (refused.status, refused.code, refused.headers["Retry-After"]) == (429, "rate_limited", "1")
        assert other.post("apps", app, "users", "x", "messages", body=message).status == 200
    eventually_blocking(lambda: metric(base(stack), "heliograph_gateway_api_body_bytes") == 0, "the memory is free")


def test_a_request_counts_as_what_it_costs(stack: Stack):
    """A page that reads much of a channel's log takes more than one request, though nothing in it was asked for."""
    app, room = stack.open_app.id, unique("room")
    api = ServerAPI(stack, create_key(stack, app=app, rate=100)["key"])
    for number in range(40):
        assert api.put("apps", app, "channels", room, "attributes", f"a{number}", body={"value": os.urandom(4000).hex()}).status == 200

    def left(answer) -> int:
        return int(answer.headers["RateLimit-Remaining"])

    eventually_blocking(lambda: left(api.get("key")) == 99, "the key has its whole rate")
    page = api.get("apps", app, "channels", room, "messages")
    assert page.body["messages"] == [] and left(page) < 90, (left(page), json.dumps(page.body))


def test_invented_keys_do_not_keep_others_out(small: Stack):
    """A gateway that has just started knows no key. Who invents keys takes the questions of its own address only."""
    key = create_key(small)["key"]
    inventor = connect(ServerAPI(small, key), "127.0.0.2")
    for _ in range(60):
        invented = f"hk_{os.urandom(8).hex()}_{os.urandom(32).hex()}"
        inventor.sendall(f"GET /v1/key HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {invented}\r\n\r\n".encode())
    answers = b""
    with inventor:
        # The body of the last one may be on its way.
        while answers.count(b"HTTP/1.1 ") < 60:
            answers += inventor.recv(65_536)
    statuses = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+)", answers)]
    assert 429 in statuses and statuses.count(401) <= 20 + 20, statuses
    assert ServerAPI(small, key).get("key").status == 200
