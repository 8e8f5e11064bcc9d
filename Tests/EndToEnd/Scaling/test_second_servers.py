"""A running stack with one Redis and one PostgreSQL gets a replica, Sentinels and a standby, by the commands of the documents."""

import asyncio
import os
import re
import shutil
import subprocess

from acts import insists
from chat import Chat
from more_servers import MoreServers, Place, wait_until_up
from page_commands import PageCommands
from stack_control import ROOT, Stack, unique
from waiting import eventually

HOST = "127.0.0.1"
# A request waits until the successor of its service runs.
LONGEST_SECONDS = 8
FAILOVER_SECONDS = 20
PROCESSES = ("presence#1", "channel-state#1", "gateway#1", "gateway#2")
# PostgreSQL does not run as root.
AS_POSTGRES = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.getuid() == 0 else []


def add_sentinels(stack: Stack, more: MoreServers) -> str:
    """Gives Redis a replica and three Sentinels; the URL for processes."""
    old = stack.endpoints["redis"]["nodes"][0]["port"]
    replica = more.place("redis", "replica")
    sentinels = [more.place("redis", f"sentinel-{number}") for number in (1, 2, 3)]
    configuration = re.search(r"^```ini sentinel\.conf\n(.*?)^```$", (ROOT / "Docs/scaling.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    assert "port 26379\n" in configuration and " OLD 6379 " in configuration
    for place in sentinels:
        text = configuration.replace("26379", str(place.port)).replace("OLD 6379", f"{HOST} {old}")
        (place.folder / "sentinel.conf").write_text(text)
    # A master waits five seconds for further replicas before it sends its data to the first.
    stack.redis("CONFIG", "SET", "repl-diskless-sync-delay", "0")
    with PageCommands("Docs/scaling.md", "From one Redis to Sentinels") as steps:
        more.start(steps, "--replicaof", {replica: {
            "--port 6379": f"--port {replica.port}", "/var/lib/redis": str(replica.folder), "OLD 6379": f"{HOST} {old}"}})
        steps.run("master_link_status:up", {"REPLICA": HOST, "6379": str(replica.port)})
        more.start(steps, "--sentinel", {place: {} for place in sentinels})
        for place in sentinels:
            wait_until_up(place.port)
        waits = steps.take("CKQUORUM")
        for place in sentinels:
            steps.run_now(waits, {"SENTINEL -p": f"{HOST} -p", "26379": str(place.port)})
    return f"redis+sentinel://{','.join(place.address for place in sentinels)}/heliograph"


def add_standby(stack: Stack, more: MoreServers) -> tuple[str, Place]:
    """Gives PostgreSQL a standby; the URL for processes."""
    old = stack.endpoints["postgres"]["nodes"][0]["port"]
    standby = more.place("postgres", "later")
    if AS_POSTGRES:
        shutil.chown(standby.folder, "postgres", "postgres")
    standby.folder.chmod(0o700)
    primary = {"PRIMARY": HOST, "5432": str(old)}
    data = {"/var/lib/postgresql/15/main": str(standby.folder)}
    own = {"-U postgres": "-U heliograph -d heliograph"}
    with PageCommands("Docs/operations.md", "Adding a standby") as steps:
        steps.run("CREATE ROLE replicator", primary | own)
        steps.run("wal_keep_size", primary | own)
        # What a test writes need not survive the machine.
        steps.run("pg_basebackup", primary | data, user=AS_POSTGRES, more="--no-sync")
        more.start(
            steps, "postgres -D", {standby: data | {"5432": str(standby.port)}}, user=AS_POSTGRES,
            more="-c max_connections=200 -c shared_buffers=64MB -c unix_socket_directories=")
        steps.run("pg_is_in_recovery", {"STANDBY": HOST, "5432": str(standby.port)} | own)
    return f"postgresql://heliograph@{HOST}:{old},{standby.address}/heliograph?target_session_attrs=read-write", standby


def sql(place: Place, statement: str) -> list[str]:
    """What a server says that the stack does not know."""
    url = f"postgresql://heliograph@{place.address}/heliograph"
    done = subprocess.run(["psql", url, "-X", "-Atc", statement], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


async def test_second_servers_are_added_while_users_talk(make_stack, people, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_DRAIN", "1s")
    stack: Stack = make_stack("--redis", "single", gateways=2, invitation=0, sip_bridge=0)
    with MoreServers(stack) as more:
        async with people(stack) as cast, Chat(stack, cast) as chat:
            await chat.begin([unique("user") for _ in range(4)])
            alice, bob, *_ = chat.users
            await alice.call("user_set_attr", name="mood", value="from before the standby")
            redis, (postgres, standby) = await asyncio.gather(
                asyncio.to_thread(add_sentinels, stack, more), asyncio.to_thread(add_standby, stack, more))
            await chat.goes_on()
            for name in PROCESSES:
                await asyncio.to_thread(stack.drain, name)
                await asyncio.to_thread(
                    stack.run, "start", name, "--set", f"HELIOGRAPH_REDIS_URL={redis}", "--set", f"HELIOGRAPH_POSTGRES_URL={postgres}")
            await chat.goes_on()
            assert chat.returns >= len(chat.users)
            await chat.end(LONGEST_SECONDS)

            # What it was for: either store may die now.
            await insists(alice, "user_set_attr", name="place", value="from after the standby")
            attributes = f"SELECT count(*) FROM user_attributes WHERE account = '{alice.account}'"
            await eventually(lambda: sql(standby, attributes) == ["2"], "the standby has all")
            await asyncio.to_thread(stack.kill, "redis")
            await asyncio.to_thread(stack.kill, "postgres")
            assert sql(standby, "SELECT pg_promote()") == ["t"]
            await insists(bob, "user_sendmsg", peer=alice.account, flag="v1:E:3600", t="instant", content="told without the old servers")
            await eventually(lambda: "told without the old servers" in alice.texts(), "the message", FAILOVER_SECONDS)
            await insists(alice, "user_set_attr", name="mood", value="from after the failover")
            assert sql(standby, attributes) == ["2"]
            newcomer, = await cast.login("newcomer")
            assert (await newcomer.call("user_get_attr", account=alice.account, name="place"))["value"] == "from after the standby"
            # Nobody had to log in again.
            assert not any(client.closed.is_set() for client in chat.users)
