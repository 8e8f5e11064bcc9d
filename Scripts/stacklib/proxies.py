"""A TCP proxy between each service and the stores, so that each service can be cut off by itself (`up --proxies`).

Each is a HAProxy with one thread. Frozen by SIGSTOP it is like a network that loses everything; killed, like one that refuses.
"""

import socket

from . import stores
from .errors import StackError
from .record import Member, Record

KIND = "proxy"
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
listen redis
    bind 127.0.0.1:{0}
    server redis 127.0.0.1:{redis}
listen postgres
    bind 127.0.0.1:{1}
    server postgres 127.0.0.1:{postgres}
"""


def proxy_member(record: Record, name: str, ports: list[int]) -> Member:
    """The proxy of the service `name`, with a port for each store; writes its configuration."""
    path = record.directory / "proxies" / f"{name}.cfg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(CONFIGURATION.format(
        *ports, redis=record.member("redis").port, postgres=record.member("postgres").port))
    return Member(_proxy_name(name), KIND, ports, [stores.tool("haproxy"), "-db", "-q", "-f", str(path)])


def proxy_of(record: Record, name: str) -> Member:
    """The proxy between this service and the stores."""
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


def _proxy_name(name: str) -> str:
    return f"proxy-of-{name}"
