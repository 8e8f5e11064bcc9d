"""TCP proxies between the services and the stores (`up --proxies`): one for each service, and behind them one for each server.

So each service and each server can be cut off by itself. Servers reach each other directly. Each proxy is a HAProxy with one thread.
Frozen by SIGSTOP it is like a network that loses everything; killed, like one that refuses.
"""

import socket
from collections.abc import Callable

from . import postgres_store
from .errors import StackError
from .record import STORE_KINDS, Member, Record
from .tools import tool

KIND = "proxy"
PREFIX = "proxy-of-"
PROBE_SECONDS = 2
CONFIGURATION = """\
global
    nbthread 1
defaults
    mode tcp
    retries 0
    timeout connect 3s
    timeout client 24h
    timeout server 24h
"""
LISTENER = """\
listen {name}
    bind 127.0.0.1:{port}
    server {name} 127.0.0.1:{server}
"""


def targets(record: Record, name: str) -> list[Member]:
    """Where the proxy of `name` leads: to the server of this name, or to the proxies of all servers."""
    if record.member(name).kind in STORE_KINDS:
        return [record.member(name)]
    return [record.member(_proxy_name(server.name)) for server in [record.member("redis"), *record.of_kind("postgres")]]


def proxy_member(record: Record, name: str, pick: Callable[[int], list[int]]) -> Member:
    """The proxy of a member, with a port for each of its targets; writes its configuration."""
    path = record.directory / "proxies" / f"{name}.cfg"
    path.parent.mkdir(parents=True, exist_ok=True)
    leads_to = targets(record, name)
    ports = pick(len(leads_to))
    path.write_text(CONFIGURATION + "".join(
        LISTENER.format(name=target.name.replace("#", "-"), port=port, server=target.port)
        for target, port in zip(leads_to, ports, strict=True)))
    return Member(_proxy_name(name), KIND, ports, [tool("haproxy"), "-db", "-q", "-f", str(path)])


def urls(proxy: Member) -> dict[str, str]:
    """Where a service behind the proxy finds the stores."""
    return {
        "HELIOGRAPH_REDIS_URL": f"redis://127.0.0.1:{proxy.port}",
        "HELIOGRAPH_POSTGRES_URL": postgres_store.url([f"127.0.0.1:{port}" for port in proxy.ports[1:]])}


def proxy_of(record: Record, name: str) -> Member:
    """The proxy between this service and the stores, or between all services and this server."""
    record.member(name)
    if not record.of_kind(KIND):
        raise StackError("this stack has no proxies: start it with `up --proxies`")
    return record.member(_proxy_name(name))


def proxy_problem(member: Member) -> str | None:
    """Why a running proxy doesn't serve; None when it does."""
    if member.identity.is_frozen():
        return "frozen"
    try:
        for port in member.ports:
            socket.create_connection(("127.0.0.1", port), timeout=PROBE_SECONDS).close()
        return None
    except OSError as error:
        return f"proxy: {error}"


def address(record: Record, proxy: Member) -> str:
    """Its ports, and what each leads to."""
    leads_to = targets(record, proxy.name.removeprefix(PREFIX))
    return ", ".join(f"{target.name.removeprefix(PREFIX)} {port}" for target, port in zip(leads_to, proxy.ports, strict=True))


def _proxy_name(name: str) -> str:
    return PREFIX + name
