"""`Scripts/stack` itself."""

import json
import os
import signal
import subprocess
import urllib.error
from pathlib import Path

import pytest
from stack_control import BINARIES, ROOT, Stack, is_running, processes_of
from waiting import eventually_blocking
from web import fetch

KINDS = ["presence", "channel-state", "invitation", "sip-bridge"]
ONE_REDIS = pytest.mark.single_redis("does it to the server named redis; test_stack_stores.py has the stacks with several")


def status_of(url: str) -> int:
    """The HTTP status that a GET is answered with."""
    try:
        with fetch(url) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def wait_until_whole(stack: Stack) -> None:
    """Waits until every member of the stack serves."""
    eventually_blocking(lambda: stack.run("status", check=False).returncode == 0, "every member serves", 30)


@ONE_REDIS
def test_endpoints_have_the_promised_shape(stack: Stack):
    found = stack.endpoints
    assert set(found) == {"gateways", "api", "services", "redis", "postgres", "apps", "sip", "media"}
    assert [gateway["name"] for gateway in found["gateways"]] == ["gateway#1", "gateway#2"]
    assert all(set(gateway) == {"name", "ws", "http", "pid"} for gateway in found["gateways"])
    assert len(found["api"]) == 2 and all(url.startswith("http://127.0.0.1:") for url in found["api"])
    assert [service["name"] for service in found["services"]] == [f"{kind}#1" for kind in KINDS]
    assert all(set(service) == {"name", "pid", "http"} for service in found["services"])
    for name, role in (("redis", "master"), ("postgres", "primary")):
        assert set(found[name]) == {"url", "pid", "nodes"}
        node, = found[name]["nodes"]
        assert node == {"name": name, "host": "127.0.0.1", "port": node["port"], "pid": found[name]["pid"], "role": role}
        assert f"127.0.0.1:{node['port']}" in found[name]["url"]
    assert sorted(app["tokenRequired"] for app in found["apps"]) == [False, True]
    assert all(set(app) == {"appId", "certificate", "tokenRequired"} for app in found["apps"])
    assert stack.token_app.certificate
    assert set(found["sip"]) == {"host", "port", "bridges"}
    assert found["media"] == []
    assert all(is_running(pid) for pid in stack.pids.values()) and len(stack.pids) == 8


def test_every_service_reports_healthy_and_ready(stack: Stack):
    for member in stack.endpoints["gateways"] + stack.endpoints["services"]:
        for path in ("healthz", "readyz", "metrics"):
            assert status_of(f"{member['http']}/{path}") == 200, f"{member['name']} {path}"


@ONE_REDIS
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
    wait_until_whole(stack)
    without_pids = [json.loads(json.dumps(found), object_hook=lambda o: {k: v for k, v in o.items() if k != "pid"})
                    for found in (before, stack.endpoints)]
    assert without_pids[0] == without_pids[1], "start changed addresses"


def test_a_member_is_replaced_by_another_release(make_stack, tmp_path):
    """The other release's programs are this release's under other paths."""
    first, second = tmp_path / "first", tmp_path / "second"
    for directory in (first, second):
        directory.mkdir()
        (directory / "presence").symlink_to(BINARIES / "presence")
    stack: Stack = make_stack("--programs", f"presence={first}", presence=2)

    def program(name: str) -> str:
        return Path(f"/proc/{stack.pids[name]}/cmdline").read_bytes().split(b"\0")[0].decode()

    assert [program("presence#1"), program("presence#2")] == [f"{first}/presence"] * 2
    assert program("invitation#1") == str(BINARIES.resolve() / "invitation")
    stack.drain("presence#1")
    refused = stack.run("start", "presence#1", "--programs", str(tmp_path), check=False)
    assert refused.returncode == 1 and refused.stderr == f"stack: {tmp_path} has no presence\n"
    stack.run("start", "presence#1", "--programs", str(second))
    stack.kill("presence#1")
    stack.start("presence#1")
    assert [program("presence#1"), program("presence#2")] == [f"{second}/presence", f"{first}/presence"]
    wrong = stack.run("up", "--programs", f"postgres={first}", check=False)
    assert wrong.returncode == 2 and "must be KIND=DIR" in wrong.stderr


@ONE_REDIS
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


@ONE_REDIS
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


@ONE_REDIS
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


