"""Releases side by side: what a process accepts of a newer one, and when it refuses to serve."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from stack_control import Stack

ROOT = Path(__file__).resolve().parents[2]
BINARIES = Path(os.environ.get("HELIOGRAPH_BIN") or ROOT / ".build" / "release")
# What Kubernetes sets in every container for a service named heliograph-gateway.
SERVICE_LINKS = {
    "HELIOGRAPH_GATEWAY_SERVICE_HOST": "10.0.0.1", "HELIOGRAPH_GATEWAY_SERVICE_PORT": "8443",
    "HELIOGRAPH_GATEWAY_SERVICE_PORT_WS": "8443", "HELIOGRAPH_GATEWAY_PORT": "tcp://10.0.0.1:8443",
    "HELIOGRAPH_GATEWAY_PORT_8443_TCP": "tcp://10.0.0.1:8443", "HELIOGRAPH_GATEWAY_PORT_8443_TCP_PROTO": "tcp",
    "HELIOGRAPH_GATEWAY_PORT_8443_TCP_PORT": "8443", "HELIOGRAPH_GATEWAY_PORT_8443_TCP_ADDR": "10.0.0.1",
}


def run(program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """Runs a program to its end, with these settings only."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HELIOGRAPH_")}
    return subprocess.run(
        [str(BINARIES / program), *arguments], env=clean | environment, capture_output=True, text=True, timeout=60,
        check=False)


def logged(stack: Stack, name: str) -> list[str]:
    """The messages in a process's log."""
    lines = (stack.directory / "logs" / f"{name}.log").read_text().splitlines()
    return [json.loads(line)["message"] for line in lines if line.startswith("{")]


@pytest.mark.parametrize("service", ["gateway", "presence", "channel-state", "invitation", "sip-bridge"])
def test_service_links_stop_nobody(service: str):
    done = run(service, "--check-configuration", **SERVICE_LINKS)
    assert done.returncode == 0, done.stderr
    line, = done.stderr.splitlines()
    assert "enableServiceLinks" in line and all(name in line for name in SERVICE_LINKS)


def test_bad_value_beside_service_links_stops():
    done = run("gateway", "--check-configuration", **SERVICE_LINKS | {"HELIOGRAPH_GATEWAY_PORT": "tcp://10.0.0.1"})
    assert done.returncode == 1
    line, = done.stderr.splitlines()
    assert "HELIOGRAPH_GATEWAY_PORT must be" in line


async def test_unknown_settings_are_said_and_ignored(make_stack, people, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ADRESS_ARRIVALS", "5")
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_SERVICE_HOST", "10.0.0.1")
    stack: Stack = make_stack(gateways=1)
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        assert await alice.ping(3) == 3
    messages = logged(stack, "gateway#1")
    line, = [message for message in messages if "HELIOGRAPH_GATEWAY_ADRESS_ARRIVALS" in message]
    assert "did you mean HELIOGRAPH_GATEWAY_ADDRESS_ARRIVALS?" in line
    assert [message for message in messages if "HELIOGRAPH_GATEWAY_SERVICE_HOST" in message and message != line]
