"""Lists of apps, users, channels, members, calls and processes."""

import json

import pytest
from acts import ring
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually, let_pass

# A mirror is at most a second behind; a loaded machine is slower.
MIRRORED = 10


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack)["key"])


def listed(api: ServerAPI, name: str, *path: str, query: str = "", limit: int = 100) -> list[dict]:
    """All records of a list, page by page."""
    records, after = [], None
    while True:
        position = "" if after is None else "&after=" + api.escape(after)
        answer = api.get(*path, query=f"?limit={limit}{query}{position}")
        assert answer.status == 200, answer.body
        assert len(answer.body[name]) <= limit
        records += answer.body[name]
        after = answer.body["next"]
        if after is None:
            return records


async def test_users_online_and_all(stack: Stack, people, api: ServerAPI):
    app, prefix = stack.open_app.id, unique("lö/")
    path = ("apps", app, "users")
    query = "&prefix=" + api.escape(prefix)
    async with people(stack) as cast:
        users = {}
        for index in range(5):
            user = cast.exactly(f"{prefix}{index}")
            await user.login(stack.gateways[index % 2])
            users[user.account] = user
        await eventually(lambda: len(listed(api, "users", *path, query=query)) == 5, "all are listed", MIRRORED)
        for limit in (1, 2, 5):
            found = listed(api, "users", *path, query=query, limit=limit)
            assert [user["account"] for user in found] == sorted(users)
        assert {user["state"] for user in found} == {"connected"}
        assert [user["uid"] for user in found] == [users[user["account"]].uid for user in found]
        assert len({user["gateway"] for user in found}) >= 2 and all(user["since"] > 1_700_000_000 for user in found)
        users[f"{prefix}0"].abort()
        await eventually(
            lambda: listed(api, "users", *path, query=query)[0]["state"] == "detached", "the first one's connection is lost",
            MIRRORED)
        await users[f"{prefix}4"].logout()
        await eventually(lambda: len(listed(api, "users", *path, query=query)) == 4, "the last one is gone", MIRRORED)
    everybody = listed(api, "users", *path, query=query + "&state=all", limit=2)
    assert [user["account"] for user in everybody] == sorted(users)
    assert everybody[-1] | {"uid": 0} == {
        "account": f"{prefix}4", "uid": 0, "state": "offline", "gateway": None, "device": None, "since": None}


async def test_channels_and_members(stack: Stack, people, api: ServerAPI):
    app, room = stack.open_app.id, unique("room ")
    query = "&prefix=" + api.escape(room)
    async with people(stack) as cast:
        members = await cast.members(room, "ann", "bob", "cid")
        await members[0].call("channel_set_attr", channel=room, name="topic", value="x")
        await eventually(
            lambda: listed(api, "channels", "apps", app, "channels", query=query) == [
                {"channel": room, "members": 3, "attributes": 1}], "the channel is listed", MIRRORED)
        pages = []
        after = ""
        while after is not None:
            page = api.get("apps", app, "channels", room, "members", query=f"?limit=2&after={api.escape(after)}").body
            pages.append([(member["account"], member["uid"]) for member in page["members"]])
            after = page["next"]
        assert [len(page) for page in pages] == [2, 1]
        assert sum(pages, []) == sorted((member.account, member.uid) for member in members)


async def test_calls(stack: Stack, people, api: ServerAPI):
    app, room = stack.open_app.id, unique("call")
    path = ("apps", app, "calls")

    def call(state: str) -> dict:
        return next((call for call in listed(api, "calls", *path, query=f"&state={state}", limit=1000) if call["channel"] == room), {})

    async with people(stack) as cast:
        ann, bob = await cast.login("ann", "bob")
        await ring(ann, bob, room)
        await eventually(lambda: call("open").get("state") == "ringing", "it rings", MIRRORED)
        await bob.act("invite_accept", room, ann.account)
        await eventually(lambda: call("open").get("state") == "talking", "they talk", MIRRORED)
        await ann.act("invite_bye", room, bob.account)
        await eventually(lambda: call("all").get("state") == "ended", "it has ended", MIRRORED)
        ended = call("all")
        assert (ended["caller"], ended["callee"], ended["endCode"]) == (ann.account, bob.account, 0)
        assert ended["endedAt"] >= ended["acceptedAt"] >= ended["startedAt"] > 1_700_000_000
        assert call("open") == {}


