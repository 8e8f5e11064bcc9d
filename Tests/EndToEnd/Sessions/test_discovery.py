"""Finding a gateway: `GET /getaddr`."""

import json
import urllib.error

import pytest
from stack_control import Stack
from waiting import eventually
from web import discover


@pytest.mark.parametrize("listener", ["ws", "http"])
def test_every_gateway_lists_all(stack: Stack, listener: str):
    expected = {int(address.rsplit(":", 1)[1]) for address in stack.gateways}
    for gateway in stack.endpoints["gateways"]:
        listed = discover(gateway[listener].replace("ws://", "http://"), vid=stack.open_app.id)["web"]
        assert len(listed) >= 16, "old web clients fail with a shorter list: they read beyond its end"
        assert {host for host, _ in listed} == {"127.0.0.1"}
        assert all(type(port) is int for _, port in listed)
        assert {port for _, port in listed} == expected


@pytest.mark.parametrize("listener", ["ws", "http"])
def test_those_who_ask_for_a_channel_gather(stack: Stack, listener: str):
    base = stack.endpoints["gateways"][0][listener].replace("ws://", "http://")
    listed = discover(base, vid=stack.open_app.id, channel="a b")["web"]
    assert len(listed) >= 16 and {port for _, port in listed} == {int(address.rsplit(":", 1)[1]) for address in stack.gateways}
    for query, reason in [
            ({"channel": "x"}, "channel needs vid"), ({"vid": "a", "channel": ""}, "a channel name must have"),
            ({"vid": "a", "channel": "x", "app": "a"}, "exclude each other")]:
        with pytest.raises(urllib.error.HTTPError) as refusal:
            discover(base, **query)
        assert refusal.value.code == 400 and reason in json.load(refusal.value)["error"]


async def test_a_listed_address_takes_a_login(stack: Stack, people):
    gateway = stack.endpoints["gateways"][0]
    async with people(stack) as cast:
        for host, port in discover(gateway["http"], vid=stack.open_app.id)["web"]:
            client = cast.make("finder")
            await client.login(f"ws://{host}:{port}/")
            assert await client.ping(7) == 7


async def test_a_drained_gateway_is_not_listed(make_stack):
    stack = make_stack(gateways=2)
    left = stack.endpoints["gateways"][1]

    def listed() -> set[int]:
        return {port for _, port in discover(left["http"], vid=stack.open_app.id)["web"]}
    # Having named both, it reads the list again within two and a half seconds.
    assert len(listed()) == 2
    stack.drain("gateway#1")
    await eventually(lambda: listed() == {int(left["ws"].rsplit(":", 1)[1])}, "the drained gateway is not listed", 5)
