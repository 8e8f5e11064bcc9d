"""The stack's commands."""

import shutil
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import processes, proxies, readiness, services, stores
from .endpoints import websocket_url, write_endpoints
from .errors import StackError
from .ports import reserve
from .record import STORES, Member, Record
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


def say(text: str) -> None:
    print(text, flush=True)


def up(directory: Path, counts: dict[str, int], options: Options, phones: Telephony) -> Record:
    """Starts a fresh cluster in `directory`; ends and deletes what a former one has left there."""
    services.binary_directory()
    if Record.load(directory).members or processes.leftovers(directory, stores.data_directories(Record(directory))):
        say(f"taking down what the last run left in {directory}")
    down(directory)
    shutil.rmtree(directory / "logs", ignore_errors=True)
    record = Record(directory)
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
    stores.choose_postgres_data(record, options.postgres_disk)

    def assign(picker) -> None:
        record.members.append(stores.redis_member(record, picker.pick()[0]))
        record.members.append(stores.postgres_member(record, picker.pick()[0]))
        for kind in services.KINDS:
            for number in range(1, counts.get(kind, 1) + 1):
                # A gateway speaks plain WebSocket on its port and TLS on the next one; a bridge likewise SIP.
                ports = picker.pick(2) if kind in ("gateway", "sip-bridge") else []
                member = services.service_member(record, kind, number, picker.pick()[0], ports, options.unlimited)
                member.command = [services.program(kind, options.programs.get(kind))]
                if options.proxies:
                    proxy = proxies.proxy_member(record, member.name, picker.pick(2))
                    member.environment |= services.store_urls(record, *proxy.ports)
                    # Started before the service, which waits for its stores.
                    record.members.append(proxy)
                record.members.append(member)

    reserve(record, assign)
    say("starting redis and postgres")
    stores.create_redis(record)
    _launch(record, record.member("redis"))
    stores.create_postgres(record)
    _launch(record, record.member("postgres"))
    readiness.wait_ready(record, [record.member(name) for name in STORES])
    stores.create_database(record)


def _start_services(record: Record, unlimited: bool, phones: Telephony) -> None:
    say("migrating the database, creating two demo apps")
    services.control(record, "migrate")
    record.apps = [
        services.create_app(record, APP_IDS[0], token_required=True),
        services.create_app(record, APP_IDS[1], token_required=False, unlimited=unlimited)]
    phones.set_up(record, APP_IDS[1])
    members = [member for member in record.members if member.kind not in STORES]
    say(f"starting {', '.join(member.name for member in members)}")
    for member in members:
        _launch(record, member)
    readiness.wait_ready(record, members)


def down(directory: Path) -> None:
    """Ends every process of the stack and deletes its data; the logs stay."""
    record = Record.load(directory)
    _stop_all(record)
    stores.remove_data(record)
    record.endpoints_path.unlink(missing_ok=True)
    record.path.unlink(missing_ok=True)


def kill(record: Record, name: str) -> None:
    """Ends a member with SIGKILL, and waits until it is gone."""
    member = running(record, name)
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
    member = running(record, name)
    if member.identity.is_frozen():
        raise StackError(f"{name} is frozen: thaw it first")
    member.identity.send(_polite_signal(member))
    if not member.identity.wait_gone(DRAIN_SECONDS):
        raise StackError(f"{name} (pid {member.identity.pid}) has not ended {DRAIN_SECONDS} s after SIGTERM")
    _stopped(record, member)


def start(record: Record, name: str, programs: Path | None = None) -> None:
    """Starts a member that is down, as it was configured by `up`; with `programs`, by that release's program from now on."""
    member = record.member(name)
    if member.is_running:
        raise StackError(f"{name} is running (pid {member.identity.pid})")
    if programs is not None:
        if member.kind not in services.KINDS:
            raise StackError(f"{name} is no process of the cluster's own")
        member.command = [services.program(member.kind, programs)]
    if member.kind == "postgres":
        # The server's children outlive it for a moment, and a new server refuses to start while they exist.
        for orphan in processes.leftovers(None, [Path(record.postgres_data)]):
            orphan.wait_gone(KILL_SECONDS)
        stores.unlock_postgres(record)
    _launch(record, member)
    write_endpoints(record)
    readiness.wait_ready(record, [member])


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
    member.identity = processes.spawn(
        member.command, member.environment, record.log(member.name), record.directory)
    record.save()


def running(record: Record, name: str) -> Member:
    """The member of this name; raises when it is down."""
    member = record.member(name)
    if not member.is_running:
        raise StackError(f"{name} is not running")
    return member


def _stopped(record: Record, member: Member) -> None:
    member.identity = None
    record.save()
    write_endpoints(record)


def _polite_signal(member: Member) -> signal.Signals:
    # On SIGTERM, PostgreSQL waits until its last client has disconnected.
    return signal.SIGINT if member.kind == "postgres" else signal.SIGTERM


def _stop_all(record: Record) -> None:
    """Ends the services first, so that they don't log missing stores; then the stores and proxies, and all that carry the stack's mark."""
    alive = [member for member in record.members if member.is_running]
    last = (*STORES, proxies.KIND)
    for group in ([m for m in alive if m.kind not in last], [m for m in alive if m.kind in last]):
        for member in group:
            member.identity.send(_polite_signal(member))
            processes.thaw(member.identity)
        deadline = time.monotonic() + DOWN_SECONDS
        for member in group:
            if not member.identity.wait_gone(deadline - time.monotonic()):
                member.identity.send(signal.SIGKILL)
    strays = processes.leftovers(record.directory, stores.data_directories(record))
    for stray in strays:
        stray.send(signal.SIGKILL)
    everyone = [member.identity for member in alive] + strays
    if left := [identity.pid for identity in everyone if not identity.wait_gone(KILL_SECONDS)]:
        raise StackError(f"processes {left} survive SIGKILL")
    for identity in everyone:
        # Waits for zombies to leave the process table too, but not for long: in some containers nobody reaps them.
        identity.wait_gone(DOWN_SECONDS, reaped=True)


def _address(record: Record, member: Member) -> str:
    if member.kind == "gateway":
        return f"{websocket_url(member)} {member.http}"
    if member.kind == proxies.KIND:
        return f"redis {member.ports[0]}, postgres {member.ports[1]}"
    if member.kind in STORES:
        return (stores.redis_url if member.kind == "redis" else stores.postgres_url)(member.port)
    return member.http
