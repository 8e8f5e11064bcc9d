"""Finding a gateway: `GET /getaddr`."""

import json
import urllib.parse
import urllib.request

import pytest
from stack_control import Stack


def ask(base: str, app_id: str) -> tuple[int, dict, dict]:
    url = f"{base}/getaddr?{urllib.parse.urlencode({'vid': app_id})}"
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=10) as answer:
        return answer.status, dict(answer.headers), json.load(answer)


@pytest.mark.parametrize("listener", ["ws", "http"])
def test_every_gateway_lists_all(stack: Stack, listener: str):
    expected = {int(address.rsplit(":", 1)[1]) for address in stack.gateways}
    for gateway in stack.endpoints["gateways"]:
        status, headers, body = ask(gateway[listener].replace("ws://", "http://"), stack.open_app.id)
        assert status == 200
        assert {name.lower(): value for name, value in headers.items()}["access-control-allow-origin"] == "*"
        assert len(body["web"]) >= 16, "old web clients run past a shorter list and die"
        assert {host for host, _ in body["web"]} == {"127.0.0.1"}
        assert all(type(port) is int for _, port in body["web"])
        assert {port for _, port in body["web"]} == expected


async def test_a_listed_address_takes_a_login(stack: Stack, people):
    gateway = stack.endpoints["gateways"][0]
    _, _, body = ask(gateway["http"], stack.open_app.id)
    async with people(stack) as cast:
        for host, port in body["web"]:
            client = cast.make("finder")
            await client.login(f"ws://{host}:{port}/")
            assert await client.ping(7) == 7


async def test_a_drained_gateway_is_not_listed(make_stack):
    stack = make_stack(gateways=2)
    stack.drain("gateway#1")
    left = stack.endpoints["gateways"][1]
    _, _, body = ask(left["http"], stack.open_app.id)
    assert {port for _, port in body["web"]} == {int(left["ws"].rsplit(":", 1)[1])}
