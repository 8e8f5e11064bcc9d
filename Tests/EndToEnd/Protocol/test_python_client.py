"""The main job: two sessions of the official, unmodified Python client, each on a gateway of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from stack_control import Stack, unique

PROGRAM = Path(__file__).with_name("python_client_session.py")
SECONDS = 180
STEPS = [
    "login of the first", "status of one who is offline", "login of the second", "message to a user not yet logged in",
    "status of each other", "messages in both directions", "join", "user list", "attributes at the join",
    "the other's join", "talk", "attribute set", "attribute deleted", "attributes cleared", "leave", "invite",
    "acknowledge", "accept", "end by the caller", "refuse", "end by the callee", "end before the answer",
    "logout and login again", "nothing else happened",
]


@pytest.fixture(scope="module", params=["open app", "app with tokens"])
def outcome(request: pytest.FixtureRequest, stack: Stack) -> tuple[subprocess.CompletedProcess, list[dict]]:
    """The program's end and what it printed; run once for all tests here."""
    app = stack.open_app if request.param == "open app" else stack.token_app
    accounts = [unique("alice"), unique("bob")]
    addresses = [address.removeprefix("ws://") for address in stack.gateways]
    done = subprocess.run(
        [sys.executable, str(PROGRAM), app.id, *map(app.token, accounts), *accounts, *addresses],
        capture_output=True, text=True, timeout=SECONDS, check=False)
    return done, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("step", STEPS)
def test_step(outcome: tuple[subprocess.CompletedProcess, list[dict]], step: str):
    done, lines = outcome
    seen = [line["step"] for line in lines if "step" in line]
    failure = "".join(line.get("failed", "") for line in lines)
    assert step in seen, f"reached {seen[-1:]}, then: {failure}"


def test_the_client_ends_well(outcome: tuple[subprocess.CompletedProcess, list[dict]]):
    done, lines = outcome
    assert done.returncode == 0, done.stderr[-8000:]
    assert [line.get("step") for line in lines] == STEPS
    # The SDK logs its own exceptions and goes on.
    assert "Traceback" not in done.stderr
    assert "Unhandled error" not in done.stderr
