"""The stores that `Scripts/stack` can start: Redis alone, with Sentinels or as a cluster, and PostgreSQL with a standby."""

import asyncio
import os
import subprocess
import time

import pytest
from acts import insists
from stack_control import ROOT, Stack, clean_environment, is_running, processes_of, unique
from waiting import eventually, eventually_blocking

# No process of the cluster's own.
STORES_ALONE = {"gateways": 0, "presence": 0, "channel_state": 0, "invitation": 0, "sip_bridge": 0}
FAILOVER_SECONDS = 20


def roles(stack: Stack) -> dict[str, str | None]:
    """What each server of both stores was when endpoints.json was written."""
    return {node["name"]: node["role"] for store in ("redis", "postgres") for node in stack.endpoints[store]["nodes"]}


def postgres_roles(stack: Stack) -> dict[str, str | None]:
    return {name: role for name, role in roles(stack).items() if name.startswith("postgres")}


def is_master(stack: Stack, node: str) -> bool:
    """What Redis itself says."""
    return stack.redis("ROLE", node=node).split()[0] == "master"


def setting(stack: Stack, name: str) -> str:
    return stack.redis("CONFIG", "GET", name, node="redis#1").split("\n")[1]


def test_later_stacks_of_a_checkout_copy_an_empty_database_instead_of_making_one(make_stack):
    # Whoever is the first makes what this test's second one copies.
    make_stack(**STORES_ALONE)
    stack: Stack = make_stack(**STORES_ALONE)
    assert not (stack.directory / "logs" / "initdb.log").exists()
    assert stack.sql("SELECT count(*) FROM apps") == [["2"]], "the two demo apps of its own"


def test_a_cluster_replaces_a_dead_master_and_takes_it_back(make_stack):
    stack: Stack = make_stack("--redis", "cluster", **STORES_ALONE)
    found = stack.endpoints["redis"]
    ports = {node["name"]: node["port"] for node in found["nodes"]}
    assert found["url"] == "redis+cluster://" + ",".join(f"127.0.0.1:{port}" for port in ports.values())
    assert found["pid"] is None
    assert roles(stack) == {
        **{f"redis#{number}": "master" for number in (1, 2, 3)}, **{f"redis#{number}": "replica" for number in (4, 5, 6)},
        "postgres": "primary"}
    assert len(stack.pids) == 7 and all(is_running(pid) for pid in stack.pids.values())
    assert {name: setting(stack, name) for name in (
        "cluster-node-timeout", "cluster-require-full-coverage", "cluster-allow-pubsubshard-when-down", "appendonly")} == {
        "cluster-node-timeout": "2000", "cluster-require-full-coverage": "no", "cluster-allow-pubsubshard-when-down": "yes",
        "appendonly": "yes"}
    # In slot 3300, which the first master owns.
    assert stack.redis("SET", "b", "value of b") == "OK"
    with pytest.raises(AssertionError, match="MOVED"):
        stack.redis("GET", "b", node="redis#2")
    stack.kill("redis#1")
    assert roles(stack)["redis#1"] is None
    assert "down" in next(line for line in stack.run("status", check=False).stdout.splitlines() if line.startswith("redis#1"))
    eventually_blocking(lambda: is_master(stack, "redis#4"), "the replica takes over", FAILOVER_SECONDS)
    assert stack.redis("GET", "b", node="redis#4") == "value of b"
    stack.start("redis#1")
    eventually_blocking(lambda: not is_master(stack, "redis#1"), "the old master follows", FAILOVER_SECONDS)
    eventually_blocking(
        lambda: "master_link_status:up" in stack.redis("INFO", "replication", node="redis#1"), "and has the data", FAILOVER_SECONDS)
    stack.promote("redis#1")
    assert is_master(stack, "redis#1") and roles(stack)["redis#1"] == "master"
    assert stack.redis("GET", "b", node="redis#1") == "value of b"


