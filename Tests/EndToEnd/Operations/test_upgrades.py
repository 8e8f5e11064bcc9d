"""Releases side by side: what a process accepts of a newer one, and when it refuses to serve."""

import json
import subprocess

import pytest
from redis_flavour import FLAVOUR
from stack_control import BINARIES, Stack, clean_environment, run_program

# What Kubernetes sets in every container for a service named heliograph-gateway.
SERVICE_LINKS = {
    "HELIOGRAPH_GATEWAY_SERVICE_HOST": "10.0.0.1", "HELIOGRAPH_GATEWAY_SERVICE_PORT": "8443",
    "HELIOGRAPH_GATEWAY_SERVICE_PORT_WS": "8443", "HELIOGRAPH_GATEWAY_PORT": "tcp://10.0.0.1:8443",
    "HELIOGRAPH_GATEWAY_PORT_8443_TCP": "tcp://10.0.0.1:8443", "HELIOGRAPH_GATEWAY_PORT_8443_TCP_PROTO": "tcp",
    "HELIOGRAPH_GATEWAY_PORT_8443_TCP_PORT": "8443", "HELIOGRAPH_GATEWAY_PORT_8443_TCP_ADDR": "10.0.0.1",
}


def logged(stack: Stack, name: str) -> list[str]:
    """The messages in a process's log."""
    lines = (stack.directory / "logs" / f"{name}.log").read_text().splitlines()
    return [json.loads(line)["message"] for line in lines if line.startswith("{")]


@pytest.mark.parametrize("service", ["gateway", "presence", "channel-state", "invitation", "sip-bridge", "webhooks"])
def test_service_links_stop_nobody(service: str):
    done = run_program(str(BINARIES / service), "--check-configuration", **SERVICE_LINKS)
    assert done.returncode == 0, done.stderr
    line, = done.stderr.splitlines()
    assert "enableServiceLinks" in line and all(name in line for name in SERVICE_LINKS)


def test_bad_value_beside_service_links_stops():
    done = run_program(str(BINARIES / "gateway"), "--check-configuration", **SERVICE_LINKS | {"HELIOGRAPH_GATEWAY_PORT": "tcp://10.0.0.1"})
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


def settings(stack: Stack) -> dict[str, str]:
    """What a further process of the stack is set up by."""
    found = stack.endpoints
    return {"HELIOGRAPH_REDIS_URL": found["redis"]["url"], "HELIOGRAPH_POSTGRES_URL": found["postgres"]["url"]}


def refusal(stack: Stack, program: str, **others: str) -> str:
    """The one line by which a further process of the stack refuses to serve."""
    before = redis_keys(stack)
    done = run_program(str(BINARIES / program), **settings(stack) | others)
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert redis_keys(stack) <= before, "a process that refuses has written to Redis"
    return done.stderr.rstrip()


def redis_keys(stack: Stack) -> set[str]:
    """The keys about processes; the others change while the stack runs."""
    return set(stack.redis_keys("{control}*"))


def migration_applied(stack: Stack, number: int, readers_from: int) -> None:
    """Says that a newer release has migrated the database."""
    stack.sql("INSERT INTO schema_migrations (number, name, checksum, readers_from) "
              f"VALUES ({number}, '{number}_of_a_newer_release', 'x', {readers_from})")


async def test_database_of_another_release(make_stack, people):
    stack: Stack = make_stack(gateways=1)
    # Ahead, but readable: a process that starts now serves.
    migration_applied(stack, 9998, readers_from=1)
    stack.kill("presence#1")
    stack.start("presence#1")
    async with people(stack) as cast:
        await cast.login("alice")
    assert [message for message in logged(stack, "presence#1") if "of a newer release" in message]
    # Ahead of what this build reads.
    migration_applied(stack, 9999, readers_from=99)
    line = refusal(stack, "presence")
    assert "9999_of_a_newer_release" in line and "level 99" in line
    # Behind what this build needs.
    stack.sql("DELETE FROM schema_migrations WHERE number IN (11, 9999)")
    line = refusal(stack, "invitation")
    assert "lacks 0011_phone_policy" in line and "heliographctl migrate" in line


def start_as_standby(stack: Stack) -> None:
    (stack.directory / "postgres" / "data" / "standby.signal").touch()
    stack.start("postgres")


