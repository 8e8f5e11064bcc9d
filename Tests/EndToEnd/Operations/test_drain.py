"""Processes that are asked to end by the server API and by `heliographctl drain`."""

import json

import pytest
from described_api import is_as_described
from server_api import ServerAPI, create_key
from stack_control import Stack, is_running
from waiting import eventually

# A renewal of the record, a gateway's linger and drain, and what a busy machine takes.
ENDED_WITHIN = 30


def process(stack: Stack, kind: str) -> str:
    """The id of the first running process of a kind."""
    found = json.loads(stack.control("versions", "--json"))["instances"]
    return min(one["id"] for one in found if one["kind"] == kind)


@pytest.mark.every_redis
async def test_a_gateway_is_asked_by_the_api(make_stack, people):
    stack: Stack = make_stack(gateways=2)
    key = create_key(stack)
    api = ServerAPI(stack, key["key"], gateway=1)
    async with people(stack) as cast:
        ada, = await cast.login("ada", gateway=0)
        gateway = process(stack, "gateway")
        pid = stack.pids["gateway#1"]
        assert not any(one["draining"] for one in api.get("processes").body["processes"])
        assert is_as_described("drainProcess", api.post("processes", gateway, "drain")).body == {"id": gateway}
        marked = {one["id"]: one["draining"] for one in api.get("processes").body["processes"]}
        assert [id for id, draining in marked.items() if draining] == [gateway]
        await eventually(lambda: not is_running(pid), "the gateway has ended", ENDED_WITHIN)
        # Its client goes on at the other one.
        await ada.resume(stack.gateways[1])
        assert await ada.ping(3) == 3
    entry = json.loads(stack.control("audit", "--limit", "1", "--json"))["entries"][0]
    assert {name: entry[name] for name in ("act", "app", "subject", "by", "name")} == {
        "act": "process.drain", "app": None, "subject": gateway, "by": "key", "name": key["id"]}
    gone = is_as_described("drainProcess", api.post("processes", gateway, "drain"))
    assert (gone.status, gone.code) == (404, "not_found")


async def test_a_service_is_asked_by_a_command(make_stack):
    stack: Stack = make_stack(gateways=1)
    invitation, pid = process(stack, "invitation"), stack.pids["invitation#1"]
    assert stack.control("drain", invitation) == f"{invitation} has been asked to drain\n"
    await eventually(lambda: not is_running(pid), "the process has ended", ENDED_WITHIN)
    with pytest.raises(AssertionError, match="no process with that id is running"):
        stack.control("drain", invitation)
    entry = json.loads(stack.control("audit", "--limit", "1", "--json"))["entries"][0]
    assert (entry["act"], entry["subject"], entry["by"]) == ("process.drain", invitation, "heliographctl")


def test_others_drain_nothing(stack: Stack):
    presence = process(stack, "presence")
    for key in (create_key(stack, scopes=("read", "send")), create_key(stack, app=stack.open_app.id)):
        refused = is_as_described("drainProcess", ServerAPI(stack, key["key"]).post("processes", presence, "drain"))
        assert refused.status == 403