async def test_usage(stack: Stack, people, api: ServerAPI):
    app = stack.create_app(unique("usage"))
    async with people(stack) as cast:
        user = cast.exactly("ann", app)
        await user.login(stack.gateways[0])

        def usage() -> dict:
            return api.get("apps", app.id, "usage", query="?days=1").body

        await eventually(lambda: usage()["online"] == 1 and usage()["days"], "the login is counted", MIRRORED)
        found = usage()
        assert found["users"] == 1 and found["app"] == app.id
        bob = cast.exactly("bob", app)
        await bob.login(stack.gateways[1])
        await user.join("room")
        await bob.join("room")
        await user.tell("bob", "to bob")
        for _ in range(3):
            await user.say("room", "to both")
        api.post("apps", app.id, "users", "bob", "messages", body={"from": "shop", "message": "of a server"})
        api.post("apps", app.id, "channels", "nobody", "messages", body={"from": "shop", "message": "to nobody"})
        await ring(user, bob, "room")
        await bob.act("invite_accept", "room", "ann")
        await let_pass(1.1, "a talk of more than a second")
        await user.act("invite_bye", "room", "bob")

        def today() -> dict:
            day, = usage()["days"]
            return {name: day[name] for name in ("logins", "messages", "deliveries", "calls", "phoneCalls")}

        want = {"logins": 2, "messages": 5, "deliveries": 6, "calls": 1, "phoneCalls": 0}
        await eventually(lambda: today() == want, "gateways report every 10 s", 20)
        await eventually(lambda: usage()["days"][0]["peakUsers"] >= 2, "who is online is counted once a minute", 75)
        shown = json.loads(stack.control("app", "usage", app.id, "--days=1", "--json"))
        assert shown["days"][0] == usage()["days"][0]
        assert 1 <= shown["days"][0]["callSeconds"] <= 10 and shown["days"][0]["phoneCallSeconds"] == 0
        line, = stack.control("app", "usage", app.id).splitlines()
        assert "2 logins" in line and "5 messages" in line and "6 deliveries" in line


def test_what_only_the_cluster_may_see(stack: Stack, api: ServerAPI):
    apps = {app["app"]: app for app in listed(api, "apps", "apps", limit=1)}
    assert apps[stack.open_app.id]["tokenRequired"] is False and apps[stack.token_app.id]["tokenRequired"] is True
    assert stack.token_app.certificate not in json.dumps(apps)
    found = api.get("processes").body
    kinds = [process["kind"] for process in found["processes"]]
    assert kinds.count("gateway") >= 2 and {"presence", "channel-state", "invitation"} <= set(kinds)
    assert found["clusterLevel"] == min(process["level"] for process in found["processes"])
    own = ServerAPI(stack, create_key(stack, app=stack.open_app.id)["key"])
    for path in (("apps",), ("processes",)):
        answer = own.get(*path)
        assert (answer.status, answer.code) == (403, "forbidden")
    sender = ServerAPI(stack, create_key(stack, app=stack.open_app.id, scopes=("send",))["key"])
    assert sender.get("apps", stack.open_app.id, "users").status == 403


@pytest.mark.parametrize(("place", "query", "field"), [
    ("users", "limit=1001", "limit"), ("users", "limit=0", "limit"), ("users", "state=x", "state"), ("users", "prefix=%00", "prefix"),
    ("users", "prefix=" + "x" * 129, "prefix"), ("channels", "after=" + "x" * 1025, "after"), ("calls", "after=x", "after"),
    ("usage", "days=367", "days"), ("users", "days=1", "days")])
def test_lists_out_of_range(stack: Stack, api: ServerAPI, place: str, query: str, field: str):
    answer = api.get("apps", stack.open_app.id, place, query="?" + query)
    assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", field)
    assert answer.body["bound"]
