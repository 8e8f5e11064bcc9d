"""Mailboxes, listed and emptied by apps' servers."""

import time

import pytest
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack, app=stack.open_app.id)["key"])


def send(api: ServerAPI, stack: Stack, account: str, text: str, **more) -> int:
    sent = api.post("apps", stack.open_app.id, "users", account, "messages", body={"from": "shop", "message": text, **more})
    assert sent.status == 200, sent.body
    return sent.body["version"]


def mailbox(api: ServerAPI, stack: Stack, account: str, query: str = "") -> dict:
    answer = api.get("apps", stack.open_app.id, "users", account, "mailbox", query=query)
    assert answer.status == 200, answer.body
    return answer.body


def test_waiting_messages_page_by_page(stack: Stack, api: ServerAPI):
    account = unique("ü/away")
    assert mailbox(api, stack, account) == {"count": 0, "messages": [], "next": None}
    texts = [f"waiting number {number} ♥\n" for number in range(7)]
    versions = [send(api, stack, account, text, ttl=100) for text in texts]
    every = mailbox(api, stack, account)
    assert (every["count"], every["next"]) == (7, None)
    assert [message["version"] for message in every["messages"]] == versions
    first = every["messages"][0]
    assert first == {
        "version": versions[0], "account": "shop", "time": first["time"], "expiresAt": first["expiresAt"],
        "size": len(texts[0].encode()), "message": texts[0]}
    assert abs(first["time"] - time.time()) < 30 and abs(first["expiresAt"] - first["time"] - 100) <= 2
    for limit in (1, 3, 7):
        found, query = [], f"?limit={limit}"
        while True:
            part = mailbox(api, stack, account, query)
            assert len(part["messages"]) <= limit and part["count"] == 7
            found += part["messages"]
            if part["next"] is None:
                break
            query = f"?limit={limit}&after={part['next']}"
        assert found == every["messages"]


def test_a_large_mailbox(stack: Stack, api: ServerAPI):
    """More than one call of Redis reads, and more than a page has."""
    account, text = unique("away"), "a long message " + "x" * 5000
    for _ in range(3):
        items = [{"user": account, "from": f"sender{number % 10}", "message": text} for number in range(150)]
        assert api.post("apps", stack.open_app.id, "messages", body={"items": items}).body["failed"] == 0
    found, query, pages = 0, "?limit=1000", 0
    while True:
        part = mailbox(api, stack, account, query)
        assert part["count"] == 450
        found, pages = found + len(part["messages"]), pages + 1
        if part["next"] is None:
            break
        query = f"?limit=1000&after={part['next']}"
    assert found == 450 and pages >= 2
    path = ("apps", stack.open_app.id, "users", account, "mailbox")
    # It is charged for the calls of Redis that it takes, also when it can be repeated.
    slow = ServerAPI(stack, create_key(stack, app=stack.open_app.id, rate=20)["key"])
    emptied = slow.delete(*path, headers={"Idempotency-Key": unique("empty")})
    assert emptied.body == {"account": account, "removed": 450}
    # Alone it would be one of 20; on a busy machine, some come back before the answer.
    assert int(emptied.headers["RateLimit-Remaining"]) <= 15
    assert mailbox(api, stack, account) == {"count": 0, "messages": [], "next": None}


async def test_an_emptied_mailbox_goes_on(stack: Stack, people, api: ServerAPI):
    """Call events stay in it, and the user gets what comes later."""
    path = ("apps", stack.open_app.id, "users")
    async with people(stack) as cast:
        bob = cast.make("bob")
        for number in range(3):
            send(api, stack, bob.account, f"never to be read {number}")
        call = {"from": "shop", "to": bob.account, "channel": "c"}
        assert api.post("apps", stack.open_app.id, "calls", body=call).status == 200
        assert mailbox(api, stack, bob.account)["count"] == 3
        once = {"Idempotency-Key": unique("empty")}
        assert api.delete(*path, bob.account, "mailbox", headers=once).body == {"account": bob.account, "removed": 3}
        send(api, stack, bob.account, "to be read at the login")
        again = api.delete(*path, bob.account, "mailbox", headers=once)
        assert (again.body["removed"], again.headers["Idempotency-Replayed"]) == (3, "true")
        assert mailbox(api, stack, bob.account)["count"] == 1
        await bob.login(stack.gateways[0])
        await eventually(lambda: bob.texts("shop") == ["to be read at the login"], "the message arrived")
        await eventually(lambda: bob.calls("invite"), "the call arrived")


async def test_recall(stack: Stack, people, api: ServerAPI):
    async with people(stack) as cast:
        bob = cast.make("bob")
        path = ("apps", stack.open_app.id, "users", bob.account, "mailbox")
        first, wrong, last = (send(api, stack, bob.account, text) for text in ("the first one", "a wrong one", "the last one"))
        assert api.delete(*path, str(wrong)).body == {"account": bob.account, "version": wrong}
        twice = api.delete(*path, str(wrong))
        assert (twice.status, twice.code, twice.body["field"]) == (404, "not_found", "version")
        assert [message["version"] for message in mailbox(api, stack, bob.account)["messages"]] == [first, last]
        await bob.login(stack.gateways[1])
        await eventually(lambda: bob.texts("shop") == ["the first one", "the last one"], "the others arrived")


async def test_what_a_session_has_cannot_be_recalled(stack: Stack, people, api: ServerAPI):
    async with people(stack) as cast:
        # A client that fetches nothing, so that everything waits.
        bob = cast.make("bob", polls=False)
        path = ("apps", stack.open_app.id, "users", bob.account, "mailbox")
        await bob.login(stack.gateways[0])
        given = send(api, stack, bob.account, "told to the client")
        refused = api.delete(*path, str(given))
        assert (refused.status, refused.code) == (409, "already_delivered")
        bob.abort()
        await eventually(
            lambda: api.get(*path[:-1]).body["state"] == "detached", "the connection is lost")
        late = send(api, stack, bob.account, "told to nobody yet")
        # It was told before the connection was lost.
        assert api.delete(*path, str(given)).code == "already_delivered"
        assert api.delete(*path, str(late)).status == 200
        kept = send(api, stack, bob.account, "kept until it returns")
        bob.polls = True
        await bob.resume(stack.gateways[1])
        refused = api.delete(*path, str(kept))
        assert refused.status in (404, 409), "the session is connected again"
        bob._poll()
        await eventually(lambda: bob.texts("shop") == ["told to the client", "kept until it returns"], "what was not recalled")


def test_what_is_refused(stack: Stack, api: ServerAPI):
    path = ("apps", stack.open_app.id, "users", unique("user"), "mailbox")
    for query, field in (("limit=0", "limit"), ("limit=1001", "limit"), ("after=x", "after"), ("x=1", "x")):
        answer = api.get(*path, query="?" + query)
        assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", field)
    for version in ("0", "-1", "x", "9007199254740992"):
        answer = api.delete(*path, version)
        assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", "version")
    assert api.delete(*path, "17").status == 404
    reader = ServerAPI(stack, create_key(stack, app=stack.open_app.id, scopes=("read", "send"))["key"])
    assert reader.get(*path).status == 200
    assert reader.delete(*path).status == reader.delete(*path, "1").status == 403
    writer = ServerAPI(stack, create_key(stack, app=stack.open_app.id, scopes=("send", "admin"))["key"])
    assert writer.get(*path).status == 403
