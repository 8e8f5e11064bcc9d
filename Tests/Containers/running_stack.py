"""The stack in containers, as clients and operators see it. Run by Scripts/test-containers; the tests build on each other."""

import asyncio
import os
import re
import socket
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from backup_pod import BackupPod
from event_stream import Stream
from project import API_HOST, ENGINE, HOST, USER, Failed, Project, run, running
from raw_socket import RawSocket
from server_api import ServerAPI
from users import APP, PLAIN, TLS, come_back, login, start, talk
from waiting import eventually, eventually_blocking, let_pass
from web import discover, fetch, metric, metrics
from webhook_receiver import SECRET, Receiver

PROGRAMS = ("gateway", "presence", "channel-state", "invitation", "sip-bridge", "webhooks")
STORES = ("redis", "postgres")
# The size in bytes that the image may add to its base: eight programs of up to 37 MB with Swift's libraries in them, and Debian's packages.
IMAGE_BOUND = 320_000_000
# Discovery takes milliseconds; a gateway that is gone costs one `timeout connect` of HAProxy more, 250 ms.
DISCOVERY_SECONDS = 1.0


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with running("tls") as project:
        start(project)
        yield project


def test_image_is_small_and_starts_fast():
    layers = int(run(ENGINE, "image", "inspect", "heliograph", "--format", "{{.Size}}"))
    base = int(run(ENGINE, "image", "inspect", "debian:bookworm-slim", "--format", "{{.Size}}"))
    started = time.monotonic()
    run(ENGINE, "run", "--rm", "heliograph", "heliographctl", "--help")
    empty = time.monotonic()
    run(ENGINE, "run", "--rm", "heliograph", "true")
    ended = time.monotonic()
    print(f"\n{ENGINE}: the image has {layers / 1e6:.0f} MB, {(layers - base) / 1e6:.0f} MB over its base; a container with "
          f"heliographctl --help takes {empty - started:.2f} s, one with nothing {ended - empty:.2f} s")
    assert layers - base < IMAGE_BOUND


def test_every_container_is_healthy_and_confined(project: Project):
    for service in (*PROGRAMS, *STORES, "haproxy"):
        containers = project.ids(service)
        assert len(containers) == (3 if service == "gateway" else 1)
        for container in containers:
            eventually_blocking(lambda c=container: project.health(c) == "healthy", f"{service} is healthy", 90)
            found = project.inspect(container)["HostConfig"]
            assert found["ReadonlyRootfs"] and found["Memory"] > 0 and found["PidsLimit"] > 0, service
            # Process 1 has another user than root, no capabilities, and cannot get any.
            status = project.execute(container, "cat", "/proc/1/status")
            user, = set(re.search(r"^Uid:\t(.*)$", status, re.MULTILINE)[1].split())
            assert user == str(USER) if service in PROGRAMS else user != "0"
            assert re.search(r"^CapEff:\t0+$", status, re.MULTILINE) and re.search(r"^CapBnd:\t0+$", status, re.MULTILINE)
            assert re.search(r"^NoNewPrivs:\t1$", status, re.MULTILINE)
            with pytest.raises(Failed, match="Read-only file system"):
                project.execute(container, "touch", "/usr/new")


def test_secrets_are_in_files_only(project: Project):
    secrets = [project.secret(f"{store}-password") for store in STORES]
    for service in (*PROGRAMS, *STORES):
        container = project.ids(service)[0]
        shown = str(project.inspect(container)["Config"]) + project.logs(container)
        shown += project.execute(container, "cat", "/proc/1/cmdline") + project.execute(container, "cat", "/proc/1/environ")
        assert not [secret for secret in secrets if secret in shown], service
    # Redis asks for it.
    assert "NOAUTH" in project.execute(project.ids("redis")[0], "redis-cli", "ping")


async def test_clients_of_all_gateways_talk(project: Project):
    proxy = f"http://{project.address(project.ids('haproxy')[0])}:9090"
    servers = 'haproxy_backend_active_servers{proxy="gateways_plain"}'
    await eventually(lambda: metrics(proxy).get(servers) == 3, "HAProxy has found all gateways")
    clients = [await login(f"user{number}") for number in range(6)]
    for other in clients[1:]:
        await talk(clients[0], other)
    for client in clients:
        await client.join("room")
    await clients[0].say("room", "everybody")
    for client in clients:
        await eventually(lambda c=client: [e for e in c.events if "everybody" in str(e)], "a message of the channel")
    gateways = [f"http://{project.address(container)}:9090" for container in project.ids("gateway")]
    assert [metric(gateway, "heliograph_gateway_connections") for gateway in gateways] == [2, 2, 2]
    for client in clients:
        await client.close()


async def test_the_first_start_says_how_to_begin(project: Project):
    told = await asyncio.to_thread(project.compose, "logs", "--no-color", "migrate")
    assert f"http://{API_HOST}:8090/console/" in told and "heliographctl key create --cluster" in told, told


