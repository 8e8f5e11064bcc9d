"""Processes whose Redis is not run as their setting says: they say so in one line, do not serve, and write nothing."""

import pytest
from stack_control import BINARIES, Stack, run_program

# No process of the cluster's own.
STORES_ALONE = {"gateways": 0, "presence": 0, "channel_state": 0, "invitation": 0, "sip_bridge": 0}
# One that uses Redis through its own connections, and one of those that share a runtime.
PROGRAMS = ["gateway", "presence"]


def address(stack: Stack, name: str) -> str:
    node, = [node for node in stack.endpoints["redis"]["nodes"] if node["name"] == name]
    return f"{node['host']}:{node['port']}"


def refusal(stack: Stack, program: str, redis: str) -> str:
    """The line by which a process ends, once it has seen Redis."""
    done = run_program(
        str(BINARIES / program), HELIOGRAPH_REDIS_URL=redis, HELIOGRAPH_POSTGRES_URL=stack.endpoints["postgres"]["url"])
    assert done.returncode == 1, done.stdout + done.stderr
    line, = [line for line in (done.stdout + done.stderr).splitlines() if " critical " in line]
    return line


def keys(stack: Stack) -> dict[str, int]:
    """The number of keys at each server of Redis."""
    return {node["name"]: int(stack.redis("DBSIZE", node=node["name"])) for node in stack.endpoints["redis"]["nodes"]}


def test_a_cluster(make_stack):
    stack: Stack = make_stack("--redis", "cluster", **STORES_ALONE)
    master = address(stack, "redis#1")
    before = keys(stack)
    for program in PROGRAMS:
        assert f"{master} is a node of a Redis Cluster: use redis+cluster://" in refusal(stack, program, f"redis://{master}")
        assert f"{master} is not a Sentinel" in refusal(stack, program, f"redis+sentinel://{master}/main")
    stack.redis("CLUSTER", "DELSLOTSRANGE", "0", "99", node="redis#1")
    for program in PROGRAMS:
        assert "serves the slots 0-99" in refusal(stack, program, f"redis+cluster://{master}")
    assert keys(stack) == before


def test_a_single_server_and_its_replica(make_stack):
    stack: Stack = make_stack("--redis", "sentinel", **STORES_ALONE)
    master, replica, sentinel = (address(stack, name) for name in ("redis#1", "redis#2", "sentinel#1"))
    before = {name: stack.redis("DBSIZE", node=name) for name in ("redis#1", "redis#2")}
    for program in PROGRAMS:
        assert f"{replica} is a replica of {master}" in refusal(stack, program, f"redis://{replica}")
        assert f"{master} is not a node of a Redis Cluster" in refusal(stack, program, f"redis+cluster://{master}")
        assert f"{sentinel} is a Sentinel" in refusal(stack, program, f"redis://{sentinel}")
        assert "knows no master of the name other" in refusal(stack, program, f"redis+sentinel://{sentinel}/other")
    assert {name: stack.redis("DBSIZE", node=name) for name in before} == before


@pytest.mark.parametrize("url, reason", [
    ("redis+cluster://127.0.0.1:1?partitions=0", "1...4096"),
    ("redis+sentinel://127.0.0.1:1", "/NAME"),
    ("redis+nodes://127.0.0.1:1", "must begin with redis://"),
    ("redis://127.0.0.1:1,127.0.0.1:2", "one address"),
])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_url_that_cannot_be_meant(program: str, url: str, reason: str):
    done = run_program(str(BINARIES / program), HELIOGRAPH_REDIS_URL=url)
    assert done.returncode == 1, done.stderr
    line, = done.stderr.splitlines()
    assert reason in line
