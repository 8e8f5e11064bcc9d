"""Ids of requests and of traces: answered, in the log lines of every process that a request goes through, and in the audit trail."""

import json
import re

import pytest
from request_lines import lines, said
from server_api import Answer, ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually, eventually_blocking

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
LONGEST = "x" * 128
# A client's id may look like a part of a log line.
FORGER = '"},"message":"forged","level":"error'


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack)["key"])


def awaited(stack: Stack, kind: str, request: str) -> dict:
    """The metadata of the only line about a request; lines are written a moment later."""
    eventually_blocking(lambda: lines(stack, kind, request), f"{kind} logs the request")
    line, = lines(stack, kind, request)
    return line["metadata"]


def trace_of(answer: Answer) -> tuple[str, str, str]:
    """The trace, the span and the flags of an answer."""
    matched = re.fullmatch("00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])", answer.headers["traceparent"])
    assert matched, answer.headers
    return matched.groups()


@pytest.mark.parametrize("given", ["x", "order-17/a", "!~", FORGER, LONGEST])
def test_a_clients_id_is_answered(stack: Stack, api: ServerAPI, given: str):
    headers = {"X-Request-Id": given}
    answers = [
        api.get("key", headers=headers), api.get("errors", "failed", headers=headers), api.get("nothing", headers=headers),
        api.post("key", headers=headers), api.get("apps", unique("none"), "users", headers=headers),
        ServerAPI(stack, "hk_no_key").get("key", headers=headers), api.post("apps", stack.open_app.id, "messages", body=b"{", headers=headers)]
    assert [answer.status for answer in answers] == [200, 200, 404, 405, 404, 401, 400]
    for answer in answers:
        assert answer.headers["X-Request-Id"] == given
        assert answer.body.get("requestId") == (given if answer.status >= 400 else None)


@pytest.mark.parametrize("given", [None, "", LONGEST + "x", "a b", "a, b", "a\tb", "ü".encode()])
def test_another_id_is_replaced(api: ServerAPI, given: str | bytes | None):
    made = set()
    for _ in range(2):
        answer = api.get("nothing", headers={} if given is None else {"X-Request-Id": given})
        assert answer.status == 404
        assert re.fullmatch("[0-9a-f]{32}", answer.headers["X-Request-Id"]), answer.headers
        assert answer.body["requestId"] == answer.headers["X-Request-Id"]
        made.add(answer.body["requestId"])
    assert len(made) == 2


def test_an_id_with_a_control_byte_is_no_header(api: ServerAPI):
    assert api.get("nothing", headers={"X-Request-Id": b"\x7f"}).status == 400


def test_results_of_a_batch_have_no_ids_of_their_own(stack: Stack, api: ServerAPI):
    items = [{"user": ".", "from": "shop", "message": "a message to nobody"}]
    answer = api.post("apps", stack.open_app.id, "broadcasts", body={"users": [unique("u")], "from": "shop", "message": "a text for somebody"})
    assert answer.status == 200 and "requestId" not in json.dumps(answer.body)
    refused = api.post("apps", stack.open_app.id, "messages", body={"items": items})
    assert refused.status == 400 and refused.body["requestId"] == refused.headers["X-Request-Id"]


@pytest.mark.parametrize(("given", "flags"), [
    (f"00-{TRACE}-{SPAN}-01", "01"), (f"00-{TRACE}-{SPAN}-00", "00"), (f"00-{TRACE}-{SPAN}-ff", "01"), (f"cc-{TRACE}-{SPAN}-01-later", "01")])
def test_a_trace_goes_on(api: ServerAPI, given: str, flags: str):
    trace, span, answered = trace_of(api.get("key", headers={"traceparent": given}))
    assert (trace, answered) == (TRACE, flags) and span != SPAN


