"""The hosts of `Scripts/stack up --hosts`, and what the wire does to packets between them."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fixtures import running
from stack_control import Stack, entered, is_running, processes_of
from waiting import eventually_blocking

STORES_ALONE = {"gateways": 0, "presence": 0, "channel_state": 0, "invitation": 0, "sip_bridge": 0}
PATIENCE_SECONDS = 2
# A round trip that nothing delays, on a busy machine.
SWIFT_SECONDS = 0.3
# Fewer than the devices' and the sockets' queues hold.
DATAGRAMS = 200


class Line:
    """A connection from the clients' host to Redis, in which PING is asked."""

    def __init__(self, stack: Stack):
        node, = stack.endpoints["redis"]["nodes"]
        self.socket = socket.create_connection((node["host"], node["port"]), timeout=PATIENCE_SECONDS)

    def asked(self) -> float:
        """Seconds until the answer."""
        began = time.monotonic()
        self.socket.sendall(b"PING\r\n")
        assert self.socket.recv(100) == b"+PONG\r\n"
        return time.monotonic() - began


@pytest.fixture(scope="module")
def stores(request: pytest.FixtureRequest) -> Iterator[Stack]:
    with running(request, "--hosts", "--redis", "single", **STORES_ALONE) as stack:
        yield stack


@pytest.fixture
def stack(stores: Stack) -> Iterator[Stack]:
    """Two servers on hosts, with nothing between them disturbed."""
    yield stores
    stores.run("heal", "all")


def test_each_member_and_the_clients_have_a_host(stack: Stack):
    found = {host["name"]: host for host in stack.endpoints["hosts"]}
    assert list(found) == ["redis", "postgres", "clients"]
    node, = stack.endpoints["redis"]["nodes"]
    assert node["host"] == found["redis"]["address"] and f"{node['host']}:{node['port']}" in stack.endpoints["redis"]["url"]
    own = os.stat("/proc/thread-self/ns/net").st_ino
    assert own == os.stat(found["clients"]["network"]).st_ino
    assert os.stat(f"/proc/{node['pid']}/ns/net").st_ino == os.stat(found["redis"]["network"]).st_ino != own
    assert stack.run("status").returncode == 0


def test_a_delay_counts_for_its_direction_only(stack: Stack):
    line = Line(stack)
    assert line.asked() < SWIFT_SECONDS
    stack.run("delay", "clients", "400", "--to", "redis", "--one-way")
    assert 0.4 <= line.asked() < 0.4 + SWIFT_SECONDS
    stack.run("delay", "redis", "400", "--to", "clients", "--one-way")
    assert 0.8 <= line.asked() < 0.8 + SWIFT_SECONDS
    stack.run("heal", "clients")
    assert line.asked() < SWIFT_SECONDS


def test_a_cut_is_silent_and_what_was_sent_arrives_after_it(stack: Stack):
    line = Line(stack)
    stack.run("partition", "redis", "--to", "clients", "--one-way")
    with pytest.raises(TimeoutError):
        line.asked()
    with pytest.raises(TimeoutError):
        Line(stack)
    stack.run("heal", "redis", "--to", "clients", "--one-way")
    line.socket.settimeout(10)
    assert line.socket.recv(100) == b"+PONG\r\n"


def test_a_server_that_is_cut_off_is_still_seen_by_clients_alone(stack: Stack):
    stack.run("partition", "redis")
    assert Line(stack).asked() < SWIFT_SECONDS
    postgres = next(host for host in stack.endpoints["hosts"] if host["name"] == "postgres")
    with entered(postgres["network"]):
        with pytest.raises(TimeoutError):
            Line(stack)
        stack.run("heal", "all")
        assert Line(stack).asked() < SWIFT_SECONDS


def test_packets_are_lost_at_random_and_in_one_direction_only(stack: Stack):
    clients, redis = datagram_socket(stack, "clients"), datagram_socket(stack, "redis")
    stack.run("loss", "clients", "50", "--to", "redis", "--one-way")
    # 100 on average, with a standard deviation of 7.
    assert 40 < arrived(clients, redis) < 160
    assert arrived(redis, clients) == DATAGRAMS
    stack.run("heal", "all")
    assert arrived(clients, redis) == DATAGRAMS


def datagram_socket(stack: Stack, name: str) -> socket.socket:
    """A socket on a host, for datagrams: unlike TCP, it sends nothing again."""
    host = next(host for host in stack.endpoints["hosts"] if host["name"] == name)
    with entered(host["network"]):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind((host["address"], 0))
    made.settimeout(PATIENCE_SECONDS)
    return made


def arrived(sender: socket.socket, receiver: socket.socket) -> int:
    """How many datagrams arrive of `DATAGRAMS` that are sent."""
    for _ in range(DATAGRAMS):
        sender.sendto(b"x", receiver.getsockname())
    for number in range(DATAGRAMS):
        try:
            receiver.recv(100)
        except TimeoutError:
            return number
    return DATAGRAMS


def test_lost_packets_are_sent_again(stack: Stack):
    line = Line(stack)
    # Every packet: after each further loss TCP waits twice as long, so half of them could take any time.
    stack.run("loss", "clients", "100", "--to", "redis")
    with pytest.raises(TimeoutError):
        line.asked()
    stack.run("heal", "all")
    line.socket.settimeout(30)
    assert line.socket.recv(100) == b"+PONG\r\n"
    assert line.asked() < SWIFT_SECONDS


@pytest.mark.parametrize("command, said", [
    (("partition", "nobody"), "no member 'nobody'"), (("partition", "redis", "--to", "nobody"), "no member 'nobody'"),
    (("partition", "redis", "--reset"), "--reset needs `up --proxies`"), (("loss", "redis", "few"), "invalid"),
    (("delay", "redis", "-5"), "must be 0 or more"), (("kill", "wire"), "all hosts end with the wire"),
])
def test_commands_that_make_no_sense_say_so(stack: Stack, command: tuple[str, ...], said: str):
    done = stack.run(*command, check=False)
    assert done.returncode != 0 and said in done.stderr
    assert Line(stack).asked() < SWIFT_SECONDS


def test_a_dead_wire_is_named_and_nothing_of_the_hosts_stays(make_stack):
    stack: Stack = make_stack("--hosts", "--redis", "single", **STORES_ALONE)
    wire = next(pid for pid in processes_of(stack) if b"wire.py" in Path(f"/proc/{pid}/cmdline").read_bytes())
    networks = {os.stat(f"/proc/{pid}/ns/net").st_ino for pid in stack.pids.values()}
    os.kill(wire, signal.SIGKILL)
    eventually_blocking(lambda: not is_running(wire), "the wire is dead")
    assert "take the stack `down`" in stack.run("status", check=False).stderr
    assert "the wire does not answer" in stack.run("partition", "redis", check=False).stderr
    stack.down()
    assert not processes_of(stack)
    assert [path.name for path in stack.directory.iterdir() if path.name not in ("lock", "logs")] == []
    assert not networks & set(all_networks())


def all_networks() -> list[int]:
    """The network namespaces that have processes; a namespace without any, or descriptors, is gone."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.append(os.stat(f"/proc/{name}/ns/net").st_ino)
        except OSError:
            continue
    return found
