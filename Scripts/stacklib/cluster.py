"""The stack's commands."""

import shutil
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import hosts, networks, postgres_store, processes, proxies, readiness, redis_store, services, stores
from .endpoints import websocket_url, write_endpoints
from .errors import StackError
from .ports import reserve
from .record import STORE_KINDS, Member, Record
from .telephony import Telephony

# A service drains for at most 30 s; one that is still running after this time hangs.
DRAIN_SECONDS = 40
# `down` needs no drain: SIGTERM, and SIGKILL shortly after.
DOWN_SECONDS = 3
KILL_SECONDS = 10
APP_IDS = ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2")


@dataclass(frozen=True)
class Options:
    """The options of `up` besides the numbers of processes and the telephones."""

    unlimited: bool = False
    proxies: bool = False
    postgres_disk: int | None = None
    """MiB that PostgreSQL's data may take; None for no bound."""
    programs: dict[str, Path] = field(default_factory=dict)
    """By kind: where its program of another release is."""
    redis: redis_store.Layout = redis_store.Layout()
    postgres_standby: bool = False
    hosts: bool = False

    def check(self) -> None:
        """Raises when they contradict each other."""
        if self.proxies and self.redis.flavour != "single":
            raise StackError("--proxies needs --redis single")
        if self.postgres_disk is not None and self.postgres_standby:
            raise StackError("--postgres-disk holds one server: it does not go with --postgres-standby")
        if self.hosts and self.proxies:
            raise StackError("--hosts does not go with --proxies: the wire cuts hosts off itself")
        if self.hosts and (reason := hosts.problem()):
            raise StackError(reason)


def say(text: str) -> None:
    print(text, flush=True)


def up(directory: Path, counts: dict[str, int], options: Options, phones: Telephony) -> Record:
    """Starts a fresh cluster in `directory`; ends and deletes what a former one has left there."""
    options.check()
    services.binary_directory()
    if Record.load(directory).members or processes.leftovers(directory, stores.data_directories(Record(directory))):
        say(f"taking down what the last run left in {directory}")
    down(directory)
    shutil.rmtree(directory / "logs", ignore_errors=True)
    record = Record(directory, hosts={} if options.hosts else None)
    try:
        _start_stores(record, counts, options)
        _start_services(record, options.unlimited, phones)
    except BaseException:
        # Also on Ctrl-C: no part of a stack stays behind, except its logs.
        _stop_all(record)
        stores.remove_data(record)
        record.path.unlink(missing_ok=True)
        raise
    write_endpoints(record)
    return record


def _start_stores(record: Record, counts: dict[str, int], options: Options) -> None:
    postgres_store.choose_data(record, options.postgres_disk)

    def assign(picker) -> None:
        redis_store.add_members(record, options.redis, picker.pick)
        standby = options.postgres_standby
        postgres_store.add_members(record, standby, [picker.pick()[0] for _ in range(2 if standby else 1)])
        if options.proxies:
            record.members += [proxies.proxy_member(record, server.name, picker.pick) for server in list(record.members)]
        for kind in services.KINDS:
            for number in range(1, counts.get(kind, 1) + 1):
                # A gateway speaks plain WebSocket on its port, TLS on the next one, and has the server API on the third; a
                # bridge likewise SIP. A media node has one port, for UDP.
                count = services.PORTS.get(kind)
                ports = picker.pick(count) if count else []
                member = services.service_member(record, kind, number, picker.pick()[0], ports, options.unlimited)
                member.command = [services.program(kind, options.programs.get(kind))]
                record.members.append(member)
                if options.proxies:
                    proxy = proxies.proxy_member(record, member.name, picker.pick)
                    member.environment |= proxies.urls(proxy)
                    # Started before the service, which waits for its stores.
                    record.members.insert(-1, proxy)
        hosts.add_wire(record)

    reserve(record, assign)
    for wire in record.of_kind(hosts.WIRE):
        _launch(record, wire)
        readiness.wait_ready(record, [wire])
    say(f"starting {', '.join(member.name for member in record.members if member.kind in STORE_KINDS)}")
    redis_store.create(record)
    redis = record.of_kind("redis")
    for server in redis:
        _launch(record, server)
    postgres_store.create(record)
    primary, *standbys = record.of_kind("postgres")
    _launch(record, primary)
    readiness.wait_ready(record, [*redis, primary], problem=readiness.silence)
    # Sentinels ask the master once for its replicas, and again only after ten seconds.
    redis_store.form(record, options.redis)
    for sentinel in record.of_kind("sentinel"):
        _launch(record, sentinel)
    redis_store.wait_for_sentinels(record, options.redis)
    for standby in standbys:
        postgres_store.follow(record, standby, primary)
        _launch(record, standby)
    readiness.wait_ready(record, [member for member in record.members if member.kind in STORE_KINDS])