def test_standby(make_stack):
    stack: Stack = make_stack(gateways=1)
    stack.kill("postgres")
    url = stack.endpoints["postgres"]["url"]
    urls = [url, f"{url}?target_session_attrs=read-write"]
    # While PostgreSQL is away nobody can tell that it will be a standby.
    early = [
        subprocess.Popen(
            [str(BINARIES / "presence")], env=clean_environment(**settings(stack) | {"HELIOGRAPH_POSTGRES_URL": url}),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for url in urls
    ]
    try:
        start_as_standby(stack)
        for url in urls:
            assert "is a standby" in refusal(stack, "presence", HELIOGRAPH_POSTGRES_URL=url)
        for process in early:
            said, _ = process.communicate(timeout=60)
            assert process.returncode == 1
            assert [line for line in said.splitlines() if " critical " in line and "is a standby" in line]
    finally:
        for process in early:
            process.kill()
            process.wait()


def running(stack: Stack, instance: str, level: int) -> None:
    """Says that a process of another release runs, as that process would."""
    seconds, micros = stack.redis("TIME").split()
    now = int(seconds) * 1000 + int(micros) // 1000
    stack.redis("ZADD", "{control}instances", str(now), instance)
    stack.redis("ZADD", "{control}levels", str(level), instance)
    stack.redis("HSET", "{control}i:" + instance, "kind", "presence", "level", str(level), "version", "next", "host", "elsewhere",
                "since", str(now))


def gone(stack: Stack, instance: str) -> None:
    stack.redis("ZREM", "{control}instances", instance)
    stack.redis("ZREM", "{control}levels", instance)
    stack.redis("DEL", "{control}i:" + instance)


def refused_in_run(stack: Stack, program: str) -> str:
    """The line by which a further process of the stack ends, once it has seen Redis."""
    before = redis_keys(stack)
    done = run_program(str(BINARIES / program), **settings(stack))
    assert done.returncode == 1, done.stdout + done.stderr
    line, = [line for line in (done.stdout + done.stderr).splitlines() if " critical " in line]
    assert "gateway listens" not in done.stdout
    assert redis_keys(stack) <= before, "a process that refuses has written to Redis"
    return line


async def test_levels(make_stack, people):
    stack: Stack = make_stack(gateways=2)
    report = json.loads(stack.control("versions", "--json"))
    kinds = ["channel-state", "gateway", "gateway", "invitation", "presence", "sip-bridge"]
    own = report["level"]
    assert [instance["kind"] for instance in report["instances"]] == kinds
    assert {instance["level"] for instance in report["instances"]} == {report["clusterLevel"]} == {own}
    assert report["heldBackBy"] == []
    # A neighbour holds nobody up, and is seen to be held back by the others.
    running(stack, "presence-9.next", own + 1)
    report = json.loads(stack.control("versions", "--json"))
    assert report["clusterLevel"] == own and len(report["heldBackBy"]) == len(kinds)
    stack.kill("presence#1")
    stack.start("presence#1")
    async with people(stack) as cast:
        await cast.login("alice")
    gone(stack, "presence-9.next")
    # Who is two levels away keeps others from serving, of every kind.
    running(stack, "presence-9.far", own + 2)
    for program in ("gateway", "presence", "sip-bridge"):
        line = refused_in_run(stack, program)
        assert f"this build has level {own}, and processes of level {own + 2} run" in line
    text = stack.control("versions")
    assert f"cluster level {own}" in text and "presence-9.far" in text and "held back by" in text
    gone(stack, "presence-9.far")
    # A process deletes its record before it ends; nobody has to wait until it expires.
    stack.drain("gateway#2")
    left = [instance["kind"] for instance in json.loads(stack.control("versions", "--json"))["instances"]]
    assert left.count("gateway") == 1


def test_layout(make_stack):
    stack: Stack = make_stack(gateways=1)
    # A server with Sentinels is laid out like one that is alone.
    own, other, partitions = ("cluster", "single", "24") if FLAVOUR == "cluster" else ("single", "cluster", "1")
    words = stack.redis("HGETALL", "{control}layout").split()
    assert words == ["flavour", own, "buckets", "4096", "partitions", partitions, "keys", "2"]
    stack.redis("HSET", "{control}layout", "flavour", other, "buckets", "0")
    for program in ("gateway", "channel-state"):
        line = refused_in_run(stack, program)
        assert f"flavour {other}, 0 buckets" in line and f"flavour {own}, 4096 buckets" in line
