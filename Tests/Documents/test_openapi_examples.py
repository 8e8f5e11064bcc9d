"""The examples of Docs/openapi.json: every operation has them, and they are as their schemas say."""

import copy
import json
from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator
from stack_control import ROOT

DOCUMENT = json.loads((ROOT / "Docs" / "openapi.json").read_text(encoding="utf-8"))


def resolved(document: dict, thing: dict) -> dict:
    """What a reference refers to, or the thing itself."""
    while "$ref" in thing:
        place, thing = thing["$ref"].removeprefix("#/").split("/"), document
        for part in place:
            thing = thing[part]
    return thing


def operations(document: dict) -> Iterator[dict]:
    for path in document["paths"].values():
        yield from path.values()


def described(document: dict) -> Iterator[tuple[str, dict, bool]]:
    """What may have an example: its place, the object with the schema, and whether the example is needed."""
    for operation in operations(document):
        name = operation["operationId"]
        for parameter in (resolved(document, one) for one in operation.get("parameters", [])):
            yield f"{name}: {parameter['name']}", parameter, parameter["required"]
        for content in operation.get("requestBody", {}).get("content", {}).values():
            yield f"{name}: body", content, True
        for status, answer in operation["responses"].items():
            for content in resolved(document, answer).get("content", {}).values():
                yield f"{name}: {status}", content, True


def problems(document: dict) -> list[str]:
    found = []
    for place, described_here, needed in described(document):
        if "example" not in described_here:
            found += [f"{place}: has no example"] if needed else []
            continue
        example = described_here["example"]
        # References in the schema begin at the document's root.
        validator = Draft202012Validator({**described_here["schema"], "components": document["components"]})
        found += [f"{place}: {error.message}" for error in validator.iter_errors(example)]
        status = place.rpartition(": ")[2]
        if isinstance(example, dict) and "code" in example and str(example.get("status")) != status and status != "200":
            found.append(f"{place}: the problem's status is {example.get('status')}")
    return found


def test_every_example_is_as_its_schema_says():
    assert sum("example" in thing for _, thing, _ in described(DOCUMENT)) > 300
    assert not problems(DOCUMENT)


@pytest.mark.parametrize("kind", ["online", "offline", "join", "leave"])
def test_the_events_of_the_stream_are_described(kind: str):
    content = next(one for one in operations(DOCUMENT) if one["operationId"] == "followEvents")["responses"]["200"]["content"]["text/event-stream"]
    validator = Draft202012Validator({**content["x-event-data"], "components": DOCUMENT["components"]})
    data, = (line.removeprefix("data: ") for line in content["example"].splitlines() if line.startswith("data: "))
    assert validator.is_valid(json.loads(data))
    place = {"channel": "room 1"} if kind in ("join", "leave") else {}
    event = {"event": kind, "account": "ada", "uid": 7, "reason": 0, "time": 1795412345}
    assert validator.is_valid(event | place) and not validator.is_valid(event | {"channel": 1})


def test_the_events_of_channels_and_calls_are_described():
    validator = Draft202012Validator({"$ref": "#/components/schemas/AppEvent", "components": DOCUMENT["components"]})
    for kind in ("channel_created", "channel_destroyed"):
        event = {"event": kind, "channel": "room 1", "time": 1795412345}
        assert validator.is_valid(event) and not validator.is_valid(event | {"account": "ada"})
    call = {
        "event": "call", "call": "c1", "state": "invited", "channel": "room 1", "caller": "ada", "callee": "bob",
        "direction": "internal", "time": 1795412345}
    assert validator.is_valid(call) and validator.is_valid(call | {"state": "ended", "reason": 704})
    assert not validator.is_valid(call | {"state": "gone"})


def test_the_events_of_messages_are_described():
    validator = Draft202012Validator({"$ref": "#/components/schemas/AppEvent", "components": DOCUMENT["components"]})
    event = {"event": "message", "account": "ada", "message": 7, "size": 5, "time": 1795412345}
    for receiver in ({"to": "bob", "online": True}, {"channel": "room 1"}):
        assert validator.is_valid(event | receiver) and validator.is_valid(event | receiver | {"text": "hello"})
        assert not validator.is_valid(event | receiver | {"uid": 7})
    assert not validator.is_valid(event) and not validator.is_valid(event | {"to": "bob", "online": True, "channel": "room 1"})


def test_wrong_examples_are_noticed():
    document = copy.deepcopy(DOCUMENT)
    by_name = {one["operationId"]: one for one in operations(document)}
    del by_name["getKey"]["responses"]["200"]["content"]["application/json"]["example"]
    del by_name["sendMessage"]["requestBody"]["content"]["application/json"]["example"]
    by_name["setBan"]["requestBody"]["content"]["application/json"]["example"] = {"seconds": 0}
    document["components"]["parameters"]["Call"]["example"] = "a b"
    document["components"]["responses"]["KeyReused"]["content"]["application/problem+json"]["example"]["status"] = 400
    found = problems(document)
    for place in ("getKey: 200: has no", "sendMessage: body: has no", "setBan: body: ", "endCall: call: ", "setBan: 422: the problem's status"):
        assert any(one.startswith(place) for one in found), place
