"""The stack's private Redis: a single server, one watched by Sentinels, or a cluster."""

import math
import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from urllib.parse import quote

from . import hosts, networks
from .errors import StackError
from .record import Member, Record
from .tools import run, tool

FLAVOURS = ("single", "sentinel", "cluster")
SLOTS = 16_384
SENTINELS = 3
QUORUM = 2
MASTER_NAME = "heliograph"
# When silent servers count as failed, in a cluster and for Sentinels.
DOWN_MILLISECONDS = 2000
# Most Sentinels' time-out for one failover.
FAILOVER_MILLISECONDS = 10_000
FORM_SECONDS = 60
PROBE_SECONDS = 2
ASK_AGAIN_SECONDS = 2
APPEND_ONLY = "appendonlydir"
COPY_ATTEMPTS = 10
# Longer than a stack lives.
SECRETS_DAYS = 365
# The memory that `fill` leaves Redis: enough to answer commands, too little to store data.
ROOM_BYTES = 65_536


@dataclass(frozen=True)
class Layout:
    """Which servers there are: `replicas` of each master."""

    flavour: str = "single"
    masters: int = 1
    replicas: int = 0
    tls: bool = False
    """Whether servers speak TLS only, and ask for a password."""

    @staticmethod
    def of(flavour: str, masters: int | None, replicas: int | None, tls: bool = False) -> "Layout":
        """From the options of `up`, which may be absent."""
        if tls and flavour != "cluster":
            raise StackError("--redis-tls needs --redis cluster")
        if flavour != "cluster" and masters not in (None, 1):
            raise StackError("--redis-masters needs --redis cluster")
        if flavour == "single" and replicas not in (None, 0):
            raise StackError("--redis-replicas needs --redis sentinel or --redis cluster")
        if flavour == "single":
            return Layout()
        masters = (3 if masters is None else masters) if flavour == "cluster" else 1
        if masters < 1:
            raise StackError("--redis-masters must be at least 1")
        return Layout(flavour, masters, 1 if replicas is None else replicas, tls)


def add_members(record: Record, layout: Layout, pick: Callable[[int], list[int]]) -> None:
    """Puts the servers into the record: masters, then the first replica of each master, then the second; then the Sentinels."""
    record.redis = layout.flavour
    if layout.flavour == "single":
        record.members.append(_single(record, pick(1)))
        return
    for number in range(1, layout.masters * (1 + layout.replicas) + 1):
        # In a cluster, the second port is for the other servers.
        ports = pick(2 if layout.flavour == "cluster" else 1)
        name = f"redis#{number}"
        member = Member(name, "redis", ports, [], secrets=str(_secrets(record)) if layout.tls else "", **hosts.place(record, name))
        member.command = [tool("redis-server"), str(_configuration(record, member))]
        record.members.append(member)
    if layout.tls:
        # Already here: the URL, which processes are to have, names them.
        _create_secrets(record)
    for number in range(1, (SENTINELS if layout.flavour == "sentinel" else 0) + 1):
        name = f"sentinel#{number}"
        member = Member(name, "sentinel", pick(1), [], **hosts.place(record, name))
        member.command = [tool("redis-server"), str(_configuration(record, member)), "--sentinel"]
        record.members.append(member)


def _single(record: Record, ports: list[int]) -> Member:
    """A server that writes its append-only file to the disk once a second, or as `HELIOGRAPH_REDIS_FSYNC` says."""
    member = Member("redis", "redis", ports, [], **hosts.place(record, "redis"))
    member.command = [
        tool("redis-server"), "--bind", member.address, "--protected-mode", "no", "--port", str(ports[0]),
        "--dir", str(record.directory / "redis"), "--appendonly", "yes", "--appendfsync", _fsync(), "--save", "", "--daemonize", "no"]
    return member


def _fsync() -> str:
    fsync = os.environ.get("HELIOGRAPH_REDIS_FSYNC") or "everysec"
    if fsync not in ("everysec", "always", "no"):
        raise StackError(f"HELIOGRAPH_REDIS_FSYNC is {fsync!r}: must be everysec, always or no")
    return fsync