@pytest.mark.parametrize("given", [
    None, "", f"00-{TRACE}-{SPAN}", f"00-{TRACE}-{SPAN}-01-x", f"ff-{TRACE}-{SPAN}-01", f"00-{TRACE.upper()}-{SPAN}-01",
    f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01", f"00-{TRACE}-{SPAN}-01, 00-{TRACE}-{SPAN}-01"])
def test_another_trace_is_replaced(api: ServerAPI, given: str | None):
    headers = {} if given is None else {"traceparent": given}
    first, second = (trace_of(api.get("key", headers=headers)) for _ in range(2))
    assert len({TRACE, "0" * 32, first[0], second[0]}) == 4 and first[2] == "00"


def test_a_repetition_tells_of_the_request_that_was_carried_out(stack: Stack, api: ServerAPI):
    path = ("apps", stack.open_app.id, "users", unique("u"), "attributes", "color")
    answers = [
        api.put(*path, body={"value": "blue", "expected": "red"}, headers={"Idempotency-Key": path[3], "X-Request-Id": given})
        for given in ("first", "second")]
    assert [answer.status for answer in answers] == [409, 409]
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    assert [answer.headers["X-Request-Id"] for answer in answers] == ["first", "second"]
    assert [answer.body["requestId"] for answer in answers] == ["first", "first"]


def test_an_act_is_in_the_log_of_its_service_and_in_the_audit_trail_with_its_request(stack: Stack):
    app = stack.create_app(unique("ids")).id
    api = ServerAPI(stack, create_key(stack, app=app)["key"])
    request = unique("ban") + FORGER
    done = api.put(
        "apps", app, "users", "anna", "ban", body={"seconds": 60},
        headers={"X-Request-Id": request, "traceparent": f"00-{TRACE}-{SPAN}-01"})
    assert done.status == 200
    line = awaited(stack, "presence", request)
    assert line["trace"] == TRACE and line["account"] == "anna"
    assert not lines(stack, "gateway", request), "what succeeds is not logged by the gateway"
    assert api.key.rpartition("_")[2] not in json.dumps(line)
    entries = json.loads(stack.control("audit", "--app", app, "--json"))["entries"]
    entry, = (one for one in entries if one["act"] == "user.ban")
    assert (entry["requestId"], entry["traceId"], entry["command"]) == (request, TRACE, line["command"])


def test_a_failure_is_in_the_logs_of_the_gateway_and_of_the_service_that_refused(make_stack):
    stack: Stack = make_stack(gateways=1)
    api = ServerAPI(stack, create_key(stack)["key"])
    request = unique("failing") + FORGER
    stack.sql("ALTER TABLE audit_entries ADD CONSTRAINT none CHECK (act <> 'user.disconnect') NOT VALID")
    failed = api.post(
        "apps", stack.open_app.id, "users", "anna", "disconnect",
        headers={"X-Request-Id": request, "traceparent": f"00-{TRACE}-{SPAN}-01"})
    assert failed.status == 500
    assert failed.body["requestId"] == request
    gateway, presence = awaited(stack, "gateway", request), awaited(stack, "presence", request)
    assert gateway["trace"] == presence["trace"] == TRACE
    assert (gateway["operation"], gateway["code"], gateway["error"]) == ("disconnectUser", "failed", failed.body["detail"])
    assert (presence["operation"], presence["reason"]) == ("user.disconnect", "refused_by_postgres")
    assert api.key.rpartition("_")[2] not in json.dumps([gateway, presence])
    # Requests that are the client's fault have no lines.
    assert api.get("apps", "none", "users", headers={"X-Request-Id": "refused"}).status == 404
    assert not lines(stack, "gateway", "refused")


def test_a_service_that_is_away_leaves_a_line_at_the_gateway(make_stack):
    stack: Stack = make_stack(gateways=1)
    api = ServerAPI(stack, create_key(stack)["key"])
    assert api.get("key").status == 200
    away = [name for name in stack.pids if name.startswith("channel-state#")]
    for name in away:
        stack.freeze(name)
    try:
        answer = api.get("apps", stack.open_app.id, "channels", "room 1", "attributes", headers={"X-Request-Id": "unanswered"})
    finally:
        for name in away:
            stack.thaw(name)
    assert (answer.status, answer.code, answer.body["requestId"]) == (504, "timeout", "unanswered")
    assert awaited(stack, "gateway", "unanswered")["code"] == "timeout"


async def test_what_a_request_causes_is_in_the_logs_of_all_services_that_take_part(make_stack, people, monkeypatch):
    """Each service at the level that Docs/operations.md names: calls of users and leaves have lines at debug only."""
    monkeypatch.setenv("HELIOGRAPH_LOG_LEVEL", "debug")
    stack: Stack = make_stack(gateways=1)
    api, app, room = ServerAPI(stack, create_key(stack)["key"]), ("apps", stack.open_app.id), unique("room")

    def request(method: str, *path: str, of: str, **more) -> Answer:
        answer = api.ask(method, *app, *path, headers={"X-Request-Id": of, "traceparent": f"00-{TRACE}-{SPAN}-01"}, **more)
        assert answer.status == 200, answer.body
        return answer

    async with people(stack) as cast:
        alice, bob = await cast.members(room, "alice", "bob")
        call = request("POST", "calls", of="start", body={"from": "shop", "to": alice.account, "channel": "c1"}).body["call"]
        request("DELETE", "calls", call, of="end", query="?account=shop")
        request("POST", "calls", of="another", body={"from": "shop", "to": alice.account, "channel": "c2"})
        await eventually(lambda: len(alice.calls("invite")) == 2, "the invitations arrived")
        await alice.act("invite_ack", "c2", "shop")
        await alice.act("invite_accept", "c2", "shop")
        assert request("PUT", "channels", room, "bans", bob.account, of="remove", body={"seconds": 60}).body["removed"] is True
        request("POST", "users", alice.account, "disconnect", of="disconnect")
        await eventually(alice.closed.is_set, "the user is disconnected")
    for kind, level, message, requests in (
            ("invitation", "debug", "call", ("start", "end", "another", "disconnect")),
            ("channel-state", "debug", "left", ("remove", "disconnect")),
            ("presence", "info", "session ended", ("disconnect",))):
        for of in requests:
            eventually_blocking(lambda: (level, message) in said(stack, kind, of), f"{kind} tells at {level} of {message!r} for {of!r}")
            about = [line["metadata"] for line in lines(stack, kind, of)]
            assert all(line["trace"] == TRACE and line["command"] for line in about), about
