"""What the machine's settings do to connections: how many a process may have, and how TCP sends."""

import resource
import sys
from pathlib import Path

from .paths import BenchError

CONGESTION = Path("/proc/sys/net/ipv4/tcp_congestion_control")


def congestion_control() -> str:
    """How TCP decides when to send: `bbr` sends by a timer for each connection, which costs more than `cubic`."""
    return CONGESTION.read_text().strip()


def raise_files() -> None:
    """Raises this process's bound of open files as far as it may; servers and the load generator inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def files() -> int:
    """How many files a process may have open."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def room(bound: int | None = None) -> int:
    """How many clients a process has room for, beside what else it opens."""
    bound = files() if bound is None else bound
    return bound - max(200, bound // 10)


def reduced(wanted: int, beside: int, name: str) -> int:
    """As many of these connections as there is room for beside the others; says so when these are fewer."""
    possible = room() - beside
    if wanted <= possible:
        return wanted
    if possible <= 0:
        raise BenchError(_bounded(f"{name} needs {beside:,} connections besides"))
    print(f"bench: {_bounded(f'{name} has {possible:,} connections, not {wanted:,}')}", file=sys.stderr)
    return possible


def check_room(connections: int, name: str) -> None:
    """Fails when a process can't have so many connections."""
    if connections > room():
        raise BenchError(_bounded(f"{name} needs {connections:,} connections"))


def _bounded(what: str) -> str:
    return f"{what}: the bound of {files():,} open files leaves room for {room():,}; raise it (`ulimit -Hn`)"


def conditions() -> dict:
    """What is stored with each result."""
    return {"congestion_control": congestion_control(), "open_files": files()}


def described(found: dict) -> str:
    return f"TCP congestion control {found['congestion_control']}, {found['open_files']:,} open files in a process at most"
