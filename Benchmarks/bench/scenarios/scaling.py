"""What Redis' work costs on one server, and on the masters of a cluster: CPU time of each, since one machine can't show their rates."""

import threading

from .. import hot_keys
from ..heliograph import Heliograph
from ..load import Load
from . import pairs

# So many that chance gives no master many more users than another.
PAIRS = 1_500
USERS = 2_000
MEMBERS = 100
# The users who join and leave at any time.
TOGETHER = 20
SINGLE = "single"
LAYOUTS = (SINGLE, "1", "3", "6", "12")


def options(layout: str) -> tuple[str, ...]:
    """The options of `Scripts/stack up` for a single server, or for a cluster of so many masters."""
    if layout == SINGLE:
        return ()
    return ("--redis", "cluster", "--redis-masters", layout, "--redis-replicas", "0")


def user_messages(layout: str, seconds: float, pairs_count: int = PAIRS) -> dict:
    """P1: CPU time of Redis per message, the busiest server's share, and the key that most commands name."""
    with Heliograph(options=options(layout)) as server:
        run = pairs.closed_loop(server, seconds, pairs_count)
        cost = _cost(run["cpu_by_process"], run["delivered"])
        return cost | {
            "whole": run["whole"], "messages_per_second": run["messages_per_second"],
            "hottest_key": _hottest(server, pairs_count)}


def acts(layout: str) -> dict:
    """CPU time of Redis per login, and per join and leave."""
    with Heliograph(options=options(layout)) as server, Load(
        server, "idle", "--members", MEMBERS, "--others", USERS, "--push",
    ) as load:
        load.ask(f"open {MEMBERS + 200}", "opened")
        opened = load.ask(f"open {MEMBERS + USERS}", "opened")
        logins = _cost(opened["cpu_by_process"], USERS - 200)
        cycled = load.ask(f"cycle {MEMBERS} {MEMBERS + USERS} {TOGETHER}", "cycled")
        return {
            "login": logins, "join_and_leave": _cost(cycled["cpu_by_process"], USERS),
            "whole": opened["disconnected"] == cycled["disconnected"] == cycled["refused"] == 0}


def scaling(seconds: float, layouts: tuple[str, ...] = LAYOUTS) -> dict:
    """Messages, logins and joins on each layout; how many times the messages of the single server each could carry."""
    messages = {layout: user_messages(layout, seconds) for layout in layouts}
    rates = {layout: 1 / cost["busiest_us"] for layout, cost in messages.items()}
    return {
        "messages": messages, "acts": {layout: acts(layout) for layout in layouts},
        "capacity": {layout: round(rate / rates[layouts[0]], 2) for layout, rate in rates.items()},
        "whole": all(cost["whole"] for cost in messages.values())}


def _cost(cpu: dict[str, float], acts_count: int) -> dict:
    """Microseconds of all servers, and of the busiest one, per act."""
    servers = [used for name, used in cpu.items() if name.split("#")[0] == "redis"]
    return {
        "us": round(sum(servers) / max(1, acts_count) * 1e6, 2), "busiest_us": round(max(servers) / max(1, acts_count) * 1e6, 2),
        "busiest_to_mean": round(max(servers) * len(servers) / max(1e-9, sum(servers)), 3)}


def _hottest(server: Heliograph, pairs_count: int, seconds: float = 2) -> list:
    """The key that most commands name, and its share of all commands, while the pairs exchange messages."""
    ports = [node["port"] for node in server.endpoints()["redis"]["nodes"]]
    with Load(server, "pairs", "--pairs", pairs_count, "--push") as load:
        # MONITOR costs each server something for each command, so this is no part of the measurement.
        found: dict[str, float] = {}
        sampling = threading.Timer(0.5, lambda: found.update(hot_keys.shares(ports, seconds)))
        sampling.start()
        load.ask(f"run {seconds + 1}", "run")
        sampling.join()
    key = max(found, key=found.get)
    return [key, round(found[key], 4)]
