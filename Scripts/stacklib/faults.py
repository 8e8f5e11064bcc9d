"""Breaks a stack on purpose: freezes members, cuts them off from the stores, fills and turns back the stores."""

import shutil
from pathlib import Path
from types import ModuleType

from . import cluster, hosts, postgres_store, processes, proxies, redis_store, stores
from .endpoints import write_endpoints
from .errors import StackError
from .record import Record


def freeze(record: Record, name: str) -> None:
    """Sends SIGSTOP, to PostgreSQL's children too: connections stay open, but nothing answers."""
    member = cluster.running(record, name)
    if member.identity.is_frozen():
        raise StackError(f"{name} is frozen already")
    processes.freeze(member.identity)


def thaw(record: Record, name: str) -> None:
    """Lets a frozen member go on."""
    member = cluster.running(record, name)
    if not member.identity.is_frozen():
        raise StackError(f"{name} is not frozen")
    processes.thaw(member.identity)


def partition(record: Record, name: str, reset: bool, route: hosts.Route) -> None:
    """Cuts a member off from both stores, or a server off from all services. Clients stay connected.

    Silently: nothing passes, nothing is closed, and what was under way arrives after `heal`, as TCP sends it again. With
    `reset`: its connections to the stores are closed, and new ones refused. Where each member has a host, it is cut off from those of
    `route`; without any, from all but the clients'.
    """
    if record.hosts is None:
        _needs_no_hosts(record, route)
        (cluster.kill if reset else freeze)(record, proxies.proxy_of(record, name).name)
    elif reset:
        raise StackError("--reset needs `up --proxies`")
    else:
        hosts.tell(record, "cut", [pair for pair in route.pairs(record, name) if route.other or hosts.CLIENTS not in pair])


def heal(record: Record, name: str, route: hosts.Route) -> None:
    """Ends a partition; where each member has a host, also delays and losses."""
    if record.hosts is not None:
        hosts.tell(record, "heal", route.pairs(record, name))
        return
    _needs_no_hosts(record, route)
    proxy = proxies.proxy_of(record, name)
    (thaw if proxy.is_running else cluster.start)(record, proxy.name)


def disturb(record: Record, verb: str, name: str, value: float, route: hosts.Route) -> None:
    """Lets the wire delay packets by milliseconds, or lose a percentage of them."""
    hosts.tell(record, verb, route.pairs(record, name), str(value))


def snapshot(record: Record, name: str) -> None:
    """Copies what a store has on disk now, replacing an earlier snapshot."""
    cluster.running(record, name)
    shutil.rmtree(_kept(record, name), ignore_errors=True)
    _kept(record, name).parent.mkdir(parents=True, exist_ok=True)
    _store(name).copy(record, _kept(record, name))


def rollback(record: Record, name: str) -> None:
    """Kills a store, restores its last snapshot, and starts it: simulates a power loss, a failover or a restored backup."""
    if not _kept(record, name).is_dir():
        raise StackError(f"no snapshot of {name}: make one with `snapshot {name}`")
    _replace(record, name, _kept(record, name))


def empty(record: Record, name: str) -> None:
    """Kills Redis and starts it without any data."""
    _replace(record, name, None)


def fill(record: Record, name: str) -> None:
    """Makes a store full: Redis by `maxmemory`, PostgreSQL by a file that takes the rest of its disk."""
    cluster.running(record, name)
    _store(name).fill(record)


def unfill(record: Record, name: str) -> None:
    """Gives a store that was filled its room back."""
    cluster.running(record, name)
    _store(name).unfill(record)


def promote(record: Record, name: str) -> None:
    """Makes a standby of PostgreSQL the primary, or a replica of a Redis Cluster a master; returns when it is."""
    member = cluster.running(record, name)
    if member.kind == "postgres":
        postgres_store.promote(member)
    elif member.kind == "redis":
        redis_store.promote(record, member)
    else:
        raise StackError(f"{name} can't be promoted")
    write_endpoints(record)


def _needs_no_hosts(record: Record, route: hosts.Route) -> None:
    if route != hosts.Route():
        # Says what is missing.
        hosts.named(record, "all")


def _store(name: str) -> ModuleType:
    return redis_store if name == "redis" else postgres_store


def _kept(record: Record, name: str) -> Path:
    return stores.snapshots(record) / name


def _replace(record: Record, name: str, source: Path | None) -> None:
    if record.member(name).is_running:
        cluster.kill(record, name)
    _store(name).put(record, source)
    cluster.start(record, name)
