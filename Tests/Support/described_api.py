"""Docs/openapi.json, and answers of the server API that are compared with it."""

import json
import re
from pathlib import Path

from jsonschema import Draft202012Validator
from server_api import Answer

FILE = Path(__file__).resolve().parents[2] / "Docs" / "openapi.json"


def document() -> dict:
    """The file, anew: the caller may change it."""
    return json.loads(FILE.read_text())


def resolved(described: dict, thing: dict) -> dict:
    """A parameter or an answer, which may be a reference to one of the components."""
    if "$ref" not in thing:
        return thing
    _, components, kind, name = thing["$ref"].split("/")
    return described[components][kind][name]


def operations(described: dict) -> dict[str, tuple[str, str, dict]]:
    """By its name, each operation's method, path and description."""
    return {
        operation["operationId"]: (method.upper(), path, operation)
        for path, methods in described["paths"].items() for method, operation in methods.items()}


def operation_of(described: dict, method: str, path: str) -> str | None:
    """The operation that a request is about, by its method and the path of its URL; None when there is none."""
    for name, (of_method, template, _) in operations(described).items():
        pattern = "[^/]+".join(re.escape(part) for part in re.split(r"\{\w+\}", template))
        if method == of_method and re.fullmatch(pattern, path):
            return name
    return None


def is_as_described(operation: str, answer: Answer) -> Answer:
    """The answer, whose status is one that the file has for the operation, with the type and the body that it says."""
    described = document()
    allowed = operations(described)[operation][2]["responses"]
    assert str(answer.status) in allowed, f"{operation}: {answer.status} {answer.body}"
    response = resolved(described, allowed[str(answer.status)])
    (content_type, content), = response["content"].items()
    headers = {name.lower(): value for name, value in answer.headers.items()}
    assert headers["content-type"] == content_type
    Draft202012Validator({**content["schema"], "components": described["components"]}).validate(answer.body)
    return answer