def _start_services(record: Record, unlimited: bool, phones: Telephony) -> None:
    say("migrating the database, creating two demo apps")
    services.control(record, "migrate")
    record.apps = [
        services.create_app(record, APP_IDS[0], token_required=True),
        services.create_app(record, APP_IDS[1], token_required=False, unlimited=unlimited)]
    phones.set_up(record, APP_IDS[1])
    members = [member for member in record.members if member.kind not in (*STORE_KINDS, hosts.WIRE)]
    if members:
        say(f"starting {', '.join(member.name for member in members)}")
    for member in members:
        _launch(record, member)
    readiness.wait_ready(record, members)


def down(directory: Path, *, at_once: bool = False) -> None:
    """Ends every process of the stack and deletes its data; the logs stay. With `at_once`, nobody gets time to leave."""
    record = Record.load(directory)
    (_kill_all if at_once else _stop_all)(record)
    stores.remove_data(record)
    record.endpoints_path.unlink(missing_ok=True)
    record.path.unlink(missing_ok=True)


def kill(record: Record, name: str) -> None:
    """Ends a member with SIGKILL, and waits until it is gone."""
    member = _mortal(record, name)
    children = processes.descendants(member.identity)
    member.identity.send(signal.SIGKILL)
    # PostgreSQL's children end when they see that it is gone; those that were frozen with it would stay.
    for child in children:
        child.send(signal.SIGCONT)
    if not member.identity.wait_gone(KILL_SECONDS):
        raise StackError(f"{name} (pid {member.identity.pid}) survives SIGKILL")
    _stopped(record, member)


def drain(record: Record, name: str) -> None:
    """Ends a member with SIGTERM, and waits until it has drained and is gone."""
    member = _mortal(record, name)
    if member.identity.is_frozen():
        raise StackError(f"{name} is frozen: thaw it first")
    member.identity.send(_polite_signal(member))
    if not member.identity.wait_gone(DRAIN_SECONDS):
        raise StackError(f"{name} (pid {member.identity.pid}) has not ended {DRAIN_SECONDS} s after SIGTERM")
    _stopped(record, member)


def start(record: Record, name: str, programs: Path | None = None, settings: dict[str, str] | None = None) -> None:
    """Starts a member that is down, as it was configured by `up`.

    From now on it runs by that release's program, with `programs`, and with these `settings` in place of those it had.
    """
    member = record.member(name)
    if member.is_running:
        raise StackError(f"{name} is running (pid {member.identity.pid})")
    if (programs is not None or settings) and member.kind not in services.KINDS:
        raise StackError(f"{name} is no process of the cluster's own")
    if programs is not None:
        member.command = [services.program(member.kind, programs)]
    member.environment |= settings or {}
    if member.kind == "postgres":
        postgres_store.prepare_start(record, member)
    _launch(record, member)
    write_endpoints(record)
    readiness.wait_ready(record, [member], problem=readiness.silence)
    if member.kind in STORE_KINDS:
        # Now that it answers, its role is known.
        write_endpoints(record)


