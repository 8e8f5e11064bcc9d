"""`Scripts/stack` itself."""

import json
import os
import signal
import subprocess
import time
import urllib.request

from stack_control import ROOT, Stack, is_running

KINDS = ["presence", "channel-state", "invitation", "sip-bridge"]


def processes_of(stack: Stack) -> list[int]:
    """Everything that carries the stack's mark or works in its data directories, told from /proc alone."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                marked = f"STACK_DIRECTORY={stack.directory}".encode() in file.read().split(b"\0")
            works_there = os.readlink(f"/proc/{name}/cwd").startswith(f"{stack.directory}/")
        except OSError:
            continue
        if (marked or works_there) and is_running(int(name)):
            found.append(int(name))
    return found


def get(url: str) -> int:
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5) as answer:
        return answer.status


def test_endpoints_have_the_promised_shape(stack: Stack):
    found = stack.endpoints
    assert set(found) == {"gateways", "services", "redis", "postgres", "apps", "sip"}
    assert [gateway["name"] for gateway in found["gateways"]] == ["gateway#1", "gateway#2"]
    assert all(set(gateway) == {"name", "ws", "http", "pid"} for gateway in found["gateways"])
    assert [service["name"] for service in found["services"]] == [f"{kind}#1" for kind in KINDS]
    assert all(set(service) == {"name", "pid", "http"} for service in found["services"])
    assert set(found["redis"]) == set(found["postgres"]) == {"url", "pid"}
    assert sorted(app["tokenRequired"] for app in found["apps"]) == [False, True]
    assert all(set(app) == {"appId", "certificate", "tokenRequired"} for app in found["apps"])
    assert stack.token_app.certificate
    assert set(found["sip"]) == {"host", "port", "bridges"}
    assert all(is_running(pid) for pid in stack.pids.values()) and len(stack.pids) == 8


def test_every_service_reports_healthy_and_ready(stack: Stack):
    for member in stack.endpoints["gateways"] + stack.endpoints["services"]:
        for path in ("healthz", "readyz", "metrics"):
            assert get(f"{member['http']}/{path}") == 200, f"{member['name']} {path}"


def test_status_tells_what_is_down_and_start_brings_it_back(make_stack):
    stack = make_stack(gateways=1)
    assert stack.run("status").returncode == 0
    before = stack.endpoints
    for name, stop in (("presence#1", "kill"), ("redis", "kill"), ("postgres", "kill"), ("gateway#1", "drain")):
        pid = stack.pids[name]
        stack.run(stop, name)
        assert not is_running(pid)
        status = stack.run("status", check=False)
        assert status.returncode == 1
        assert any(line.startswith(name) and line.endswith("down") for line in status.stdout.splitlines())
        assert name not in stack.pids
        assert stack.run(stop, name, check=False).returncode == 1
        stack.start(name)
        assert stack.pids[name] != pid
        assert stack.run("start", name, check=False).returncode == 1
    deadline = time.monotonic() + 30
    while (status := stack.run("status", check=False)).returncode != 0:
        assert time.monotonic() < deadline, f"not whole again: {status.stdout}"
    without_pids = [json.loads(json.dumps(found), object_hook=lambda o: {k: v for k, v in o.items() if k != "pid"})
                    for found in (before, stack.endpoints)]
    assert without_pids[0] == without_pids[1], "start changed addresses"


def test_logs_are_printed(stack: Stack):
    assert "Ready to accept connections" in stack.run("logs", "redis").stdout
    following = subprocess.Popen(
        [str(ROOT / "Scripts" / "stack"), "logs", "redis", "--follow", "--dir", str(stack.directory)],
        stdout=subprocess.PIPE, text=True)
    try:
        assert following.stdout.readline()
        assert following.poll() is None
    finally:
        # Not SIGINT: where this runs in the background, that is ignored.
        following.terminate()
        following.communicate(timeout=10)


def test_unknown_member_is_refused(stack: Stack):
    done = stack.run("kill", "gateway#9", check=False)
    assert done.returncode == 1 and "gateway#2" in done.stderr


def test_two_stacks_stand_side_by_side_and_down_leaves_nothing():
    first, second = Stack(), Stack()
    try:
        starting = [
            subprocess.Popen(
                [str(ROOT / "Scripts" / "stack"), "up", "--dir", str(stack.directory)], stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True)
            for stack in (first, second)]
        for process in starting:
            output, _ = process.communicate(timeout=180)
            assert process.returncode == 0, output
        assert set(first.pids.values()).isdisjoint(second.pids.values())
        first_pids = [*first.pids.values(), *processes_of(first)]
        first.down()
        assert not [pid for pid in first_pids if is_running(pid)]
        assert not processes_of(first)
        assert not (first.directory / "endpoints.json").exists()
        assert second.run("status").returncode == 0
        first.down()
    finally:
        for stack in (first, second):
            stack.remove()
    assert not processes_of(second)


def test_up_cleans_up_after_a_crash(make_stack):
    stack = make_stack(gateways=1)
    # A crash that no code of ours sees: some members die, the record of one start is lost, the rest stays.
    old = stack.pids
    for name in ("gateway#1", "postgres"):
        os.kill(old[name], signal.SIGKILL)
    record = stack.directory / "stack.json"
    document = json.loads(record.read_text())
    for member in document["members"]:
        if member["name"] in ("redis", "presence#1"):
            member["identity"] = None
    record.write_text(json.dumps(document))
    stack.up(gateways=2)
    assert not [name for name, pid in old.items() if is_running(pid)]
    assert stack.run("status").returncode == 0
    assert sorted(stack.pids.values()) == sorted(set(stack.pids.values()) & set(processes_of(stack)))


def test_a_stranger_with_a_recorded_number_is_left_alone(make_stack):
    stack = make_stack(gateways=1)
    stack.kill("sip-bridge#1")
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        record = stack.directory / "stack.json"
        document = json.loads(record.read_text())
        members = {member["name"]: member for member in document["members"]}
        members["sip-bridge#1"]["identity"] = members["redis"]["identity"] | {"pid": stranger.pid}
        record.write_text(json.dumps(document))
        stack.down()
        assert stranger.poll() is None, "down killed a process that it had not started"
    finally:
        stranger.kill()
        stranger.wait()
