"""Both clients have each operation of Docs/openapi.json, with its parameters, and send what its examples say."""

import inspect
import json
from collections.abc import Iterator

import pytest
from client_kinds import KINDS, snake
from conftest import ROOT
from heliograph_server import HeliographServer
from pretended_api import PretendedAPI, Reply

DOCUMENT = json.loads((ROOT / "Docs" / "openapi.json").read_text(encoding="utf-8"))
ENDLESS = "followEvents"
# For parameters that need no example.
AFTER = "abc"


def parameters(operation: dict) -> list[dict]:
    found = []
    for one in operation.get("parameters", []):
        found.append(DOCUMENT["components"]["parameters"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one)
    return found


def body_schemas(operation: dict) -> list[dict]:
    """The objects that may be sent: of each, `properties` and `required`."""
    if "requestBody" not in operation:
        return []
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema.get("oneOf", [schema])


OPERATIONS = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, methods in DOCUMENT["paths"].items() for method, operation in methods.items()}


def options_of(operation: dict) -> Iterator[tuple[str, bool]]:
    """What a method takes besides the names of the path, and whether it must be given."""
    for one in parameters(operation):
        if one["in"] == "query":
            yield one["name"], one["required"]
        elif one["name"] == "Idempotency-Key":
            yield "idempotencyKey", False
    schemas = body_schemas(operation)
    for name in {name for schema in schemas for name in schema["properties"]}:
        yield name, all(name in schema["required"] for schema in schemas)


@pytest.mark.parametrize("name", OPERATIONS)
def test_methods_of_python_have_the_parameters_of_the_file(name: str):
    _, path, operation = OPERATIONS[name]
    taken = list(inspect.signature(getattr(HeliographServer, snake(name))).parameters.values())[1:]
    assert [one.name for one in taken if one.kind is one.POSITIONAL_OR_KEYWORD] == [
        part[1:-1] for part in path.split("/") if part.startswith("{")]
    options = {one.name: one.default is one.empty for one in taken if one.kind is one.KEYWORD_ONLY}
    assert options == {snake(option): required for option, required in options_of(operation)}


def test_methods_of_node_have_the_parameters_of_the_file():
    """The names that its methods take apart; that they are sent is what the next test sees."""
    text = (ROOT / "Clients" / "server-node" / "heliograph-server.mjs").read_text(encoding="utf-8")
    for name, (_, path, operation) in OPERATIONS.items():
        start = text.find(f" {name}(") if name != ENDLESS else text.find(f" *{name}(")
        assert start > 0, name
        head = text[text.index("(", start) + 1:text.index(") {", start)]
        places, _, options = head.partition("{")
        assert [one.strip() for one in places.split(",") if one.strip()] == [part[1:-1] for part in path.split("/") if part.startswith("{")], name
        taken = {one.strip() for one in options.partition("}")[0].split(",") if one.strip()} - {"signal"}
        assert taken == {option for option, _ in options_of(operation)}, name


@pytest.mark.parametrize("kind", KINDS)
def test_each_operation_sends_its_example_and_returns_its_answer(kind: str):
    with PretendedAPI() as api:
        client = KINDS[kind]("hk_test", api.url)
        for name, (method, path, operation) in OPERATIONS.items():
            if name == ENDLESS:
                continue
            given = {one["name"]: one.get("example", AFTER) for one in parameters(operation)}
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
            query = {one["name"]: given[one["name"]] for one in parameters(operation) if one["in"] == "query"}
            options = query | (body or {})
            if "Idempotency-Key" in given:
                options["idempotencyKey"] = given["Idempotency-Key"]
            (content_type, answer), = operation["responses"]["200"]["content"].items()
            api.replies = [Reply(body=answer["example"], content_type=content_type)]
            result = client.call(name, *(given[part[1:-1]] for part in path.split("/") if part.startswith("{")), **options)
            assert result == answer["example"], name
            asked = api.asked[-1]
            wanted = [str(given[part[1:-1]]) if part.startswith("{") else part for part in path.removeprefix("/v1/").split("/")]
            assert (asked.method, asked.path, asked.body) == (method, wanted, body), name
            assert asked.query == {one: str(value) for one, value in query.items()}, name
            headers = {one.lower(): value for one, value in asked.headers.items()}
            assert headers["authorization"] == "Bearer hk_test"
            assert headers.get("idempotency-key") == given.get("Idempotency-Key"), name
        assert len(api.asked) == len(OPERATIONS) - 1
        client.close()
