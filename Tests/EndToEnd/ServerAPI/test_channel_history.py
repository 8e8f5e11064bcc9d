"""What the logs of channels have of the past."""

import pytest
from server_api import ServerAPI, create_key
from stack_control import Stack, unique


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack, app=stack.open_app.id)["key"])


def page(api: ServerAPI, stack: Stack, room: str, kind: str, query: str = "") -> dict:
    answer = api.get("apps", stack.open_app.id, "channels", room, kind, query=query)
    assert answer.status == 200, answer.body
    return answer.body


async def test_messages_page_by_page(stack: Stack, people, api: ServerAPI):
    room = unique("room ☂/")
    assert page(api, stack, room, "messages") == {"messages": [], "complete": True, "next": None}
    async with people(stack) as cast:
        ann, bob = await cast.members(room, "ann", "bob")
        ids = []
        for number in range(7):
            sent = api.post(
                "apps", stack.open_app.id, "channels", room, "messages", body={"from": "shop", "message": f"m{number} ♥\n"})
            ids.append(sent.body["id"])
        await bob.call("channel_sendmsg", name=room, msg="of a user")
        every = page(api, stack, room, "messages")
        assert every["complete"] is True and every["next"] is None
        assert [message["message"] for message in every["messages"]] == [f"m{number} ♥\n" for number in range(7)] + ["of a user"]
        assert [message["id"] for message in every["messages"]][:7] == ids
        first, last = every["messages"][0], every["messages"][-1]
        assert first == {
            "id": ids[0], "account": "shop", "uid": 0, "time": ids[0] // 1_000_000, "message": "m0 ♥\n"}
        assert (last["account"], last["uid"]) == (bob.account, bob.uid)
        for limit in (1, 3, 8):
            found, query = [], f"?limit={limit}"
            while True:
                part = page(api, stack, room, "messages", query)
                assert len(part["messages"]) <= limit and part["complete"]
                found += part["messages"]
                if part["next"] is None:
                    break
                query = f"?limit={limit}&after={part['next']}"
            assert found == every["messages"]
        # What came since the last event that the server has.
        assert page(api, stack, room, "messages", f"?after={last['id']}")["messages"] == []
        await ann.call("channel_sendmsg", name=room, msg="news")
        since = page(api, stack, room, "messages", f"?after={last['id']}")
        assert [message["message"] for message in since["messages"]] == ["news"] and since["complete"] is True


async def test_backwards_and_between_times(stack: Stack, people, api: ServerAPI):
    room = unique("room")
    async with people(stack) as cast:
        await cast.members(room, "ann", "bob")
        for number in range(20):
            api.post("apps", stack.open_app.id, "channels", room, "messages", body={"from": "shop", "message": f"message {number}"})
        for kind in ("messages", "events"):
            every = page(api, stack, room, kind)[kind]
            assert len(every) == (20 if kind == "messages" else 22)
            assert page(api, stack, room, kind, "?order=descending") == {kind: every[::-1], "complete": True, "next": None}
            for limit in (1, 7, 22):
                found, query = [], f"?order=descending&limit={limit}"
                while True:
                    part = page(api, stack, room, kind, query)
                    assert len(part[kind]) <= limit and part["complete"]
                    found += part[kind]
                    if part["next"] is None:
                        break
                    query = f"?order=descending&limit={limit}&after={part['next']}"
                assert found == every[::-1]
            # What came before an event.
            middle = every[9]
            assert page(api, stack, room, kind, f"?order=descending&limit=3&after={middle['id']}")[kind] == every[6:9][::-1]
            first, last = every[0]["time"], every[-1]["time"]
            for order in ("ascending", "descending"):
                turned = every if order == "ascending" else every[::-1]
                def between(begin: int, end: int, kind=kind, order=order) -> dict:
                    return page(api, stack, room, kind, f"?order={order}&from={begin}&until={end}")
                assert between(first, last + 1) == {kind: turned, "complete": True, "next": None}
                for cut in range(first, last + 2):
                    early, late = between(first, cut)[kind], between(cut, last + 1)[kind]
                    assert early == [event for event in turned if event["time"] < cut]
                    assert late == [event for event in turned if event["time"] >= cut]
                assert between(last + 100, last + 200)[kind] == between(first, first)[kind] == []


async def test_events_of_members_and_attributes(stack: Stack, people, api: ServerAPI):
    room = unique("room")
    async with people(stack) as cast:
        ann, bob = await cast.members(room, "ann", "bob")
        await ann.call("channel_set_attr", channel=room, name="topic", value="x")
        await ann.call("channel_sendmsg", name=room, msg="hello")
        await ann.call("channel_del_attr", channel=room, name="topic")
        await ann.call("channel_clear_attr", channel=room)
        await bob.call("channel_leave", name=room)
        found = page(api, stack, room, "events")
        assert found["next"] is None and found["complete"] is True
        nothing = {"message": None, "name": None, "value": None}
        told = [{name: event[name] for name in ("event", "account", "message", "name", "value")} for event in found["events"]]
        assert told == [
            nothing | {"event": "join", "account": ann.account}, nothing | {"event": "join", "account": bob.account},
            nothing | {"event": "attribute_set", "account": ann.account, "name": "topic", "value": "x"},
            nothing | {"event": "message", "account": ann.account, "message": "hello"},
            nothing | {"event": "attribute_deleted", "account": ann.account, "name": "topic"},
            nothing | {"event": "attributes_cleared", "account": ann.account},
            nothing | {"event": "leave", "account": bob.account}]
        ids = [event["id"] for event in found["events"]]
        assert ids == sorted(set(ids))
        assert [event["message"] for event in page(api, stack, room, "messages")["messages"]] == ["hello"]


async def test_what_the_log_has_dropped(stack: Stack, people):
    """A reader that comes too late is told so."""
    app = stack.create_app(unique("loud"))
    stack.control("app", "limit", app.id, "--channel-messages-per-second=100000")
    api = ServerAPI(stack, create_key(stack, app=app.id)["key"])
    room = unique("room")
    async with people(stack) as cast:
        ann = cast.make("ann", app)
        await ann.login(stack.gateways[0])
        await ann.join(room)
        items = [{"channel": room, "from": "shop", "message": f"m{number}"} for number in range(1000)]
        for _ in range(3):
            assert api.post("apps", app.id, "messages", body={"items": items}).body["failed"] == 0
        found, query, complete = [], "?limit=1000", []
        while True:
            part = api.get("apps", app.id, "channels", room, "messages", query=query).body
            complete.append(part["complete"])
            found += part["messages"]
            if part["next"] is None:
                break
            query = f"?limit=1000&after={part['next']}"
        assert complete[0] is False and all(complete[1:])
        assert 2000 <= len(found) < 3000
        # Backwards, the last page is the one that misses something.
        back, query, complete = [], "?order=descending&limit=1000", []
        while True:
            part = api.get("apps", app.id, "channels", room, "messages", query=query).body
            complete.append(part["complete"])
            back += part["messages"]
            if part["next"] is None:
                break
            query = f"?order=descending&limit=1000&after={part['next']}"
        assert complete[-1] is False and all(complete[:-1])
        assert back == found[::-1]
        assert [message["message"] for message in found] == [f"m{number % 1000}" for number in range(3000 - len(found), 3000)]


def test_history_out_of_range(stack: Stack, api: ServerAPI):
    for kind in ("messages", "events"):
        for query, field in (
                ("limit=0", "limit"), ("limit=1001", "limit"), ("after=x", "after"),
                ("after=9007199254740992", "after"), ("x=1", "x"),
                ("order=up", "order"), ("from=-1", "from"), ("until=9007199255", "until")):
            answer = api.get("apps", stack.open_app.id, "channels", "c", kind, query="?" + query)
            assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", field)
            assert answer.body["bound"]
    sender = ServerAPI(stack, create_key(stack, app=stack.open_app.id, scopes=("send", "admin"))["key"])
    assert sender.get("apps", stack.open_app.id, "channels", "c", "messages").status == 403
