"""The lines that requests of the server API leave in the logs of a stack's processes."""

import json

from stack_control import Stack


def lines(stack: Stack, kind: str, request: str) -> list[dict]:
    """The log lines of the processes of a kind that are about a request."""
    found = []
    for name in stack.pids:
        if name.partition("#")[0] == kind:
            found += [json.loads(line) for line in stack.run("logs", name).stdout.splitlines() if line.startswith("{")]
    return [line for line in found if line.get("metadata", {}).get("request") == request]


def said(stack: Stack, kind: str, request: str) -> set[tuple[str, str]]:
    """The level and the message of each of these lines."""
    return {(line["level"], line["message"]) for line in lines(stack, kind, request)}
