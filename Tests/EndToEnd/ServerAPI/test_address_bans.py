"""Bans of networks of client addresses: by the server API and by heliographctl, at all gateways."""

import json

import pytest
from proxied import api, connected, stack  # noqa: F401
from server_api import ServerAPI, create_key
from stack_control import Stack
from waiting import eventually
from web import metric

# Gateways ask every 5 s.
SECONDS = 15


def is_refused(stack: Stack, client: str, gateway: int = 0) -> bool:
    try:
        connected(stack, client, gateway).close()
    except OSError:
        return True
    return False


async def refused_everywhere(stack: Stack, client: str) -> None:
    for gateway in range(2):
        await eventually(lambda: is_refused(stack, client, gateway), f"{client} is refused by gateway {gateway}", SECONDS)


async def test_a_network_is_banned_at_all_gateways(stack: Stack, api: ServerAPI):
    inside, outside = connected(stack, "203.0.113.77"), connected(stack, "203.0.114.1")
    banned = api.put("address-bans", "203.0.113.0/24", body={"seconds": 600, "reason": "spam"})
    assert banned.status == 200 and banned.body | {"until": 0, "createdAt": 0} == {
        "network": "203.0.113.0/24", "until": 0, "reason": "spam", "createdAt": 0}
    assert banned.body["until"] - banned.body["createdAt"] in range(598, 602)
    await refused_everywhere(stack, "203.0.113.200")
    # A connection from there is closed: 1008.
    opcode, payload = inside.receive()
    assert (opcode, payload[:2]) == (8, (1008).to_bytes(2, "big"))
    outside.send("ping", 1)
    assert outside.message("pong") == 1
    assert metric(stack.endpoints["gateways"][0]["http"], "heliograph_gateway_banned_addresses_total") >= 2
    assert stack.sql("SELECT network::text, reason FROM banned_networks") == [["203.0.113.0/24", "spam"]]
    assert api.get("address-bans").body == {"bans": [banned.body], "next": None}
    # Once more, with the key of the first time, and then anew.
    again = api.put("address-bans", "203.0.113.0/24", body={"seconds": 900})
    assert again.body["until"] > banned.body["until"] and again.body["reason"] == ""
    assert api.delete("address-bans", "203.0.113.0/24").body == {"network": "203.0.113.0/24"}
    await eventually(lambda: not is_refused(stack, "203.0.113.200"), "the ban is over", SECONDS)
    gone = api.delete("address-bans", "203.0.113.0/24")
    assert (gone.status, gone.code) == (404, "not_found")
    acts = stack.sql("SELECT act, subject, by_kind FROM audit_trail WHERE act LIKE 'address.%' ORDER BY id")
    assert acts == [["address.set", "203.0.113.0/24", "key"]] * 2 + [["address.remove", "203.0.113.0/24", "key"]]
    for raw in (inside, outside):
        raw.close()


async def test_by_the_command_line(stack: Stack, api: ServerAPI):
    made = json.loads(stack.control("address", "ban", "2001:db8:7::/48", "--seconds=600", "--reason=x", "--json"))
    single = json.loads(stack.control("address", "ban", "198.51.100.7", "--seconds=3", "--json"))
    assert single["network"] == "198.51.100.7/32"
    await refused_everywhere(stack, "2001:db8:7:1::5")
    assert not is_refused(stack, "2001:db8:8::5")
    first = json.loads(stack.control("address", "bans", "--limit=1", "--json"))
    listed = first["bans"] + json.loads(stack.control("address", "bans", f"--after={first['next']}", "--json"))["bans"] if first["next"] else first["bans"]
    assert made in listed
    # A ban ends by itself.
    await eventually(lambda: not is_refused(stack, "198.51.100.7"), "the time is over", SECONDS)
    assert [ban["network"] for ban in api.get("address-bans").body["bans"]] == ["2001:db8:7::/48"]
    assert "2001:db8:7::/48" in stack.control("address", "unban", "2001:db8:7::/48")
    await eventually(lambda: not is_refused(stack, "2001:db8:7:1::5"), "the ban is over", SECONDS)


@pytest.mark.parametrize("network", ["203.0.113.1/24", "0.0.0.0/0", "10.0.0.0/7", "2000::/15", "::ffff:1.2.3.0/120", "203.0.113", "1.2.3.4/33", "x"])
def test_networks_out_of_bounds(stack: Stack, api: ServerAPI, network: str):
    for answer in (api.put("address-bans", network, body={"seconds": 1}), api.delete("address-bans", network)):
        assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", "network")
        assert "/8 to /32" in answer.body["bound"]
    listed = api.get("address-bans", query=f"?after={api.escape(network)}")
    assert (listed.status, listed.body["field"]) == (400, "after")


def test_other_bounds(stack: Stack, api: ServerAPI):
    for body, field in [({"seconds": 0}, "seconds"), ({}, "seconds"), ({"seconds": 1, "until": 5}, "until"), ({"seconds": 1, "reason": "x" * 513}, "reason")]:
        answer = api.put("address-bans", "203.0.113.0/24", body=body)
        assert (answer.status, answer.body["field"]) == (400, field), body
    own = ServerAPI(stack, create_key(stack, app=stack.open_app.id)["key"])
    for answer in (own.get("address-bans"), own.put("address-bans", "203.0.113.0/24", body={"seconds": 1}), own.delete("address-bans", "203.0.113.0/24")):
        assert (answer.status, answer.code) == (403, "forbidden")
    stack.sql("INSERT INTO address_bans (network, until) SELECT set_masklen('10.0.0.0'::inet + n, 32)::cidr, now() + interval '1 hour' FROM generate_series(1, 10000) n")
    full = api.put("address-bans", "203.0.113.0/24", body={"seconds": 1})
    assert (full.status, full.code) == (409, "too_many_bans") and "10000" in full.body["bound"]
    # One that is there already can be changed.
    assert api.put("address-bans", "10.0.0.1/32", body={"seconds": 60}).status == 200
    stack.sql("DELETE FROM address_bans")
