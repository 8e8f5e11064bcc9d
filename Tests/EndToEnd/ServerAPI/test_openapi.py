"""`Docs/openapi.json` and the server agree: schemathesis tries what the file allows, and what it does not."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from acts import ring
from described_api import document, is_as_described, operation_of, operations, resolved
from event_stream import Stream
from jsonschema import Draft202012Validator
from server_api import Answer, ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually

# Of each operation, besides those that cover each bound.
EXAMPLES = "6"
# After which no further examples are tried; the cluster's keys may do more, which takes longer than to refuse it.
BUDGET_SECONDS = 45
CLUSTER_BUDGET_SECONDS = 60
SECONDS = 180
# A stream of events, which does not end: tests of its own read it, and compare what is answered instead.
ENDLESS = "followEvents"
# What ends an app or a process that the others need; test_api_settings and test_drain compare their answers with the file.
FATAL = ("removeApp", "drainProcess")
# The file cannot say that names and texts are bounded in bytes, so that the server refuses some of what the file allows.
EXCLUDED = "positive_data_acceptance"
# What answers tell is not asked for: of the keys that are listed, one is that of the requests, which would be revoked.
CONFIGURATION = "".join(f"[phases.{phase}.extra-data-sources]\nresponses = false\n" for phase in ("examples", "coverage", "fuzzing"))
KINDS = {
    "online": 2, "offline": 2, "join": 2, "leave": 2, "channel_created": 1, "channel_destroyed": 1, "call": 4, "message": 2}


def narrowed(app: str) -> dict:
    """What the file says, where there is only one app. Settings are about it, and about few others."""
    described = document()
    described["components"]["parameters"]["App"] |= {"schema": {"enum": [app]}, "example": app}
    apps = described["components"]["schemas"]["Settings"]["properties"]["apps"]
    del apps["maxProperties"]
    apps["properties"] = {app: apps["additionalProperties"]}
    return described


def exemplify(described: dict, examples: dict[str, dict[str, object]]) -> None:
    """Gives operations other examples: of parameters by their names, and of the body as `body`.

    There is no example of an idempotency key: all writes would have the same one.
    """
    for name, (_, _, operation) in operations(described).items():
        own = dict(examples.get(name, {}))
        parameters = [resolved(described, one) for one in operation.get("parameters") or ()]
        operation["parameters"] = [
            one | ({"example": own.pop(one["name"])} if one["name"] in own else {})
            for one in parameters if one["name"] != "Idempotency-Key"]
        if "body" in own:
            operation["requestBody"]["content"]["application/json"]["example"] = own.pop("body")
        assert not own, f"{name} has no {list(own)}"


def tried(stack: Stack, key: str, described: dict, folder: Path, budget: int, *options: str) -> str:
    """What schemathesis reports of its tries with a key, in a folder with its configuration; they must find nothing."""
    (folder / "openapi.json").write_text(json.dumps(described))
    done = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli", "run", "openapi.json", "--url", stack.endpoints["api"][0],
            "--header", f"Authorization: Bearer {key}", "--generation-deterministic", "--max-examples", EXAMPLES,
            "--max-time", str(budget),
            "--phases", "examples,coverage,fuzzing", "--exclude-checks", EXCLUDED, "--no-color", "--warnings", "off",
            "--max-failures", "20", *options],
        cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    report = done.stdout + done.stderr
    assert key not in report
    assert done.returncode == 0, report[-8000:]
    return report


def without(*names: str) -> list[str]:
    return [word for name in names for word in ("--exclude-operation-id", name)]


def test_the_server_is_as_the_file_says(stack: Stack, tmp_path: Path):
    # An app of its own: the tries disconnect users and send messages.
    app = stack.create_app(unique("schema"))
    key = create_key(stack, app=app.id)["key"]
    described = narrowed(app.id)
    report = tried(stack, key, described, tmp_path, BUDGET_SECONDS, *without(ENDLESS))
    assert f"Tested: {len(operations(described)) - 1}\n" in report, report[-2000:]


async def test_the_server_is_as_the_file_says_to_keys_of_the_cluster(make_stack, people, tmp_path: Path):
    """A cluster of its own: addresses are banned, keys are made and revoked, and apps are set up."""
    stack: Stack = make_stack(gateways=1, sip_bridge=0, webhooks=0)
    app = stack.create_app(unique("schema"))
    key = create_key(stack)["key"]
    api, path = ServerAPI(stack, key), ("apps", app.id)
    async with people(stack) as cast:
        bob = cast.exactly("bob", app)
        await bob.login(stack.gateways[0])
        described = narrowed(app.id)
        exemplify(described, prepared(api, path, create_key(stack)["id"]) | await calls(api, path, bob))
        (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
        log = tmp_path / "requests.har"
        report = await asyncio.to_thread(
            tried, stack, key, described, tmp_path, CLUSTER_BUDGET_SECONDS, *without(ENDLESS, *FATAL),
            "--report", "har", "--report-har-path", str(log))
    wanted = operations(described).keys() - {ENDLESS, *FATAL}
    assert f"Tested: {len(wanted)}\n" in report, report[-2000:]
    # Each answer was compared with the file; here, that those to what is allowed were among them.
    succeeded = {
        operation_of(described, entry["request"]["method"], urlsplit(entry["request"]["url"]).path)
        for entry in json.loads(log.read_text())["log"]["entries"] if 200 <= entry["response"]["status"] < 300}
    assert not wanted - succeeded, "never answered with success"


def prepared(api: ServerAPI, path: tuple[str, ...], spare_key: str) -> dict[str, dict[str, object]]:
    """Sets up what operations need to succeed; the examples that name it.

    What one operation removes, no other one names.
    """
    app, user = path[-1], (*path, "users")
    # Those who log in and call below do not join.
    hook = {"url": "https://a.example/ask", "on": ["join"]}
    settings = {"webhook": {"url": "https://a.example/events"}, "hook": hook, "trunk": {"host": "192.0.2.1", "allow": ["+49"]}}
    told = {"from": "shop", "message": "to be recalled"}
    answers = [
        api.post("settings", body={"apps": {app: settings}}),
        # What the example of the operation that sets it expects.
        api.put(*user, "ada", "attributes", "color", body={"value": "green"}),
        api.put(*user, "cid", "attributes", "color", body={"value": "red"}),
        api.put(*path, "channels", "room 2", "attributes", "color", body={"value": "red"}),
        api.put(*user, "dan", "ban", body={"seconds": 3600}),
        api.post(*user, "cid", "messages", body=told),
    ]
    assert [answer.status for answer in answers] == [200] * len(answers), [answer.body for answer in answers]
    return {
        "getUserAttribute": {"account": "cid"}, "deleteUserAttribute": {"expected": "blue"},
        "getChannelAttribute": {"channel": "room 2"}, "deleteChannelAttribute": {"expected": "blue"},
        "getBan": {"account": "dan"}, "recallMessage": {"account": "cid", "version": answers[-1].body["version"]},
        "setAddressBan": {"network": "203.0.113.7"}, "deleteAddressBan": {"network": "203.0.113.7"},
        "exportSettings": {"app": app}, "listAudit": {"app": app}, "listKeys": {"app": app},
        "createKey": {"body": {"app": app, "scopes": ["read"]}}, "revokeKey": {"key": spare_key},
        "applySettings": {"body": {"version": 1, "apps": {app: {"limits": {"messagesPerSecond": 100}, "hook": hook}}}},
    }


async def calls(api: ServerAPI, path: tuple[str, ...], callee) -> dict[str, dict[str, object]]:
    """Two calls that were accepted, one to be ended and one for digits; the examples that name them."""
    ids = []
    for channel in ("to be ended", "for digits"):
        answer = api.post(*path, "calls", body={"from": "shop", "to": callee.account, "channel": channel})
        assert answer.status == 200, answer.body
        await eventually(lambda channel=channel: [call for call in callee.calls("invite") if call["channel"] == channel], "it is invited")
        for act in ("invite_ack", "invite_accept"):
            await callee.act(act, channel, "shop")
        ids.append(answer.body["call"])
    return {"endCall": {"call": ids[0], "account": "shop"}, "sendDigits": {"call": ids[1]}}


@pytest.mark.parametrize("detail", ["with-text", "without-text"])
async def test_the_stream_of_events_is_as_the_file_says(stack: Stack, people, detail: str):
    """Each kind of event, as it is told when it happens."""
    described = document()
    answer = operations(described)[ENDLESS][2]["responses"]["200"]
    content_type, = answer["content"]
    validator = Draft202012Validator({**answer["content"][content_type]["x-event-data"], "components": described["components"]})
    app = stack.create_app(unique("schema"))
    # Before a gateway asks for the app's settings, so that none has older ones.
    stack.control("app", "limit", app.id, f"--message-events={detail}")
    api = ServerAPI(stack, create_key(stack, app=app.id)["key"])
    stream = await Stream(api, app.id, query="?kinds=" + ",".join(KINDS)).started()
    assert stream.answer.getheader("Content-Type") == content_type
    assert all(stream.answer.getheader(name) for name in answer["headers"])
    async with people(stack) as cast:
        ann, bob = cast.exactly("ann", app), cast.exactly("bob", app)
        for user, gateway in zip((ann, bob), stack.gateways):
            await user.login(gateway)
            await user.join("room 1")
        await ann.call("channel_set_attr", channel="room 1", name="_channel_ttl", value="1")
        await ann.tell("bob", "to bob ♥")
        await ann.say("room 1", "to all")
        await ring(ann, bob, "room 1")
        await bob.act("invite_accept", "room 1", ann.account)
        await eventually(lambda: ann.calls("invite_accept"), "the acceptance arrived")
        await ann.act("invite_bye", "room 1", bob.account)
        await eventually(lambda: bob.calls("invite_bye"), "the end arrived")
        for user in (ann, bob):
            await user.leave("room 1")
            await user.logout()
        told = [await stream.next() for _ in range(sum(KINDS.values()))]
    stream.close()
    assert Counter(event["event"] for event in told) == KINDS
    for event in told:
        assert set(event) == {"id", "event", "data"} and event["data"]["event"] == event["event"]
        validator.validate(event["data"])
    texts = [event["data"].get("text") for event in told if event["event"] == "message"]
    assert sorted(texts, key=str) == (["to all", "to bob ♥"] if detail == "with-text" else [None, None])
    ends = [event["data"] for event in told if event["event"] == "call" and event["data"]["state"] == "ended"]
    assert [end["reason"] for end in ends] == [0]


# A number of a position is less than 2^53; `kinds` and `after` have up to 1,024 bytes.
LARGEST = (1 << 53) - 1
SHORTEST_TOO_LONG = 1025


def refused(api: ServerAPI, app: str, *, query: str = "", last: str | None = None) -> Answer:
    """A problem instead of a stream: with the body and the headers that the file says."""
    answer = is_as_described(ENDLESS, Stream(api, app, query=query, last=last).answered())
    described = document()
    response = resolved(described, operations(described)[ENDLESS][2]["responses"][str(answer.status)])
    assert not {name.lower() for name in response["headers"]} - {name.lower() for name in answer.headers}
    assert (answer.body["status"], answer.body["type"]) == (answer.status, f"/v1/errors/{answer.code}")
    return answer


@pytest.mark.parametrize(("query", "last", "field"), [
    ("?kinds=", None, "kinds"), ("?kinds=,", None, "kinds"), ("?kinds=gap", None, "kinds"), ("?kinds=join;leave", None, "kinds"),
    ("?kinds=message", None, "kinds"), ("?kinds=join,join" + "," * (SHORTEST_TOO_LONG - 9), None, "kinds"),
    ("?after=" + "1-1-1-1".zfill(SHORTEST_TOO_LONG), None, "after"), ("?after=1-1-1", None, "after"), ("?after=1-1-1--1", None, "after"),
    (f"?after=1-1-1-{LARGEST + 1}", None, "after"), ("?after=1&after=1", None, "after"), ("?since=1", None, "since"),
    ("", "1-1-1-x", "Last-Event-ID"), ("", f"1-1-1-{LARGEST + 1}", "Last-Event-ID")])
def test_what_a_stream_is_refused_for_is_as_the_file_says(stack: Stack, query: str, last: str | None, field: str):
    answer = refused(ServerAPI(stack, create_key(stack)["key"]), stack.open_app.id, query=query, last=last)
    assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", field)
    assert answer.body["bound"]


@pytest.mark.parametrize(("query", "last"), [
    ("?kinds=" + "join,join".ljust(SHORTEST_TOO_LONG - 1, ","), None), ("?after=" + "1-1-1-1".zfill(SHORTEST_TOO_LONG - 1), None),
    (f"?after=1-1-1-{LARGEST}", None), ("", f"1-1-1-{LARGEST}"), ("?after=", "1-1-1-1")])
def test_a_stream_with_what_is_just_allowed(stack: Stack, query: str, last: str | None):
    stream = Stream(ServerAPI(stack, create_key(stack)["key"]), stack.open_app.id, query=query, last=last)
    stream.close()
    assert stream.status == 200


def test_whom_a_stream_is_refused_is_as_the_file_says(stack: Stack):
    app = stack.open_app.id
    assert refused(ServerAPI(stack, "hk_0"), app).status == 401
    assert refused(ServerAPI(stack, create_key(stack, scopes=("send", "admin"))["key"]), app).status == 403
    assert refused(ServerAPI(stack, create_key(stack, app=stack.token_app.id)["key"]), app).status == 403
    cluster = ServerAPI(stack, create_key(stack)["key"])
    assert refused(cluster, unique("nothing")).status == 404
    unwanted = is_as_described(ENDLESS, cluster.post("apps", app, "events"))
    assert (unwanted.status, unwanted.headers["Allow"]) == (405, "GET")
    slow = ServerAPI(stack, create_key(stack, rate=1)["key"])
    # At most one of them a second is not refused for the rate.
    answers = [refused(slow, app, query="?kinds=") for _ in range(5)]
    limited = next(answer for answer in answers if answer.status == 429)
    assert limited.code == "rate_limited" and int(limited.headers["Retry-After"]) >= 1
