"""All scenarios of the table: their names, and how to run them."""

from collections.abc import Callable
from dataclasses import dataclass

from .network import reduced
from .scenarios import crowd, durability, fanout, growth, idle, latency, pairs, psql, scaling, sends, storm
from .servers import Server


@dataclass(frozen=True)
class Beside:
    """A scenario that is run with every server."""

    key: str
    measure: Callable[[Server, float], dict]
    # Servers for which it is meaningless, or that would take too long.
    without: tuple[str, ...] = ()
    # Whether only Heliograph has what is measured.
    ours_alone: bool = False


@dataclass(frozen=True)
class Alone:
    """A scenario of Heliograph alone."""

    key: str
    measure: Callable[[float], dict]


def f1(members: int, rate: float) -> Beside:
    return Beside(
        f"F1 {members}x{rate:g}", lambda server, seconds: fanout.steady(server, members, rate, seconds), ("coalescing",))


def f2(members: int, first: float = 100) -> Beside:
    return Beside(
        f"F2 {members}", lambda server, seconds: fanout.fastest(server, members, seconds, first=first), ("ring",))


def p1(pairs_count: int, old: bool) -> Beside:
    others = ("ring", "coalescing")
    return Beside(
        "P1 old" if old else "P1",
        lambda server, seconds: pairs.closed_loop(server, seconds, pairs_count, pushes=not old), others)


def c1(connections: int, channels: int = 1, old: bool = False, known: bool = False) -> Beside:
    connections = reduced(connections, idle.FIRST, "C1")
    key = f"C1 {connections}" + (f"/{channels}" if channels > 1 else "") + (" old" if old else "")
    if known:
        return Beside(f"{key} known", lambda server, _: idle.again(server, connections, channels, pushes=not old), ours_alone=True)
    return Beside(key, lambda server, _: idle.standing(server, connections, channels, pushes=not old), ("ring", "coalescing"))


def resumes(kind: str, members: int = storm.MEMBERS) -> Alone:
    """The key names the number of members where it is not the usual one."""
    members = reduced(members, storm.OTHERS, f"storm {kind}")
    key = f"storm {kind}" + (f" {members}" if members != storm.MEMBERS else "")
    return Alone(key, lambda _: storm.storm(kind, members))


def beside() -> list[Beside]:
    """The scenarios that are run with every server."""
    return [f1(1000, 50), f1(100, 500), f1(5000, 10), f2(1000), p1(100, old=False), c1(10_000)]


def ours() -> list[Beside]:
    """Those of clients or users that only Heliograph has."""
    return [p1(100, old=True), c1(10_000, known=True)]


def alone() -> list[Alone]:
    """The scenarios of Heliograph alone."""
    return [
        resumes("kill"),
        resumes("cut"),
        # As many as the bound of open files allows.
        resumes("kill", 20_000),
        Alone("crowd", lambda _: crowd.idle()),
        Alone("latency", latency.gateway_to_gateway),
        Alone("gateways", growth.gateways),
        Alone("joins", lambda _: growth.joins()),
        Alone("memory", lambda _: growth.memory()),
        Alone("scaling", scaling.scaling),
        Alone("durability", durability.replicated),
        Alone("A1", sends.by_api_and_websocket),
        Alone("psql", lambda _: psql.measured()),
    ]