async def test_the_server_api_answers_inside_the_network_and_at_its_own_address(project: Project):
    made = await asyncio.to_thread(project.control, "key", "create", f"--app={APP.id}", "--scopes", "read", "send")
    key = re.search(r"hk_[0-9a-f]{16}_\w+", made)[0]
    client = await login("customer")
    for number, container in enumerate(project.ids("gateway")):
        # What the class asks of a stack.
        where = SimpleNamespace(endpoints={"api": [f"http://{project.address(container)}:8090"]})
        api, stranger = ServerAPI(where, key), ServerAPI(where, "hk_0123456789abcdef_" + "0" * 32)
        assert (await asyncio.to_thread(api.get, "key")).status == 200
        assert (await asyncio.to_thread(stranger.get, "key")).status == 401
        text = f"your order {number} is ready"
        sent = await asyncio.to_thread(
            lambda a=api, t=text: a.post("apps", APP.id, "users", client.account, "messages", body={"from": "shop", "message": t}))
        assert sent.status == 200, sent
        await eventually(lambda t=text: t in client.texts(), "the message of the server")
    # By HAProxy, for this machine, with the console; not where clients connect.
    published = ServerAPI(SimpleNamespace(endpoints={"api": [f"http://{API_HOST}:8090"]}), key)
    stream = await (await asyncio.to_thread(Stream, published, APP.id)).started()
    sent = await asyncio.to_thread(
        lambda: published.post("apps", APP.id, "users", client.account, "messages", body={"from": "shop", "message": "by HAProxy"}))
    assert sent.status == 200, sent
    await eventually(lambda: "by HAProxy" in client.texts(), "the message of the server")
    with await asyncio.to_thread(fetch, f"http://{API_HOST}:8090/console/") as page:
        assert b"Heliograph console" in page.read()
    await client.logout()
    # Clients of the tests before may still be on their way out.
    seen = await stream.next()
    while (seen["event"], seen["data"]["account"]) != ("offline", client.account):
        seen = await stream.next()
    stream.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, 8090), timeout=5)


async def test_webhooks_reach_their_receiver(project: Project):
    """A receiver on this machine, which the containers reach by their network's gateway."""
    host = project.host_address(project.ids("webhooks")[0])
    with Receiver(host=host) as receiver:
        await asyncio.to_thread(
            project.control, "webhook", "set", APP.id, receiver.url(host), f"--secret={SECRET}", "--allow-private")
        await let_pass(1.2, "services look for new webhooks once a second")
        client = await login("hooked")
        await client.join("hooks")
        await client.leave("hooks")
        await client.logout()
        await eventually(
            lambda: receiver.story("hooked") == ["online", "join", "leave", "offline"], "the receiver is told the whole story", 30)
        receiver.check()
    await asyncio.to_thread(project.control, "webhook", "remove", APP.id)


async def test_gateways_know_the_clients_addresses(project: Project):
    """Not HAProxy's: by the PROXY protocol, which only HAProxy's network may use."""
    proxy = project.address(project.ids("haproxy")[0])
    raw = RawSocket(f"ws://{HOST}:{PLAIN}")
    # What no client may send: a frame without a mask.
    raw.flood(b"\x80\0", 2)

    def told() -> set[str]:
        return {address for container in project.ids("gateway")
                for address in re.findall(r'"client": ?"([^"]+)"', project.logs(container))}
    await eventually(told, "a gateway's log names the client", 20)
    assert proxy not in told()
    raw.close()


async def test_tls(project: Project):
    os.environ["SSL_CERT_FILE"] = str(project.certificate)
    try:
        client = await login("secure", f"wss://{HOST}:{TLS}")
    finally:
        del os.environ["SSL_CERT_FILE"]
    other = await login("plain")
    await talk(client, other)
    await client.close()
    await other.close()


def slowest_discovery(count: int) -> float:
    """The longest of so many discoveries, each over a connection of its own; one that fails raises."""
    longest = 0.0
    for _ in range(count):
        started = time.monotonic()
        assert discover(f"http://{HOST}:{PLAIN}", vid=APP.id)["web"]
        longest = max(longest, time.monotonic() - started)
    return longest


async def test_no_discovery_fails_when_a_gateway_is_killed(project: Project):
    clients = [await login(f"survivor{number}") for number in range(6)]
    victim = project.ids("gateway")[0]
    await asyncio.to_thread(run, ENGINE, "kill", victim)
    longest = await asyncio.to_thread(slowest_discovery, 200)
    print(f"\nthe longest of 200 discoveries after a gateway was killed: {longest * 1000:.0f} ms")
    assert longest < DISCOVERY_SECONDS
    dropped = [client for client in clients if client.closed.is_set()]
    # HAProxy may still count connections of discovery when it chooses a gateway, so that not each has two of them.
    assert 0 < len(dropped) < len(clients)
    for client in dropped:
        await come_back(client)
    for client in clients[1:]:
        await talk(clients[0], client)
    for client in clients:
        await client.close()
    await asyncio.to_thread(project.up)
    assert len(project.ids("gateway")) == 3