def test_frozen_servers_of_a_cluster_are_named_and_nothing_of_it_stays(make_stack):
    stack: Stack = make_stack("--redis", "cluster", "--redis-masters", "2", "--redis-replicas", "0", **STORES_ALONE)
    assert list(roles(stack)) == ["redis#1", "redis#2", "postgres"]
    stack.freeze("redis#2")
    status = stack.run("status", check=False).stdout.splitlines()
    assert [line.split()[0] for line in status if line.endswith("frozen")] == ["redis#2"]
    stack.thaw("redis#2")
    eventually_blocking(lambda: stack.run("status", check=False).returncode == 0, "the cluster is whole", 30)
    assert "Cluster state changed: ok" in stack.run("logs", "redis#1").stdout
    assert "no standby" in stack.run("promote", "postgres", check=False).stderr
    stack.freeze("redis#1")
    everything = [*stack.pids.values(), *processes_of(stack)]
    stack.down()
    assert not [pid for pid in everything if is_running(pid)] and not processes_of(stack)
    assert [path.name for path in stack.directory.iterdir() if path.name not in ("lock", "logs")] == []


def test_sentinels_replace_a_dead_master(make_stack):
    stack: Stack = make_stack("--redis", "sentinel", **STORES_ALONE)
    found = stack.endpoints["redis"]
    ports = {node["name"]: str(node["port"]) for node in found["nodes"]}
    sentinels = [f"sentinel#{number}" for number in (1, 2, 3)]
    assert roles(stack) == {
        "redis#1": "master", "redis#2": "replica", **dict.fromkeys(sentinels, "sentinel"), "postgres": "primary"}
    assert found["url"] == f"redis+sentinel://{','.join(f'127.0.0.1:{ports[name]}' for name in sentinels)}/heliograph"

    def master(sentinel: str) -> str:
        return stack.redis("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "heliograph", node=sentinel).split()[1]

    assert [master(name) for name in sentinels] == [ports["redis#1"]] * 3
    assert "can't be promoted" in stack.run("promote", "sentinel#1", check=False).stderr
    stack.redis("SET", "probe", "kept", node="redis#1")
    stack.kill("redis#1")
    for name in sentinels:
        eventually_blocking(lambda name=name: master(name) == ports["redis#2"], "each Sentinel names the replica", FAILOVER_SECONDS)
    assert is_master(stack, "redis#2") and stack.redis("GET", "probe", node="redis#2") == "kept"
    # A server comes back as what it was last, because Sentinels let servers write that down.
    stack.kill("redis#2")
    stack.start("redis#2")
    assert is_master(stack, "redis#2")
    stack.kill("sentinel#1")
    stack.start("sentinel#1")
    assert master("sentinel#1") == ports["redis#2"]
    # `down` finds the servers by their folders too.
    everything = [*stack.pids.values(), *processes_of(stack)]
    (stack.directory / "stack.json").unlink()
    stack.down()
    assert not [pid for pid in everything if is_running(pid)] and not processes_of(stack)


@pytest.mark.parametrize("options, said", [
    (("--redis", "cluster", "--proxies"), "--proxies needs --redis single"),
    (("--redis-masters", "3"), "--redis-masters needs --redis cluster"),
    (("--redis", "sentinel", "--redis-masters", "2"), "--redis-masters needs --redis cluster"),
    (("--redis-replicas", "1"), "--redis-replicas needs --redis sentinel or --redis cluster"),
    (("--redis", "cluster", "--redis-masters", "0"), "--redis-masters must be at least 1"),
    (("--redis", "sentinel", "--redis-tls"), "--redis-tls needs --redis cluster"),
    (("--postgres-standby", "--postgres-disk", "100"), "--postgres-disk holds one server"),
])
def test_options_that_contradict_each_other_start_nothing(options: tuple[str, ...], said: str):
    stack = Stack()
    try:
        refused = stack.run("up", *options, check=False)
        assert refused.returncode == 1
        assert refused.stderr.startswith(f"stack: {said}") and refused.stderr.count("\n") == 1
        assert not (stack.directory / "stack.json").exists() and not processes_of(stack)
    finally:
        stack.remove()


@pytest.mark.parametrize("end", ["kill", "freeze"])
async def test_a_promoted_standby_takes_the_writes_and_the_old_primary_follows_it(make_stack, people, end: str):
    stack: Stack = make_stack("--postgres-standby", gateways=1)
    assert postgres_roles(stack) == {"postgres#1": "primary", "postgres#2": "standby"}
    assert stack.endpoints["postgres"]["url"].endswith("/heliograph?target_session_attrs=read-write")
    channel = unique("room")
    async with people(stack) as cast:
        alice, bob = await cast.members(channel, "alice", "bob")
        await alice.call("user_set_attr", name="mood", value="good")
        await alice.call("channel_set_attr", channel=channel, name="topic", value="calm")
        await asyncio.to_thread(stack.run, end, "postgres#1")
        refused = await alice.attempt("user_set_attr", name="mood", value="lost")
        assert refused.data["reason"] == "unavailable"
        await alice.say(channel, "while no database answers")
        await eventually(lambda: bob.of_type("channel_msg"), "messages need no database")
        promoted = asyncio.create_task(asyncio.to_thread(stack.promote, "postgres#2"))
        started = time.monotonic()
        await insists(alice, "user_set_attr", name="mood", value="better")
        await insists(alice, "channel_set_attr", channel=channel, name="topic", value="storm")
        assert time.monotonic() - started < 5
        await promoted
        assert roles(stack)["postgres#2"] == "primary"
        if end == "freeze":
            await asyncio.to_thread(stack.kill, "postgres#1")
        # It must not come back as a second primary, with the truth of yesterday.
        await asyncio.to_thread(stack.start, "postgres#1")
        assert postgres_roles(stack) == {"postgres#1": "standby", "postgres#2": "primary"}
        await asyncio.to_thread(stack.kill, "postgres#2")
        await asyncio.to_thread(stack.promote, "postgres#1")
        await insists(alice, "user_set_attr", name="place", value="home")
        rows = stack.sql(f"SELECT name, value FROM user_attributes WHERE account = '{alice.account}' ORDER BY name")
        assert rows == [["mood", "better"], ["place", "home"]]


def test_the_way_back_in_containers(make_stack):
    """The scripts of docker-compose.standby.yml, with the servers of a stack instead of containers."""
    stack: Stack = make_stack("--postgres-standby", **STORES_ALONE)
    place = {node["name"]: f"{node['host']} port={node['port']}" for node in stack.endpoints["postgres"]["nodes"]}
    data = stack.sql("SHOW data_directory", node="postgres#1")[0][0]
    # As in the containers, by the user of the data; that user may not be allowed to read the repository.
    owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.getuid() == 0 else []

    def script(name: str, *arguments: str) -> tuple[int, str]:
        variables = {"PGDATA": data, "POSTGRES_PASSWORD_FILE": "/dev/null"}
        done = subprocess.run(
            [*owner, "bash", "-s", "--", *arguments], input=(ROOT / "Docker" / f"{name}.sh").read_text(), cwd="/",
            env=clean_environment(**variables), capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def follow() -> tuple[int, str]:
        return script("postgres-follow", place["postgres#1"], place["postgres#2"])

    stack.sql("CREATE TABLE before AS SELECT 1 AS number")
    assert follow() == (1, f"postgres-follow: {place['postgres#1']} is running: stop it first\n")
    stack.kill("postgres#1")
    assert follow()[1].startswith(f"postgres-follow: {place['postgres#2']} was not promoted")
    assert script("postgres-guard", place["postgres#2"], "echo", "starts") == (0, "starts\n")
    stack.promote("postgres#2")
    stack.sql("CREATE TABLE after AS SELECT 2 AS number")
    assert script("postgres-guard", place["postgres#2"], "echo", "starts")[0] == 1
    code, output = follow()
    assert code == 0 and output.endswith(f"{place['postgres#1']} follows {place['postgres#2']} once it starts\n"), output
    assert script("postgres-guard", place["postgres#2"], "echo", "starts") == (0, "starts\n")
    stack.start("postgres#1")
    assert roles(stack)["postgres#1"] == "standby"
    # It follows the new primary, with all data.
    stack.sql("INSERT INTO after VALUES (3)")
    both = "SELECT number FROM before UNION ALL SELECT number FROM after ORDER BY 1"
    eventually_blocking(lambda: stack.sql(both, node="postgres#1") == [["1"], ["2"], ["3"]], "the old primary follows")
