"""What both clients do when a request fails: they try again, or say why they do not. And whose webhooks they trust."""

import hashlib
import hmac
import json
import time
from collections.abc import Iterator

import pytest
from client_kinds import ATTEMPTS, KINDS, Refused
from pretended_api import BROKEN, PretendedAPI, Reply, problem

SENT = {"from": "shop", "message": "Your order is ready."}
SECRET = "whsec-of-the-tests-0123456789"


@pytest.fixture
def api() -> Iterator[PretendedAPI]:
    with PretendedAPI() as pretended:
        yield pretended


@pytest.fixture(params=KINDS)
def client(request: pytest.FixtureRequest, api: PretendedAPI):
    made = KINDS[request.param]("hk_test", api.url)
    yield made
    made.close()


def keys(api: PretendedAPI) -> list[str]:
    """The idempotency keys of what was asked."""
    return [value for asked in api.asked for name, value in asked.headers.items() if name.lower() == "idempotency-key"]


def test_a_rate_is_waited_for_with_the_same_key(api: PretendedAPI, client):
    api.replies = [problem(429, "rate_limited", retry_after=1), problem(503, "unavailable"), Reply(body={"version": 5})]
    began = time.monotonic()
    assert client.call("sendMessage", "demo", "ada", **SENT) == {"version": 5}
    assert time.monotonic() - began >= 1
    assert len(api.asked) == len(keys(api)) == 3 and len(set(keys(api))) == 1
    assert [asked.body for asked in api.asked] == [SENT] * 3
    # Another write has another key.
    client.call("sendMessage", "demo", "ada", **SENT)
    assert len(set(keys(api))) == 2


def test_a_broken_connection_is_made_again_and_a_request_in_progress_waited_for(api: PretendedAPI, client):
    for code in ("request_in_progress", "settings_changing"):
        api.asked.clear()
        api.replies = [BROKEN, problem(409, code), Reply(body={"version": 5})]
        assert client.call("sendMessage", "demo", "ada", **SENT) == {"version": 5}
        assert len(api.asked) == 3 and len(set(keys(api))) == 1


def test_what_cannot_succeed_is_not_tried_again(api: PretendedAPI, client):
    for status, code in ((400, "invalid_argument"), (403, "forbidden"), (409, "call_pending"), (500, "failed")):
        api.asked.clear()
        api.replies = [problem(status, code, field="ttl", bound="a whole number of 0...2592000", requestId="r=1")]
        with pytest.raises(Refused) as refused:
            client.call("sendMessage", "demo", "ada", **SENT)
        assert refused.value.error == {
            "status": status, "code": code, "field": "ttl", "bound": "a whole number of 0...2592000", "retryAfter": None,
            "requestId": "r=1", "text": f"{status} {code}: d (request r=1)"}
        assert len(api.asked) == 1


def test_a_request_has_its_id_also_when_the_answer_is_none_of_the_apis(api: PretendedAPI, client):
    for reply, expected in (
            (Reply(502, "<html>", (("X-Request-Id", "r-2"),), "text/html"), "r-2"), (Reply(502, "<html>", (), "text/html"), None),
            # Of a repetition, the answer tells of the request that was carried out.
            (problem(403, "forbidden", requestId="r-1"), "r-1"), (problem(403, "forbidden"), None)):
        api.replies = [reply]
        with pytest.raises(Refused) as refused:
            client.call("getUser", "demo", "ada")
        assert refused.value.error["requestId"] == expected
        assert ("(request" in refused.value.error["text"]) == (expected is not None)


def test_attempts_are_bounded(api: PretendedAPI, client):
    api.replies = [problem(503, "unavailable", bound="b")]
    with pytest.raises(Refused) as refused:
        client.call("getUser", "demo", "ada")
    assert (refused.value.error["code"], refused.value.error["bound"], len(api.asked)) == ("unavailable", "b", ATTEMPTS)


