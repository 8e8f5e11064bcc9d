"""Calls that apps' servers start, end and send digits in."""

import pytest
from acts import mail_barrier, ring
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack, app=stack.open_app.id)["key"])


@pytest.fixture
def path(stack: Stack) -> tuple[str, ...]:
    return ("apps", stack.open_app.id, "calls")


def started(api: ServerAPI, path: tuple[str, ...], **body: str) -> str:
    """Starts a call; its id."""
    answer = api.post(*path, body=body)
    assert answer.status == 200, answer.body
    return answer.body["call"]


async def test_a_call_to_a_user(stack: Stack, people, api: ServerAPI, path):
    """What the called client gets is what it gets of an invitation by a client, over whichever gateway."""
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await ring(alice, bob, "of a client", '{"n":1}')
        await alice.act("invite_bye", "of a client", bob.account)
        call = started(api, path, **{"from": alice.account}, to=bob.account, channel="of a server", extra='{"n":1}')
        await eventually(lambda: len(bob.calls("invite")) == 2, "the invitation arrived")
        of_client, of_server = bob.calls("invite")
        assert of_server == of_client | {"channel": "of a server"} and of_server["peeruid"] == alice.uid
        await bob.act("invite_ack", "of a server", alice.account)
        await bob.act("invite_accept", "of a server", alice.account)
        assert api.post(*path, call, "digits", body={"from": alice.account, "digits": "12#"}).body == {"call": call}
        await eventually(lambda: bob.calls("invite_msg"), "the digits arrived")
        assert bob.calls("invite_msg")[0]["extra"] == '{"msgtype":"dtmf","msgdata":"12#"}'
        byes = len(bob.calls("invite_bye"))
        ended = api.delete(*path, call, query=f"?account={alice.account}")
        assert (ended.status, ended.body) == (200, {"call": call})
        await eventually(lambda: len(bob.calls("invite_bye")) == byes + 1, "the end arrived")
        # The caller's client would fail on events of a call that it did not make.
        await mail_barrier(alice)
        assert [message.call["channel"] for message in alice.messages if message.type.startswith("voip_")] == ["of a client"]
        again = api.delete(*path, call, query=f"?account={alice.account}")
        assert (again.status, again.code) == (404, "not_found")
        listed = api.get(*path, query="?limit=1000").body["calls"]
        row = next((row for row in listed if row["id"] == call), None)
        assert row is None or (row["caller"], row["callee"]) == (alice.account, bob.account)


async def test_a_caller_who_never_logged_in(stack: Stack, people, api: ServerAPI, path):
    async with people(stack) as cast:
        bob, = await cast.login("bob", gateway=1)
        call = started(api, path, **{"from": unique("shop")}, to=bob.account, channel="c")
        await eventually(lambda: bob.calls("invite"), "the invitation arrived")
        peer = bob.calls("invite")[0]["peer"]
        assert bob.calls("invite") == [{"channel": "c", "peer": peer, "extra": "", "peeruid": 0}]
        await bob.act("invite_ack", "c", peer)
        # The callee's server ends it: the client of the callee is told.
        assert api.delete(*path, call, query=f"?account={bob.account}").status == 200
        await eventually(lambda: bob.calls("invite_bye"), "the end arrived")


async def test_a_server_ends_a_call_of_users(stack: Stack, people, api: ServerAPI, path):
    channel = unique("call")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await ring(alice, bob, channel)
        calls: list[dict] = []

        def listed() -> bool:
            calls[:] = [call for call in api.get(*path, query="?limit=1000").body["calls"] if call["channel"] == channel]
            return bool(calls)

        await eventually(listed, "the log has the call", 10)
        assert api.delete(*path, calls[0]["id"], query=f"?account={bob.account}").status == 200
        for user in (alice, bob):
            await eventually(lambda user=user: user.calls("invite_bye"), "the end arrived")


async def test_a_repeated_start_calls_once(stack: Stack, people, path):
    key = create_key(stack, app=stack.open_app.id)["key"]
    once = {"Idempotency-Key": unique("call")}
    async with people(stack) as cast:
        bob, = await cast.login("bob")
        body = {"from": "shop", "to": bob.account, "channel": "c"}
        answers = [ServerAPI(stack, key, gateway).post(*path, body=body, headers=once) for gateway in (0, 1)]
        assert [answer.status for answer in answers] == [200, 200] and answers[0].body == answers[1].body
        assert answers[1].headers["Idempotency-Replayed"] == "true"
        second = ServerAPI(stack, key).post(*path, body=body)
        assert (second.status, second.code) == (409, "call_pending")
        await eventually(lambda: bob.calls("invite"), "the invitation arrived")
        await mail_barrier(bob)
        assert len(bob.calls("invite")) == 1


def test_digits_before_the_telephone_is_called(make_stack):
    """Without a bridge nobody calls it."""
    stack: Stack = make_stack(gateways=1, sip_bridge=0)
    api, path = ServerAPI(stack, create_key(stack)["key"]), ("apps", stack.open_app.id, "calls")
    stack.control("trunk", "set", stack.open_app.id, "192.0.2.1", "--allow=any")
    call = started(api, path, **{"from": "shop"}, to="+49301234567", channel="c")
    early = api.post(*path, call, "digits", body={"from": "shop", "digits": "1"})
    assert (early.status, early.code) == (409, "wrong_call_state")
    assert api.delete(*path, call, query="?account=shop").status == 200


def test_what_is_refused(stack: Stack, api: ServerAPI, path):
    good = {"from": "ann", "to": "bob", "channel": "c"}
    for body, field in (
            (good | {"to": "ann"}, "to"), (good | {"to": "a b"}, "to"), (good | {"channel": "x" * 129}, "channel"),
            (good | {"extra": "{"}, "extra"), (good | {"extra": '"' + "x" * 8191 + '"'}, "extra"), (good | {"more": 1}, "more")):
        answer = api.post(*path, body=body)
        assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", field)
        assert answer.body["bound"]
    for digits in ("", ",", "a", "1" * 129, 1):
        answer = api.post(*path, "x", "digits", body={"from": "ann", "digits": digits})
        assert (answer.status, answer.body["field"]) == (400, "digits")
    missing = api.post(*path, "x", "digits", body={"from": "ann", "digits": "1"})
    assert (missing.status, missing.code) == (404, "not_found")
    assert api.delete(*path, "x").body["field"] == "account"
    for scopes in (("read",), ("send",)):
        other = ServerAPI(stack, create_key(stack, app=stack.open_app.id, scopes=scopes)["key"])
        assert other.post(*path, body=good).status == other.delete(*path, "x", query="?account=ann").status == 403
