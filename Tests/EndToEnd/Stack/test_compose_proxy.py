"""Docker/haproxy.cfg at work: HAProxy in front of gateways that run here, as an operator's browser and an app's server use it."""

import contextlib
import os
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from event_stream import Stream
from fixtures import People
from server_api import ServerAPI, create_key
from stack_control import ROOT, Stack
from waiting import eventually, eventually_blocking
from web import fetch

CONFIGURATION = (ROOT / "Docker" / "haproxy.cfg").read_text()
# A stream of events has a line so often, and the API ends a connection without requests.
LINE_SECONDS, IDLE_SECONDS = 15, 60


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def here(stack: Stack, ports: dict[str, int]) -> str:
    """The configuration with the stack's gateways in place of containers, and with ports that are free here."""
    text = CONFIGURATION.replace(" resolvers containers init-addr none", "")
    for port, free in ports.items():
        text = text.replace(f"    bind :{port}\n", f"    bind 127.0.0.1:{free}\n")
    servers = {
        "8080": [urlsplit(gateway["http"]).port for gateway in stack.endpoints["gateways"]],
        "8090": [urlsplit(url).port for url in stack.endpoints["api"]]}
    admin = [urlsplit(gateway["http"]).port for gateway in stack.endpoints["gateways"]]

    def each(found: re.Match) -> str:
        places = servers.get(found[1], [])
        return "\n".join(
            f"    server gateway{number} 127.0.0.1:{port} port {check}{found[2]}"
            for number, (port, check) in enumerate(zip(places, admin, strict=bool(places))))
    text, count = re.subn(r"    server-template gateway 1-32 gateway:(\d+) port 9090(.*)", each, text)
    assert count == 3
    return text


class Proxy:
    """HAProxy before the gateways of a stack."""

    def __init__(self, api: int, admin: int):
        self.url = f"http://127.0.0.1:{api}"
        self._metrics = f"http://127.0.0.1:{admin}/metrics"

    def _told(self) -> str:
        """HAProxy's metrics; empty while it starts."""
        with contextlib.suppress(OSError), fetch(self._metrics) as answer:
            return answer.read().decode()
        return ""

    def ready(self) -> None:
        found = 'haproxy_backend_active_servers{proxy="gateways_api"} 2'
        eventually_blocking(lambda: found in self._told(), "HAProxy has found both gateways", 20)

    def sessions(self) -> list[int]:
        """How many connections of the server API each gateway has had."""
        return [int(count) for count in re.findall(
            r'^haproxy_server_sessions_total\{proxy="gateways_api",server="[^"]+"\} (\d+)$', self._told(), re.MULTILINE)]

    def api(self, key: str) -> ServerAPI:
        """The server API, over a connection of its own."""
        return ServerAPI(SimpleNamespace(endpoints={"api": [self.url]}), key)


@contextlib.contextmanager
def proxied(stack: Stack, folder: Path) -> Iterator[Proxy]:
    """HAProxy with the configuration of the containers."""
    ports = {port: free_port() for port in ("8080", "8081", "8090", "9090")}
    (folder / "haproxy.cfg").write_text(here(stack, ports))
    program = subprocess.Popen(
        ["haproxy", "-db", "-f", str(folder / "haproxy.cfg")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin", "HELIOGRAPH_PROXY_CONNECTIONS": "500"})
    try:
        proxy = Proxy(ports["8090"], ports["9090"])
        proxy.ready()
        yield proxy
    finally:
        program.terminate()
        program.wait(20)


async def test_the_console_and_the_api_are_reached_through_haproxy(stack: Stack, people: type[People], tmp_path: Path):
    key = create_key(stack)["key"]
    with proxied(stack, tmp_path) as proxy:
        api, url = proxy.api(key), proxy.url
        for path in ("/console/", "/playground/"):
            with fetch(f"{url}{path}") as page:
                assert page.status == 200 and "Content-Security-Policy" in page.headers
        # One gateway answers all of them, so that the console shows the numbers of one.
        for _ in range(8):
            assert api.get("key").status == 200
            api.session.close()
        sessions = proxy.sessions()
        assert len(sessions) == 2 and min(sessions) == 0 and max(sessions) >= 10
        stream = await Stream(api, stack.open_app.id).started()
        async with people(stack) as cast:
            ada, = await cast.login("ada")
            answer = api.post("apps", stack.open_app.id, "users", ada.account, "messages", body={"from": "shop", "message": "ready"})
            assert answer.status == 200, answer
            await eventually(lambda: ada.texts() == ["ready"], "the message of the server")
            seen = await stream.next()
            while seen["data"]["account"] != ada.account:
                seen = await stream.next()
            assert seen["event"] == "online"
        stream.close()


@pytest.mark.parametrize("side", ["client", "server"])
def test_connections_of_the_api_end_by_themselves_before_haproxy_ends_them(side: str):
    minutes = int(re.search(rf"^    timeout {side} (\d+)m$", CONFIGURATION, re.MULTILINE)[1])
    assert minutes * 60 >= IDLE_SECONDS + 2 * LINE_SECONDS


def test_requests_go_to_another_gateway_when_one_is_gone(make_stack: Callable[..., Stack], tmp_path: Path):
    stack = make_stack(gateways=2)
    key = create_key(stack)["key"]
    with proxied(stack, tmp_path) as proxy:
        # One of the two is the one that answered before.
        for gateway in ("gateway#1", "gateway#2"):
            stack.kill(gateway)
            for _ in range(10):
                api = proxy.api(key)
                assert api.get("key").status == 200
                api.session.close()
            stack.start(gateway)
            proxy.ready()