def test_long_waits_are_the_callers(api: PretendedAPI, client):
    api.replies = [problem(429, "rate_limited", retry_after=3600)]
    with pytest.raises(Refused) as refused:
        client.call("getUser", "demo", "ada")
    assert (refused.value.error["retryAfter"], len(api.asked)) == (3600, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_another_gateway_is_asked(api: PretendedAPI, kind: str):
    with PretendedAPI() as gone:
        pass
    client = KINDS[kind]("hk_test", gone.url, api.url)
    api.replies = [Reply(body={"account": "ada", "online": True})]
    assert client.call("getUser", "demo", "ada")["online"]
    client.close()


def test_answers_of_something_else(api: PretendedAPI, client):
    for reply in (Reply(502, "<html>bad gateway</html>", content_type="text/html"), Reply(200, "no JSON"), Reply(302, "", (("Location", "/"),))):
        api.replies = [reply]
        with pytest.raises(Refused) as refused:
            client.call("getUser", "demo", "ada")
        assert (refused.value.error["status"], refused.value.error["code"]) == (reply.status, "failed")


def test_names_are_escaped(api: PretendedAPI, client):
    client.call("getChannelAttribute", "demo", "a/b ?#%日", "ä&=+")
    assert api.asked[0].path == ["apps", "demo", "channels", "a/b ?#%日", "attributes", "ä&=+"]
    client.call("listUsers", "demo", prefix="ä&=+ /")
    assert api.asked[1].query == {"prefix": "ä&=+ /"}


def test_compare_and_set(api: PretendedAPI, client):
    client.call("setUserAttribute", "demo", "ada", "color", value="blue")
    client.call("setUserAttribute", "demo", "ada", "color", value="blue", expected=None)
    assert [asked.body for asked in api.asked] == [{"value": "blue"}, {"value": "blue", "expected": None}]


def test_pages_are_read_to_the_last(api: PretendedAPI, client):
    users = [[{"account": "a"}, {"account": "b"}], [], [{"account": "c"}]]
    api.replies = [Reply(body={"users": page, "next": place}) for page, place in zip(users, ("b", "bb", None), strict=True)]
    assert client.each("listUsers", "demo", state="all", limit=2) == [{"account": one} for one in "abc"]
    assert [asked.query.get("after") for asked in api.asked] == [None, "b", "bb"]
    assert all(asked.query["state"] == "all" and asked.query["limit"] == "2" for asked in api.asked)
    api.replies = [Reply(body={"members": [], "next": None})]
    assert client.each("listMembers", "demo", "room 1") == []
    assert api.asked[-1].query == {"after": ""}


def lines(*events: tuple[str, dict | None]) -> Reply:
    text = ""
    for place, data in events:
        text += f": \nid: {place}\n\n" if data is None else f"event: {data['event']}\nid: {place}\ndata: {json.dumps(data)}\n\n"
    return Reply(body=text, content_type="text/event-stream")


def test_a_stream_goes_on_after_the_last_event(api: PretendedAPI, client):
    online, offline = {"event": "online", "account": "ä: b"}, {"event": "offline", "account": "b"}
    api.replies = [lines(("1", None), ("2", online)), BROKEN, problem(503, "unavailable"), lines(("7", None)), lines(("8", offline))]
    told = client.follow("demo", 2, kinds=["online", "offline"])
    assert told == [{"id": "2", "event": "online", "data": online}, {"id": "8", "event": "offline", "data": offline}]
    places = [{name.lower(): value for name, value in asked.headers.items()}.get("last-event-id") for asked in api.asked]
    assert places == [None, "2", "2", "2", "7"]
    assert all(asked.query == {"kinds": "online,offline"} for asked in api.asked)


def test_a_stream_ends_as_soon_as_it_is_told_to(api: PretendedAPI, client):
    """The body ends at the same time, again and again: Node's own reader would wait for ever now and then."""
    api.replies = [lines(*((str(place), {"event": "online", "account": f"user{place}"}) for place in range(3)))]
    for _ in range(50):
        assert [one["id"] for one in client.follow("demo", 2)] == ["0", "1"]


def test_a_stream_that_is_refused_ends(api: PretendedAPI, client):
    api.replies = [problem(403, "forbidden")]
    with pytest.raises(Refused) as refused:
        client.follow("demo", 1, after="9")
    assert (refused.value.error["code"], len(api.asked)) == ("forbidden", 1)


def signed(body: bytes, at: int, secret: str = SECRET) -> str:
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def test_signatures(client):
    body, now = '{"app":"demo","events":["ä"]}'.encode(), int(time.time())
    header = signed(body, now)
    assert client.genuine(header, body, SECRET) and client.genuine(signed(body, now - 200), body, SECRET)
    # While a secret is being replaced there are several, in any order.
    other = signed(body, now, SECRET + "x")
    assert client.genuine(f"{header},{other.partition(',')[2]}", body, SECRET)
    assert client.genuine(f"{other},{header.partition(',')[2]}", body, SECRET)
    assert client.genuine(f"{header},v1=ä,v2=x", body, SECRET)
    wrong = [
        (f"{other},v1=", body, SECRET), (header.replace(",v1=", f",v2={'0' * 64},v1=") + "0", body, SECRET),
        (header.replace("v1", "v2"), body, SECRET), (signed(body, now - 400), body, SECRET), (signed(body, now + 400), body, SECRET), (header, body + b" ", SECRET),
        (header, body, SECRET + "x"), (header[:-1], body, SECRET), (header.replace(f"t={now}", f"t={now - 1}"), body, SECRET),
        (header.partition(",")[0], body, SECRET), ("", body, SECRET), ("t=x,v1=ä", body, SECRET), (f"t={now},v1=", body, SECRET),
        (f"t={now},v1=" + "ä" * 64, body, SECRET)]
    for one in wrong:
        assert not client.genuine(*one), one