async def test_rolling_replacement(project: Project):
    """Three new gateways join, then the old ones are stopped one by one: nobody goes offline, and discovery never fails."""
    clients = [await login(f"rolling{number}") for number in range(6)]
    watcher = await login("watcher")
    old = project.ids("gateway")
    await asyncio.to_thread(project.compose, "up", "-d", "--no-build", "--no-recreate", "--scale", "gateway=6", "gateway")
    new = [container for container in project.ids("gateway") if container not in old]
    assert len(new) == 3
    for container in new:
        await eventually(lambda c=container: asyncio.to_thread(
            lambda: project.health(c) == "healthy"), "a new gateway is healthy", 60)

    longest = 0.0
    for container in old:
        stopping = asyncio.create_task(asyncio.to_thread(run, ENGINE, "stop", "-t", "40", container))
        while not stopping.done():
            longest = max(longest, await asyncio.to_thread(slowest_discovery, 10))
            for client in (*clients, watcher):
                if client.closed.is_set():
                    await come_back(client)
        await stopping
        await asyncio.to_thread(run, ENGINE, "rm", container)
    print(f"\nthe longest discovery during the replacement: {longest * 1000:.0f} ms")
    assert longest < DISCOVERY_SECONDS
    for client in clients:
        await talk(watcher, client)
        await client.close()
    await watcher.close()


async def test_down_and_up_loses_nothing(project: Project):
    sender = await login("keeper")
    await sender.join("kept")
    await sender.call("channel_set_attr", channel="kept", name="topic", value="tea")
    await sender.call("user_set_attr", name="age", value=30)
    for number in range(20):
        await sender.tell("absent", f"waiting {number}")
    await sender.close()
    await asyncio.to_thread(project.down)
    assert not project.ids("gateway")
    seconds = await asyncio.to_thread(project.up)
    print(f"\nup again in {seconds:.0f} s")
    await asyncio.to_thread(start, project)
    receiver = await login("absent")
    await eventually(lambda: receiver.texts() == [f"waiting {number}" for number in range(20)], "all messages, in order")
    await receiver.join("kept")
    await eventually(lambda: any("tea" in str(event) for event in receiver.of_type("channel_attr_update"))
                     or any("tea" in str(frame) for frame in receiver.frames), "the channel's attribute")
    value = await receiver.call("user_get_attr", account="keeper", name="age")
    assert "30" in str(value)
    await receiver.close()


async def restore(project: Project, place: str) -> None:
    """Stops all processes, restores a backup, and starts them again."""
    await asyncio.to_thread(project.compose, "stop", "--timeout", "45", *PROGRAMS)
    await asyncio.to_thread(project.control, "restore", place, "--as-of-backup", "--replace")
    await asyncio.to_thread(project.up)
    await asyncio.to_thread(start, project)


async def test_a_backup_is_restored(project: Project):
    """As Docs/operations.md says."""
    place = "/var/backups/heliograph/first"
    sender = await login("saver")
    await sender.tell("later", "before the backup")
    await asyncio.to_thread(project.control, "backup", place)
    await sender.tell("later", "after the backup")
    await sender.close()
    await asyncio.to_thread(project.control, "app", "create", "--id=afterwards", "--open")
    with pytest.raises(Failed, match="running|stop|process"):
        await asyncio.to_thread(project.control, "restore", place, "--as-of-backup", "--replace")
    await restore(project, place)
    assert "afterwards" not in await asyncio.to_thread(project.control, "app", "list")
    receiver = await login("later")
    await eventually(lambda: receiver.texts() == ["before the backup"], "the mailbox as of the backup")
    await receiver.close()


async def test_a_backup_of_kubernetes_is_restored(project: Project):
    """What the CronJob's command writes in the image, with the environment, the rights and the volume of its pod."""
    pod = BackupPod(project)
    sender = await login("nightly")
    await sender.tell("dawn", "before the night")
    old = f"{pod.backups}/2020-01-31T03-17-00"
    await asyncio.to_thread(pod.run, "sh", "-euc", f"mkdir {old} && touch -d 2020-01-31 {old}")
    await asyncio.to_thread(pod.run, *pod.command)
    await sender.tell("dawn", "after the night")
    await sender.close()
    # The old one is removed; the first one of the test before has another name.
    made, = [name for name in (await asyncio.to_thread(pod.run, "ls", pod.backups)).split() if name.startswith("20")]
    assert made > "2020-01-31T03-17-00"
    with pytest.raises(Failed, match="Read-only file system"):
        await asyncio.to_thread(pod.run, "touch", "/tmp/new")
    await restore(project, f"{pod.backups}/{made}")
    receiver = await login("dawn")
    await eventually(lambda: receiver.texts() == ["before the night"], "the mailbox as of the backup")
    await receiver.close()