def url(record: Record) -> str:
    """Where services find Redis; it tells them the flavour too."""
    kind = "sentinel" if record.redis == "sentinel" else "redis"
    addresses = ",".join(f"{member.address}:{member.port}" for member in record.of_kind(kind))
    if record.redis == "single":
        return f"redis://{addresses}"
    if secrets := record.of_kind("redis")[0].secrets:
        return f"rediss+{record.redis}://:{password(secrets)}@{addresses}?cacert={quote(str(authority(secrets)), safe='')}"
    return f"redis+{record.redis}://{addresses}" + (f"/{MASTER_NAME}" if record.redis == "sentinel" else "")


def _secrets(record: Record) -> Path:
    """The folder of the servers' common certificate, which is its own authority, and their password."""
    return record.directory / "redis" / "secrets"


def authority(secrets: str) -> Path:
    """The certificate that vouches for the servers' certificates."""
    return Path(secrets) / "certificate.pem"


def password(secrets: str) -> str:
    return (Path(secrets) / "password").read_text()


def _create_secrets(record: Record) -> None:
    folder = _secrets(record)
    folder.mkdir(parents=True)
    (folder / "password").write_text(token_hex(16))
    names = sorted({f"IP:{member.address}" for member in record.of_kind("redis")})
    run([
        tool("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", str(SECRETS_DAYS),
        "-subj", "/CN=redis", "-addext", f"subjectAltName={','.join(names)}", "-keyout", str(folder / "key.pem"),
        "-out", str(authority(str(folder)))])


def home(record: Record, member: Member) -> Path:
    """The folder of a server's data."""
    base = record.directory / "redis"
    return base if member.name == "redis" else base / member.name.replace("#", "-")


def _configuration(record: Record, member: Member) -> Path:
    return home(record, member) / f"{member.kind}.conf"


def create(record: Record) -> None:
    """Makes the folders, and the configurations of servers that rewrite theirs."""
    for member in [*record.of_kind("redis"), *record.of_kind("sentinel")]:
        home(record, member).mkdir(parents=True)
        if record.redis != "single":
            lines = _sentinel_lines(record) if member.kind == "sentinel" else _server_lines(record, member)
            common = [*_port_lines(member), f"bind {member.address}", "protected-mode no", f"dir {home(record, member)}"]
            _configuration(record, member).write_text("\n".join([*common, *lines]) + "\n")


def _port_lines(member: Member) -> list[str]:
    if not member.secrets:
        return [f"port {member.port}"]
    folder, word = Path(member.secrets), password(member.secrets)
    return [
        "port 0", f"tls-port {member.port}", "tls-cluster yes", "tls-replication yes", "tls-auth-clients no",
        f"tls-cert-file {authority(member.secrets)}", f"tls-key-file {folder / 'key.pem'}", f"tls-ca-cert-file {authority(member.secrets)}",
        f"requirepass {word}", f"masterauth {word}"]


def _server_lines(record: Record, member: Member) -> list[str]:
    lines = ["appendonly yes", f"appendfsync {_fsync()}", 'save ""', "repl-diskless-sync-delay 0"]
    if record.redis == "cluster":
        return lines + [
            "cluster-enabled yes", f"cluster-port {member.ports[1]}", f"cluster-node-timeout {DOWN_MILLISECONDS}",
            "cluster-require-full-coverage no", "cluster-allow-pubsubshard-when-down yes"]
    master = record.of_kind("redis")[0]
    return lines + ([f"replicaof {master.address} {master.port}"] if member is not master else [])


def _sentinel_lines(record: Record) -> list[str]:
    master = record.of_kind("redis")[0]
    return [
        f"sentinel monitor {MASTER_NAME} {master.address} {master.port} {QUORUM}",
        f"sentinel down-after-milliseconds {MASTER_NAME} {DOWN_MILLISECONDS}",
        f"sentinel failover-timeout {MASTER_NAME} {FAILOVER_MILLISECONDS}"]


def form(record: Record, layout: Layout) -> None:
    """Joins servers that run to a cluster, or waits until the replicas that Sentinels will watch are in step."""
    servers = record.of_kind("redis")
    if layout.flavour == "cluster":
        _form_cluster(servers, layout)
    elif layout.flavour == "sentinel":
        _wait_for_replication(servers[:1], servers[1:])


def wait_for_sentinels(record: Record, layout: Layout) -> None:
    """Waits until each Sentinel knows the replicas and the others."""
    _wait("Sentinels that know each other", record.of_kind("sentinel"), lambda m: _knows(m, layout.replicas))


def _form_cluster(servers: list[Member], layout: Layout) -> None:
    masters = servers[:layout.masters]
    for index, master in enumerate(masters):
        first, end = (SLOTS * number // len(masters) for number in (index, index + 1))
        ask(master, "CLUSTER", "SET-CONFIG-EPOCH", str(index + 1))
        ask(master, "CLUSTER", "ADDSLOTSRANGE", str(first), str(end - 1))
    for server in servers[1:]:
        ask(masters[0], "CLUSTER", "MEET", server.address, *map(str, server.ports))
    _wait("servers that know each other", servers, lambda m: _says(m, f"cluster_known_nodes:{len(servers)}"))
    for index, replica in enumerate(servers[len(masters):]):
        ask(replica, "CLUSTER", "REPLICATE", ask(masters[index % len(masters)], "CLUSTER", "MYID"))
    _wait_for_replication(masters, servers[len(masters):])
    _wait("slots that all know", servers, lambda m: _says(m, f"cluster_slots_assigned:{SLOTS}"))
    _wait("a usable cluster", servers, lambda m: _says(m, "cluster_state:ok"))
    # The master of a replica is known everywhere only when the others have heard of it too.
    replicas = len(servers) - len(masters)
    _wait("replicas that all know", servers, lambda m: ask(m, "CLUSTER", "NODES").count("slave") == replicas)


def _wait_for_replication(masters: list[Member], replicas: list[Member]) -> None:
    """Waits until each master's writes reach its replicas.

    A replica calls its link up as soon as it has loaded its master's data. The master sends it later writes only after it has noticed the
    end of that transfer by itself and has then heard from the replica, which may be a second later. A master that is killed before takes
    these writes with it.
    """
    _wait("replicas with their masters' data", replicas, lambda m: "master_link_status:up" in ask(m, "INFO", "replication"))
    for master in masters:
        # A write that needs no key; nobody uses functions yet.
        ask(master, "FUNCTION", "FLUSH")
    _wait("replicas that have got its writes", masters, lambda m: _has_reached(m, len(replicas) // len(masters)))


def _has_reached(master: Member, replicas: int) -> bool:
    """Whether so many replicas say that they have got all that a master has written."""
    found = ask(master, "INFO", "replication")
    written = int(re.search(r"master_repl_offset:(\d+)", found)[1])
    return [int(offset) >= written for offset in re.findall(r"slave\d+:.*,offset=(\d+)", found)].count(True) == replicas


def _knows(sentinel: Member, replicas: int) -> bool:
    words = ask(sentinel, "SENTINEL", "MASTER", MASTER_NAME).split("\n")
    found = dict(zip(words[::2], words[1::2], strict=False))
    return found.get("num-slaves") == str(replicas) and found.get("num-other-sentinels") == str(SENTINELS - 1)


def _says(member: Member, line: str) -> bool:
    return line in ask(member, "CLUSTER", "INFO").split()


def _wait(what: str, members: list[Member], holds: Callable[[Member], bool]) -> None:
    deadline = time.monotonic() + FORM_SECONDS
    for member in members:
        while not _holds(holds, member):
            if time.monotonic() > deadline:
                raise StackError(f"after {FORM_SECONDS} s {member.name} still says that there are no {what}")
            time.sleep(0.05)


def _holds(condition: Callable[[Member], bool], member: Member) -> bool:
    try:
        return condition(member)
    except StackError:
        # It does not answer yet.
        return False


def ask(member: Member, *words: str) -> str:
    """Runs one command on a server; the answer as redis-cli prints it."""
    secured = ["--tls", "--cacert", str(authority(member.secrets))] if member.secrets else []
    variables = {"REDISCLI_AUTH": password(member.secrets)} if member.secrets else {}
    with networks.entered(member.network):
        answer = run([tool("redis-cli"), "-h", member.address, "-p", str(member.port), *secured, "-e", *words], PROBE_SECONDS, **variables)
    return answer.replace("\r", "").strip()


def silence(member: Member) -> str | None:
    """Why a server doesn't answer; None when it does."""
    try:
        answer = ask(member, "PING")
        return None if answer == "PONG" else f"redis answers {answer!r}"
    except StackError as error:
        return f"redis: {error}"


def problem(member: Member) -> str | None:
    """Why a server can't be used; None when it can."""
    if reason := silence(member):
        return reason
    try:
        if member.kind == "sentinel":
            ask(member, "SENTINEL", "CKQUORUM", MASTER_NAME)
        elif len(member.ports) > 1 and not _says(member, "cluster_state:ok"):
            return "cluster_state:fail"
    except StackError as error:
        return str(error)
    return None


def role(member: Member) -> str | None:
    """`master`, `replica` or `sentinel`; None for a server that doesn't answer."""
    if member.kind == "sentinel":
        return "sentinel"
    if not member.is_running or member.identity.is_frozen():
        return None
    try:
        return {"master": "master", "slave": "replica"}.get(ask(member, "ROLE").partition("\n")[0])
    except StackError:
        return None


def promote(record: Record, member: Member) -> None:
    """Makes a replica of a cluster the master, by an orderly failover."""
    if record.redis == "single":
        raise StackError(f"{member.name} is the only server")
    if record.redis != "cluster":
        raise StackError(f"{member.name} is no server of a Redis Cluster: Sentinels choose the master themselves")
    asked = -math.inf

    def has_become_master(member: Member) -> bool:
        nonlocal asked
        # A master that does not know its new replica yet ignores the request; asking anew replaces it.
        if time.monotonic() - asked > ASK_AGAIN_SECONDS and role(member) != "master":
            ask(member, "CLUSTER", "FAILOVER")
            asked = time.monotonic()
        return role(member) == "master"

    _wait("masters that have given way", [member], has_become_master)


def copy(record: Record, target: Path) -> None:
    """Copies the append-only files of the single server. Redis ignores a command that is cut off at their end when it loads them."""
    files = record.directory / "redis" / APPEND_ONLY
    manifest = files / "appendonly.aof.manifest"
    for _ in range(COPY_ATTEMPTS):
        before = manifest.read_bytes()
        shutil.rmtree(target, ignore_errors=True)
        try:
            shutil.copytree(files, target)
        except shutil.Error:
            continue
        if manifest.read_bytes() == before:
            return
    raise StackError("Redis rewrites its append-only file over and over")


def put(record: Record, source: Path | None) -> None:
    """Replaces the data of the stopped single server by the copy in `source`; without one, by nothing."""
    directory = record.directory / "redis"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    if source:
        shutil.copytree(source, directory / APPEND_ONLY)


def fill(record: Record) -> None:
    """Sets the single server's `maxmemory` to just above the memory in use."""
    server = record.member("redis")
    used = next(line for line in ask(server, "INFO", "memory").splitlines() if line.startswith("used_memory:"))
    ask(server, "CONFIG", "SET", "maxmemory", str(int(used.partition(":")[2]) + ROOM_BYTES))


def unfill(record: Record) -> None:
    """Removes the bound."""
    ask(record.member("redis"), "CONFIG", "SET", "maxmemory", "0")