def status(record: Record) -> bool:
    """Prints a table; true when every member serves."""
    if not record.members:
        say(f"no stack in {record.directory}")
        return False
    healthy = True
    for member in record.members:
        reason = readiness.problem(member)
        healthy = healthy and reason is None
        if reason is None:
            state = "ready"
        elif not member.is_running:
            state = "down"
        else:
            state = "frozen" if member.identity.is_frozen() else f"not ready ({reason})"
        pid = member.identity.pid if member.is_running else "-"
        say(f"{member.name:18} {str(pid):>8}  {_address(record, member):58} {state}")
    return healthy


def logs(record: Record, name: str, follow: bool) -> None:
    """Prints a member's output; with `follow`, goes on until interrupted."""
    path = record.log(name)
    if not path.exists():
        record.member(name)
        raise StackError(f"{path} does not exist")
    with path.open(errors="replace") as file:
        while True:
            text = file.read()
            print(text, end="", flush=True)
            if not text and not follow:
                return
            if not text:
                time.sleep(0.2)


def _launch(record: Record, member: Member) -> None:
    with networks.entered(member.network):
        member.identity = processes.spawn(member.command, member.environment, record.log(member.name), record.directory)
    record.save()


def running(record: Record, name: str) -> Member:
    """The member of this name; raises when it is down."""
    member = record.member(name)
    if not member.is_running:
        raise StackError(f"{name} is not running")
    return member


def _mortal(record: Record, name: str) -> Member:
    member = running(record, name)
    if member.kind == hosts.WIRE:
        raise StackError("all hosts end with the wire: use `down`, or cut off a host with `partition`")
    return member


def _stopped(record: Record, member: Member) -> None:
    member.identity = None
    record.save()
    write_endpoints(record)


def _polite_signal(member: Member) -> signal.Signals:
    # On SIGTERM, PostgreSQL waits until its last client has disconnected.
    return signal.SIGINT if member.kind == "postgres" else signal.SIGTERM


def _stop_all(record: Record) -> None:
    """Ends the services first, so that they don't log missing stores; then the stores and proxies; then the wire, and all that carry
    the stack's mark."""
    alive = [member for member in record.members if member.is_running]
    last, wires = (*STORE_KINDS, proxies.KIND), [member for member in alive if member.kind == hosts.WIRE]
    for group in ([m for m in alive if m.kind not in last and m not in wires], [m for m in alive if m.kind in last], wires):
        for member in group:
            member.identity.send(_polite_signal(member))
            processes.thaw(member.identity)
        deadline = time.monotonic() + DOWN_SECONDS
        for member in group:
            if not member.identity.wait_gone(deadline - time.monotonic()):
                member.identity.send(signal.SIGKILL)
    _end_the_rest(record, alive)


def _kill_all(record: Record) -> None:
    """Ends all at once. The wire goes last: it takes the networks of the hosts away."""
    alive = [member for member in record.members if member.is_running]
    for member in alive:
        if member.kind == "postgres":
            # Its way to end at once: it takes its children and its shared memory with it.
            member.identity.send(signal.SIGQUIT)
            processes.thaw(member.identity)
        elif member.kind != hosts.WIRE:
            member.identity.send(signal.SIGKILL)
    deadline = time.monotonic() + DOWN_SECONDS
    for member in alive:
        if member.kind == hosts.WIRE:
            member.identity.send(_polite_signal(member))
        if not member.identity.wait_gone(deadline - time.monotonic()):
            member.identity.send(signal.SIGKILL)
    _end_the_rest(record, alive)


def _end_the_rest(record: Record, ended: list[Member]) -> None:
    """Kills what carries the stack's mark, and waits until that and these members are gone."""
    strays = processes.leftovers(record.directory, stores.data_directories(record))
    for stray in strays:
        stray.send(signal.SIGKILL)
    everyone = [member.identity for member in ended] + strays
    if left := [identity.pid for identity in everyone if not identity.wait_gone(KILL_SECONDS)]:
        raise StackError(f"processes {left} survive SIGKILL")


def _address(record: Record, member: Member) -> str:
    if member.kind == "gateway":
        return f"{websocket_url(member)} {member.http}"
    if member.kind == proxies.KIND:
        return proxies.address(record, member)
    if member.kind in STORE_KINDS:
        return f"{member.address}:{member.port} {stores.role(member) or ''}"
    return member.http
