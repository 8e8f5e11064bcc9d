"""Attributes of users and channels, changed by apps' servers, with compare-and-set."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack)["key"])


async def test_a_user_s_attributes(stack: Stack, people, api: ServerAPI):
    """Also of a user who has never logged in; clients read them as their own changes."""
    app, name = stack.open_app.id, unique("user")
    path = ("apps", app, "users", name, "attributes", "mood")
    assert api.put(*path, body={"value": "fine"}).body == {"name": "mood", "value": "fine"}
    assert api.get(*path).body["value"] == "fine"
    async with people(stack) as cast:
        user = cast.exactly(name)
        await user.login(stack.gateways[1])
        assert (await user.call("user_get_attr", name="mood", account=name))["value"] == "fine"
        api.put(*path, body={"value": "better"})
        assert (await user.call("user_get_attr", name="mood", account=name))["value"] == "better"
        assert api.delete(*path).body == {"name": "mood", "value": None}
        assert api.get(*path).status == 404
        assert (await user.call("user_get_attr", name="mood", account=name))["value"] == ""
        await user.call("user_set_attr", name="mood", value="own")
        assert api.get(*path).body["value"] == "own"


async def test_a_channel_s_attributes(stack: Stack, people, api: ServerAPI):
    app, room = stack.open_app.id, unique("room")
    path = ("apps", app, "channels", room, "attributes", "topic")
    async with people(stack) as cast:
        ann, = await cast.members(room, "ann")
        assert api.put(*path, body={"value": "tea ☕"}).status == 200
        await eventually(lambda: "tea" in str(ann.frames), "the member is told")
        assert api.get("apps", app, "channels", room, "attributes").body == {"attributes": {"topic": "tea ☕"}}
        assert api.delete(*path).status == 200
        assert api.get(*path).status == 404
        await ann.call("channel_set_attr", channel=room, name="topic", value="own")
        assert api.get(*path).body["value"] == "own"


@pytest.mark.parametrize("owner", ["users", "channels"])
def test_compare_and_set(stack: Stack, api: ServerAPI, owner: str):
    path = ("apps", stack.open_app.id, owner, unique("owner"), "attributes", "n")
    refused = api.put(*path, body={"value": "1", "expected": "0"})
    assert (refused.status, refused.code) == (409, "value_differs")
    assert api.get(*path).status == 404
    assert api.put(*path, body={"value": "1", "expected": None}).status == 200
    assert api.put(*path, body={"value": "2", "expected": None}).status == 409
    assert api.put(*path, body={"value": "2", "expected": "1"}).status == 200
    assert api.get(*path).body["value"] == "2"
    # The empty value is a value.
    assert api.put(*path, body={"value": "", "expected": "2"}).status == 200
    assert api.put(*path, body={"value": "3", "expected": None}).status == 409
    assert api.put(*path, body={"value": "3", "expected": ""}).status == 200


@pytest.mark.parametrize("owner", ["users", "channels"])
def test_delete_if_it_has_a_value(stack: Stack, api: ServerAPI, owner: str):
    app, name, value = stack.open_app.id, unique("owner"), "a&b=c+d\n☂ " + "x" * 8000
    path = ("apps", app, owner, name, "attributes", "n")
    absent = api.delete(*path, query="?expected=")
    assert (absent.status, absent.code) == (409, "value_differs"), "one that is not set has no value"
    assert api.put(*path, body={"value": value}).status == 200
    for other in ("", value + "y", "a"):
        refused = api.delete(*path, query="?expected=" + api.escape(other))
        assert (refused.status, refused.code) == (409, "value_differs")
        assert api.get(*path).body["value"] == value
    once = {"Idempotency-Key": unique("deletion")}
    query = "?expected=" + api.escape(value)
    gone = ServerAPI(stack, api.key, 1).delete(*path, query=query, headers=once)
    assert (gone.status, gone.body) == (200, {"name": "n", "value": None})
    assert api.get(*path).status == 404
    # The repetition gets the first answer, also when the attribute was set anew meanwhile.
    assert api.put(*path, body={"value": "new"}).status == 200
    again = api.delete(*path, query=query, headers=once)
    assert (again.status, again.headers["Idempotency-Replayed"]) == (200, "true")
    assert api.get(*path).body["value"] == "new"
    assert api.delete(*path, query=query).status == 409
    assert api.delete(*path).status == 200


@pytest.mark.parametrize("owner", ["users", "channels"])
def test_of_concurrent_changes_one_succeeds(stack: Stack, owner: str):
    key = create_key(stack)["key"]
    path = ("apps", stack.open_app.id, owner, unique("owner"), "attributes", "n")
    with ThreadPoolExecutor(8) as pool:
        for turn in range(3):
            expected = None if turn == 0 else str(turn)
            answers = list(pool.map(
                lambda number, expected=expected, turn=turn: ServerAPI(stack, key, number % 2).put(
                    *path, body={"value": str(turn + 1), "expected": expected}), range(8)))
            assert sorted(answer.status for answer in answers) == [200] + [409] * 7


@pytest.mark.parametrize(("name", "body"), [
    ("_unknown", {"value": "1"}), ("_member_num", {"value": "1"}), ("_channel_ttl", {"value": "x"}),
    ("n", {"value": "x" * 8097}), ("n", {"value": 1}), ("n", {}), ("n", {"value": "1", "expected": 5})])
def test_what_is_refused(stack: Stack, api: ServerAPI, name: str, body: dict):
    path = ("apps", stack.open_app.id, "channels", unique("room"), "attributes", name)
    answer = api.put(*path, body=body)
    assert (answer.status, answer.code) == (400, "invalid_argument")
    assert api.get(*path).status == 404


def test_built_in_attributes_of_a_user_cannot_be_deleted(stack: Stack, api: ServerAPI):
    path = ("apps", stack.open_app.id, "users", unique("user"), "attributes", "_conn_timeout")
    assert api.put(*path, body={"value": "30"}).status == 200
    assert api.delete(*path).status == 400
    assert api.get(*path).body["value"] == "30"
