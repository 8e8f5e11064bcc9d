"""Breaks a stack on purpose: freezes members, cuts them off from the stores, fills and turns back the stores."""

import shutil
from pathlib import Path

from . import cluster, processes, proxies, stores
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


def partition(record: Record, name: str, reset: bool) -> None:
    """Cuts a member off from both stores. Its clients stay connected.

    Silently: nothing passes, nothing is closed, and what was under way arrives after `heal`, as TCP sends it again. With
    `reset`: its connections to the stores are closed, and new ones refused.
    """
    (cluster.kill if reset else freeze)(record, proxies.proxy_of(record, name).name)


def heal(record: Record, name: str) -> None:
    """Ends a partition of either kind."""
    proxy = proxies.proxy_of(record, name)
    (thaw if proxy.is_running else cluster.start)(record, proxy.name)


def snapshot(record: Record, name: str) -> None:
    """Copies what a store has on disk now, replacing an earlier snapshot."""
    cluster.running(record, name)
    shutil.rmtree(_kept(record, name), ignore_errors=True)
    _kept(record, name).parent.mkdir(parents=True, exist_ok=True)
    (stores.copy_redis if name == "redis" else stores.copy_postgres)(record, _kept(record, name))


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
    (stores.fill_redis if name == "redis" else stores.fill_postgres)(record)


def unfill(record: Record, name: str) -> None:
    """Gives a store that was filled its room back."""
    cluster.running(record, name)
    (stores.unfill_redis if name == "redis" else stores.unfill_postgres)(record)


def _kept(record: Record, name: str) -> Path:
    return stores.snapshots(record) / name


def _replace(record: Record, name: str, source: Path | None) -> None:
    if record.member(name).is_running:
        cluster.kill(record, name)
    (stores.put_redis if name == "redis" else stores.put_postgres)(record, source)
    cluster.start(record, name)
