"""The cost of more gateways and more members."""

import socket
from pathlib import Path

from ..heliograph import Heliograph
from ..load import Load
from ..paths import ROOT
from ..processes import total_rss_kib
from . import fanout

PROBES = 500
ROUNDS = 4
# The number of users who join and leave at any time, besides the members.
TOGETHER = 4


def gateways(seconds: float, counts: tuple[int, ...] = (1, 2, 4), members: int = 1000, rate: float = 50) -> dict:
    """Cost per delivery with the same members on more gateways."""
    costs = {}
    whole = True
    for count in counts:
        with Heliograph(gateways=count) as server:
            run = fanout.steady(server, members, rate, seconds)
        costs[str(count)] = run["us_per_delivery"]
        whole = whole and run["whole"]
    return {"us_per_delivery": costs, "ratios": {count: round(cost / costs["1"], 2) for count, cost in costs.items()},
            "whole": whole}


def joins(sizes: tuple[int, ...] = (10, 200, 10_000), checkout: Path = ROOT) -> dict:
    """Cost of joining and leaving channels with `sizes` members, without join events.

    :param checkout: another one, with its programs
    """
    costs, processes, whole = {}, {}, True
    for size in sizes:
        with Heliograph(checkout=checkout) as server, Load(
            server, "idle", "--members", size, "--others", PROBES, "--push",
        ) as load:
            load.ask(f"open {size + PROBES}", "opened")
            total: dict[str, float] = {}
            for turn in range(ROUNDS + 1):
                done = load.ask(f"cycle {size} {size + PROBES} {TOGETHER}", "cycled")
                whole = whole and done["disconnected"] == done["refused"] == 0 and done["answers"] == PROBES
                # The first round warms up.
                for name, cpu in done["cpu_by_process"].items() if turn else ():
                    total[name] = round(total.get(name, 0) + cpu, 3)
        costs[str(size)] = round(sum(total.values()) / (PROBES * ROUNDS) * 1e6, 1)
        processes[str(size)] = total
    first = costs[str(sizes[0])]
    return {"us_per_join_and_leave": costs, "ratios": {size: round(cost / first, 2) for size, cost in costs.items()},
            "cpu_by_process": processes, "whole": whole}


def memory(connections: int = 4000) -> dict:
    """Memory of a member, and of a channel: the same connections in one channel, and each in its own."""
    def measure(channels: int) -> tuple[float, float, float]:
        with Heliograph() as server, Load(
            server, "idle", "--members", connections + 200, "--channels", channels, "--push",
        ) as load:
            load.ask("open 200", "opened")
            gateway, redis = total_rss_kib(load.names, "gateway"), _redis_used_kib(server)
            load.ask(f"open {connections + 200}", "opened")
            return (
                (total_rss_kib(load.names, "gateway") - gateway) / connections,
                (_redis_used_kib(server) - redis) / connections)

    one, many = measure(1), measure(connections)
    return {
        "gateway_kib_per_member": round(one[0], 2), "redis_kib_per_member": round(one[1], 2),
        "gateway_kib_per_channel": round(many[0] - one[0], 2), "redis_kib_per_channel": round(many[1] - one[1], 2),
        "whole": True}


def _redis_used_kib(server: Heliograph) -> float:
    with socket.create_connection(("127.0.0.1", server.redis_port()), timeout=10) as connection:
        connection.sendall(b"INFO memory\r\n")
        text = connection.recv(65536).decode()
    return next(int(line.split(":")[1]) for line in text.splitlines() if line.startswith("used_memory:")) / 1024