def state_of(pid: int) -> str:
    """The letter that `ps` shows; none for a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def children_of(pid: int) -> list[int]:
    return [int(pid) for pid in subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout.split()]


@ONE_REDIS
def test_frozen_members_stand_still_with_their_children_until_thawed(make_stack):
    stack = make_stack(gateways=1)
    postmaster, gateway = stack.pids["postgres"], stack.pids["gateway#1"]
    stack.freeze("postgres")
    family = [postmaster, *children_of(postmaster)]
    assert len(family) > 3 and {state_of(pid) for pid in family} == {"T"}
    assert stack.run("freeze", "postgres", check=False).returncode == 1
    stack.freeze("gateway#1")
    status = stack.run("status", check=False)
    assert [line.split()[0] for line in status.stdout.splitlines() if line.endswith("frozen")] == ["postgres", "gateway#1"]
    assert stack.run("drain", "gateway#1", check=False).returncode == 1
    stack.kill("gateway#1")
    assert not is_running(gateway)
    stack.thaw("postgres")
    assert "T" not in {state_of(pid) for pid in family}
    assert stack.run("thaw", "postgres", check=False).returncode == 1
    stack.start("gateway#1")
    # PostgreSQL that is killed while frozen must not leave its frozen children behind: no new one could be started.
    stack.freeze("postgres")
    stack.kill("postgres")
    stack.start("postgres")
    stack.freeze("redis")
    stack.freeze("presence#1")
    everything = processes_of(stack)
    stack.down()
    assert not [pid for pid in everything if is_running(pid)]


@ONE_REDIS
def test_stores_are_turned_back_emptied_and_filled(make_stack):
    stack = make_stack("--postgres-disk", "192", gateways=1)
    stack.sql("CREATE TABLE probe (body text)")
    stack.redis("SET", "probe", "early")
    assert "snapshot" in stack.run("rollback", "redis", check=False).stderr
    stack.run("snapshot", "redis")
    stack.run("snapshot", "postgres")
    stack.redis("SET", "probe", "late")
    stack.sql("INSERT INTO probe VALUES ('late')")
    stack.run("rollback", "redis")
    stack.run("rollback", "postgres")
    assert stack.redis("GET", "probe") == "early"
    assert stack.sql("SELECT * FROM probe") == []
    stack.run("fill", "redis")
    with pytest.raises(AssertionError, match="OOM"):
        for number in range(100):
            stack.redis("SET", f"probe{number}", "x" * 8000)
    stack.run("unfill", "redis")
    stack.redis("SET", "probe", "x" * 8000)
    stack.run("fill", "postgres")
    with pytest.raises(AssertionError, match="No space left"):
        stack.sql("INSERT INTO probe SELECT repeat(n::text, 300) FROM generate_series(1, 10000) n")
    stack.run("unfill", "postgres")
    stack.sql("INSERT INTO probe SELECT repeat(n::text, 300) FROM generate_series(1, 10000) n")
    stack.run("empty", "redis")
    assert stack.redis("EXISTS", "probe") == "0"
    mounted = Path("/proc/mounts").read_text()
    assert str(stack.directory) in mounted
    stack.down()
    assert str(stack.directory) not in Path("/proc/mounts").read_text()


@ONE_REDIS
@pytest.mark.parametrize("reset", [[], ["--reset"]], ids=["silent", "reset"])
def test_a_partition_cuts_off_one_member_only(make_stack, reset):
    stack = make_stack("--proxies", gateways=2)
    assert set(stack.pids) == {"redis", "postgres", "gateway#1", "gateway#2", *(f"{kind}#1" for kind in KINDS)}
    stack.run("partition", "gateway#1", *reset)
    assert stack.run("partition", "gateway#1", *reset, check=False).returncode == 1
    ready = [gateway["http"] + "/readyz" for gateway in stack.endpoints["gateways"]]
    eventually_blocking(lambda: status_of(ready[0]) == 503, "the gateway that is cut off is not ready", 30)
    assert status_of(ready[1]) == 200
    stack.run("heal", "gateway#1")
    wait_until_whole(stack)
    stack.run("partition", "redis", *reset)
    eventually_blocking(lambda: {status_of(url) for url in ready} == {503}, "no gateway reaches Redis", 30)
    assert stack.redis("PING") == "PONG"
    stack.run("heal", "redis")
    wait_until_whole(stack)


@ONE_REDIS
def test_a_partition_needs_proxies(stack: Stack):
    assert "--proxies" in stack.run("partition", "gateway#1", check=False).stderr


@ONE_REDIS
def test_redis_writes_to_the_disk_as_it_is_told(make_stack, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_REDIS_FSYNC", "always")
    assert make_stack(gateways=0).redis("CONFIG", "GET", "appendfsync").split() == ["appendfsync", "always"]
    monkeypatch.setenv("HELIOGRAPH_REDIS_FSYNC", "sometimes")
    with pytest.raises(AssertionError, match="everysec, always or no"):
        make_stack(gateways=0)


def test_the_environment_leads_heliographctl_to_the_stack(stack: Stack):
    lines = stack.run("environment").stdout
    done = subprocess.run(["bash", "-c", f"{lines}\nheliographctl app list"], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0 and stack.open_app.id in done.stdout, done.stderr
    done = subprocess.run(["bash", "-c", f"{lines}\necho $HELIOGRAPH_URL $HELIOGRAPH_API_URL"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [stack.endpoints["gateways"][0]["http"], stack.endpoints["api"][0]]
